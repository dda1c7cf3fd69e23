"""Kernels that choose a decision: random and greedy. A policy is a pure function of (state, random word)."""

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
)
from splendor_sim.core.cards import CARD_GEMS, CARD_PRESTIGE, NO_CARD
from splendor_sim.core.engine import (
    legal,
    legal_buys,
    legal_payments,
    legal_reserves,
    legal_takes,
    place_of,
    qualifying,
)
from splendor_sim.core.jit import kernel, nth_bit, popcount
from splendor_sim.core.rng import below
from splendor_sim.core.state import CHOOSING_NOBLE, MAIN, PAYING

RANDOM, GREEDY = 0, 1
POLICIES = {"random": RANDOM, "greedy": GREEDY}

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_WORD_BITS = 64


@kernel
def choose(policy, s, word):
    """The decision (id) of a policy in a state that is not over, with `word` (uint64) as its only randomness."""
    if policy == GREEDY:
        return choose_greedy(s)
    return choose_random(s, word)


@kernel
def choose_random(s, word):
    """Uniform among the legal ids of the moment."""
    low, high = legal(s)
    below_64 = np.uint64(popcount(low))
    n = below(word, below_64 + np.uint64(popcount(high)))
    if n < below_64:
        return nth_bit(low, n)
    return _WORD_BITS + nth_bit(high, n - below_64)


@kernel
def choose_greedy(s):
    """Buy the most prestige, else the cheapest card, else move toward the nearest card; ties by the lowest id."""
    seat = np.int64(s.to_move)
    if s.phase == MAIN:
        buys = legal_buys(s, seat)
        if buys != _ZERO:
            return BUY + dearest(s, seat, buys)
        return greedy_move(s, seat)
    if s.phase == CHOOSING_NOBLE:
        return NOBLE + nth_bit(qualifying(s, seat), _ZERO)
    if s.phase == PAYING:
        choices = legal_payments(s, seat)
        if choices >> np.uint64(PAY - GOLD_FOR) != _ZERO:
            return PAY
        return GOLD_FOR + nth_bit(choices, _ZERO)
    return RETURN + least_needed(s, seat)


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
def greedy_move(s, seat):
    """Take what the nearest card lacks, else reserve it (or any card) for its gold, else take anything, else pass."""
    target = nearest(s, seat)
    lacking = _ZERO
    if target >= 0:
        lacking = missing(s, seat, choice_card(s, seat, target))
    takes = legal_takes(s)
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
def least_needed(s, seat):
    """The colour (0-5) to return: the one held most beyond what the nearest card needs; gold last."""
    tokens = s.tokens[seat]
    due = _ZERO
    target = nearest(s, seat)
    if target >= 0:
        due = gems.less(CARD_GEMS[choice_card(s, seat, target)], s.bonuses[seat])
    best, best_value = gems.GOLD, -100
    for colour in range(5):
        held = np.int64(gems.count(tokens, colour))
        value = held - np.int64(gems.count(due, colour))
        if held > 0 and value > best_value:
            best, best_value = colour, value
    return best
