"""The virtual environment of this checkout, for scripts/run and scripts/test: made once, renewed when it is stale.

Standard library only. This file and the two scripts must parse on Python 3.6, and run there up to `require_python`, so
that an old Python says that it is too old instead of showing a SyntaxError.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: no lock there
    fcntl = None

OLDEST = (3, 11)
NEW_ENOUGH = ["python3.13", "python3.12", "python3.11"]  # in order of preference

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "splendor-sim.stamp"
LOCK = ROOT / ".venv.lock"  # outside of .venv, which is emptied when it is made anew
TEST = "test"  # the extra for scripts/test; it holds all that a run needs


def require_python():
    """Return on a Python that is new enough; otherwise go on under one found on PATH, or end with one message."""
    if sys.version_info >= OLDEST:
        return
    for name in NEW_ENOUGH:
        for folder in os.get_exec_path():
            python = shutil.which(name, path=folder)
            if python and is_new_enough(python):
                hand_over([python, *sys.argv])
    here = sys.version.split()[0]
    fail(f"needs Python 3.11 or newer; this is {here}, and PATH has no {', '.join(NEW_ENOUGH)}")


def prepare(extra=""):
    """Have splendor-sim with `extra` in .venv, and keep others from changing .venv while this process lives."""
    while True:
        lock(exclusive=False)
        if is_fresh(extra):
            return
        lock(exclusive=True)
        if not is_fresh(extra):  # another script may have been quicker
            renew(extra)


def program(name):
    """Path of a program in .venv."""
    return str(VENV / "Scripts" / (name + ".exe")) if os.name == "nt" else str(VENV / "bin" / name)


def hand_over(command):
    """Become `command`, so that its exit code and its interrupts are this process's own."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # there exec would return to the shell at once
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


def say(text):
    """Print one line under the script's name; standard output is left to what the script starts."""
    print(f"scripts/{os.path.basename(sys.argv[0])}: {text}", file=sys.stderr, flush=True)


def fail(text):
    """Print one line and end with exit code 1."""
    say(text)
    sys.exit(1)


# ---------------------------------------------------------------------------------------------------------- the pieces


def is_new_enough(python):
    """Whether this program is a Python that the project supports; a version manager's shim may well be none."""
    check = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    try:
        return subprocess.call([python, "-c", check], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def lock(exclusive):
    """Take or change the lock on .venv: shared to use it, also after `hand_over`; exclusive to change it."""
    if fcntl is None:
        return
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    try:
        descriptor = lock_file()
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another script to {'finish with' if exclusive else 'prepare'} .venv")
            fcntl.flock(descriptor, kind)
    except OSError:
        pass  # a read-only folder, or a file system without locks


def lock_file():
    """Descriptor of the lock file, the same one in every call; the program that is handed over to inherits it."""
    if not hasattr(lock_file, "descriptor"):
        lock_file.descriptor = os.open(str(LOCK), os.O_CREAT | os.O_RDWR, 0o666)
        os.set_inheritable(lock_file.descriptor, True)
    return lock_file.descriptor


def stamp(extra):
    """One line that changes with whatever .venv depends on: pyproject.toml, the Python, the place, the extra."""
    parts = [(ROOT / "pyproject.toml").read_bytes(), this_python().encode(), str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest() + " " + extra


def is_fresh(extra):
    """Whether .venv is whole and was made from all that it would be made from now."""
    if not (os.access(program("python"), os.X_OK) and os.access(program("splendor-sim"), os.X_OK) and STAMP.is_file()):
        return False
    return STAMP.read_text() in (stamp(extra), stamp(TEST))


def renew(extra):
    """Install the project in .venv, made anew if there is none that works with this Python."""
    what = f"splendor-sim[{extra}]" if extra else "splendor-sim"
    wanted = stamp(extra)
    if STAMP.exists():
        STAMP.unlink()
    if venv_works():
        say(f"installing {what} in .venv")
    else:
        require_venv()
        say(f"making .venv with Python {sys.version.split()[0]} for {what}; this takes a minute or two")
        call([sys.executable, "-m", "venv", "--clear", str(VENV)])
    pip = [program("python"), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    call([*pip, "--editable", f".[{extra}]" if extra else "."])
    if not os.access(program("splendor-sim"), os.X_OK):
        fail("pip installed no program splendor-sim in .venv")
    STAMP.write_text(wanted)


def this_python():
    """Version and real path of the Python that runs this, or of the one behind its virtual environment."""
    return sys.version + os.path.realpath(sys._base_executable)


def venv_works():
    """Whether .venv was made in this place, has pip, and its Python starts and is the one that runs this."""
    same = "import os, pip, sys; print(sys.version + os.path.realpath(sys._base_executable))"
    try:
        made_by = (VENV / "pyvenv.cfg").read_text().splitlines()
        if not any(line.startswith("command = ") and line.endswith(f" {VENV}") for line in made_by):
            return False  # a moved .venv: its programs name the old place
        done = subprocess.run([program("python"), "-c", same], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.decode(errors="replace").strip() == this_python()


def require_venv():
    """End with one message if this Python cannot make virtual environments; Debian packs that part apart."""
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return
    package = "python{}.{}-venv".format(*sys.version_info)
    fail(f"{sys.executable} cannot make virtual environments; on Debian and Ubuntu: apt install {package}")


def call(command):
    """Run a command silently; if it fails, show what it printed and end."""
    done = subprocess.run(
        command, cwd=str(ROOT), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        fail(f"this failed with exit code {done.returncode}: {' '.join(command)}")
