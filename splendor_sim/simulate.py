"""Many games: a plan of them, blocks of games on threads, and their totals.

A block is a pure function of a plan and a range of games, and totals add up exactly in any order: so the result does
not depend on threads, sizes of blocks or machines.
"""

import math
import operator
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from splendor_sim.agents import Agent, AgentError, parse_agent, parse_agents
from splendor_sim.core.balance import BALANCE_DTYPE
from splendor_sim.core.counters import RECORD_DTYPE, TOTALS_DTYPE
from splendor_sim.core.jit import is_ready
from splendor_sim.core.playout import block_kernel
from splendor_sim.core.rng import check_seed
from splendor_sim.core.rules import Rules, check_players
from splendor_sim.core.state import STATE_DTYPE
from splendor_sim.result import Result

T = TypeVar("T")

MOST_GAMES = 10**12  # no count, sum or sum of squares can then leave an int64
MOST_TURNS = 10**6
STATISTICS = ("summary", "full")

BLOCK = 4096  # games a thread is given at a time, at most
_AHEAD = 4  # blocks handed out for each thread before the first of them has to be back
_SOON = 0.05  # seconds between looks at `stop`, about
_PATIENCE = 0.7  # seconds that a thread has to come back once `stop` is set


class SimulationError(ValueError):
    """An argument of a run that has a wrong type or is out of range."""


def simulate(
    games: int = 1_000_000,
    players: int = 2,
    agents: list[str] | None = None,
    seed: int = 1,
    rules: Any = "official",
    threads: int | None = None,
    rotate: bool = True,
    max_turns: int = 1000,
    statistics: str = "summary",
    progress: Callable[[int, int], None] | None = None,
    records: str | os.PathLike[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    dask: str | None = None,
) -> Result:
    """Play games and return what happened in them.

    agents: one spec a seat, None for all random; with `rotate`, agent a sits at seat (game + a) % players, else at
    seat a. seed: 0 to 2**64 - 1. threads: None for all processors that this process may use. max_turns: a game is
    stopped after so many turns, without a winner. progress: called with (games finished, games) now and then.
    records: a file for one row a game, ending in .parquet, .csv or .jsonl; what is finished when the run is stopped
    stays beside it, and `resume` continues it, or extends a finished file to more games; `overwrite` begins anew.
    statistics: "summary", or "full" for the balance as well. dask: "tcp://HOST:PORT" or "local:N", to play on a Dask
    cluster instead of threads here, without records. Raises SimulationError, AgentError, RulesError, SeedError or
    RecordsError before the first game, and ClusterError where a cluster fails.
    """
    if progress is not None and not callable(progress):
        raise SimulationError(f"progress must be a function or None, not {progress!r}")
    if records is None and (resume or overwrite):
        raise SimulationError("only a run with records can be resumed or overwritten")
    plan = Plan.of(games, players, agents, seed, rules, rotate, max_turns, statistics)
    if dask is not None:
        if threads is not None or records is not None:
            raise SimulationError("dask goes without threads and records")
        from splendor_sim.distributed import play_on

        return play_on(dask, plan, progress)
    crew = Crew.of(threads)
    if records is not None:
        from splendor_sim.long_runs import Recording

        plan = replace(plan, records=True)
        recording = Recording(plan, records, resume, overwrite)
    with nullcontext() if records is None else recording:
        prepare(plan)
        tally = Tally(plan, crew)
        with closing(play_blocks(plan, crew) if records is None else recording.blocks(crew)) as blocks:
            for block in blocks:
                tally.add(block)
                if progress is not None:
                    progress(tally.totals.games, plan.games)
    return tally.result()


# --- What is to be played --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """All that the games of a run depend on.

    orders: who sits where: in game i agent orders[i % len(orders)][seat]. paired: games with the same i // len(orders),
    which go through all orders, have the same deal.
    """

    games: int
    players: int
    agents: tuple[Agent, ...]
    seed: int
    rules: Any  # as given, in plain JSON types
    options: Rules
    orders: tuple[tuple[int, ...], ...]
    paired: bool
    max_turns: int
    statistics: str
    records: bool = False  # whether totals of a block come with a record of each game

    @classmethod
    def of(
        cls,
        games: Any,
        players: Any,
        agents: Any,
        seed: Any,
        rules: Any,
        rotate: Any,
        max_turns: Any,
        statistics: Any,
        orders: Any = None,
    ) -> "Plan":
        """Check the arguments of `simulate` and return them as a plan.

        With orders, agents may be fewer or more than seats, and not compiled, and games are paired.
        """
        if not isinstance(rotate, bool | np.bool_):
            raise SimulationError(f"rotate must be True or False, not {rotate!r}")
        if not isinstance(statistics, str) or statistics not in STATISTICS:
            raise SimulationError(f"statistics must be {' or '.join(map(repr, STATISTICS))}, not {statistics!r}")
        players = check_players(players)
        options = Rules.of(rules)
        if orders is None:
            checked = parse_agents(agents, players)
            _require_compiled(checked)
        else:
            checked = tuple(map(parse_agent, agents))
            if not all(len(order) == players and set(order) <= set(range(len(checked))) for order in orders):
                raise SimulationError(f"orders must name an agent for each of {players} seats, not as {orders!r}")
        return cls(
            games=_whole("games", games, 1, MOST_GAMES),
            players=players,
            agents=checked,
            seed=check_seed(seed),
            rules=_plain(rules, options),
            options=options,
            orders=seatings(players, bool(rotate)) if orders is None else tuple(map(tuple, orders)),
            paired=orders is not None,
            max_turns=_whole("max_turns", max_turns, 1, MOST_TURNS),
            statistics=statistics,
        )

    @property
    def rotate(self) -> bool:
        """Whether the agents change seats from game to game."""
        return len(self.orders) > 1

    @property
    def is_compiled(self) -> bool:
        """Whether kernels play all agents, so that the games depend on the plan alone."""
        return all(agent.is_compiled for agent in self.agents)


def seatings(players: int, rotate: bool) -> tuple[tuple[int, ...], ...]:
    """Return the agents by seat of successive games: agent a sits at seat (game + a) % players, or always at seat a."""
    return tuple(tuple((seat - turn) % players for seat in range(players)) for turn in range(players if rotate else 1))


def _require_compiled(agents: tuple[Agent, ...]) -> None:
    for agent in agents:
        if not agent.is_compiled:
            what = "a Python class" if agent.is_class else "search by time or on threads"
            raise AgentError(f"agent {agent.spec!r}, {what}, takes part in match and tournament only")


@dataclass(frozen=True)
class Crew:
    """How many threads play, and what there is to say about it."""

    threads: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, threads: Any) -> "Crew":
        """Return the crew for a number of threads that was asked for; None means all that may be used."""
        usable = usable_processors()
        if threads is None:
            return cls(usable)
        asked = _whole("threads", threads, 1, 2**31 - 1)
        if asked <= usable:
            return cls(asked)
        return cls(usable, (f"{asked:,} threads were asked for; this process may use {usable:,}, so {usable:,} play",))


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _plain(rules: Any, options: Rules) -> Any:
    """Checked rules as they were given, in plain JSON types."""
    values = options.to_dict()
    if isinstance(rules, Rules):
        return values
    if isinstance(rules, str):
        return rules
    return {name: value if name == "preset" else values[name] for name, value in rules.items()}


def _whole(name: str, value: Any, low: int, high: int) -> int:
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise SimulationError(f"{name} must be a whole number from {low:,} to {high:,}, not {value!r}")
    return number


# --- Blocks of games -------------------------------------------------------------------------------------------------


class Totals:
    """What was counted in some games.

    counts: TOTALS_DTYPE[1]. by_turns: int64[longest + 1], games by their turns. balance: BALANCE_DTYPE[1] for a plan
    with statistics "full", else None. records: RECORD_DTYPE[games] of one block for a plan with records, else None;
    they are not added up. restored: whether they were read from a file rather than played. complaints: why games were
    forfeited, of one block.
    """

    def __init__(self, plan: Plan) -> None:
        self.counts: Any = np.zeros(1, TOTALS_DTYPE)
        self.by_turns: Any = np.zeros(0, np.int64)
        self.balance: Any = np.zeros(1, BALANCE_DTYPE) if plan.statistics == "full" else None
        self.records: Any = None
        self.restored = False
        self.complaints: list[str] = []

    @property
    def games(self) -> int:
        """Number of games."""
        return int(self.counts["games"][0])

    def add(self, other: "Totals") -> None:
        """Add the totals of other games of the plan."""
        # The records of counts hold nothing but int64, so each adds up as one array of them.
        self.counts.view(np.int64)[...] += other.counts.view(np.int64)
        if self.balance is not None:
            self.balance.view(np.int64)[...] += other.balance.view(np.int64)
        if len(other.by_turns) > len(self.by_turns):
            self.by_turns = np.concatenate(
                [self.by_turns, np.zeros(len(other.by_turns) - len(self.by_turns), np.int64)]
            )
        self.by_turns[: len(other.by_turns)] += other.by_turns


class Pace:
    """Keeps games interruptible: a stop signal, and how many games a kernel plays at a time, from what they took."""

    def __init__(self, stop: threading.Event | None = None) -> None:
        self.stop = stop or threading.Event()
        self.games = 1

    def took(self, games: int, seconds: float) -> None:
        """Learn from games that were played at a time."""
        if seconds < _SOON / 2:
            self.games = max(self.games, min(BLOCK, 8 * games))
        elif seconds > 2 * _SOON:
            self.games = max(1, games // 4)


def play_games(plan: Plan, first: int, count: int, pace: Pace | None = None) -> Totals:
    """Play games `first` to `first + count - 1` of a plan; once its stop signal is set, some of the first of them."""
    pace = pace or Pace()
    kernel, inputs, seats = _kernel_of(plan)
    totals, by_turns = Totals(plan), np.zeros(plan.max_turns + 1, np.int64)
    # The second record takes what games past the end of a slice do, which does not count.
    balance = None if totals.balance is None else np.zeros(2, BALANCE_DTYPE)
    records = np.zeros(count, RECORD_DTYPE) if plan.records else None
    done = 0
    while done < count and not pace.stop.is_set():
        games = min(pace.games, count - done)
        began = time.perf_counter()
        rows = None if records is None else records[done : done + games]
        # Words wrap round. Compiled code knows that; without the JIT numpy is told, and each thread tells its own.
        with np.errstate(over="ignore"):
            kernel(*inputs, first + done, games, *seats, plan.max_turns, totals.counts, by_turns, balance, rows)
        pace.took(games, time.perf_counter() - began)
        done += games
    # The histogram is cut behind the longest game, so that a high limit of turns costs no memory.
    totals.by_turns = by_turns[: 1 + max(np.flatnonzero(by_turns), default=-1)].copy()
    if balance is not None:
        totals.balance = balance[:1].copy()
    if records is not None:
        totals.records = records[:done]
    return totals


def _kernel_of(plan: Plan) -> tuple[Any, tuple[Any, ...], tuple[Any, bool]]:
    """The kernel that plays blocks of a plan, and its arguments: template, settings and seed; orders and paired."""
    settings = np.concatenate([agent.settings() for agent in plan.agents])
    template = np.zeros(1, STATE_DTYPE)
    template["players"] = plan.players
    for name, value in plan.options.for_players(plan.players).items():
        template[name] = value
    seats = np.array(plan.orders, np.int64), plan.paired
    return block_kernel(settings), (template, settings, np.uint64(plan.seed)), seats


def prepare(plan: Plan, stop: threading.Event | None = None) -> None:
    """Load or compile what the games need, so that their clock starts with them; give up soon after `stop` is set."""
    pace = Pace(stop)
    # On a thread, for a compiler in the main thread would serve no interrupt for seconds.
    pool = ThreadPoolExecutor(1, thread_name_prefix="splendor-sim")
    try:
        _result(pool.submit(play_games, plan, 0, 1, pace), pace.stop)
    finally:
        pool.shutdown(wait=False)


def is_prepared(plan: Plan) -> bool:
    """Whether the games can start at once, because what they need is compiled already."""
    kernel, inputs, seats = _kernel_of(plan)
    by_turns = np.zeros(1, np.int64)
    balance = np.zeros(2, BALANCE_DTYPE) if plan.statistics == "full" else None
    records = np.zeros(1, RECORD_DTYPE) if plan.records else None
    return is_ready(kernel, *inputs, 0, 0, *seats, 1, Totals(plan).counts, by_turns, balance, records)


def play_blocks(
    plan: Plan, crew: Crew, stop: threading.Event | None = None, first: int = 0
) -> Generator[Totals, None, None]:
    """Yield the totals of a plan's games from game `first` on, block after block in their order, played by threads.

    Once `stop` is set, what has been finished without a gap follows within a second, and the blocks end.
    """
    pace = Pace(stop)
    size = max(1, min(BLOCK, math.ceil((plan.games - first) / (8 * crew.threads))))
    counts = ((begin, min(size, plan.games - begin)) for begin in range(first, plan.games, size))
    jobs = (partial(_play_block, plan, begin, count, pace) for begin, count in counts)
    with closing(in_order(jobs, crew, pace.stop)) as blocks:
        for count, totals in blocks:
            if totals.games:
                yield totals
            if totals.games < count:
                return


def _play_block(plan: Plan, first: int, count: int, pace: Pace) -> tuple[int, Totals]:
    return count, play_games(plan, first, count, pace)


def in_order(jobs: Iterator[Callable[[], T]], crew: Crew, stop: threading.Event) -> Generator[T, None, None]:
    """Yield what jobs return, in their order, done by threads; each is taken when a thread will soon have time for it.

    Once `stop` is set, what comes within a second without a gap follows, and no more.
    """
    pool = ThreadPoolExecutor(crew.threads, thread_name_prefix="splendor-sim")
    running: deque[Future[T]] = deque()
    try:
        while not stop.is_set() or running:
            while len(running) < _AHEAD * crew.threads and not stop.is_set() and (job := next(jobs, None)) is not None:
                running.append(pool.submit(job))
            if not running:
                return
            done = _result(running.popleft(), stop)
            if done is None:
                return
            yield done
    except BaseException:  # an interrupt, or nobody wants more
        stop.set()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _result(future: "Future[T]", stop: threading.Event) -> T | None:
    """The result of a future, or None if it does not come soon after `stop` is set."""
    patience = _PATIENCE
    while not future.done():
        wait([future], timeout=_SOON)
        if stop.is_set():
            patience -= _SOON
            if patience < 0:
                return None
    return future.result()


class Tally:
    """The totals of a run so far, and its clock."""

    def __init__(self, plan: Plan, crew: Crew) -> None:
        self.plan, self.crew, self.totals = plan, crew, Totals(plan)
        self._restored_games = self._restored_turns = 0  # which were not played now
        self._began = time.perf_counter()

    def add(self, block: Totals) -> None:
        """Add the totals of a block."""
        self.totals.add(block)
        if block.restored:
            self._restored_games, self._restored_turns = self.totals.games, int(self.totals.counts["turns"][0])
            self._began = time.perf_counter()

    def result(self) -> Result:
        """Return the result of the games so far: that of a run of just so many games."""
        seconds = time.perf_counter() - self._began
        result = Result.of(self.plan, self.crew, self.totals, seconds)
        if not self._restored_games:
            return result
        games, turns = result.games - self._restored_games, self.totals.counts["turns"][0] - self._restored_turns
        return replace(result, games_per_second=games / seconds, turns_per_second=int(turns) / seconds)
