"""The cache of compiled kernels: never stale, never fatal, shared by processes.

A copy of the package with one more small kernel stands for the whole: `probe` calls a helper of another file, and all
kernels are cached in one way.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "splendor_sim"
PROBE = '''"""Stands for all kernels."""

import numpy as np

from splendor_sim.core.jit import kernel
from splendor_sim.core.rng import below


@kernel
def probe(word):
    """Calls a kernel of another file."""
    return below(word, np.uint64(1000)) + np.uint64(1)
'''
ASK = """
import sys
sys.modules["scipy"] = None  # to Numba it is optional, and loading it takes long
import numpy as np
from splendor_sim.core.jit import is_ready
from splendor_sim.core.probe import probe
ready = is_ready(probe, np.uint64(1))
print(ready, probe(np.uint64(1 << 63)))
"""

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with a copy of the package, without compiled kernels."""
    shutil.copytree(PACKAGE, tmp_path / "copy" / "splendor_sim", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "copy/splendor_sim/core/probe.py").write_text(PROBE)
    return tmp_path / "copy"


def start(copy: Path, **environment: str) -> "subprocess.Popen[str]":
    """Start a fresh Python that asks the kernel of the copy; its cache is beside the copy unless told otherwise."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    settings = {"NUMBA_CACHE_DIR": str(copy / "cache"), "PYTHONPATH": str(copy), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", ASK],
        cwd=copy,
        env={**plain, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """What it says: whether the kernel was there and its value, and what it complains of."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip(), err.strip()


def test_an_edit_of_a_kernel_in_another_file_is_never_answered_from_the_cache(copy):
    assert answer(start(copy)) == ("False 501", "")
    helper = copy / "splendor_sim/core/rng.py"
    before = helper.read_text()
    helper.write_text(before.replace("return ((word >> _S32) * n) >> _S32", "return (word >> _S32) >> _S30"))
    assert helper.read_text() != before
    assert answer(start(copy)) == ("False 3", "")
    helper.write_text(before)
    assert answer(start(copy)) == ("True 501", "")


def test_a_torn_file_in_the_cache_is_compiled_anew(copy):
    assert answer(start(copy)) == ("False 501", "")
    for suffix, left in [(".nbi", 0), (".nbc", 20)]:
        torn = sorted((copy / "cache").rglob(f"*probe*{suffix}"))
        assert torn
        for file in torn:
            file.write_bytes(file.read_bytes()[:left])
        out, complaint = answer(start(copy))
        assert (out.split()[1], complaint) == ("501", "")
    assert answer(start(copy)) == ("True 501", "")


@pytest.mark.slow
def test_many_processes_may_fill_a_cold_cache_at_once(copy, at_size):
    processes = [start(copy) for _ in range(at_size(16, 6))]
    answers = [answer(process) for process in processes]
    assert {(out.split()[1], err) for out, err in answers} == {("501", "")}
    assert answer(start(copy)) == ("True 501", "")


def test_without_a_folder_that_can_be_written_there_is_one_warning_and_no_cache(copy):
    (copy / "splendor_sim/core/__pycache__").write_text("a file where the folder would be")
    nowhere = {
        "NUMBA_CACHE_DIR": "",
        "XDG_CACHE_HOME": str(copy / "splendor_sim/__init__.py"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    out, complaint = answer(start(copy, **nowhere))
    assert out == "False 501"
    assert complaint.count("RuntimeWarning") == 1 and "NUMBA_CACHE_DIR" in complaint


def test_kernels_with_bounds_checks_are_kept_apart(copy):
    assert answer(start(copy)) == ("False 501", "")
    assert answer(start(copy, NUMBA_BOUNDSCHECK="1")) == ("False 501", "")
    assert answer(start(copy)) == ("True 501", "")
