"""Many games: the same result whoever plays them, what is counted, and what is refused."""

import json
import math
import multiprocessing
import pickle
import random
import re
import sys
import threading
import time
from dataclasses import FrozenInstanceError, replace

import numba
import numpy as np
import pytest

import splendor_sim as ss
from splendor_sim.agents import AgentError, parse_agent
from splendor_sim.core.playout import block_kernel
from splendor_sim.core.rng import stream_of
from splendor_sim.core.rules import PRESETS, RulesError
from splendor_sim.simulate import Crew, Plan, Result, SimulationError, Tally, Totals, play_blocks, play_games

MODULE = sys.modules["splendor_sim.simulate"]
JIT_DISABLED = bool(numba.config.DISABLE_JIT)


def games(full: int) -> int:
    """So many games, or few where a game takes a thousand times as long."""
    return max(8, full // 500) if JIT_DISABLED else full


def plan_of(games=100, players=2, agents=None, seed=1, rules="official", rotate=True, max_turns=1000):
    return Plan.of(games, players, agents, seed, rules, rotate, max_turns, "summary")


def told(totals: Totals) -> list:
    """All that totals hold, as something that can be compared."""
    return [totals.counts.view(np.int64).tolist(), totals.by_turns.tolist()]


def played(plan: Plan, crew: Crew) -> Totals:
    tally = Tally(plan, crew)
    for block in play_blocks(plan, crew):
        tally.add(block)
    return tally.totals


# ------------------------------------------------------------------------------------- the same games, whoever plays


@pytest.mark.kernel
def test_the_result_does_not_depend_on_the_number_of_threads():
    plan = plan_of(games(10_000), 3, ["greedy", "random", "random"])
    one, two, seven = (told(played(plan, Crew(threads))) for threads in (1, 2, 7))
    assert one == two == seven


@pytest.mark.kernel
@pytest.mark.parametrize("block", [1, 100, 4096])
def test_the_result_does_not_depend_on_the_size_of_blocks(block, monkeypatch):
    plan = plan_of(games(1000))
    monkeypatch.setattr(MODULE, "BLOCK", block)
    assert told(played(plan, Crew(2))) == told(play_games(plan, 0, plan.games))


@pytest.mark.kernel
def test_totals_of_ranges_of_games_add_up_in_any_order():
    plan = plan_of(games(900), 4, seed=2**64 - 1)
    parts = [play_games(plan, first, count) for first, count in [(7, plan.games - 7), (0, 3), (3, 4)]]
    total = Totals(plan)
    for part in parts:
        total.add(part)
    assert told(total) == told(play_games(plan, 0, plan.games))


def result_elsewhere(seed: int) -> dict:
    return ss.simulate(games(500), seed=seed, threads=1).to_dict()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_other_processes_play_the_same_games_however_they_were_started(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    here = [result_elsewhere(seed) for seed in (1, 2)]
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(result_elsewhere, [1, 2]) == here


@pytest.mark.kernel
def test_two_threads_may_simulate_at_once():
    found: dict[int, dict] = {}

    def simulate(seed: int) -> None:
        found[seed] = ss.simulate(games(2000), seed=seed, threads=2).to_dict()

    threads = [threading.Thread(target=simulate, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {seed: ss.simulate(games(2000), seed=seed, threads=1).to_dict() for seed in (1, 2)}


@pytest.mark.kernel
def test_global_random_generators_are_neither_read_nor_changed():
    random.seed(5)
    np.random.seed(5)
    before = random.getstate(), np.random.get_state()[1].tolist()
    first = ss.simulate(games(300)).to_dict()
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    random.seed(6)
    np.random.seed(6)
    assert ss.simulate(games(300)).to_dict() == first


@pytest.mark.kernel
@pytest.mark.parametrize("other", [0, 2, 1 + 2**32, 1 + 2**63, 2**64 - 1])
def test_seeds_of_64_bits_play_other_games(other):
    assert told(play_games(plan_of(seed=1), 0, 8)) != told(play_games(plan_of(seed=other), 0, 8))


@pytest.mark.kernel
def test_neighbouring_seeds_share_no_game():
    def game(seed: int, index: int) -> list:
        return told(play_games(plan_of(10**6, seed=seed), index, 1))

    same = [game(5, index + 1) == game(6, index) for index in range(games(10_000) // 100)]
    assert sum(same) <= 1  # two games may end alike
    streams = {
        int(stream_of(np.uint64(seed), index, purpose))
        for seed in range(20)
        for index in range(20)
        for purpose in (1, 2, 3, 4, 16, 17, 18, 19)
    }
    assert len(streams) == 20 * 20 * 8


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_each_kernel_is_compiled_once_whatever_numbers_come():
    kernels = [block_kernel(parse_agent(spec).settings()) for spec in ("random", "greedy")]
    ss.simulate(50)
    ss.simulate(50, agents=["greedy", "random"])
    compiled = [len(kernel.signatures) for kernel in kernels]
    ss.simulate(np.int32(50), np.uint8(2), ["random", "random"], np.uint64(2**63), max_turns=np.int16(99))
    ss.simulate(50, 4, seed=0, rotate=np.False_, max_turns=10**6)
    ss.simulate(50, 3, ["greedy", "random", "random"], rules={"end": "immediate"})
    assert [len(kernel.signatures) for kernel in kernels] == compiled


# ------------------------------------------------------------------------------------------------- what is counted


@pytest.mark.kernel
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rotate", [True, False])
def test_every_game_is_counted_once_for_every_agent_and_seat(players, rotate):
    result = ss.simulate(games(601), players, rotate=rotate)
    every = range(players)
    assert [score.games for score in (*result.by_agent, *result.by_seat)] == [games(601)] * (2 * players)
    for agent in every:
        for seat in every:
            times = sum((game + agent) % players == seat if rotate else agent == seat for game in range(games(601)))
            assert result.by_agent_and_seat[agent][seat].games == times


@pytest.mark.kernel
@pytest.mark.parametrize("max_turns", [1000, 70])
def test_every_game_is_won_once_or_truncated(max_turns):
    result = ss.simulate(games(2000), 2, max_turns=max_turns)
    for scores in (result.by_agent, result.by_seat):
        won = sum(score.win_share.value for score in scores) * result.games
        assert round(won) + result.truncated == result.games
        assert sum(score.outright_wins for score in scores) == result.games - result.truncated - result.shared_wins
        assert sum(score.shared_wins for score in scores) == 2 * result.shared_wins


@pytest.mark.kernel
def test_a_game_at_the_limit_of_turns_is_truncated_and_won_by_nobody():
    result = ss.simulate(games(1000), 2, max_turns=5)
    assert result.truncated == result.games
    assert result.deadlocked == result.shared_wins == 0
    assert [(score.outright_wins, score.shared_wins, score.win_share.value) for score in result.by_agent] == [
        (0, 0, 0)
    ] * 2
    assert (result.turns.min, result.turns.mean, result.turns.max) == (5, 5, 5)
    assert (result.rounds.min, result.rounds.max) == (3, 3)  # a started round counts


@pytest.mark.kernel
def test_a_deadlocked_game_is_ranked_as_usual():
    # Without reserving and with three tokens, hands jam at once: nobody has prestige, nobody has cards.
    result = ss.simulate(games(500), rules={"take_fewer": "never", "reserve_limit": 0, "gem_tokens": [1, 1, 1]})
    assert result.deadlocked > 0 and result.truncated == 0
    won = sum(score.win_share.value for score in result.by_seat) * result.games
    assert round(won) == result.games


@pytest.mark.kernel
def test_greedy_beats_random():
    result = ss.simulate(games(1000), agents=["greedy", "random"])
    assert result.by_agent[0].win_share.low > (0.5 if JIT_DISABLED else 0.75)


def test_equal_agents_win_alike_and_seats_are_a_table_of_their_own():
    result = ss.simulate(40_000, agents=["greedy", "greedy"])
    first, second = (score.win_share.value for score in result.by_agent)
    assert abs(first - second) < 4 / math.sqrt(result.games)
    begins, follows = (score.win_share.value for score in result.by_seat)
    assert begins - follows > 4 / math.sqrt(result.games)  # greedy gains by beginning
    assert {score.games for row in result.by_agent_and_seat for score in row} == {20_000}


def test_agents_stay_in_their_seats_without_rotation():
    result = ss.simulate(2000, agents=["greedy", "random"], rotate=False)
    assert result.by_agent == result.by_seat
    assert result.by_agent_and_seat[0][1].games == 0
    assert result.by_agent_and_seat[0][1].win_share is None
    assert result.by_agent_and_seat[0][1].prestige.mean is None


def test_rule_sets_in_one_process_keep_to_their_own_rules():
    official, short = ({"rules": rules, "games": 500} for rules in ("official", {"target_prestige": 5}))
    before = ss.simulate(**official)
    assert ss.simulate(**short).turns.mean < before.turns.mean - 10
    assert ss.simulate(**official) == before


@pytest.mark.parametrize("rules", PRESETS)
def test_every_preset_is_played_and_comes_back_as_given(rules):
    result = ss.simulate(200, 3, rules=rules)
    assert result.rules == rules
    assert result.rule_options == ss.Rules.of(rules).to_dict()
    assert result.truncated == 0


def test_rules_come_back_in_plain_types_and_are_not_shared():
    rules = {"preset": "basque", "gem_tokens": (np.int64(4), 5, 7), "target_prestige": np.uint8(9)}
    result = ss.simulate(10, rules=rules)
    rules["target_prestige"] = 12
    assert result.to_dict()["rules"] == {"preset": "basque", "gem_tokens": [4, 5, 7], "target_prestige": 9}
    assert ss.simulate(10, rules=ss.Rules(target_prestige=9)).rules == ss.Rules(target_prestige=9).to_dict()


def test_the_longest_limit_of_turns_changes_no_game():
    assert replace(ss.simulate(300, max_turns=10**6), max_turns=1000) == ss.simulate(300)


# ------------------------------------------------------------------------------------------------------- the result


def test_a_result_is_plain_json_and_equal_for_equal_runs():
    first, second = (ss.simulate(500, 3, ["random", "greedy", "random"], threads=threads) for threads in (1, None))
    assert first == second
    plain = first.to_dict()
    assert plain == second.to_dict() == json.loads(json.dumps(plain))
    assert plain["agents"] == ["random", "greedy", "random"]
    assert (plain["schema"], plain["version"], plain["games"]) == (1, ss.__version__, 500)
    assert not {"seconds", "threads", "games_per_second"} & plain.keys()


def test_a_result_cannot_be_changed_and_what_it_gives_away_is_a_copy():
    result = ss.simulate(10, rules={"target_prestige": 9})
    with pytest.raises(FrozenInstanceError):
        result.games = 3  # type: ignore[misc]
    result.to_dict()["rules"]["target_prestige"] = 1
    assert result.rules == {"target_prestige": 9}


def test_a_result_says_how_fast_it_was_apart():
    result = ss.simulate(2000)
    assert result.games_per_second == pytest.approx(result.games / result.seconds)
    assert result.turns_per_second == pytest.approx(result.turns.mean * result.games / result.seconds)
    assert result.threads >= 1 and result.notes == ()


def test_a_result_prints_its_tables():
    text = str(ss.simulate(1200, 4, ["greedy", "random", "greedy", "random"], seed=9))
    assert text.startswith("1,200 games of 4 seats, seed 9, rules official\n")
    for part in ("agent 0  greedy", "seat 0  begins", "agent 3 at seat 3", "± ", "turns", "rounds", "truncated after"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 80


def test_one_game_makes_a_result():
    result = ss.simulate(1, 4)
    assert result.turns.sd is None and result.by_agent[0].prestige.sd is None
    assert result.turns.mean == result.turns.min == result.turns.max
    assert "1 game of 4 seats" in str(result)


# --------------------------------------------------------------------------------------------- while it is under way


def test_progress_tells_of_games_in_their_order_up_to_all():
    seen: list[tuple[int, int]] = []
    ss.simulate(9000, threads=2, progress=lambda *done: seen.append(done))
    assert seen == sorted(seen) and seen[-1] == (9000, 9000) and len(seen) > 2


def test_what_progress_raises_ends_the_run_and_its_threads():
    def enough(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ss.simulate(10**12, progress=enough)
    until = time.monotonic() + 10
    while any(thread.name.startswith("splendor-sim") for thread in threading.enumerate()):
        assert time.monotonic() < until, "a thread goes on playing"
        time.sleep(0.01)


def test_a_stop_leaves_the_first_games_of_the_run():
    plan, stop, tally = plan_of(10**12, seed=3), threading.Event(), Tally(plan_of(10**12, seed=3), Crew(2))
    for block in play_blocks(plan, Crew(2), stop):
        tally.add(block)
        if tally.totals.games > 20_000:
            stop.set()
    assert 20_000 < tally.totals.games < 10**6
    result = tally.result()
    assert result == ss.simulate(result.games, seed=3)


def test_a_plan_and_totals_travel_between_processes():
    plan = plan_of(50, 3, ["greedy", "random", "random"], rules={"end": "immediate"})
    there = pickle.loads(pickle.dumps(plan))
    assert there == plan
    assert told(pickle.loads(pickle.dumps(play_games(there, 10, 20)))) == told(play_games(plan, 10, 20))


def test_more_threads_than_processors_are_clamped_with_a_note():
    result = ss.simulate(100, threads=10_000)
    assert result.threads < 10_000
    assert len(result.notes) == 1 and "10,000" in result.notes[0]


# -------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "argument, value",
    [
        *[("games", value) for value in (0, -1, 10**12 + 1, 1.0, 1e6, True, "5", None)],
        *[("threads", value) for value in (0, -1, 1.5, True, "all")],
        *[("max_turns", value) for value in (0, -1, 10**6 + 1, 5.0, False, None)],
        *[("rotate", value) for value in (1, 0, None, "yes")],
        *[("statistics", value) for value in ("complete", "", None, 3, ["summary"])],
        *[("progress", value) for value in (3, "bar")],
    ],
)
def test_an_argument_of_a_wrong_type_or_out_of_range_is_refused_by_its_name(argument, value):
    with pytest.raises(SimulationError, match=f"^{argument} must be .*not {re.escape(repr(value))}$"):
        ss.simulate(**{"games": 10, argument: value})


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, True, "1", None])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(ValueError, match="seed"):
        ss.simulate(10, seed=seed)


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"players": 1}, RulesError),
        ({"players": 5}, RulesError),
        ({"players": True}, RulesError),
        ({"players": 2.0}, RulesError),
        ({"rules": "officail"}, RulesError),
        ({"rules": {"target": 15}}, RulesError),
        ({"rules": None}, RulesError),
        ({"agents": ["random"]}, AgentError),
        ({"agents": ["random", "gredy"]}, AgentError),
        ({"agents": "random"}, AgentError),
    ],
)
def test_what_no_game_can_be_played_with_is_refused(arguments, error):
    with pytest.raises(error):
        ss.simulate(10, **arguments)
    assert issubclass(error, ValueError)


def test_the_result_and_its_error_have_their_names():
    assert ss.Result is Result
    assert issubclass(SimulationError, ValueError)


def test_a_cluster_goes_without_threads_and_records():
    for more in ({"threads": 1}, {"records": "games.csv"}):
        with pytest.raises(SimulationError, match="dask goes without threads and records"):
            ss.simulate(10, dask="local:2", **more)
