"""scripts/run, scripts/test and the virtual environment that both prepare, without making one."""

import ast
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


def load(name, path):
    """A script as a module; Python's own rules would not import a file without a suffix."""
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def venv(tmp_path, monkeypatch):
    """scripts/_venv.py over an empty checkout, called from scripts/run."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "argv", ["scripts/run"])
    module = load("_venv", SCRIPTS / "_venv.py")
    monkeypatch.setitem(sys.modules, "_venv", module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "stamp")
    monkeypatch.setattr(module, "LOCK", tmp_path / ".venv.lock")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    yield module
    if hasattr(module.lock_file, "descriptor"):
        os.close(module.lock_file.descriptor)


@pytest.fixture
def handed_over(venv, monkeypatch):
    """The commands that the process would have become."""
    commands = []
    monkeypatch.setattr(venv, "hand_over", commands.append)
    return commands


def make_program(path, text="exit 0"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def install(venv, extra):
    """What a successful installation leaves behind."""
    for name in ("python", "splendor-sim"):
        make_program(Path(venv.program(name)))
    venv.STAMP.write_text(venv.stamp(extra))


# ------------------------------------------------------------------------------------------------------ which is fresh


def test_a_missing_venv_is_not_fresh(venv):
    assert not venv.is_fresh("")


def test_an_installed_venv_is_fresh_until_pyproject_changes(venv):
    install(venv, "")
    assert venv.is_fresh("")
    (venv.ROOT / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    assert not venv.is_fresh("")


def test_what_was_installed_for_tests_serves_a_run_but_not_the_other_way_round(venv):
    install(venv, "test")
    assert venv.is_fresh("") and venv.is_fresh("test")
    install(venv, "")
    assert venv.is_fresh("") and not venv.is_fresh("test")


@pytest.mark.parametrize("name", ["python", "splendor-sim"])
def test_a_venv_without_its_programs_is_broken(venv, name):
    install(venv, "")
    Path(venv.program(name)).unlink()
    assert not venv.is_fresh("")


def test_a_venv_of_another_python_or_another_place_is_not_fresh(venv, monkeypatch, tmp_path):
    install(venv, "")
    with monkeypatch.context() as patch:
        patch.setattr(venv.sys, "version", "3.99.0")
        assert not venv.is_fresh("")
    monkeypatch.setattr(venv, "ROOT", tmp_path / "moved")
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / "pyproject.toml").write_text("[project]\n")
    assert not venv.is_fresh("")


# ---------------------------------------------------------------------------------------------------------- installing


def test_a_fresh_venv_is_left_alone(venv, monkeypatch, capsys):
    install(venv, "")
    monkeypatch.setattr(venv, "renew", lambda extra: pytest.fail("installed again"))
    venv.prepare()
    assert capsys.readouterr() == ("", "")


def test_a_stale_venv_that_works_is_kept_and_installed_into(venv, monkeypatch, capsys):
    commands = []
    install(venv, "")
    monkeypatch.setattr(venv, "venv_works", lambda: True)
    monkeypatch.setattr(venv, "call", commands.append)
    venv.prepare("test")
    assert [command[1:4] + command[-2:] for command in commands] == [["-m", "pip", "install", "--editable", ".[test]"]]
    assert venv.is_fresh("test")
    assert capsys.readouterr().err == "scripts/run: installing splendor-sim[test] in .venv\n"


def test_a_venv_works_only_with_its_own_python_and_in_the_place_where_it_was_made(venv, tmp_path):
    def works(python, place):
        make_program(Path(venv.program("python")), f"echo '{python}'")
        (venv.VENV / "pyvenv.cfg").write_text(f"home = somewhere\ncommand = python -m venv --clear {place}\n")
        return venv.venv_works()

    assert works(venv.this_python(), venv.VENV)
    assert not works(venv.this_python(), tmp_path / "before" / ".venv")
    assert not works("3.99.0 of another place", venv.VENV)


def test_an_installation_that_fails_shows_why_and_is_tried_again(venv, monkeypatch, capsys):
    install(venv, "test")
    (venv.ROOT / "pyproject.toml").write_text("broken")
    make_program(Path(venv.program("python")), "echo no such thing >&2; exit 3")
    monkeypatch.setattr(venv, "venv_works", lambda: True)
    with pytest.raises(SystemExit) as end:
        venv.prepare()
    said = capsys.readouterr().err.splitlines()
    assert end.value.code == 1
    assert said[1] == "no such thing"
    assert said[2].startswith("scripts/run: this failed with exit code 3: ")
    assert not venv.STAMP.exists()


def test_a_python_that_cannot_make_venvs_names_the_package_to_install(venv, monkeypatch, capsys):
    monkeypatch.setattr(venv.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else object())
    with pytest.raises(SystemExit) as end:
        venv.prepare()
    said = capsys.readouterr().err
    assert end.value.code == 1
    assert said.count("\n") == 1
    assert said.endswith("apt install python{}.{}-venv\n".format(*sys.version_info))


def test_who_uses_the_venv_keeps_others_from_changing_it(venv):
    fcntl = pytest.importorskip("fcntl")
    install(venv, "")
    venv.prepare()
    with open(venv.LOCK) as other:
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


# ------------------------------------------------------------------------------------------------------- an old Python


@pytest.mark.parametrize("name", ["_venv.py", "run", "test"])
def test_the_scripts_parse_on_a_python_that_is_too_old(name):
    ast.parse((SCRIPTS / name).read_text(), feature_version=(3, 6))


def test_an_old_python_goes_on_under_the_first_new_one_that_starts(venv, handed_over, monkeypatch, tmp_path):
    make_program(tmp_path / "shims" / "python3.13", "exit 127")
    make_program(tmp_path / "bin" / "python3.12")
    monkeypatch.setattr(venv.sys, "version_info", (3, 8, 1))
    monkeypatch.setattr(venv.sys, "argv", ["scripts/run", "legal"])
    monkeypatch.setenv("PATH", f"{tmp_path}/shims{os.pathsep}{tmp_path}/bin")
    with pytest.raises(SystemExit):
        venv.require_python()
    assert handed_over[0] == [str(tmp_path / "bin" / "python3.12"), "scripts/run", "legal"]


def test_an_old_python_alone_says_in_one_line_what_is_needed(venv, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(venv.sys, "version_info", (3, 8, 1))
    monkeypatch.setattr(venv.sys, "version", "3.8.1 (default)")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit) as end:
        venv.require_python()
    assert end.value.code == 1
    assert capsys.readouterr().err == (
        "scripts/run: needs Python 3.11 or newer; this is 3.8.1, and PATH has no python3.13, python3.12, python3.11\n"
    )


# ------------------------------------------------------------------------------------------------- run, test, arguments


@pytest.mark.parametrize(
    "given, passed_on",
    [([], ["run", "--games", "1000000", "--players", "2"]), (["legal", "--json"], ["legal", "--json"])],
)
def test_run_hands_its_arguments_over_or_plays_a_million_games(venv, handed_over, given, passed_on):
    install(venv, "")
    load("run_script", SCRIPTS / "run").main(given)
    assert handed_over == [[venv.program("splendor-sim"), *passed_on]]


@pytest.fixture
def script(venv, monkeypatch):
    """scripts/test over a venv whose programs note what they are asked, with which modes and compile cache."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    monkeypatch.setattr(sys, "argv", ["scripts/test"])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    install(venv, "test")
    note = 'echo "$(basename $0) $*|$NUMBA_BOUNDSCHECK|$NUMBA_DISABLE_JIT|$NUMBA_CACHE_DIR|$(ls -A $NUMBA_CACHE_DIR)"'
    for name in ("ruff", "mypy", "pytest"):
        make_program(Path(venv.program(name)), f"{note} >> {venv.ROOT}/notes; echo made > $NUMBA_CACHE_DIR/made")
    return load("test_script", SCRIPTS / "test")


def notes(venv):
    return [line.split("|") for line in (venv.ROOT / "notes").read_text().splitlines()]


def test_test_runs_style_types_and_three_modes_in_order(venv, script, capsys):
    assert script.main([]) == 0
    ran = [note[:3] for note in notes(venv)]
    assert ran[:4] == [["ruff format --check", "", ""], ["ruff check", "", ""], ["mypy ", "", ""], ["pytest ", "", ""]]
    assert sorted(ran[4:]) == [["pytest -m kernel", "", "1"], ["pytest -m kernel", "1", ""]]  # side by side
    assert capsys.readouterr().err.splitlines()[-1] == "scripts/test: passed"


def test_every_mode_has_a_compile_cache_that_starts_empty_and_is_removed(venv, script):
    script.main([])
    caches = [note[3] for note in notes(venv)]
    assert len(set(caches)) == len(caches)
    assert [note[4] for note in notes(venv)] == [""] * len(caches)
    assert not any(Path(cache).exists() for cache in caches)


def test_test_stops_at_the_first_failure_and_names_it(venv, script, capsys):
    make_program(Path(venv.program("mypy")), "exit 2")
    assert script.main([]) == 2
    assert [note[0] for note in notes(venv)] == ["ruff format --check", "ruff check"]
    assert capsys.readouterr().err.splitlines()[-1] == "scripts/test: failed with exit code 2: mypy"


def test_what_fails_beside_another_fails_the_test(venv, script, capsys):
    make_program(Path(venv.program("pytest")), 'echo "mode $NUMBA_DISABLE_JIT"; [ -z "$NUMBA_DISABLE_JIT" ] || exit 3')
    assert script.main([]) == 3
    assert capsys.readouterr().err.splitlines()[-1].endswith("exit code 3: NUMBA_DISABLE_JIT=1 pytest -m kernel")


def test_test_passes_arguments_to_pytest_in_the_plain_mode_alone(venv, script):
    assert script.main(["-k", "noble"]) == 0
    assert [note[:3] for note in notes(venv)] == [["pytest -k noble", "", ""]]


def test_a_program_ended_by_a_signal_has_the_exit_code_a_shell_gives(venv, script):
    make_program(Path(venv.program("pytest")), "kill -9 $$")
    assert script.main(["-x"]) == 137


def test_ctrl_c_waits_for_pytest_to_close(script):
    class Interrupted:
        waits = 0

        def wait(self):
            self.waits += 1
            if self.waits == 1:
                raise KeyboardInterrupt
            return 2

    process = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        script.wait(process)
    assert process.waits == 2


def test_ci_runs_the_test_script_and_nothing_else():
    lines = (SCRIPTS.parent / ".ci" / "run").read_text().splitlines()
    assert lines[-1] == "exec python3 scripts/test </dev/null"
    for path in (SCRIPTS / "run", SCRIPTS / "test", SCRIPTS.parent / ".ci" / "run"):
        assert os.access(path, os.X_OK), f"{path} is not executable"
    assert subprocess.run(["bash", "-n", SCRIPTS.parent / ".ci" / "run"]).returncode == 0
