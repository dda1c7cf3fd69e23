"""What the benchmarks share. `pytest benchmarks` runs them; each group is printed with its ratios."""

import pytest

from splendor_sim.bench import ARRAY, opened_states


@pytest.fixture(scope="session")
def states():
    """An array of states in the middle of random games."""
    return opened_states(ARRAY)
