"""Rule options against outcomes: a grid of cells, each a run under rules of its own, all on the same deals.

Game i of every cell has the same deal and the same random streams, so cells are compared game by game: the difference
from the first cell, the baseline, is known far better than from runs that have nothing in common. Only integer sums
are kept, however many games there are, and they do not depend on threads or sizes of blocks.
"""

import itertools
import json
import math
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from splendor_sim.core.counters import DEADLOCKED, TRUNCATED
from splendor_sim.core.rules import Rules
from splendor_sim.result import Result, Table
from splendor_sim.simulate import BLOCK, Crew, Pace, Plan, Totals, in_order, play_games, prepare
from splendor_sim.statistics import CONFIDENCE, Mean, Share

SCHEMA = 1  # of `Sweep.to_dict`: a new number whenever a key changes its meaning or goes

MOST_CELLS = 1000
RULE_TEXTS = ("official", "italian", "portuguese", "basque", "finnish")  # those printed, for --presets

_TWELFTHS = 12  # a win that 1, 2, 3 or 4 seats share is a whole number of them for each
_MISSING = -1  # an outcome that a game does not have; what it has is never negative
_LONGEST_LABEL = 24  # that still leaves room for the columns of a table
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


class SweepError(ValueError):
    """What is to be varied has a wrong type, names an option that there is not, or holds no value or one twice."""


def sweep(
    vary: Mapping[str, Iterable[Any]],
    games: int = 100_000,
    players: int = 2,
    agents: list[str] | None = None,
    seed: int = 1,
    rules: Any = "official",
    threads: int | None = None,
    rotate: bool = True,
    max_turns: int = 1000,
    progress: Callable[[int, int], None] | None = None,
) -> "Sweep":
    """Play every combination of rule options on the same deals and return the outcomes and how they differ.

    vary: values by rule option, or by "preset"; a whole number for gem_tokens or gold_tokens is for all numbers of
    seats. The cells are all combinations, the last option changing fastest, and the first of them is the baseline.
    rules: what the cells have in common. games: for each cell, as in what progress is told. The other arguments are
    those of `simulate`.
    Raises SweepError, RulesError, SimulationError, AgentError or SeedError before the first game.
    """
    if progress is not None and not callable(progress):
        raise SweepError(f"progress must be a function or None, not {progress!r}")
    grid = Grid.of(vary, games, players, agents, seed, rules, rotate, max_turns)
    crew = Crew.of(threads)
    prepare(grid.plans[0])
    tally = SweepTally(grid, crew)
    with closing(play_cells(grid, crew)) as blocks:
        for block in blocks:
            tally.add(block)
            if progress is not None:
                progress(tally.totals.games, tally.plan.games)
    return tally.result()


# --- What is to be played --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What is compared from game to game: a rate between 0 and 1, or else a mean; stored as so many parts of 1."""

    name: str
    is_rate: bool
    parts: int = 1


@dataclass(frozen=True)
class Grid:
    """All cells of a sweep: the values of the varied options, and a plan for each cell; the first is the baseline."""

    rules: Any  # what all cells have in common, as given, in plain JSON types
    vary: dict[str, list[Any]]
    cells: tuple[dict[str, Any], ...]  # the varied options of each cell
    plans: tuple[Plan, ...]

    @classmethod
    def of(
        cls,
        vary: Any,
        games: Any,
        players: Any,
        agents: Any,
        seed: Any,
        rules: Any,
        rotate: Any,
        max_turns: Any,
    ) -> "Grid":
        """Check the arguments of `sweep` and return them as plans."""
        values = _check_vary(vary)
        common = Plan.of(games, players, agents, seed, rules, rotate, max_turns, "summary").rules
        cells = tuple(
            dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())
        )
        plans = tuple(
            replace(
                Plan.of(games, players, agents, seed, _rules_of(rules, cell), rotate, max_turns, "summary"),
                records=True,
            )
            for cell in cells
        )
        return cls(common, values, cells, plans)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What is compared, in the order of the rows of `outcomes_of`."""
        plan = self.plans[0]
        every = range(plan.players)
        agents = every if len({agent.spec for agent in plan.agents}) > 1 else ()
        return (
            *(Outcome(f"seat_{seat}_win_share", True, _TWELFTHS) for seat in every),
            *(Outcome(f"agent_{agent}_win_share", True, _TWELFTHS) for agent in agents),
            Outcome("turns", False),
            Outcome("rounds", False),
            Outcome("winner_prestige", False),
            Outcome("shared_win", True),
            Outcome("deadlocked", True),
            Outcome("truncated", True),
        )

    def label(self, cell: int) -> str:
        """What sets a cell apart, in a few words."""
        return ", ".join(
            str(value) if option == "preset" else f"{option}={_in_words(value)}"
            for option, value in self.cells[cell].items()
        )


def _check_vary(vary: Any) -> dict[str, list[Any]]:
    if not isinstance(vary, Mapping) or not vary:
        raise SweepError(f"vary must be an object of rule options with their values, not {vary!r}")
    known = ("preset", *Rules.__dataclass_fields__)
    checked: dict[str, list[Any]] = {}
    cells = 1
    for option, given in vary.items():
        if option not in known:
            raise SweepError(f"{option!r} cannot be varied; the rule options are {', '.join(known)}")
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise SweepError(f"{option} must be varied over a list of values, not {given!r}")
        values: list[Any] = []
        for value in given:
            plain = _check_value(option, value)
            if plain in values:
                raise SweepError(f"{option} must take different values, not {_in_words(plain)} twice")
            values.append(plain)
        if not values:
            raise SweepError(f"{option} must be varied over one value at least, not none")
        checked[option] = values
        cells *= len(values)
    if cells > MOST_CELLS:
        raise SweepError(f"a sweep has up to {MOST_CELLS:,} cells, not {cells:,}")
    return checked


def _check_value(option: str, value: Any) -> Any:
    """A value of one option in plain JSON types; a number of tokens that holds for all numbers of seats is spread."""
    if option == "preset":
        if not isinstance(value, str):
            raise SweepError(f"preset must be varied over names of presets, not {value!r}")
        Rules.of(value)
        return value
    is_number = hasattr(value, "__index__") and not isinstance(value, bool)
    if option in ("gem_tokens", "gold_tokens") and is_number:
        value = [value] * 3
    return Rules.of({option: value}).to_dict()[option]


def _rules_of(rules: Any, cell: dict[str, Any]) -> Any:
    """The rules value of a cell: the common rules with its options over them."""
    if isinstance(rules, Rules):
        common = rules.to_dict()
        if "preset" in cell:
            raise SweepError("preset cannot be varied under rules that fix every option; name a preset or some options")
    else:
        common = {"preset": rules} if isinstance(rules, str) else dict(rules)
    merged = {**common, **cell}
    if merged.get("preset") == "official":
        del merged["preset"]
    return merged.pop("preset") if merged.keys() == {"preset"} else merged or "official"


def _in_words(value: Any) -> str:
    if isinstance(value, list):
        return str(value[0]) if len(set(value)) == 1 else json.dumps(value)
    return str(value)


# --- Blocks of games -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """The same games of every cell.

    totals: by cell. sums, differences: int64[3, outcomes] by cell: how many games have the outcome, its sum and its sum
    of squares, of the cell alone and of the cell less the baseline in games where both have it.
    """

    totals: list[Totals]
    sums: list[Any]
    differences: list[Any]

    @property
    def games(self) -> int:
        """Number of games of each cell."""
        return self.totals[0].games


def play_cells(grid: Grid, crew: Crew, stop: threading.Event | None = None) -> Generator[Block, None, None]:
    """Yield what happened in the games of all cells, block after block in their order, played by threads.

    Once `stop` is set, what has been finished without a gap follows within a second, and the blocks end.
    """
    pace = Pace(stop)
    with closing(in_order(_jobs(grid, crew, pace), crew, pace.stop)) as blocks:
        for block in blocks:
            if block is None:
                return
            yield block


def _jobs(grid: Grid, crew: Crew, pace: Pace) -> "Iterator[Callable[[], Block | None]]":
    games = grid.plans[0].games
    most = min(BLOCK, math.ceil(games / (4 * crew.threads)))
    first = 0
    while first < games:
        # As many games as a kernel plays between two looks at `stop`: those of slow agents are few.
        count = min(most, pace.games, games - first)
        yield partial(_play_block, grid, first, count, pace)
        first += count


def _play_block(grid: Grid, first: int, count: int, pace: Pace) -> Block | None:
    """Play some games of every cell; None if they were stopped before the end."""
    block = Block([], [], [])
    baseline: Any = None
    for plan in grid.plans:
        totals = play_games(plan, first, count, pace)
        if totals.games < count:
            return None
        values = outcomes_of(grid, totals.records)
        if baseline is None:
            baseline = values
        there = values != _MISSING
        both = there & (baseline != _MISSING)
        block.totals.append(totals)
        block.sums.append(_sums(values, there))
        block.differences.append(_sums(values - baseline, both))
        totals.records = None
    return block


def outcomes_of(grid: Grid, records: Any) -> Any:
    """Return what is compared as int64[outcomes, games], from RECORD_DTYPE[games]; -1 where a game lacks it."""
    plan = grid.plans[0]
    seats = np.arange(plan.players)
    won = (records["winners"][:, None] >> seats) & 1 != 0  # bool[games, seats]
    winners = won.sum(axis=1)
    shares = np.where(won, _TWELFTHS // np.maximum(winners, 1)[:, None], 0)  # [games, seats]
    rows = {f"seat_{seat}_win_share": shares[:, seat] for seat in seats}
    for agent in seats:
        sat = records["agents"][:, : plan.players] == agent
        rows[f"agent_{agent}_win_share"] = np.where(sat, shares, 0).sum(axis=1)
    turns = records["turns"].astype(np.int64)
    prestige = np.where(won, records["prestige"][:, : plan.players].astype(np.int64), _MISSING)
    rows.update(
        turns=turns,
        rounds=-(-turns // plan.players),
        winner_prestige=prestige.max(axis=1),
        shared_win=winners > 1,
        deadlocked=records["ending"] == DEADLOCKED,
        truncated=records["ending"] == TRUNCATED,
    )
    return np.array([rows[outcome.name] for outcome in grid.outcomes], np.int64)


def _sums(values: Any, there: Any) -> Any:
    counted = np.where(there, values, 0)
    return np.array([there.sum(axis=1), counted.sum(axis=1), (counted * counted).sum(axis=1)])


class SweepTally:
    """The sums of a sweep so far, and its clock."""

    def __init__(self, grid: Grid, crew: Crew) -> None:
        self.grid, self.crew, self.plan = grid, crew, grid.plans[0]
        self._totals = [Totals(plan) for plan in grid.plans]
        # Python's integers, which no square of a count of turns overflows.
        empty = np.zeros((len(grid.plans), 3, len(grid.outcomes)), object)
        self._sums, self._differences = empty, empty.copy()
        self._began = time.perf_counter()

    @property
    def totals(self) -> Totals:
        """The totals of the baseline so far."""
        return self._totals[0]

    def add(self, block: Block) -> None:
        """Add a block."""
        for totals, more in zip(self._totals, block.totals, strict=True):
            totals.add(more)
        self._sums += np.array(block.sums).astype(object)
        self._differences += np.array(block.differences).astype(object)

    def result(self) -> "Sweep":
        """Return the result of the games so far: that of a sweep of just so many games; there is one at least."""
        seconds = time.perf_counter() - self._began
        names = self.grid.outcomes
        cells = []
        for place, options in enumerate(self.grid.cells):
            cells.append(
                Cell(
                    label=self.grid.label(place),
                    options=options,
                    result=Result.of(self.grid.plans[place], self.crew, self._totals[place], seconds),
                    outcomes={
                        outcome.name: Estimate.of(outcome, *sums)
                        for outcome, sums in zip(names, self._sums[place].T.tolist(), strict=True)
                    },
                    differences=None
                    if place == 0
                    else {
                        outcome.name: Estimate.of_pairs(outcome, *sums)
                        for outcome, sums in zip(names, self._differences[place].T.tolist(), strict=True)
                    },
                )
            )
        return Sweep(self.grid.rules, self.grid.vary, names, tuple(cells), seconds, self.crew.threads, self.crew.notes)


# --- What comes out --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """A mean over games with its 95 % interval; the bounds are None where there are too few games for one."""

    games: int
    value: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, outcome: Outcome, games: int, total: int, squares: int) -> "Estimate | None":
        """Return the mean of an outcome from its sums; None without a game that has it.

        The interval of a rate is Wilson's, that of another mean Student's.
        """
        if outcome.is_rate:
            share = Share.of(total / outcome.parts, games)
            return None if share is None else cls(games, share.value, share.low, share.high)
        return cls._of_mean(games, total, squares)

    @classmethod
    def of_pairs(cls, outcome: Outcome, games: int, total: int, squares: int) -> "Estimate | None":
        """Return the mean of an outcome's differences within pairs from their sums; None without a pair.

        The interval of a difference of rates is the normal one after adding two pairs, one that differs by 1 and one
        by -1: it holds where few pairs or none differ. Bonett and Price, Adjusted Wald confidence interval for a
        difference of binomial proportions based on paired data (J. Educ. Behav. Stat. 37, 2012).
        """
        if not outcome.is_rate:
            return cls._of_mean(games, total, squares)
        if games == 0:
            return None
        number = games + 2
        centre = total / (outcome.parts * number)
        variance = (squares + 2 * outcome.parts**2) / (outcome.parts**2 * number) - centre**2
        spread = _Z * math.sqrt(variance / number)
        return cls(games, total / (outcome.parts * games), max(centre - spread, -1.0), min(centre + spread, 1.0))

    @classmethod
    def _of_mean(cls, games: int, total: int, squares: int) -> "Estimate | None":
        found = Mean.of(games, total, squares)
        return None if found.mean is None else cls(games, found.mean, found.low, found.high)


@dataclass(frozen=True)
class Cell:
    """What happened under one combination of rule options.

    options: those that were varied. outcomes: by name. differences: less the baseline's, from pairs of games with the
    same deal; None for the baseline itself.
    """

    label: str
    options: dict[str, Any]
    result: Result
    outcomes: dict[str, Estimate | None]
    differences: dict[str, Estimate | None] | None


@dataclass(frozen=True)
class Sweep:
    """What `sweep` found: a cell for every combination, the first of which is the baseline.

    Timings are no part of it when sweeps are compared. Every interval is a 95 % interval by itself: of twenty
    differences that are none in truth, about one has an interval without 0.
    """

    rules: Any
    vary: dict[str, list[Any]]
    outcomes: tuple[Outcome, ...]
    cells: tuple[Cell, ...]
    seconds: float = field(compare=False)
    threads: int = field(compare=False)
    notes: tuple[str, ...] = field(compare=False)

    @property
    def games(self) -> int:
        """Number of games of each cell."""
        return self.cells[0].result.games

    def rows(self) -> list[dict[str, Any]]:
        """Return a flat row for each cell and outcome, in plain types: the columns of a file or of a data frame."""
        rows = []
        for place, cell in enumerate(self.cells):
            options = {
                name: json.dumps(value) if isinstance(value, list) else value for name, value in cell.options.items()
            }
            for outcome in self.outcomes:
                found = cell.outcomes[outcome.name]
                less = None if cell.differences is None else cell.differences[outcome.name]
                rows.append(
                    {
                        "cell": place,
                        **options,
                        "outcome": outcome.name,
                        "games": 0 if found is None else found.games,
                        **_bounds(found),
                        **{f"difference{name}": bound for name, bound in zip(_ENDS, _bounds(less).values())},
                    }
                )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return everything but timings and threads in plain JSON types; equal for equal sweeps."""
        from splendor_sim import __version__

        run = self.cells[0].result
        return {
            "schema": SCHEMA,
            "version": __version__,
            "games": self.games,
            "players": run.players,
            "seed": run.seed,
            "agents": list(run.agents),
            "rotate": run.rotate,
            "max_turns": run.max_turns,
            "rules": json.loads(json.dumps(self.rules)),
            "vary": json.loads(json.dumps(self.vary)),
            "cells": [
                {
                    "options": json.loads(json.dumps(cell.options)),
                    "rules": json.loads(json.dumps(cell.result.rules)),
                    "rule_options": json.loads(json.dumps(cell.result.rule_options)),
                    "outcomes": {name: _plain(found) for name, found in cell.outcomes.items()},
                    "differences": None
                    if cell.differences is None
                    else {name: _plain(found) for name, found in cell.differences.items()},
                }
                for cell in self.cells
            ],
        }

    def __str__(self) -> str:
        """Return the heading and the tables as text."""
        return "\n\n".join([self.heading(), *map(str, self.tables()), self.pace()]) + "\n"

    def heading(self) -> str:
        """Return what was played, in a line or two."""
        run = self.cells[0].result
        plural = "" if self.games == 1 else "s"
        cells = "1 cell" if len(self.cells) == 1 else f"each of {len(self.cells):,} cells"
        agents = ", ".join(run.agents) + ("" if run.rotate else ", who keep their seats")
        return (
            f"{self.games:,} game{plural} of {run.players} seats for {cells}, on the same deals, seed {run.seed}\n"
            f"agents {agents}; differences are from {self.cells[0].label}, game by game"
        )

    def pace(self) -> str:
        """Return how fast it was, in a line."""
        games = self.games * len(self.cells)
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        seconds = f"{self.seconds:,.1f}" if self.seconds >= 10 else f"{self.seconds:.2g}"
        return f"{games:,} games in {seconds} s on {threads}"

    def tables(self) -> list[Table]:
        """Return the tables for people: wins, length, prestige of the winner, and endings.

        Where the labels of cells are long, a first table numbers them.
        """
        run = self.cells[0].result
        seats = [f"seat_{seat}_win_share" for seat in range(run.players)]
        others = [(f"seat {seat}", seats[seat], False) for seat in range(1, run.players)]
        tables = [self._table("Share of wins", [("seat 0, begins", seats[0], True), *others])]
        if self._are_numbered():
            options = [tuple(map(_in_words, cell.options.values())) for cell in self.cells]
            numbered = tuple((str(place), *values) for place, values in enumerate(options))
            tables.insert(0, Table(("Cells", *self.vary), (numbered,)))
        if any(outcome.name.startswith("agent_") for outcome in self.outcomes):
            for agent, spec in enumerate(run.agents):
                tables.append(
                    self._table("Share of wins", [(f"agent {agent}, {spec}", f"agent_{agent}_win_share", True)])
                )
        tables += [
            self._table("Length", [("turns", "turns", True), ("rounds", "rounds", False)]),
            self._table("At the end", [("winner's prestige", "winner_prestige", True)]),
            self._table("Endings", [("shared win", "shared_win", True), ("truncated", "truncated", False)]),
            self._table("Endings", [("deadlocked", "deadlocked", True)]),
        ]
        return tables

    def _are_numbered(self) -> bool:
        return max(len(cell.label) for cell in self.cells) > _LONGEST_LABEL

    def _table(self, name: str, columns: list[tuple[str, str, bool]]) -> Table:
        """A table with a row a cell; a column is (head, outcome, whether intervals and differences are shown)."""
        is_rate = {outcome.name: outcome.is_rate for outcome in self.outcomes}
        heads, texts = [name], [[cell.label for cell in self.cells]]
        if self._are_numbered():
            texts = [[f"cell {place}" for place in range(len(self.cells))]]
        for head, outcome, full in columns:
            found = [cell.outcomes[outcome] for cell in self.cells]
            heads.append(f"{head}, 95 %" if full else head)
            texts.append(_texts(found, is_rate[outcome], full))
            if full:
                heads.append("difference, 95 %")
                less = [None if cell.differences is None else cell.differences[outcome] for cell in self.cells]
                texts.append(_texts(less, is_rate[outcome], True, "+"))
        return Table(tuple(heads), (tuple(zip(*texts, strict=True)),))


_ENDS = ("", "_low", "_high")


def _bounds(found: Estimate | None) -> dict[str, float | None]:
    if found is None:
        return {"value": None, "low": None, "high": None}
    return {"value": found.value, "low": found.low, "high": found.high}


def _plain(found: Estimate | None) -> dict[str, Any] | None:
    return None if found is None else {"games": found.games, **_bounds(found)}


def _texts(column: list[Estimate | None], is_rate: bool, with_bounds: bool, sign: str = "") -> list[str]:
    """The estimates of a column, with so many digits that its widest interval can be seen."""
    scale, unit = (100, " %") if is_rate else (1, "")
    widths = [
        scale * (found.high - found.low) / 2
        for found in column
        if found is not None and found.low is not None and found.high is not None
    ]
    widest = max(widths, default=0)
    digits = min(6, max(1, math.ceil(0.9 - math.log10(widest)))) if widest > 0 else 2

    def text(found: Estimate | None) -> str:
        if found is None:
            return "-"
        value = f"{scale * found.value:{sign}z.{digits}f}{unit}"
        if not with_bounds or found.low is None or found.high is None:
            return value
        return f"{value} [{scale * found.low:{sign}z.{digits}f}, {scale * found.high:{sign}z.{digits}f}]"

    return list(map(text, column))
