"""The program's speed on the machine at hand, and a fingerprint of the games that were played for it."""

import hashlib
import json
import platform
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import splendor_sim as ss
from splendor_sim.agents import Agent
from splendor_sim.result import Table
from splendor_sim.search import Wood
from splendor_sim.simulate import Crew, Plan, Tally, play_blocks, play_games, prepare, usable_processors

SEATS = (2, 3, 4)
ARRAY = 1024  # states in an array
SIMULATIONS = 2000  # of a search
_EVALUATION: dict[str, Any] = {"turns": 0}
_TWO_TURNS = {"turns": 2, "policy": "greedy"}
_PLAYOUT = {"leaf": "playout", "policy": "random"}
SEARCHES = (
    (2, "evaluation", _EVALUATION),
    (4, "evaluation", _EVALUATION),
    (2, "two greedy turns and evaluation", _TWO_TURNS),
    (2, "random playout", _PLAYOUT),
)
_FINGERPRINT_GAMES = 1000  # of each kind; another number would be another fingerprint
_COUNTED = ("games", "deadlocked", "truncated", "turns", "wins", "prestige", "cards", "nobles", "reserves")


def measure(quick: bool = False, progress: Callable[[str], None] | None = None, search: bool = False) -> dict[str, Any]:
    """Return speeds and the fingerprint, in plain JSON types; about half a minute, or a few seconds if `quick`.

    Times are the best of several tries. games: by seats, whole random games on one thread and on all. states: ns a
    state of the functions on arrays of states, one thread. searches, with `search`: simulations from openings, 2,000 a
    tree, one thread, and the median of 100 trees, since they differ. progress: called with what is measured next.
    """
    say = progress or (lambda text: None)
    say("compiling")
    prepare(_plan(2, 1))
    states = opened_states(ARRAY)
    functions = state_functions(states)
    for work in functions.values():
        work(copy_of(states))
    games = []
    for seats in SEATS:
        say(f"games of {seats} seats")
        games.append(_game_speed(seats, quick))
    say("arrays of states")
    speeds = {name: 1e9 * best_time(work, states, quick) / ARRAY for name, work in functions.items()}
    searches = []
    for seats, leaf, options in SEARCHES if search else ():
        say(f"search, {seats} seats, {leaf}")
        searches.append({"seats": seats, "leaf": leaf, **_search_speed(seats, options, quick)})
    return {
        "machine": machine(),
        "quick": quick,
        "games": games,
        "array": ARRAY,
        "states": speeds,
        "searches": searches,
        "fingerprint": fingerprint(),
    }


def tables(found: dict[str, Any]) -> list[Table]:
    """Return what `measure` found as tables for people."""
    threads = found["games"][0]["threads"]
    games = tuple(
        (
            f"{row['seats']}",
            f"{row['games_per_second']:,.0f}",
            f"{row['ns_a_turn']:.1f}",
            f"{row['games_per_second_on_all']:,.0f}",
            f"{row['speed_up']:.2f}",
        )
        for row in found["games"]
    )
    states = tuple((name, f"{ns:,.1f}", f"{1e3 / ns:,.1f}") for name, ns in found["states"].items())
    searches = tuple(
        (
            f"{row['leaf']}, {row['seats']} seats",
            f"{row['simulations_per_second']:,.0f}",
            f"{1e9 / row['simulations_per_second']:,.0f}",
            f"{row['bytes_a_simulation']:.0f}",
        )
        for row in found["searches"]
    )
    searched = Table(("Search, 1 thread", "simulations/s", "ns a simulation", "bytes a simulation"), (searches,))
    return [
        Table(
            ("Random games, seats", "games/s, 1 thread", "ns a turn", f"games/s, {threads} threads", "speed-up"),
            (games,),
        ),
        Table(
            (f"Arrays of {found['array']:,} states, 1 thread", "ns a state", "million states/s"),
            (states,),
        ),
        *([searched] if searches else []),
    ]


def machine() -> dict[str, Any]:
    """Return what the speed depends on: processor, how many of them may be used, and versions."""
    return {
        "cpu": _cpu(),
        "processors": usable_processors(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "splendor_sim": ss.__version__,
    }


def fingerprint() -> str:
    """Return a short hash of the totals of a fixed set of games: equal wherever the same games are played."""
    digest = hashlib.sha256()
    for players in SEATS:
        for agents in (["random"] * players, ["greedy"] + ["random"] * (players - 1)):
            plan = Plan.of(_FINGERPRINT_GAMES, players, agents, 1, "official", True, 1000, "summary")
            totals = play_games(plan, 0, plan.games)
            counted = [totals.counts[name].tolist() for name in _COUNTED] + [totals.by_turns.tolist()]
            digest.update(json.dumps(counted).encode())
    return digest.hexdigest()[:12]


def opened_states(n: int) -> NDArray[Any]:
    """Return n states of two seats after 20 random decisions each: what the functions on states are timed with."""
    states = ss.deal(n, players=2, seed=1)
    for seed in range(20):
        ss.step(states, random_actions(states, seed))
    return states


def random_actions(states: NDArray[Any], seed: int) -> NDArray[np.int64]:
    """Return a legal decision a row."""
    legal = ss.legal_mask(states)
    actions: NDArray[np.int64] = np.where(legal, np.random.default_rng(seed).random(legal.shape), -1.0).argmax(axis=1)
    return actions


def state_functions(states: NDArray[Any]) -> dict[str, Callable[[NDArray[Any]], Any]]:
    """Return what is timed on a copy of `states`, by name."""
    actions = random_actions(states, 99)
    return {
        "copy": copy_of,
        "legal_mask": ss.legal_mask,
        "step": lambda copies: ss.step(copies, actions),
        "determinize": lambda copies: ss.determinize(copies, seat=0, seed=1),
        "observe": ss.observe,
    }


def copy_of(states: NDArray[Any]) -> NDArray[Any]:
    """Return a copy; numpy would copy records field by field, which takes ten times as long."""
    return states.view(np.uint64).copy().view(states.dtype)


def best_time(work: Callable[[NDArray[Any]], Any], states: NDArray[Any], quick: bool = False) -> float:
    """Return the seconds of one call of `work` on a copy of `states`, the best of as many as go into a second."""
    best = float("inf")
    until = time.perf_counter() + (0.1 if quick else 1.0)
    while time.perf_counter() < until:
        copies = copy_of(states)
        began = time.perf_counter()
        work(copies)
        best = min(best, time.perf_counter() - began)
    return best


def _game_speed(players: int, quick: bool) -> dict[str, Any]:
    """Games a second on one thread and on all, each the best of three runs of about a second."""
    one, all_ = Crew(1), Crew(usable_processors())
    games = 10_000 if quick else 100_000
    alone = [_run(_plan(players, games), one) for _ in range(3)]
    together = [_run(_plan(players, games * all_.threads), all_) for _ in range(3)]
    speed = max(result.games_per_second for result in alone)
    speed_on_all = max(result.games_per_second for result in together)
    return {
        "seats": players,
        "games_per_second": speed,
        "ns_a_turn": 1e9 / max(result.turns_per_second for result in alone),
        "threads": all_.threads,
        "games_per_second_on_all": speed_on_all,
        "speed_up": speed_on_all / speed,
    }


def _search_speed(players: int, options: dict[str, Any], quick: bool) -> dict[str, float]:
    """Simulations a second, the median over openings, and the memory that nodes and edges take."""
    agent = Agent("mcts", (("simulations", str(SIMULATIONS)), *((name, str(value)) for name, value in options.items())))
    settings = agent.settings()
    times, used = [], 0.0
    for number in range(5 if quick else 100):
        wood = Wood(ss.deal(number + 1, players=players, seed=1)[-1:], 1, SIMULATIONS + 4, number)
        began = time.thread_time()
        wood.grow(settings, SIMULATIONS, None)
        times.append(time.thread_time() - began)
        used += wood.bytes_used / SIMULATIONS
    return {"simulations_per_second": SIMULATIONS / median(times), "bytes_a_simulation": used / len(times)}


def _plan(players: int, games: int) -> Plan:
    return Plan.of(games, players, None, 1, "official", True, 1000, "summary")


def _run(plan: Plan, crew: Crew) -> ss.Result:
    tally = Tally(plan, crew)
    for block in play_blocks(plan, crew):
        tally.add(block)
    return tally.result()


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            models = [line.partition(":")[2].strip() for line in file if line.startswith(("model name", "Model"))]
    except OSError:
        models = []
    return (models or [platform.processor() or platform.machine() or "unknown"])[0]
