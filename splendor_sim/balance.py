"""What the balance counters say: seats, agents, cards, nobles, colours, decisions and prestige, with their intervals.

Every number follows from integers that were counted over all games (core/balance.py), so none depends on threads.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.actions import (
    ACTION_COUNT,
    BUY,
    BUY_RESERVED,
    GOLD_FOR,
    NOBLE,
    PASS,
    PAY,
    RESERVE,
    RESERVE_DECK,
    RETURN,
    TAKE_GEMS,
    TAKE_ONE,
    TAKE_PAIR,
    TAKE_THREE,
    TAKE_TWO,
)
from splendor_sim.core.balance import STAGES, TURNS, TWELFTHS
from splendor_sim.core.cards import (
    CARD_BONUS,
    CARD_COST,
    CARD_COUNT,
    CARD_LEVEL,
    CARD_PRESTIGE,
    NOBLE_COST,
    NOBLE_COUNT,
    NOBLE_PRESTIGE,
    card_name,
    gem_counts,
)
from splendor_sim.result import Table
from splendor_sim.statistics import ChiSquare, Lift, Mean, Share, seat_effect

if TYPE_CHECKING:
    from splendor_sim.simulate import Plan, Totals

# Kinds of decisions, each with its first id; it ends where the next begins. Those before "return" are main decisions.
KINDS = {
    "take three": TAKE_THREE,
    "take two different": TAKE_PAIR,
    "take one": TAKE_ONE,
    "take two alike": TAKE_TWO,
    "reserve open": RESERVE,
    "reserve blind": RESERVE_DECK,
    "buy from board": BUY,
    "buy from hand": BUY_RESERVED,
    "pass": PASS,
    "return": RETURN,
    "choose noble": NOBLE,
    "gold for colour": GOLD_FOR,
    "pay": PAY,
}
_SHOWN = 10  # cards at either end that are shown to people


@dataclass(frozen=True)
class Standing:
    """What a seat or an agent came to: its win share, and what it had and did by the end of a game.

    name: "agent 0  greedy" or "seat 0  begins". win_share: as in `Result`. turns: of its own. tokens_held: at the end,
    gold with them. gold_paid: for cards.
    """

    name: str
    games: int
    win_share: Share | None
    prestige: Mean
    turns: Mean
    tokens_held: Mean
    tokens_returned: Mean
    gold_paid: Mean


@dataclass(frozen=True)
class CardRow:
    """What became of a card in all games.

    card: id 0-89. level: 1-3. bonus: letter of its colour. cost: white, blue, green, red, black. dealt: games in which
    it came up, on the board or from a deck into a hand. won: wins of the seats that had bought it, a win shared by k
    seats as 1/k. round: of its purchase, (turns of all seats finished before) / players + 1: a purchase of seat s in
    round r counts as r + s / players. lift: the win share of who bought it against what the same agents in the same
    seats win anyway; None if nobody bought it. lift_over_level: the same against what they win with the cards of its
    level that they buy, without a test.

    A lift is no cause: who wins buys more cards, and dearer ones, so that most cards have a lift.
    """

    card: int
    level: int
    bonus: str
    prestige: int
    cost: tuple[int, ...]
    dealt: int
    reserved_open: int
    reserved_blind: int
    bought: int
    won: float
    round: Mean
    lift: Lift | None
    lift_over_level: float | None


@dataclass(frozen=True)
class NobleRow:
    """What became of a noble in all games.

    noble: id 0-9. requires: bonuses, white, blue, green, red, black. shown: games that it was laid out in. visited:
    games in which it visited a seat. won, round, lift: of the seats that it visited, as for cards.
    """

    noble: int
    requires: tuple[int, ...]
    shown: int
    visited: int
    won: float
    round: Mean
    lift: Lift | None


@dataclass(frozen=True)
class ColourRow:
    """What became of the tokens and bonuses of a colour.

    colour: letter. taken: tokens taken, without the gold that comes with reserving, so None for gold. returned: tokens
    returned. scarcity: share of the turns that began with no such token in the bank. bonuses: mean of a seat at the
    end; bonuses_of_winner: mean of a winner, None if nobody won. Both None for gold.
    """

    colour: str
    taken: int | None
    returned: int
    scarcity: float
    bonuses: float | None
    bonuses_of_winner: float | None


@dataclass(frozen=True)
class DecisionRow:
    """How often a kind of decision was made in each stage of the game, told by the cards that its seat had bought.

    kind: one of KINDS; of nobles only a choice among several is a decision. counts: by stage. per_turn: by stage,
    counts over the turns begun in that stage; None where there were none. by_agent: counts [agent][stage]. Returns and
    nobles follow a turn's purchase, so they may fall in the next stage.
    """

    kind: str
    counts: tuple[int, ...]
    per_turn: tuple[float | None, ...]
    by_agent: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class WinnerPrestige:
    """Where the prestige of winners came from: its mean, and the shares of cards by level and of nobles, 1 together.

    All None if nobody won, the shares None too if winners had no prestige.
    """

    mean: float | None
    level_1: float | None
    level_2: float | None
    level_3: float | None
    nobles: float | None


@dataclass(frozen=True)
class Balance:
    """What `simulate(..., statistics="full")` found beside the summary.

    seats, agents: by index. seat_effect, agent_effect: whether win shares differ more than by chance; without rotation
    an agent and its seat cannot be told apart. cards: 90, nobles: 10, by id. colours: w u g r k j. stages: names of the
    stages of the game, by the cards that the seat had bought. decisions: by kind, in the order of the rules.
    prestige_by_round: mean prestige of a seat after so many rounds, from 0; finished games keep theirs.
    games_by_rounds: games by the number of rounds begun, from 0; the last entry of both stands for all later rounds
    if there are more than are told apart. correction: what the p values of lifts are corrected for.
    """

    games: int
    deadlocked: int
    truncated: int
    seats: tuple[Standing, ...]
    agents: tuple[Standing, ...]
    seat_effect: ChiSquare | None
    agent_effect: ChiSquare | None
    cards: tuple[CardRow, ...]
    nobles: tuple[NobleRow, ...]
    colours: tuple[ColourRow, ...]
    stages: tuple[str, ...]
    decisions: tuple[DecisionRow, ...]
    winner_prestige: WinnerPrestige
    prestige_by_round: tuple[float, ...]
    games_by_rounds: tuple[int, ...]
    correction: str

    @classmethod
    def of(cls, plan: "Plan", totals: "Totals") -> "Balance":
        """Return the balance of the games that were counted, one at least."""
        counts, balance = totals.counts[0], totals.balance[0]
        every = range(plan.players)
        games, truncated = int(counts["games"]), int(counts["truncated"])
        wins = _wins(counts)
        rounds = -(-min(len(totals.by_turns) - 1, TURNS) // plan.players)
        return cls(
            games=games,
            deadlocked=int(counts["deadlocked"]),
            truncated=truncated,
            seats=tuple(_standing(_seat_name(seat), counts, balance, every, [seat]) for seat in every),
            agents=tuple(_standing(f"agent {a}  {plan.agents[a].spec}", counts, balance, [a], every) for a in every),
            seat_effect=seat_effect((wins.sum(axis=0)[: plan.players] / TWELFTHS).tolist()),
            agent_effect=seat_effect((wins.sum(axis=1)[: plan.players] / TWELFTHS).tolist()),
            cards=_cards(plan, counts, balance),
            nobles=_nobles(plan, counts, balance),
            colours=_colours(plan, balance, games, games - truncated),
            stages=STAGES,
            decisions=_decisions(plan, balance),
            winner_prestige=_winner_prestige(balance, games - truncated),
            prestige_by_round=tuple(
                int(balance["gained"][: done * plan.players].sum()) / (games * plan.players)
                for done in range(rounds + 1)
            ),
            games_by_rounds=_games_by_rounds(totals.by_turns, plan.players, rounds),
            correction=(
                f"p, Holm: corrected for comparing {CARD_COUNT} cards, and {NOBLE_COUNT} nobles, at once; * below 5 %"
            ),
        )

    def tables(self) -> list[Table]:
        """Return the tables for people: of the cards those with the highest and with the lowest lifts."""
        return [
            Table(("Are all win shares equal?", "chi-square", "df", "p"), (self._effects(),)),
            Table(
                ("By the end of a game", "mean ± sd", "95 %"),
                tuple(
                    tuple((f"{said}  {row.name}", *_mean(getattr(row, name))) for row in rows)
                    for name, said in _MEANS.items()
                    for rows in (self.agents, self.seats)
                ),
            ),
            Table(
                ("Cards, by lift", "dealt", "bought", "round", "won", *_LIFT_HEADS),
                tuple(tuple(map(self._card, group)) for group in _ends(self.cards)),
            ),
            Table(
                ("Nobles", "laid out", "visited", "round", "won", *_LIFT_HEADS),
                (tuple(map(self._noble, sorted(self.nobles, key=_lift, reverse=True))),),
            ),
            Table(
                ("Colours", "taken a game", "returned a game", "turns without", "bonuses", "of winners"),
                (tuple(map(self._colour, self.colours)),),
            ),
            Table(
                ("Decisions a turn", *self.stages),
                tuple(
                    tuple(
                        (row.kind, *map(_percent, row.per_turn))
                        for row in self.decisions
                        if (row.kind in _MAIN) is main
                    )
                    for main in (True, False)
                ),
            ),
            Table(
                ("Prestige of winners", "mean", "level 1", "level 2", "level 3", "nobles"),
                ((("from", *self._winner()),),),
            ),
            Table(*self._rounds()),
        ]

    def _effects(self) -> tuple[tuple[str, ...], ...]:
        found = (("seats", self.seat_effect), ("agents", self.agent_effect))
        return tuple((name, *_effect(effect)) for name, effect in found)

    def _card(self, row: CardRow) -> tuple[str, ...]:
        name = card_name(row.card)
        parts = (_percent(number / self.games) for number in (row.dealt, row.bought))
        return name, *parts, _round_cell(row.round), *_lift_cells(row.lift)

    def _noble(self, row: NobleRow) -> tuple[str, ...]:
        parts = (_percent(number / self.games) for number in (row.shown, row.visited))
        return f"{row.noble:2} {gem_counts(row.requires)}", *parts, _round_cell(row.round), *_lift_cells(row.lift)

    def _colour(self, row: ColourRow) -> tuple[str, ...]:
        taken = None if row.taken is None else row.taken / self.games
        parts = _number(taken), _number(row.returned / self.games), _percent(row.scarcity)
        return (
            gems.COLOUR_NAMES[gems.COLOURS.index(row.colour)],
            *parts,
            *map(_number, (row.bonuses, row.bonuses_of_winner)),
        )

    def _winner(self) -> tuple[str, ...]:
        of = self.winner_prestige
        return _number(of.mean), *map(_percent, (of.level_1, of.level_2, of.level_3, of.nobles))

    def _rounds(self) -> tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], ...], ...]]:
        last = len(self.prestige_by_round) - 1
        told = sorted({round(last * part / 8) for part in range(1, 9)})
        values = (f"{self.prestige_by_round[done]:.2f}" for done in told)
        return ("Rounds", *map(str, told)), ((("mean prestige of a seat", *values),),)


# --- From the counters -----------------------------------------------------------------------------------------------


def _wins(counts: Any) -> Any:
    """Twelfths of wins, int64[agent, seat]."""
    return counts["wins"] @ (TWELFTHS // np.arange(1, 5))


def _seat_name(seat: int) -> str:
    return f"seat {seat}" + "  begins" * (seat == 0)


def _standing(name: str, counts: Any, balance: Any, agents: Iterable[int], seats: Iterable[int]) -> Standing:
    places = np.ix_(list(agents), list(seats))
    games = int(counts["played"][places].sum())

    def mean(source: Any, field: str) -> Mean:
        return Mean.of(games, int(source[field][places].sum()), int(source[f"{field}_squared"][places].sum()))

    return Standing(
        name,
        games,
        Share.of(int(_wins(counts)[places].sum()) / TWELFTHS, games),
        mean(counts, "prestige"),
        *(mean(balance, field) for field in ("turns", "held", "returned", "gold_paid")),
    )


def _cards(plan: "Plan", counts: Any, balance: Any) -> tuple[CardRow, ...]:
    bought, won = balance["card_bought"], balance["card_won"]
    by_level = [level == CARD_LEVEL for level in (1, 2, 3)]
    level_rates = [_rates(won[..., cards].sum(axis=-1), bought[..., cards].sum(axis=-1)) for cards in by_level]
    totals = bought.sum(axis=(0, 1))
    rows = []
    for card, lift in enumerate(_lifts(counts, won, bought)):
        number = int(totals[card])
        over_level = (
            None if lift is None else lift.share.value - _base(bought[..., card], level_rates[CARD_LEVEL[card] - 1])
        )
        rows.append(
            CardRow(
                card=card,
                level=int(CARD_LEVEL[card]),
                bonus=gems.COLOURS[CARD_BONUS[card]],
                prestige=int(CARD_PRESTIGE[card]),
                cost=tuple(CARD_COST[card].tolist()),
                dealt=number + int(balance["card_left_on_board"][card] + balance["card_left_in_hand"][card]),
                reserved_open=int(balance["card_reserved_open"][card]),
                reserved_blind=int(balance["card_reserved_blind"][card]),
                bought=number,
                won=int(won[..., card].sum()) / TWELFTHS,
                round=_round(plan, number, balance, "card_turn", card),
                lift=lift,
                lift_over_level=over_level,
            )
        )
    return tuple(rows)


def _nobles(plan: "Plan", counts: Any, balance: Any) -> tuple[NobleRow, ...]:
    visited, won = balance["noble_visited"], balance["noble_won"]
    totals = visited.sum(axis=(0, 1))
    return tuple(
        NobleRow(
            noble=noble,
            requires=tuple(NOBLE_COST[noble].tolist()),
            shown=int(totals[noble] + balance["noble_left"][noble]),
            visited=int(totals[noble]),
            won=int(won[..., noble].sum()) / TWELFTHS,
            round=_round(plan, int(totals[noble]), balance, "noble_turn", noble),
            lift=lift,
        )
        for noble, lift in enumerate(_lifts(counts, won, visited))
    )


def _round(plan: "Plan", number: int, balance: Any, field: str, place: int) -> Mean:
    return Mean.of(number, int(balance[field][place]), int(balance[f"{field}_squared"][place]), plan.players, 1)


def _lifts(counts: Any, won: Any, got: Any) -> list[Lift | None]:
    """The lifts of all cards or nobles; won: twelfths, got: games, both int64[agent, seat, what].

    In a game a card or noble comes to one seat at most, so the games of each are independent trials. The base is the
    win share of each agent in each seat, weighted by how often it got the card: so a card that the better agent gets
    more often is not called better for that.
    """
    rates = _rates(_wins(counts), counts["played"])
    return Lift.family(
        [
            (int(won[..., what].sum()) / TWELFTHS, int(got[..., what].sum()), _base(got[..., what], rates))
            for what in range(got.shape[-1])
        ]
    )


def _rates(twelfths: Any, number: Any) -> Any:
    """Win shares by agent and seat, 0 where there is nothing to win."""
    return twelfths / (TWELFTHS * np.maximum(number, 1))


def _base(number: Any, rates: Any) -> float:
    """The mean of rates by agent and seat, weighted by numbers; between 0 and 1, whatever rounding does."""
    return min(1.0, float((number * rates).sum()) / max(1, int(number.sum())))


def _colours(plan: "Plan", balance: Any, games: int, decided: int) -> tuple[ColourRow, ...]:
    decisions = balance["decisions"].sum(axis=(0, 1))
    taken = decisions[: len(TAKE_GEMS)] @ np.array([gems.unpack(take) for take in TAKE_GEMS])
    turns = balance["bank_colours"]
    bought, won = (balance[field].sum(axis=(0, 1)) for field in ("card_bought", "card_won"))
    rows = []
    for colour, letter in enumerate(gems.COLOURS):
        without = turns[(np.arange(len(turns)) >> colour & 1) == 0]
        coloured = colour != gems.GOLD
        mine = colour == CARD_BONUS
        rows.append(
            ColourRow(
                colour=letter,
                taken=int(taken[colour]) if coloured else None,
                returned=int(decisions[RETURN + colour]),
                scarcity=int(without.sum()) / int(turns.sum()),
                bonuses=int(bought[mine].sum()) / (games * plan.players) if coloured else None,
                bonuses_of_winner=int(won[mine].sum()) / (TWELFTHS * decided) if coloured and decided else None,
            )
        )
    return tuple(rows)


def _decisions(plan: "Plan", balance: Any) -> tuple[DecisionRow, ...]:
    counts = balance["decisions"][: plan.players]
    turns = counts[..., :RETURN].sum(axis=(0, 2)).tolist()
    bounds = [*KINDS.values(), ACTION_COUNT]
    rows = []
    for kind, first, end in zip(KINDS, bounds, bounds[1:], strict=False):
        by_agent = counts[..., first:end].sum(axis=2)
        by_stage = by_agent.sum(axis=0).tolist()
        per_turn = tuple(count / number if number else None for count, number in zip(by_stage, turns, strict=True))
        rows.append(DecisionRow(kind, tuple(by_stage), per_turn, tuple(map(tuple, by_agent.tolist()))))
    return tuple(rows)


def _winner_prestige(balance: Any, decided: int) -> WinnerPrestige:
    won = balance["card_won"].sum(axis=(0, 1)) * CARD_PRESTIGE
    parts = [int(won[level == CARD_LEVEL].sum()) for level in (1, 2, 3)]
    parts.append(int(balance["noble_won"].sum()) * NOBLE_PRESTIGE)
    total = sum(parts)
    mean = total / (TWELFTHS * decided) if decided else None
    return WinnerPrestige(mean, *(part / total if total else None for part in parts))


def _games_by_rounds(by_turns: Any, players: int, last: int) -> tuple[int, ...]:
    games = np.zeros(last + 1, np.int64)
    np.add.at(games, np.minimum(-(-np.arange(len(by_turns)) // players), last), by_turns)
    return tuple(games.tolist())


# --- For people ------------------------------------------------------------------------------------------------------

_MEANS = {
    "prestige": "prestige",
    "turns": "turns",
    "tokens_held": "tokens held",
    "tokens_returned": "returned",
    "gold_paid": "gold paid",
}
_MAIN = [kind for kind, first in KINDS.items() if first < RETURN]
_LIFT_HEADS = ("lift, 95 %", "p, Holm")


def _ends(cards: Sequence[CardRow]) -> tuple[Sequence[CardRow], Sequence[CardRow]]:
    """The cards with the highest and the lowest lifts among those that were bought, best first."""
    ranked = sorted((row for row in cards if row.lift is not None), key=_lift, reverse=True)
    shown = min(_SHOWN, len(ranked) // 2)
    return ranked[:shown], ranked[len(ranked) - shown :]


def _lift(row: CardRow | NobleRow) -> float:
    return -1.0 if row.lift is None else row.lift.value


def _effect(effect: ChiSquare | None) -> tuple[str, ...]:
    return ("-", "-", "-") if effect is None else (f"{effect.statistic:.2f}", str(effect.degrees), _p(effect.p))


def _mean(of: Mean) -> tuple[str, str]:
    if of.mean is None or of.sd is None:
        return _number(of.mean), "-"
    return f"{of.mean:.2f} ± {of.sd:.2f}", f"[{of.low:.3f}, {of.high:.3f}]"


def _lift_cells(lift: Lift | None) -> tuple[str, ...]:
    if lift is None:
        return "-", "-", "-"
    low, value, high = (f"{100 * bound:+.1f}" for bound in (lift.low, lift.value, lift.high))
    return _percent(lift.share.value), f"{value} [{low}, {high}]", _p(lift.p_holm) + ("*" if lift.differs else " ")


def _round_cell(of: Mean) -> str:
    return "-" if of.mean is None else f"{of.mean:.1f}"


def _p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
