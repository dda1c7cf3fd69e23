"""Whole games: by seats and agents on one thread, and by threads."""

import pytest

from splendor_sim.simulate import Crew, Plan, Tally, play_blocks, play_games, prepare, usable_processors

GAMES = 20_000


def plan_of(agents, games=GAMES):
    plan = Plan.of(games, len(agents), agents, 1, "official", True, 1000, "summary")
    prepare(plan)
    return plan


def keep_speed(benchmark, games):
    benchmark.extra_info["games a second"] = round(games / benchmark.stats["min"])


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_games_on_one_thread(benchmark, agent, players):
    benchmark.group = f"{GAMES:,} games of {agent} agents, one thread"
    plan = plan_of([agent] * players)
    totals = benchmark.pedantic(play_games, (plan, 0, GAMES), rounds=5, warmup_rounds=1)
    assert totals.games == GAMES
    keep_speed(benchmark, GAMES)


@pytest.mark.parametrize("threads", sorted({1, usable_processors()}))
def test_games_on_threads(benchmark, threads):
    games = 4 * GAMES
    benchmark.group = f"{games:,} random games of 2 seats, by threads"
    plan, crew = plan_of(["random"] * 2, games), Crew(threads)

    def play():
        tally = Tally(plan, crew)
        for block in play_blocks(plan, crew):
            tally.add(block)
        return tally.result()

    assert benchmark.pedantic(play, rounds=5, warmup_rounds=1).games == games
    keep_speed(benchmark, games)
