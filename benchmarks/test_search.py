"""Tree search from an opening, by kind of leaf: what `splendor-sim bench --search` prints, in groups with ratios."""

import pytest

import splendor_sim as ss
from splendor_sim.agents import Agent
from splendor_sim.bench import SEARCHES, SIMULATIONS
from splendor_sim.search import Wood


@pytest.mark.parametrize("seats, leaf, options", SEARCHES, ids=lambda value: str(value).replace(" ", "-"))
def test_a_search_from_an_opening(benchmark, seats, leaf, options):
    benchmark.group = f"search of {SIMULATIONS:,} simulations"
    agent = Agent("mcts", (("simulations", str(SIMULATIONS)), *((name, str(value)) for name, value in options.items())))
    settings, states = agent.settings(), ss.deal(1, players=seats, seed=1)
    setup = lambda: ((Wood(states, 1, SIMULATIONS + 4, 1),), {})  # noqa: E731
    benchmark.pedantic(lambda wood: wood.grow(settings, SIMULATIONS, None), setup=setup, rounds=100, warmup_rounds=2)
    benchmark.extra_info["simulations a second"] = round(SIMULATIONS / benchmark.stats["min"])


def test_a_batch_of_leaves_of_a_forest(benchmark):
    benchmark.group = "forest of 256 trees, 4 leaves each: select, evaluate, update"
    forest = ss.Forest(ss.deal(256, players=2, seed=1), seed=1)

    def work():
        leaves = forest.select(4)
        forest.update(None, ss.evaluate(leaves.states))
        return len(leaves)

    assert benchmark.pedantic(work, rounds=20, warmup_rounds=2) > 0
