"""Matches and tournaments: agents against each other on the same deals, every agent in every seat.

The unit is the deal: on each the agents go through all orders of seats, so that luck with cards and seats cancels.
What comes out is a function of the seed and of what is played, not of threads; an early end is looked for after fixed
numbers of deals. Games with agents that no kernel plays depend on these agents and on time as well.
"""

import itertools
import json
import math
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from splendor_sim.agents import Agent, parse_agent
from splendor_sim.core.counters import DEADLOCKED, FORFEITED, RECORD_DTYPE, TRUNCATED
from splendor_sim.outsiders import LIMIT, Stopped
from splendor_sim.ratings import Interval, Sprt, Strength, rate, require_ratings
from splendor_sim.result import Table
from splendor_sim.simulate import BLOCK, Crew, Pace, Plan, SimulationError, Totals, in_order, play_games, prepare
from splendor_sim.statistics import Distribution, Share
from splendor_sim.stepwise import Hosts, given_to_classes, play_game

SCHEMA = 1  # of `to_dict`: a new number whenever a key changes its meaning or goes

MOST_AGENTS = 32
_TWELFTHS = 12  # a win that 1, 2, 3 or 4 seats share is a whole number of them for each
_FIRST_LOOK, _LOOKS = 8, 64  # a test looks after so many deals, later when there are 1 in 64 more
_TOLD = 5  # complaints that are kept


def match(
    a: str | Agent,
    b: str | Agent,
    deals: int = 10_000,
    players: int = 2,
    seed: int = 1,
    rules: Any = "official",
    threads: int | None = None,
    max_turns: int = 1000,
    sprt: Sprt | tuple[float, float] | None = None,
    limit: float = LIMIT,
    progress: Callable[["MatchResult"], None] | None = None,
    records: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> "MatchResult":
    """Let agent a play against agent b, who takes all other seats; on each deal a sits in every seat once.

    sprt: a sequential test, or its two bounds in Elo points, that ends the match early; for two seats. limit: seconds
    for a decision of a Python class. progress: called with the result so far now and then. records: a file for one row
    a game, ending in .parquet, .csv or .jsonl; `overwrite` replaces one. Raises AgentError, SimulationError,
    RatingError, RulesError, SeedError or RecordsError, before the first game but for a Python class that cannot begin.
    """
    plan, test = match_plan(a, b, deals, players, seed, rules, max_turns, sprt)
    crew = Crew.of(threads)
    seconds = check_limit(limit)
    if progress is not None and not callable(progress):
        raise SimulationError(f"progress must be a function or None, not {progress!r}")
    if records is None and overwrite:
        raise SimulationError("only a match with records can be overwritten")
    tally = MatchTally(plan, crew, test)
    for _ in play_match(tally, seconds, records, overwrite):
        if progress is not None:
            progress(tally.result())
    return tally.result()


def tournament(
    agents: Sequence[str | Agent],
    deals: int = 1000,
    players: int = 2,
    seed: int = 1,
    rules: Any = "official",
    threads: int | None = None,
    max_turns: int = 1000,
    limit: float = LIMIT,
    progress: Callable[["TournamentResult"], None] | None = None,
) -> "TournamentResult":
    """Let every group of agents that fills a table play every deal in all orders of seats, and rate the agents.

    The arguments are those of `match`; progress is called with the result so far. Raises what `match` raises.
    """
    plans = tournament_plans(agents, deals, players, seed, rules, max_turns)
    crew = Crew.of(threads)
    seconds = check_limit(limit)
    if progress is not None and not callable(progress):
        raise SimulationError(f"progress must be a function or None, not {progress!r}")
    tally = TournamentTally(plans, tuple(map(parse_agent, agents)), crew)
    for _ in play_tournament(tally, seconds):
        if progress is not None:
            progress(tally.result())
    return tally.result()


# --- What is to be played --------------------------------------------------------------------------------------------


def match_plan(
    a: Any, b: Any, deals: Any, players: Any, seed: Any, rules: Any, max_turns: Any, sprt: Any
) -> tuple[Plan, Sprt | None]:
    """Check the arguments of `match` and return them as a plan and a test."""
    plan = _plan([a, b], deals, players, seed, rules, max_turns, lambda seats: np.eye(seats, dtype=int) ^ 1)
    if sprt is None or isinstance(sprt, Sprt):
        test = sprt
    else:
        try:
            elo0, elo1 = sprt
        except (TypeError, ValueError):
            raise SimulationError(f"sprt must be two bounds in Elo points, such as (0, 10), not {sprt!r}") from None
        test = Sprt(elo0, elo1)
    if test is not None and plan.players != 2:
        raise SimulationError(f"a sequential test is for two seats, not {plan.players}")
    return plan, test


def tournament_plans(agents: Any, deals: Any, players: Any, seed: Any, rules: Any, max_turns: Any) -> list[Plan]:
    """Check the arguments of `tournament` and return a plan for each table, in the order of their agents."""
    require_ratings()
    if isinstance(agents, str) or not isinstance(agents, Sequence):
        raise SimulationError(f"the agents of a tournament are a list of specs, not {agents!r}")
    checked = list(map(parse_agent, agents))
    found = _plan(checked, deals, players, seed, rules, max_turns, _all_orders)
    if not found.players <= len(checked) <= MOST_AGENTS:
        raise SimulationError(
            f"a tournament of {found.players} seats needs {found.players} to {MOST_AGENTS} agents, not {len(checked)}"
        )
    tables = itertools.combinations(checked, found.players)
    return [replace(found, agents=table) for table in tables]


def check_limit(limit: Any) -> float:
    """Return the seconds for a decision; raise SimulationError if they are none."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0.01 <= limit <= 3600:
        raise SimulationError(f"limit must be a number of seconds from 0.01 to 3,600, not {limit!r}")
    return float(limit)


def _all_orders(players: int) -> Any:
    return np.array(list(itertools.permutations(range(players))))


def _plan(
    agents: list[Any], deals: Any, players: Any, seed: Any, rules: Any, max_turns: Any, orders: Callable[[int], Any]
) -> Plan:
    plan = Plan.of(deals, players, None, seed, rules, True, max_turns, "summary")
    named = tuple(map(parse_agent, agents))
    table = tuple(tuple(map(int, order)) for order in orders(plan.players))
    return replace(plan, agents=named, orders=table, paired=True, records=True, games=plan.games * len(table))


# --- Playing ---------------------------------------------------------------------------------------------------------


def play_match(
    tally: "MatchTally",
    limit: float = LIMIT,
    records: Any = None,
    overwrite: bool = False,
    stop: threading.Event | None = None,
) -> Generator[None, None, None]:
    """Play a match into its tally, yielding now and then; it ends early when the test does or once `stop` is set."""
    stop = stop or threading.Event()
    plan = tally.plan
    recording = None
    if records is not None:
        from splendor_sim.long_runs import Recording

        recording = Recording(plan, records, overwrite=overwrite)
    with nullcontext() if recording is None else recording:
        if plan.is_compiled:
            prepare(plan, stop)

        def play(plan: Plan, crew: Crew, stop: threading.Event, first: int) -> Generator[Totals, None, None]:
            with closing(_deals_of_match(plan, crew, stop, first, limit, tally.sprt is not None)) as blocks:
                for block in blocks:
                    yield block
                    if tally.is_decided:
                        break
            if recording is not None and tally.games:
                recording.end_at(tally.games)  # the file is finished, with the games that were played

        crew = tally.crew
        with closing(play(plan, crew, stop, 0) if recording is None else recording.blocks(crew, stop, play)) as blocks:
            for block in blocks:
                tally.add(block)
                yield


def _deals_of_match(
    plan: Plan, crew: Crew, stop: threading.Event, first: int, limit: float, looks: bool
) -> Generator[Totals, None, None]:
    """Yield the totals of whole deals in their order; where a test looks, a block ends."""
    pace = Pace(stop)
    with Hosts(plan.agents, given_to_classes(plan), limit, pace.stop) as hosts:

        def jobs() -> "Iterator[Callable[[], Totals | None]]":
            done, orders = first, len(plan.orders)
            look = next_look(0)
            while done < plan.games:
                count = _some_deals(plan, pace, crew) * orders
                if looks:
                    count = min(count, look * orders - done)
                count = min(count, plan.games - done)
                yield partial(_play_deals, plan, hosts, done, count, pace)
                done += count
                if looks and done == look * orders:
                    look = next_look(look)

        with closing(in_order(jobs(), crew, pace.stop)) as blocks:
            for block in blocks:
                if block is None:
                    return
                yield block


def next_look(deals: int) -> int:
    """Return after how many deals a test looks next: fixed numbers, so that its end does not depend on threads."""
    return deals + max(_FIRST_LOOK, deals // _LOOKS)


def _some_deals(plan: Plan, pace: Pace, crew: Crew) -> int:
    """How many deals make a block: as many as a kernel plays between two looks at `stop`."""
    orders = len(plan.orders)
    most = min(BLOCK, math.ceil(plan.games / (4 * crew.threads))) // orders
    return max(1, min(most, pace.games // orders)) if plan.is_compiled else 1


def _play_deals(plan: Plan, hosts: "Hosts", first: int, count: int, pace: Pace) -> Totals | None:
    """Play some games of a plan; None if they were stopped before the end."""
    if plan.is_compiled:
        totals = play_games(plan, first, count, pace)
        return totals if totals.games == count else None
    records = np.zeros(count, RECORD_DTYPE)
    complaints = []
    try:
        with hosts.some() as mine, np.errstate(over="ignore"):
            for index in range(first, first + count):
                complaint = play_game(plan, index, mine, records[index - first], pace.stop)
                if complaint:
                    complaints.append(complaint)
    except Stopped:
        return None
    totals = totals_of(plan, records)
    totals.complaints = complaints
    return totals


def totals_of(plan: Plan, records: Any) -> Totals:
    """Return the totals of games from their records, which they keep."""
    totals = Totals(plan)
    counts = totals.counts[0]
    counts["games"] = len(records)
    counts["deadlocked"] = (records["ending"] == DEADLOCKED).sum()
    counts["truncated"] = (records["ending"] == TRUNCATED).sum()
    counts["turns"] = records["turns"].sum()
    sharers = np.bitwise_count(records["winners"])
    for seat in range(plan.players):
        agents = records["agents"][:, seat]
        np.add.at(counts["played"][:, seat], agents, 1)
        won = records["winners"] >> seat & 1 == 1
        np.add.at(counts["wins"], (agents[won], seat, sharers[won] - 1), 1)
        for name in ("prestige", "cards", "nobles", "reserves"):
            values = records[name][:, seat].astype(np.int64)
            np.add.at(counts[name][:, seat], agents, values)
            np.add.at(counts[f"{name}_squared"][:, seat], agents, values * values)
    totals.by_turns = np.bincount(records["turns"]).astype(np.int64)
    totals.records = records
    return totals


def shares_of(plan: Plan, records: Any) -> Any:
    """Return what each seat scored, in twelfths: int64[games, seats]; a game that nobody won counts 1 / seats each."""
    won = (records["winners"][:, None] >> np.arange(plan.players)) & 1
    winners = won.sum(axis=1, keepdims=True)
    return np.where(winners > 0, won * (_TWELFTHS // np.maximum(winners, 1)), _TWELFTHS // plan.players).astype(
        np.int64
    )


def play_tournament(
    tally: "TournamentTally", limit: float = LIMIT, stop: threading.Event | None = None
) -> Generator[None, None, None]:
    """Play a tournament into its tally, yielding now and then; once `stop` is set, whole deals that are back follow."""
    stop = stop or threading.Event()
    plans, crew = tally.plans, tally.crew
    for plan in plans:
        if plan.is_compiled:
            prepare(plan, stop)
    pace = Pace(stop)
    with Hosts(tally.agents, given_to_classes(plans[0]), limit, pace.stop) as hosts:

        def jobs() -> "Iterator[Callable[[], list[Totals] | None]]":
            done, orders = 0, len(plans[0].orders)
            while done < plans[0].games:
                count = min(min(_some_deals(plan, pace, crew) for plan in plans) * orders, plans[0].games - done)
                yield partial(_play_tables, plans, hosts, done, count, pace)
                done += count

        with closing(in_order(jobs(), crew, pace.stop)) as blocks:
            for block in blocks:
                if block is None:
                    return
                tally.add(block)
                yield


def _play_tables(plans: list[Plan], hosts: Hosts, first: int, count: int, pace: Pace) -> list[Totals] | None:
    """Play the same games of every table; None if they were stopped before the end."""
    found = []
    for plan in plans:
        totals = _play_deals(plan, hosts, first, count, pace)
        if totals is None:
            return None
        found.append(totals)
    return found


# --- What comes out --------------------------------------------------------------------------------------------------


class _Tally:
    """What matches and tournaments count alike: endings, lengths, complaints, and the clock."""

    def __init__(self, plan: Plan, crew: Crew) -> None:
        self.plan, self.crew = plan, crew
        self.games = self.truncated = self.deadlocked = self.forfeited = 0
        self.complaints: list[str] = []
        self._by_turns = np.zeros(plan.max_turns + 1, np.int64)
        self._began = time.perf_counter()

    def count(self, totals: Totals) -> None:
        """Add a block."""
        endings = totals.records["ending"]
        self.games += totals.games
        self.truncated += int((endings == TRUNCATED).sum())
        self.deadlocked += int((endings == DEADLOCKED).sum())
        self.forfeited += int((endings == FORFEITED).sum())
        self._by_turns[: len(totals.by_turns)] += totals.by_turns
        self.complaints += totals.complaints[: _TOLD - len(self.complaints)]

    def facts(self) -> dict[str, Any]:
        """What is told of any of them."""
        plan = self.plan
        by_rounds = np.zeros(len(self._by_turns), np.int64)
        np.add.at(by_rounds, -(-np.arange(len(by_rounds)) // plan.players), self._by_turns)
        return {
            "players": plan.players,
            "seed": plan.seed,
            "rules": plan.rules,
            "rule_options": plan.options.to_dict(),
            "max_turns": plan.max_turns,
            "games": self.games,
            "turns": Distribution.of(self._by_turns.tolist()),
            "rounds": Distribution.of(by_rounds.tolist()),
            "deadlocked": self.deadlocked,
            "truncated": self.truncated,
            "complaints": tuple(self.complaints),
            "seconds": time.perf_counter() - self._began,
            "threads": self.crew.threads,
            "notes": self.crew.notes,
        }


class MatchTally(_Tally):
    """A match so far, and its clock."""

    def __init__(self, plan: Plan, crew: Crew, sprt: Sprt | None) -> None:
        super().__init__(plan, crew)
        self.sprt, self.is_decided, self.llr = sprt, False, 0.0
        self._look = next_look(0)
        orders = len(plan.orders)
        self._by_score = np.zeros(orders * _TWELFTHS + 1, np.int64)  # deals by what a scored, in twelfths
        self._by_seat = np.zeros(plan.players, np.int64)  # what a scored there
        self._outright = np.zeros(2, np.int64)  # games that a, or one of the others, won alone
        self._forfeits = np.zeros(2, np.int64)

    @property
    def deals(self) -> int:
        """How many deals were played."""
        return self.games // len(self.plan.orders)

    @property
    def pairs(self) -> list[int]:
        """Deals of two seats by what a scored: 0, a half, 1, one and a half, 2."""
        counts: list[int] = self._by_score[:: _TWELFTHS // 2].tolist()
        return counts

    def add(self, block: Totals) -> None:
        """Add the deals of a block, and look whether the test is at its end."""
        self.count(block)
        records, orders = block.records, len(self.plan.orders)
        shares = shares_of(self.plan, records)
        is_a = records["agents"][:, : self.plan.players] == 0
        mine = np.where(is_a, shares, 0)
        self._by_score += np.bincount(mine.sum(axis=1).reshape(-1, orders).sum(axis=1), minlength=len(self._by_score))
        self._by_seat += mine.sum(axis=0)
        alone = shares == _TWELFTHS
        forfeited = records["ending"] == FORFEITED
        won = ((records["winners"][:, None] >> np.arange(self.plan.players)) & 1 == 1) & is_a
        self._outright += [int((alone & is_a).sum()), int((alone & ~is_a).sum())]
        self._forfeits += [int((forfeited & ~won.any(axis=1)).sum()), int((forfeited & won.any(axis=1)).sum())]
        if self.sprt is not None:
            self.llr = self.sprt.llr(self.pairs)
            if self.deals >= self._look:
                self._look = next_look(self._look)
                self.is_decided = self.sprt.accepted(self.llr) is not None

    def strength(self) -> Strength:
        """What a scored so far."""
        scores = np.arange(len(self._by_score))
        total, squares = (int((self._by_score * scores**power).sum()) for power in (1, 2))
        return Strength.of(self.deals, total, squares, len(scores) - 1, self.plan.players - 1)

    def result(self) -> "MatchResult":
        """Return the result of the deals so far: that of a match of just so many; there is one at least."""
        facts = self.facts()
        shared = self.games - int(self._outright.sum()) - self.truncated
        return MatchResult(
            agents=(self.plan.agents[0].spec, self.plan.agents[1].spec),
            deals=self.deals,
            strength=self.strength(),
            by_seat=tuple(
                share for won in self._by_seat.tolist() if (share := Share.of(won / _TWELFTHS, self.deals)) is not None
            ),
            won=int(self._outright[0]),
            lost=int(self._outright[1]),
            shared=shared,
            forfeited=(int(self._forfeits[0]), int(self._forfeits[1])),
            pairs=tuple(self.pairs) if self.plan.players == 2 else None,
            sprt=None if self.sprt is None else SprtState.of(self.sprt, self.llr),
            **facts,
        )


@dataclass(frozen=True)
class SprtState:
    """Where a sequential test stands: its bounds and rates, the log likelihood ratio, and what is accepted, if any."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    lower: float
    upper: float
    llr: float
    accepted: float | None

    @classmethod
    def of(cls, sprt: Sprt, llr: float) -> "SprtState":
        """Return where a test stands with a log likelihood ratio."""
        return cls(**asdict(sprt), lower=sprt.lower, upper=sprt.upper, llr=llr, accepted=sprt.accepted(llr))


@dataclass(frozen=True, kw_only=True)
class _Facts(ABC):
    players: int
    seed: int
    rules: Any
    rule_options: dict[str, Any]
    max_turns: int
    deals: int
    games: int
    turns: Distribution
    rounds: Distribution
    deadlocked: int
    truncated: int
    complaints: tuple[str, ...]
    seconds: float = field(compare=False)
    threads: int = field(compare=False)
    notes: tuple[str, ...] = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but timings and threads in plain JSON types; what is infinite is None.

        `schema` counts the changes of this layout.
        """
        from splendor_sim import __version__

        names = [name for name, attribute in self.__dataclass_fields__.items() if attribute.compare]
        whole = asdict(self)
        plain = {name: whole[name] for name in names}
        plain.update(turns=self.turns.to_dict(), rounds=self.rounds.to_dict())
        return {"schema": SCHEMA, "version": __version__, **_finite(json.loads(json.dumps(plain)))}

    def pace(self) -> str:
        """Return how long it took, in a line."""
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        seconds = f"{self.seconds:,.1f}" if self.seconds >= 10 else f"{self.seconds:.2g}"
        return f"{self.games:,} games in {seconds} s on {threads}"

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the tables for people."""

    @abstractmethod
    def heading(self) -> str:
        """Return what was played, in a line or two."""

    def __str__(self) -> str:
        """Return the heading and the tables as text."""
        return "\n\n".join([self.heading(), *map(str, self.tables()), *self.complaints, self.pace()]) + "\n"

    def _played(self) -> str:
        rules = self.rules if isinstance(self.rules, str) else json.dumps(self.rules)
        plural = "" if self.deals == 1 else "s"
        return f"{self.deals:,} deal{plural} of {self.players} seats, seed {self.seed}, rules {rules}"

    def _rest(self, *forfeits: tuple[str, int]) -> list[Table]:
        rows = [
            ("deadlocked", self.deadlocked),
            (f"truncated after {self.max_turns:,} turns", self.truncated),
            *forfeits,
        ]
        endings = tuple((name, f"{number:,}", _percent(number / self.games)) for name, number in rows)
        lengths = []
        for name, found in (("turns", self.turns), ("rounds", self.rounds)):
            sd = "" if found.sd is None else f" ± {found.sd:.2f}"
            lengths.append((name, f"{found.mean:.2f}{sd}", f"{found.min:,}", f"{found.max:,}"))
        return [
            Table(("Length", "mean ± sd", "min", "max"), (tuple(lengths),)),
            Table(("Endings", "games", "of all"), (endings,)),
        ]


@dataclass(frozen=True, kw_only=True)
class MatchResult(_Facts):
    """What `match` found. Timings are no part of it when results are compared.

    agents: specs of a and b, who had all seats but one. deals, games: each deal was played with a in every seat.
    strength: of a, by deals; a truncated game counts 1 / players. by_seat: the share of a there. won, lost, shared:
    games that a won alone, that another seat won alone, and that several won. forfeited: games that a, and that b, lost
    by failing; the others win them. pairs: with two seats, deals in which a scored 0, a half, 1, one and a half, 2.
    sprt: where the sequential test stands, if there was one. turns, rounds: the length of games.
    complaints: why games were forfeited, the first few. seconds: of play. notes: what was not done as asked.
    """

    agents: tuple[str, str]
    strength: Strength
    by_seat: tuple[Share, ...]
    won: int
    lost: int
    shared: int
    forfeited: tuple[int, int]
    pairs: tuple[int, ...] | None
    sprt: SprtState | None

    def heading(self) -> str:
        """Return what was played, in a line or two."""
        a, b = self.agents
        others = b if self.players == 2 else f"{self.players - 1} times {b}"
        return f"{a} against {others}\n{self._played()}; {a} in every seat of each"

    def tables(self) -> list[Table]:
        """Return the tables for people: strength, seats, pairs, the test, length and endings."""
        a, b = self.agents
        found = self.strength
        even = 1 / self.players
        seats = tuple(
            (f"seat {seat}" + "  begins" * (seat == 0), _share(share)) for seat, share in enumerate(self.by_seat)
        )
        tables = [
            Table(
                (a, "share of wins, 95 %", "Elo, 95 %", "stronger"),
                ((("by deals", _share(found.share), _elo(found.elo), _likely(found.superiority)),),),
            ),
            Table(
                ("Games", "won", "shared", "lost", f"{_percent(even)} if even"),
                ((("all", f"{self.won:,}", f"{self.shared:,}", f"{self.lost:,}", _percent(found.share.value)),),),
            ),
            Table(("In seats", "share of wins, 95 %"), (seats,)),
        ]
        if self.pairs is not None:
            tables.append(
                Table(
                    ("Wins in both seats", "0", "½", "1", "1½", "2"), ((("deals", *(f"{n:,}" for n in self.pairs)),),)
                )
            )
        if self.sprt is not None:
            test = self.sprt
            verdict = "none yet" if test.accepted is None else f"{test.accepted:g} Elo"
            bounds = f"{test.lower:.2f} to {test.upper:.2f}"
            tables.append(
                Table(
                    ("Sequential test", "log likelihood ratio", "goes on from", "accepted"),
                    (((f"{test.elo0:g} or {test.elo1:g} Elo", f"{test.llr:.2f}", bounds, verdict),),),
                )
            )
        return [
            *tables,
            *self._rest((f"forfeited by {a}", self.forfeited[0]), (f"forfeited by {b}", self.forfeited[1])),
        ]


@dataclass(frozen=True)
class Standing:
    """What an agent of a tournament came to: its rating in Elo points around the mean of all, its games and its share.

    agent: its place in the list. share: of the wins, by deals; a truncated game counts 1 / players.
    """

    agent: int
    spec: str
    rating: Interval
    games: int
    share: Share


@dataclass(frozen=True, kw_only=True)
class TournamentResult(_Facts):
    """What `tournament` found. Timings are no part of it when results are compared.

    agents: specs as given. standings: by rating, the best first. superiority[i][j]: the likelihood that agent i is
    stronger than agent j. pairs[i][j]: with two seats, the strength of agent i against agent j, None for itself.
    forfeited: games that an agent lost by failing. The rest is as in MatchResult; deals are those of each table.
    """

    agents: tuple[str, ...]
    standings: tuple[Standing, ...]
    superiority: tuple[tuple[float, ...], ...]
    pairs: tuple[tuple[Strength | None, ...], ...] | None
    forfeited: int

    def heading(self) -> str:
        """Return what was played, in a line or two."""
        number = math.comb(len(self.agents), self.players)
        tables = "1 table" if number == 1 else f"{number:,} tables"
        return f"{len(self.agents)} agents, {tables}, every order of seats on each deal\n{self._played()}"

    def tables(self) -> list[Table]:
        """Return the tables for people: ratings, who beats whom, length and endings."""
        order = [found.agent for found in self.standings]
        rows = []
        for place, found in enumerate(self.standings):
            below = self.standings[place + 1].agent if place + 1 < len(order) else None
            sure = "-" if below is None else _likely(self.superiority[found.agent][below])
            name = f"{place + 1}  {found.spec}"
            rows.append((name, _elo(found.rating), f"{found.games:,}", _share(found.share), sure))
        tables = [Table(("Ratings", "Elo, 95 %", "games", "share of wins, 95 %", "stronger"), (tuple(rows),))]
        if self.pairs is not None:
            cells = [
                tuple("-" if (pair := self.pairs[i][j]) is None else f"{100 * pair.share.value:.1f}" for j in order)
                for i in order
            ]
            heads = [str(place + 1) for place in range(len(order))]
            tables.append(
                Table(
                    ("Wins against, %", *heads),
                    (
                        tuple(
                            (f"{place + 1}  {self.agents[i]}", *row) for place, (i, row) in enumerate(zip(order, cells))
                        ),
                    ),
                )
            )
        return [*tables, *self._rest(("forfeited", self.forfeited))]


class TournamentTally(_Tally):
    """A tournament so far, and its clock."""

    def __init__(self, plans: list[Plan], agents: tuple[Agent, ...], crew: Crew) -> None:
        super().__init__(plans[0], crew)
        self.plans, self.agents = plans, agents
        self.groups = list(itertools.combinations(range(len(agents)), plans[0].players))
        self.deals = 0
        self._wins = np.zeros((len(plans), self.plan.players), np.int64)  # by table and agent, in twelfths
        self._squares = self._wins.copy()  # over deals, of what an agent scored at a table
        self._products = np.zeros((len(agents), len(agents)), np.int64)  # over deals, of what two agents scored in all

    def add(self, block: list[Totals]) -> None:
        """Add the same deals of all tables."""
        orders = len(self.plan.orders)
        deals = block[0].games // orders
        scored = np.zeros((deals, len(self.agents)), np.int64)
        for table, (group, totals) in enumerate(zip(self.groups, block)):
            self.count(totals)
            shares = shares_of(self.plan, totals.records)
            sat = totals.records["agents"][:, : self.plan.players]
            for place, agent in enumerate(group):
                mine = np.where(sat == place, shares, 0).sum(axis=1).reshape(deals, orders).sum(axis=1)
                self._wins[table, place] += mine.sum()
                self._squares[table, place] += (mine * mine).sum()
                scored[:, agent] += mine
        self._products += scored.T @ scored
        self.deals += deals

    def result(self) -> TournamentResult:
        """Return the result of the deals so far: that of a tournament of just so many; there is one at least."""
        number, seats, orders = len(self.agents), self.plan.players, len(self.plan.orders)
        ratings, errors = rate(
            self.groups, self._wins / _TWELFTHS, self.deals * orders, self.deals, self._products / _TWELFTHS**2
        )
        at = math.comb(number - 1, seats - 1)  # tables that an agent sits at
        won = np.zeros(number, np.int64)
        np.add.at(won, np.array(self.groups), self._wins)
        standings = [
            Standing(
                agent=agent,
                spec=self.agents[agent].spec,
                rating=ratings[agent],
                games=self.deals * orders * at,
                share=Strength.of(
                    self.deals, int(won[agent]), int(self._products[agent, agent]), orders * at * _TWELFTHS
                ).share,
            )
            for agent in range(number)
        ]
        return TournamentResult(
            agents=tuple(agent.spec for agent in self.agents),
            deals=self.deals,
            standings=tuple(sorted(standings, key=lambda found: -found.rating.value)),
            superiority=tuple(tuple(0.5 * math.erfc(-z / math.sqrt(2)) for z in row) for row in errors),
            pairs=self._pairs() if seats == 2 else None,
            forfeited=self.forfeited,
            **self.facts(),
        )

    def _pairs(self) -> tuple[tuple[Strength | None, ...], ...]:
        found: list[list[Strength | None]] = [[None] * len(self.agents) for _ in self.agents]
        for group, wins, squares in zip(self.groups, self._wins.tolist(), self._squares.tolist()):
            for place in (0, 1):
                found[group[place]][group[1 - place]] = Strength.of(
                    self.deals, wins[place], squares[place], len(self.plan.orders) * _TWELFTHS
                )
        return tuple(map(tuple, found))


# --- For people ------------------------------------------------------------------------------------------------------


def _finite(value: Any) -> Any:
    """A JSON value with None for numbers that are infinite."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return list(map(_finite, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _share(share: Share) -> str:
    digits = min(4, max(1, math.ceil(-math.log10(50 * max(share.high - share.low, 1e-9)) + 0.3)))
    return "{} % [{}, {}]".format(*(f"{100 * bound:.{digits}f}" for bound in (share.value, share.low, share.high)))


def _elo(elo: Interval) -> str:
    bounds = [elo.value, elo.low, elo.high]
    texts = [f"{bound:+.1f}" if math.isfinite(bound) else "+∞" if bound > 0 else "-∞" for bound in bounds]
    return "{} [{}, {}]".format(*texts)


def _likely(likelihood: float) -> str:
    """A likelihood, of which nothing is ever sure."""
    return "> 99.9 %" if likelihood > 0.999 else "< 0.1 %" if likelihood < 0.001 else f"{100 * likelihood:.1f} %"


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
