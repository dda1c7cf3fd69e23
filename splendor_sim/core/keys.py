"""What decisions mean: keys, the same in every determinization, whatever slot a card or a place a noble lies in."""

import numpy as np

from splendor_sim.core.actions import (
    BUY,
    BUY_RESERVED,
    GOLD_FOR,
    HAND,
    NOBLE,
    PASS,
    PAY,
    RESERVE,
    RESERVE_DECK,
    RETURN,
    SLOTS,
)
from splendor_sim.core.cards import CARD_COUNT, NOBLE_COUNT
from splendor_sim.core.engine import hand_place, place_of
from splendor_sim.core.jit import kernel, nth_bit
from splendor_sim.core.state import MAIN

KEY_DECK, KEY_PASS, KEY_RETURN, KEY_GOLD, KEY_PAY, KEY_NOBLE = 30, 33, 34, 40, 45, 46  # takes come first, as 0-29
KEY_RESERVE = KEY_NOBLE + NOBLE_COUNT  # and the card's id
KEY_BUY = KEY_RESERVE + CARD_COUNT  # and the card's id
KEY_COUNT = KEY_BUY + CARD_COUNT

# Which keys a state makes available, as a set of 256 bits.
KEYS_DTYPE = np.dtype((np.record, np.dtype([("word", "u8", (4,))])))

_ZERO, _ONE, _THREE = np.uint64(0), np.uint64(1), np.uint64(7)
_WORD_BITS = 64
_TAKES = np.uint64((1 << RESERVE) - 1)


@kernel
def gather_keys(s, seat, low, high, keys):
    """The set of keys of the legal decisions."""
    keys.word[1] = _ZERO
    keys.word[2] = _ZERO
    keys.word[3] = _ZERO
    if s.phase != MAIN:
        keys.word[0] = _ZERO
        for half in range(2):
            rest = low if half == 0 else high
            while rest != _ZERO:
                add_key(keys, key_of(s, seat, nth_bit(rest, _ZERO) + _WORD_BITS * half))
                rest &= rest - _ONE
        return
    decks = (low >> np.uint64(RESERVE_DECK)) & _THREE
    passing = (low >> np.uint64(PASS)) & _ONE
    keys.word[0] = (low & _TAKES) | (decks << np.uint64(KEY_DECK)) | (passing << np.uint64(KEY_PASS))
    for slot in range(SLOTS):
        if (low >> np.uint64(RESERVE + slot)) & _ONE != _ZERO:
            add_key(keys, KEY_RESERVE + np.int64(s.card_at[slot]))
    rest = (low >> np.uint64(BUY)) & np.uint64((1 << (SLOTS + HAND)) - 1)
    while rest != _ZERO:
        add_key(keys, KEY_BUY + np.int64(s.card_at[place_of(seat, nth_bit(rest, _ZERO))]))
        rest &= rest - _ONE


@kernel
def add_key(keys, key):
    """Add a key to a set."""
    keys.word[key >> 6] |= _ONE << np.uint64(key & 63)


@kernel
def key_of(s, seat, action):
    """What a legal decision (id) means."""
    if action < RESERVE:
        return action
    if action < RESERVE_DECK:
        return KEY_RESERVE + np.int64(s.card_at[action - RESERVE])
    if action < BUY:
        return KEY_DECK + action - RESERVE_DECK
    if action < PASS:
        return KEY_BUY + np.int64(s.card_at[place_of(seat, action - BUY)])
    if action == PASS:
        return KEY_PASS
    if action < NOBLE:
        return KEY_RETURN + action - RETURN
    if action < GOLD_FOR:
        return KEY_NOBLE + np.int64(s.nobles[action - NOBLE])
    return KEY_GOLD + action - GOLD_FOR if action < PAY else KEY_PAY


@kernel
def action_of(s, seat, key):
    """The id of the decision that a key means in a state where it is legal."""
    if key < KEY_DECK:
        return key
    if key >= KEY_RESERVE:
        buying = key >= KEY_BUY
        card = key - KEY_BUY if buying else key - KEY_RESERVE
        for slot in range(SLOTS):
            if s.card_at[slot] == card:
                return BUY + slot if buying else RESERVE + slot
        for number in range(HAND):
            if s.card_at[hand_place(seat, number)] == card:
                return BUY_RESERVED + number
    if key < KEY_PASS:
        return RESERVE_DECK + key - KEY_DECK
    if key == KEY_PASS:
        return PASS
    if key < KEY_GOLD:
        return RETURN + key - KEY_RETURN
    if key < KEY_PAY:
        return GOLD_FOR + key - KEY_GOLD
    if key == KEY_PAY:
        return PAY
    for place in range(5):
        if s.nobles[place] == key - KEY_NOBLE:
            return NOBLE + place
    return PASS


@kernel
def is_single(low, high):
    """Whether one decision alone is legal."""
    if low == _ZERO:
        return high != _ZERO and high & (high - _ONE) == _ZERO
    return high == _ZERO and low & (low - _ONE) == _ZERO


@kernel
def only_bit(low, high):
    """The id of the one legal decision."""
    if low != _ZERO:
        return nth_bit(low, _ZERO)
    return _WORD_BITS + nth_bit(high, _ZERO)
