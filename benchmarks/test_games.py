"""Whole games: by seats and agents on one thread, and by threads."""

from dataclasses import replace

import pytest

import splendor_sim as ss
from splendor_sim.simulate import Crew, Plan, Tally, play_blocks, play_games, prepare, usable_processors

GAMES = 20_000


def plan_of(agents, games=GAMES, statistics="summary", records=False):
    plan = Plan.of(games, len(agents), agents, 1, "official", True, 1000, statistics)
    plan = replace(plan, records=records)
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


@pytest.mark.parametrize("counted", ["summary", "full", "records"])
def test_what_is_counted_of_random_games(benchmark, counted):
    benchmark.group = f"{GAMES:,} random games of 2 seats on one thread, by what is counted"
    statistics = "full" if counted == "full" else "summary"
    plan = plan_of(["random"] * 2, statistics=statistics, records=counted == "records")
    benchmark.pedantic(play_games, (plan, 0, GAMES), rounds=15, warmup_rounds=2)
    keep_speed(benchmark, GAMES)


@pytest.mark.parametrize("ending", ["", ".parquet", ".csv", ".jsonl"])
def test_records_on_disk(benchmark, ending, tmp_path):
    games = 20 * GAMES
    benchmark.group = f"{games:,} random games of 2 seats, by what is written"
    records = tmp_path / f"games{ending}" if ending else None
    benchmark.pedantic(
        ss.simulate, (games,), {"records": records, "overwrite": records is not None}, rounds=5, warmup_rounds=1
    )
    keep_speed(benchmark, games)
