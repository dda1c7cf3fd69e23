"""What a position is worth to each seat: the probability of a win, for the leaves of a tree search.

A conditional logit: the score of a seat is a sum over what can be counted of it, and the probabilities are the softmax
of the scores. What a count adds to the score is looked up by the stage of the game, so that it may bend as it likes at
no cost. All that lies in the state is looked at, reserved cards of every seat too: what a seat must not know is for
`determinize` to redraw. The weights are fitted to self-play by scripts/fit_evaluation.
"""

import functools
from collections.abc import Callable

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.cards import CARD_BONUS, CARD_GEMS, CARD_PRESTIGE, NOBLE_PRESTIGE, read_only
from splendor_sim.core.evaluation_weights import FITTED
from splendor_sim.core.jit import kernel, local, popcount
from splendor_sim.core.rules import TIE_BREAK
from splendor_sim.core.state import MAIN, PAYING
from splendor_sim.core.vectors import survey

VALUES_DTYPE = np.dtype((np.record, np.dtype([("value", "f4", (4,))])))  # by seat; sum 1, 0 for absent seats

# What is counted of a seat.
COUNTS_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("prestige", "i8"),  # in fifteenths of the target
                ("bought", "i8"),  # cards
                ("coloured", "i8"),  # tokens
                ("gold", "i8"),
                ("colours", "i8"),  # with at least two bonuses
                ("reserved", "i8"),  # cards
                ("missing", "i8", (5,)),  # by place in the row of nobles: bonuses missing for the noble
                # For these four see `survey` in vectors.py.
                ("at_once", "i8"),
                ("worth", "i8"),
                ("by_prestige", "i8"),
                ("cheap", "i8"),
                ("potential", "i8"),  # prestige after a purchase at once and the visit of a noble that waits
            ]
        ),
    )
)

STAGES = 16  # 15 at the beginning, 0 when a seat has reached the target


def _power(power: int, count: int) -> float:
    return float((count / 10) ** power)


def _is(value: int, count: int) -> float:
    return float(count == value)


def _powers(highest: int) -> list[Callable[[int], float]]:
    return [functools.partial(_power, power) for power in range(1, highest + 1)]


def _each(first: int, last: int) -> list[Callable[[int], float]]:
    return [functools.partial(_is, value) for value in range(first, last + 1)]


# By count: how many values of it are told apart, and the functions of it whose weighted sum it adds to the score.
BASES: dict[str, tuple[int, list[Callable[[int], float]]]] = {
    "prestige": (32, _powers(4)),
    "bought": (32, _powers(3)),
    "coloured": (24, _powers(2)),
    "gold": (8, _powers(2)),
    "colours": (6, _powers(2)),
    "reserved": (4, _each(1, 3)),
    "missing": (96, _each(0, 7)),
    "at_once": (6, _each(1, 5)),
    "worth": (9, _each(1, 8)),
}
LINEAR = ("by_prestige", "cheap")  # these two are weighted as they are, in hundredths
STAGE_POWERS = 3  # each weight is a polynomial in stage / 15, with so many coefficients

# What a seat's counts add to its score at one stage; absent seats hold 0.
SCORES_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [(name, "f4", (values,)) for name, (values, _) in BASES.items()]
            + [(name, "f4") for name in LINEAR]
            + [
                ("order", "f4", (4, 4)),  # [seat that moves next, seat]
                ("reaches", "f4", (4,)),  # the target, by `potential`; by the number of seats that move before
                # Once the target is reached, against the best of the others: difference in prestige, and being ahead.
                ("margin", "f4"),
                ("ahead", "f4"),
            ]
        ),
    )
)


def _scores() -> np.ndarray:
    scores = np.zeros((len(FITTED), STAGES), SCORES_DTYPE)
    for players, fitted in enumerate(FITTED, 2):
        for stage in range(STAGES):
            row = scores[players - 2, stage]
            powers = (stage / (STAGES - 1)) ** np.arange(STAGE_POWERS)
            for name, (values, functions) in BASES.items():
                weights = np.array(fitted[name]) @ powers
                basis = np.array([[function(value) for function in functions] for value in range(values)])
                row[name][:] = basis @ weights
            for name in LINEAR:
                row[name] = np.array(fitted[name]) @ powers / 100
            row["order"][:players, :players] = np.array(fitted["order"]) @ powers
            row["reaches"][:players] = fitted["reaches"]
            row["margin"], row["ahead"] = fitted["margin"], fitted["ahead"]
    return scores


SCORES = read_only(_scores())  # [players - 2, stage]

_TWO = np.uint64(2)
_SHARED = TIE_BREAK["shared"]
_USUAL_TARGET = 15
_LAST_VALUE = {name: values - 1 for name, (values, _) in BASES.items()}
_MOST_PRESTIGE, _MOST_BOUGHT = _LAST_VALUE["prestige"], _LAST_VALUE["bought"]
_MOST_COLOURED = _LAST_VALUE["coloured"]
STEP = 64  # of prestige in a standing; more than a seat can have cards
MARGIN = 6  # in prestige: more than that makes no difference
_STANDINGS_DTYPE = np.dtype((np.record, np.dtype([("score", "f4", (4,)), ("standing", "i8", (4,))])))

# By the target: what prestige is multiplied by to be in fifteenths of it, in 2**16 parts.
_FIFTEENTHS = read_only(np.array([0, *((_USUAL_TARGET << 16) // target + 1 for target in range(1, 256))]))

# The functions of share_out, by the difference of two scores in 2**-4 parts, from 0 on; linear between.
_REACH, _PARTS = 12, 16
_TABLE_END = np.float32(_REACH * _PARTS - 0.001)
_differences = np.arange(_REACH * _PARTS + 1) / _PARTS
_EXPONENTIAL = read_only(np.exp(-_differences).astype(np.float32))
_LOGISTIC = read_only((1 / (1 + np.exp(-_differences))).astype(np.float32))


@kernel(inline=False)
def evaluate(s, v):
    """Write each seat's share of the win to be expected in a state that is not over; v: a record of VALUES_DTYPE."""
    players = np.int64(s.players)
    mover = next_to_move(s, players)
    first = mover if mover < players else 0
    w = SCORES[players - 2, stage_of(s)]
    c, r = local(COUNTS_DTYPE), local(_STANDINGS_DTYPE)
    for seat in range(players):
        measure(s, seat, mover, c)
        after = seat - first
        if after < 0:
            after += players
        score = weigh(c, w) + w.order[first, seat]
        r.score[seat] = score + (w.reaches[after] if c.potential >= s.target_prestige else np.float32(0.0))
        r.standing[seat] = standing_of(s, c)
    if s.target_reached != 0:
        compare(w, players, r)
    share_out(r, players, v)


@kernel
def stage_of(s):
    """The stage (0-15): how far the foremost seat is from the target, in fifteenths of it."""
    most = max(max(s.prestige[0], s.prestige[1]), max(s.prestige[2], s.prestige[3]))
    left = max(np.int64(s.target_prestige) - np.int64(most), 0)
    return (left * _FIFTEENTHS[s.target_prestige]) >> 16


@kernel
def next_to_move(s, players):
    """The seat of the next main decision; `players` if the game ends with the turn that is under way."""
    mover = np.int64(s.to_move)
    if s.phase != MAIN:
        mover += 1
        if mover == players and s.target_reached == 0:
            mover = 0
    return mover


@kernel
def measure(s, seat, mover, c):
    """Count what is counted of a seat; c: a record of COUNTS_DTYPE."""
    tokens, bonuses = s.tokens[seat], s.bonuses[seat]
    prestige, bought = np.int64(s.prestige[seat]), np.int64(s.bought[seat])
    if s.phase == PAYING and seat == s.to_move:  # as if it were paid, in coloured tokens as far as they go
        card = np.int64(s.pending_card)
        due = gems.less(CARD_GEMS[card], bonuses)
        shortfall = gems.less(due, tokens & gems.COLOURED)
        tokens -= due - shortfall + gems.total(shortfall) * gems.ONE_GOLD
        bonuses += gems.one(CARD_BONUS[card])
        prestige += np.int64(CARD_PRESTIGE[card])
        bought += 1
    c.bought = min(bought, _MOST_BOUGHT)
    c.prestige = min((prestige * _FIFTEENTHS[s.target_prestige]) >> 16, _MOST_PRESTIGE)
    c.gold = np.int64(gems.gold(tokens))
    c.coloured = min(np.int64(gems.total(tokens & gems.COLOURED)), _MOST_COLOURED)
    c.colours = popcount(gems.colours_without_gold(bonuses, _TWO))
    c.reserved = np.int64(s.reserved_count[seat])
    for place in range(5):
        c.missing[place] = np.int64(gems.total(gems.less(s.noble_gems[place], bonuses)))
    c.at_once, c.worth, c.by_prestige, c.cheap = survey(s.cost_at, bonuses + tokens, bonuses, seat)
    c.potential = prestige
    if s.target_reached == 0 or seat >= mover:
        c.potential += c.at_once + NOBLE_PRESTIGE * ((np.int64(s.waiting) >> seat) & 1)


@kernel
def standing_of(s, c):
    """What the seat of the counts would be ranked by after a purchase at once, the more the better."""
    return c.potential * STEP if s.tie_break == _SHARED else c.potential * STEP - c.bought


@kernel
def weigh(c, w):
    """What a seat's counts add to its score; w: a record of SCORES_DTYPE."""
    # Summed in groups, so that no addition waits for all that go before.
    have = (w.prestige[c.prestige] + w.bought[c.bought]) + (w.coloured[c.coloured] + w.gold[c.gold])
    nobles = (w.missing[c.missing[0]] + w.missing[c.missing[1]]) + (w.missing[c.missing[2]] + w.missing[c.missing[3]])
    rest = (w.missing[c.missing[4]] + w.colours[c.colours]) + (w.at_once[c.at_once] + w.worth[c.worth])
    cards = np.float32(c.by_prestige) * w.by_prestige + np.float32(c.cheap) * w.cheap
    return (have + nobles) + (rest + (cards + w.reserved[c.reserved]))


@kernel(inline=False)
def compare(w, players, r):
    """Add to the scores, once the target is reached, how each seat stands against the best of the others."""
    for seat in range(players):
        lead = lead_of(r.standing, players, seat)
        limited = np.float32(min(max(lead, -MARGIN * STEP), MARGIN * STEP))
        r.score[seat] += w.margin * (limited * np.float32(1.0 / STEP))
        if lead != 0:
            r.score[seat] += w.ahead if lead > 0 else -w.ahead


@kernel
def lead_of(standings, players, seat):
    """A seat's standing less the best of the others'; standings: int64[4]."""
    best = -STEP
    for other in range(players):
        if other != seat:
            best = max(best, standings[other])
    return standings[seat] - best


@kernel
def share_out(r, players, v):
    """Write the softmax of the scores."""
    if players == 2:
        lead = r.score[0] - r.score[1]
        share = between(_LOGISTIC, abs(lead))
        if lead < np.float32(0.0):
            share = np.float32(1.0) - share
        v.value[0] = share
        v.value[1] = np.float32(1.0) - share
        v.value[2] = np.float32(0.0)
        v.value[3] = np.float32(0.0)
        return
    most = max(max(r.score[0], r.score[1]), r.score[2])
    if players == 4:
        most = max(most, r.score[3])
    a = between(_EXPONENTIAL, most - r.score[0])
    b = between(_EXPONENTIAL, most - r.score[1])
    c = between(_EXPONENTIAL, most - r.score[2])
    d = between(_EXPONENTIAL, most - r.score[3]) if players == 4 else np.float32(0.0)
    each = np.float32(1.0) / ((a + b) + (c + d))
    v.value[0] = a * each
    v.value[1] = b * each
    v.value[2] = c * each
    v.value[3] = d * each


@kernel
def between(table, difference):
    """The function of a table at a difference of scores (float32, at least 0), limited to the end of the table."""
    place = min(difference * np.float32(_PARTS), _TABLE_END)
    entry = np.int64(place)
    low = table[entry]
    return low + (place - np.float32(entry)) * (table[entry + 1] - low)
