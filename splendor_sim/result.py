"""What happened in the games of a run: by agent, by seat and in all, as numbers and as tables for people."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from splendor_sim.statistics import QUANTILES, Distribution, Moments, Share

if TYPE_CHECKING:
    from splendor_sim.balance import Balance
    from splendor_sim.simulate import Crew, Plan, Totals

SCHEMA = 1  # of `Result.to_dict`: a new number whenever a key changes its meaning or goes


@dataclass(frozen=True)
class Score:
    """What an agent, a seat, or an agent in a seat came to.

    win_share: of all its games, None if there are none; a win that k seats share counts 1/k, a truncated game as none.
    The moments are of what it had at the end of a game; `reserves` counts reserving, not the cards held.
    """

    games: int
    outright_wins: int
    shared_wins: int
    win_share: Share | None
    prestige: Moments
    cards: Moments
    nobles: Moments
    reserves: Moments

    @classmethod
    def of(cls, counts: Any, agents: Iterable[int], seats: Iterable[int]) -> "Score":
        """Return the score of some agents in some seats, from a record of core.counters.TOTALS_DTYPE."""
        places = np.ix_(list(agents), list(seats))

        def total(name: str) -> int:
            return int(counts[name][places].sum())

        games = total("played")
        wins = [int(number) for number in counts["wins"][places].sum(axis=(0, 1))]
        won = sum(number / sharers for sharers, number in enumerate(wins, 1))
        moments = (Moments.of(games, total(name), total(f"{name}_squared")) for name in _AT_THE_END)
        return cls(games, wins[0], sum(wins[1:]), Share.of(won, games), *moments)


_AT_THE_END = ("prestige", "cards", "nobles", "reserves")


@dataclass(frozen=True)
class Result:
    """What `simulate` found. Timings are no part of it when results are compared.

    games: number of games played. rules: as given; rule_options: every option by name. agents: one spec a seat, by
    index. by_agent, by_seat: one score each; by_agent_and_seat[agent][seat]. turns, rounds: the length of games; a
    round is one turn for every seat, and a started one counts. deadlocked: games that ended because nobody could move,
    ranked as usual. truncated: games stopped at max_turns, won by nobody. shared_wins: games with several winners.
    balance: cards, nobles, colours, decisions and more, with statistics "full"; else None.
    seconds, games_per_second, turns_per_second: of play, without compiling. notes: what was not done as asked.
    """

    games: int
    players: int
    seed: int
    rules: Any
    rule_options: dict[str, Any]
    agents: tuple[str, ...]
    rotate: bool
    max_turns: int
    statistics: str
    by_agent: tuple[Score, ...]
    by_seat: tuple[Score, ...]
    by_agent_and_seat: tuple[tuple[Score, ...], ...]
    turns: Distribution
    rounds: Distribution
    deadlocked: int
    truncated: int
    shared_wins: int
    balance: "Balance | None"
    seconds: float = field(compare=False)
    games_per_second: float = field(compare=False)
    turns_per_second: float = field(compare=False)
    threads: int = field(compare=False)
    notes: tuple[str, ...] = field(compare=False)

    @classmethod
    def of(cls, plan: "Plan", crew: "Crew", totals: "Totals", seconds: float) -> "Result":
        """Return the result of the games that were counted, one at least."""
        counts = totals.counts[0]
        every = range(plan.players)
        by_turns = totals.by_turns
        by_rounds = np.zeros(len(by_turns), np.int64)
        np.add.at(by_rounds, -(-np.arange(len(by_turns)) // plan.players), by_turns)
        wins = counts["wins"].sum(axis=(0, 1))
        return cls(
            games=int(counts["games"]),
            players=plan.players,
            seed=plan.seed,
            rules=plan.rules,
            rule_options=plan.options.to_dict(),
            agents=tuple(agent.spec for agent in plan.agents),
            rotate=plan.rotate,
            max_turns=plan.max_turns,
            statistics=plan.statistics,
            by_agent=tuple(Score.of(counts, [agent], every) for agent in every),
            by_seat=tuple(Score.of(counts, every, [seat]) for seat in every),
            by_agent_and_seat=tuple(tuple(Score.of(counts, [agent], [seat]) for seat in every) for agent in every),
            turns=Distribution.of(by_turns.tolist()),
            rounds=Distribution.of(by_rounds.tolist()),
            deadlocked=int(counts["deadlocked"]),
            truncated=int(counts["truncated"]),
            shared_wins=sum(int(wins[sharers - 1]) // sharers for sharers in range(2, plan.players + 1)),
            balance=_balance(plan, totals),
            seconds=seconds,
            games_per_second=int(counts["games"]) / seconds,
            turns_per_second=int(counts["turns"]) / seconds,
            threads=crew.threads,
            notes=crew.notes,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but timings and threads in plain JSON types; equal for equal runs.

        Agents and seats are lists by index. `schema` counts the changes of this layout.
        """
        from splendor_sim import __version__

        plain = {name: value for name, value in asdict(self).items() if name not in _TIMINGS}
        plain.update(turns=self.turns.to_dict(), rounds=self.rounds.to_dict())
        as_json = json.loads(json.dumps(plain))  # tuples become lists, and what came in with the rules is copied
        return {"schema": SCHEMA, "version": __version__, **as_json}

    def __str__(self) -> str:
        """Return the heading and the tables as text."""
        parts = [self.heading(), *map(str, self.tables())]
        if self.balance is not None:
            parts += [*map(str, self.balance.tables()), self.balance.correction]
        return "\n\n".join([*parts, self.pace()]) + "\n"

    def heading(self) -> str:
        """Return what was played, in a line or two."""
        rules = self.rules if isinstance(self.rules, str) else json.dumps(self.rules)
        plural = "" if self.games == 1 else "s"
        seats = f"agent a at seat (game + a) mod {self.players}" if self.rotate else "agent a at seat a in every game"
        return f"{self.games:,} game{plural} of {self.players} seats, seed {self.seed}, rules {rules}\n{seats}"

    def pace(self) -> str:
        """Return how fast it was, in a line."""
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        seconds = f"{self.seconds:,.1f}" if self.seconds >= 10 else f"{self.seconds:.2g}"
        return (
            f"{seconds} s on {threads}: {_rounded(self.games_per_second)} games/s, "
            f"{_rounded(self.turns_per_second)} turns/s"
        )

    def tables(self) -> "list[Table]":
        """Return the tables for people: wins, what was had at the end, and the length of games."""
        every = range(self.players)
        wide = max(map(len, self.agents))
        agents = [(f"agent {a}  {self.agents[a]:{wide}}", self.by_agent[a]) for a in every]
        seats = [(f"seat {s}" + "  begins" * (s == 0), self.by_seat[s]) for s in every]
        groups = [agents]
        if self.rotate:
            groups.append(seats)
        if self.rotate and len(set(self.agents)) > 1:
            groups += [[(f"agent {a} at seat {s}", self.by_agent_and_seat[a][s]) for s in every] for a in every]
        return [
            Table(
                ("Wins", "games", "outright", "shared", "share of wins, 95 %"),
                tuple(tuple((name, *_wins(score)) for name, score in group) for group in groups),
            ),
            Table(
                ("At the end, mean ± sd", "prestige", "cards bought", "nobles", "reserved"),
                tuple(tuple((name, *_holdings(score)) for name, score in group) for group in groups),
            ),
            Table(
                ("Length", "mean ± sd", "min", *(f"{percent} %" for percent in QUANTILES), "max"),
                ((("turns", *_spread(self.turns)), ("rounds", *_spread(self.rounds))),),
            ),
            Table(
                ("Endings", "games", "of all"),
                (
                    (
                        ("shared win", *self._part(self.shared_wins)),
                        ("deadlocked", *self._part(self.deadlocked)),
                        (f"truncated after {self.max_turns:,} turns", *self._part(self.truncated)),
                    ),
                ),
            ),
        ]

    def _part(self, number: int) -> tuple[str, str]:
        return f"{number:,}", _percent(number / self.games)


def _balance(plan: "Plan", totals: "Totals") -> "Balance | None":
    if totals.balance is None:
        return None
    from splendor_sim.balance import Balance  # loaded by those alone who ask for it; it builds on Table

    return Balance.of(plan, totals)


_TIMINGS = {name for name, attribute in Result.__dataclass_fields__.items() if not attribute.compare}


# --- For people ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A table of texts: heads of columns, and rows in groups; the first column names the rows, its head the table."""

    columns: tuple[str, ...]
    groups: tuple[tuple[tuple[str, ...], ...], ...]

    def __str__(self) -> str:
        """Return the table as lines of text, its columns aligned."""
        rows = [self.columns, *(row for group in self.groups for row in group)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

        def line(row: tuple[str, ...]) -> str:
            cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
            return "   ".join([f"{row[0]:{widths[0]}}", *cells]).rstrip()

        return f"{line(self.columns)}\n" + "\n\n".join("\n".join(map(line, group)) for group in self.groups)


def _wins(score: Score) -> tuple[str, ...]:
    if score.win_share is None:
        return f"{score.games:,}", "-", "-", "-"
    share = score.win_share
    # So many digits that the interval can be seen.
    digits = min(6, max(1, math.ceil(-math.log10(50 * (share.high - share.low)) + 0.3)))
    value, low, high = (f"{100 * bound:.{digits}f}" for bound in (share.value, share.low, share.high))
    return (
        f"{score.games:,}",
        f"{100 * score.outright_wins / score.games:.{digits}f} %",
        _percent(score.shared_wins / score.games),
        f"{value} % [{low}, {high}]",
    )


def _holdings(score: Score) -> tuple[str, ...]:
    return tuple(_mean_and_sd(getattr(score, name)) for name in _AT_THE_END)


def _mean_and_sd(of: Moments | Distribution) -> str:
    if of.mean is None:
        return "-"
    return f"{of.mean:.2f}" if of.sd is None else f"{of.mean:.2f} ± {of.sd:.2f}"


def _spread(lengths: Distribution) -> tuple[str, ...]:
    values = (lengths.min, *(value for _, value in lengths.quantiles), lengths.max)
    return _mean_and_sd(lengths), *(f"{value:,}" for value in values)


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _rounded(rate: float) -> str:
    """A rate to three digits."""
    return f"{float(f'{rate:.3g}'):,.0f}" if rate >= 100 else f"{rate:.3g}"
