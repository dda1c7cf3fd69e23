"""Perft: counting the sequences of decisions, every card that can be dealt apart."""

import numpy as np

from splendor_sim.core.actions import BUY, RESERVE, RESERVE_DECK
from splendor_sim.core.cards import LEVEL_START
from splendor_sim.core.engine import KEYED, apply, legal, level_dealt
from splendor_sim.core.jit import kernel, nth_bit, popcount

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_WORD_BITS = 64
_ROW = np.uint64(0xF)


@kernel
def continue_perft(stack, low, high, dealing, deals, level, budget):
    """Go on counting for about `budget` positions; return (number of sequences counted now, level to go on from).

    stack: STATE_DTYPE[depth - 1], the positions on the way from the root, which is stack[0]; by level: low and high
    (uint64), the decisions still to be tried; dealing (int64), the decision whose deals are being tried, and deals
    (uint64), the set of cards still to be dealt. Counting begins at level 0 with `open_level` and ends at level -1.
    """
    last = len(stack) - 1
    counted = 0
    while level >= 0 and budget > 0:
        s = stack[level]
        given = KEYED
        if deals[level] != _ZERO:
            action = dealing[level]
            place = nth_bit(deals[level], _ZERO)
            deals[level] ^= _ONE << np.uint64(place)
            given = LEVEL_START[level_dealt(s, action)] + place
        elif low[level] != _ZERO:
            action = nth_bit(low[level], _ZERO)
            low[level] ^= _ONE << np.uint64(action)
        elif high[level] != _ZERO:
            place = nth_bit(high[level], _ZERO)
            high[level] ^= _ONE << np.uint64(place)
            action = _WORD_BITS + place
        else:
            level -= 1
            continue
        if given == KEYED:
            dealt = level_dealt(s, action)
            if dealt >= 0:
                dealing[level] = action
                deals[level] = s.deck[dealt]
                continue
        budget -= 1
        stack[level + 1] = s
        child = stack[level + 1]
        apply(child, action, given)
        if level + 1 == last:
            counted += number_of_next(child)
        else:
            level += 1
            open_level(stack, low, high, deals, level)
    return counted, level


@kernel
def open_level(stack, low, high, deals, level):
    """Begin with the decisions of stack[level]."""
    low[level], high[level] = legal(stack[level])
    deals[level] = _ZERO


@kernel
def number_of_next(s):
    """Perft of depth 1: the number of legal decisions, every card that can be dealt apart."""
    low, high = legal(s)
    number = popcount(low) + popcount(high)
    for level in range(3):
        size = popcount(s.deck[level])
        if size > 1:
            dealing = (low >> np.uint64(RESERVE + 4 * level)) & _ROW
            buying = (low >> np.uint64(BUY + 4 * level)) & _ROW
            on_top = (low >> np.uint64(RESERVE_DECK + level)) & _ONE
            number += (popcount(dealing) + popcount(buying) + popcount(on_top)) * (size - 1)
    return number


@kernel
def number_at_root(states):
    """Perft of depth 1 of states[0]."""
    return number_of_next(states[0])
