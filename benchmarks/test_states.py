"""Arrays of states: what a search or a learning agent calls all the time."""

import pytest

import splendor_sim as ss
from splendor_sim.bench import ARRAY, copy_of, state_functions


@pytest.mark.parametrize("name", ["copy", "legal_mask", "step", "determinize", "observe"])
def test_a_function_on_an_array_of_states(benchmark, states, name):
    benchmark.group = f"arrays of {ARRAY:,} states"
    work = state_functions(states)[name]
    benchmark.pedantic(work, setup=lambda: ((copy_of(states),), {}), rounds=100, warmup_rounds=5)
    benchmark.extra_info["ns a state"] = round(1e9 * benchmark.stats["min"] / ARRAY, 1)


def test_playout_of_an_array_of_states(benchmark, states):
    benchmark.group = f"arrays of {ARRAY:,} states"
    setup = lambda: ((copy_of(states), 1), {})  # noqa: E731
    shares = benchmark.pedantic(ss.playout, setup=setup, rounds=10, warmup_rounds=2)
    assert shares.sum() > 0
