"""Kernels that choose a decision: random, greedy, guide and heuristic (which has its own file).

A policy is a pure function of (state, random word).
"""

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.actions import (
    BUY,
    GOLD_FOR,
    NOBLE,
    PASS,
    PAY,
    RESERVE,
    RETURN,
    SLOTS,
    TAKE_GEMS,
    TAKE_TWO,
)
from splendor_sim.core.cards import CARD_BONUS, CARD_GEMS, CARD_PRESTIGE, NO_CARD, NO_NOBLE
from splendor_sim.core.engine import (
    legal,
    legal_buys,
    legal_payments,
    legal_reserves,
    legal_takes,
    level_of,
    place_of,
    qualifying,
)
from splendor_sim.core.heuristic import choose_heuristic
from splendor_sim.core.jit import kernel, nth_bit, popcount
from splendor_sim.core.rng import below
from splendor_sim.core.state import CHOOSING_NOBLE, MAIN, PAYING

RANDOM, GREEDY, GUIDE, HEURISTIC = 0, 1, 2, 3
POLICIES = {"random": RANDOM, "greedy": GREEDY, "guide": GUIDE, "heuristic": HEURISTIC}

# The guide's stages, each numbered as the level (0-2) that it looks for.
BROAD, VARIED, GRAND = 0, 1, 2

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_WORD_BITS = 64
_DIFFERENT = np.uint64((1 << TAKE_TWO) - 1)  # takes of different colours
_LOW_HALF = np.uint64(0xFFFF_FFFF)


@kernel
def choose(policy, s, word):
    """The decision (id) of a policy in a state that is not over, with `word` (uint64) as its only randomness."""
    if policy == HEURISTIC:
        return choose_heuristic(s)
    if policy == GREEDY:
        return choose_greedy(s)
    if policy == GUIDE:
        return choose_guide(s)
    return choose_random(s, word)


@kernel
def choose_noisily(policy, epsilon, s, word):
    """As `choose`, but with probability epsilon / 2**32 (uint64, below 2**32) uniform among the legal ids.

    The low half of the word says whether, the high half which: `below` looks at no other bits.
    """
    if (word & _LOW_HALF) < epsilon:
        return choose_random(s, word)
    return choose(policy, s, word)


@kernel
def choose_random(s, word):
    """Uniform among the legal ids of the moment."""
    low, high = legal(s)
    below_64 = np.uint64(popcount(low))
    n = below(word, below_64 + np.uint64(popcount(high)))
    if n < below_64:
        return nth_bit(low, n)
    return _WORD_BITS + nth_bit(high, n - below_64)


@kernel(inline=False)
def choose_greedy(s):
    """Buy the most prestige, else the cheapest card, else move toward the nearest card; ties by the lowest id."""
    seat = np.int64(s.to_move)
    if s.phase == MAIN:
        buys = legal_buys(s, seat)
        if buys != _ZERO:
            return BUY + dearest(s, seat, buys)
        return move_toward(s, seat, nearest(s, seat), legal_takes(s))
    return small_decision(s, seat, nearest(s, seat))


@kernel(inline=False)
def choose_guide(s):
    """Go by stages, as rule texts advise: cheap cards for a broad base, then level 2, then level 3 and nobles.

    With up to 5 bonuses gather different tokens and buy cheap cards; with 6 to 8 look for level 2 and bonuses of all
    colours, and begin to look at the nobles; from 9 on for level 3 and nobles. Ties by the lowest id.
    """
    seat = np.int64(s.to_move)
    stage = stage_of(s, seat)
    if s.phase == MAIN:
        buy = most_wanted(s, seat, stage, legal_buys(s, seat))
        if buy >= 0:
            return BUY + buy
        takes = legal_takes(s)
        if stage == BROAD and takes & _DIFFERENT != _ZERO:
            takes &= _DIFFERENT
        return move_toward(s, seat, aim(s, seat, stage), takes)
    return small_decision(s, seat, aim(s, seat, stage))


@kernel
def small_decision(s, seat, target):
    """Outside phase main: the first noble, gold only where it must be, and return what the target needs least."""
    if s.phase == CHOOSING_NOBLE:
        return NOBLE + nth_bit(qualifying(s, seat), _ZERO)
    if s.phase == PAYING:
        choices = legal_payments(s, seat)
        if choices >> np.uint64(PAY - GOLD_FOR) != _ZERO:
            return PAY
        return GOLD_FOR + nth_bit(choices, _ZERO)
    return RETURN + least_needed(s, seat, target)


@kernel
def choice_card(s, seat, choice):
    """The card id of slot 0-11 or of the seat's reserved card 12-14; NO_CARD if there is none."""
    return np.int64(s.card_at[place_of(seat, choice)])


@kernel
def missing(s, seat, card):
    """The gem vector of coloured tokens that the seat lacks for a card; gold is not counted in."""
    return gems.less(gems.less(CARD_GEMS[card], s.bonuses[seat]), s.tokens[seat] & gems.COLOURED)


@kernel
def dearest(s, seat, buys):
    """Among affordable cards (bits 0-14) the one with the most prestige, then the one with the fewest tokens due."""
    best, best_value = 0, -1
    for choice in range(SLOTS + 3):
        if (buys >> np.uint64(choice)) & _ONE != _ZERO:
            card = choice_card(s, seat, choice)
            value = (
                np.int64(CARD_PRESTIGE[card]) * 64
                + 63
                - np.int64(gems.total(gems.less(CARD_GEMS[card], s.bonuses[seat])))
            )
            if value > best_value:
                best, best_value = choice, value
    return best


@kernel
def nearest(s, seat):
    """The card (0-14) for which the seat lacks the fewest tokens, then the one with the most prestige; -1 if none."""
    best, best_value = -1, -1
    for choice in range(SLOTS + 3):
        card = choice_card(s, seat, choice)
        if card != NO_CARD:
            value = (63 - np.int64(gems.total(missing(s, seat, card)))) * 8 + np.int64(CARD_PRESTIGE[card])
            if value > best_value:
                best, best_value = choice, value
    return best


@kernel
def move_toward(s, seat, target, takes):
    """Take what a card (0-14, -1 if none) lacks, else reserve it, else take anything, else reserve, else pass.

    takes: the decisions 0-29 that come into question.
    """
    lacking = _ZERO
    if target >= 0:
        lacking = missing(s, seat, choice_card(s, seat, target))
    best, best_value = -1, -1
    for action in range(RESERVE):
        if (takes >> np.uint64(action)) & _ONE != _ZERO:
            taken = TAKE_GEMS[action]
            useful = np.int64(gems.total(taken) - gems.total(gems.less(taken, lacking)))
            value = useful * 4 + np.int64(gems.total(taken))
            if value > best_value:
                best, best_value = action, value
    if best_value >= 4:
        return best
    reserves = legal_reserves(s, seat)
    if 0 <= target < SLOTS and (reserves >> np.uint64(target)) & _ONE != _ZERO:
        return RESERVE + target
    if best >= 0:
        return best
    if reserves != _ZERO:
        return RESERVE + nth_bit(reserves, _ZERO)
    return PASS


@kernel
def least_needed(s, seat, target):
    """The colour (0-5) to return: the one held most beyond what a card (0-14, -1 if none) needs; gold last."""
    tokens = s.tokens[seat]
    due = _ZERO
    if target >= 0:
        due = gems.less(CARD_GEMS[choice_card(s, seat, target)], s.bonuses[seat])
    best, best_value = gems.GOLD, -100
    for colour in range(5):
        held = np.int64(gems.count(tokens, colour))
        value = held - np.int64(gems.count(due, colour))
        if held > 0 and value > best_value:
            best, best_value = colour, value
    return best


# --- The guide -------------------------------------------------------------------------------------------------------


@kernel
def stage_of(s, seat):
    """The stage that a seat's number of bonuses puts it in."""
    bonuses = gems.total(s.bonuses[seat])
    if bonuses <= np.uint64(5):
        return BROAD
    if bonuses <= np.uint64(8):
        return VARIED
    return GRAND


@kernel
def want(s, seat, stage, card):
    """How much a stage wants a card: its level, its prestige, a bonus that is rare in the hand, one that a noble asks.

    Below 0 a card is not even bought when it can be.
    """
    value = (4 if stage == GRAND else 2) * np.int64(CARD_PRESTIGE[card])
    held = np.int64(gems.count(s.bonuses[seat], CARD_BONUS[card]))
    if level_of(card) == stage:
        value += 12
    if stage != GRAND:
        value += 4 * max(2 - held, 0)
    elif value == 0:
        value -= 1
    if stage != BROAD and asked_by_noble(s, seat, CARD_BONUS[card]):
        value += 6
    return value


@kernel
def asked_by_noble(s, seat, colour):
    """Whether a noble in the row asks for more bonuses of a colour than the seat has."""
    for place in range(5):
        if s.nobles[place] != NO_NOBLE:
            if gems.count(gems.less(s.noble_gems[place], s.bonuses[seat]), colour) != _ZERO:
                return True
    return False


@kernel
def most_wanted(s, seat, stage, buys):
    """Among affordable cards (bits 0-14) the one that the stage wants most; -1 if it wants none."""
    best, best_value = -1, -1
    for choice in range(SLOTS + 3):
        if (buys >> np.uint64(choice)) & _ONE != _ZERO:
            value = want(s, seat, stage, choice_card(s, seat, choice))
            if value > best_value:
                best, best_value = choice, value
    return best


@kernel
def aim(s, seat, stage):
    """The card (0-14) that the stage wants most for the tokens that the seat lacks; -1 if there is none."""
    best, best_value = -1, -1000
    for choice in range(SLOTS + 3):
        card = choice_card(s, seat, choice)
        if card != NO_CARD:
            value = want(s, seat, stage, card) - 4 * np.int64(gems.total(missing(s, seat, card)))
            if value > best_value:
                best, best_value = choice, value
    return best
