"""From the shell to the result: help, a start with compiled kernels on disk, and a start that compiles."""

import os
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-c", "import sys; from splendor_sim.cli import main; sys.exit(main())"]
RUN = ["run", "--games", "1000", "--seed", "1", "--quiet"]


def start(arguments, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    subprocess.run([*PROGRAM, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("name", ["help", "cached run"])
def test_a_start(benchmark, name, tmp_path):
    benchmark.group = "starts of the program"
    arguments = ["--help"] if name == "help" else RUN
    benchmark.pedantic(start, (arguments, tmp_path), rounds=10, warmup_rounds=1)


def test_a_start_that_compiles(benchmark, tmp_path_factory):
    benchmark.group = "starts of the program"
    benchmark.pedantic(start, setup=lambda: ((RUN, tmp_path_factory.mktemp("cache")), {}), rounds=2)
