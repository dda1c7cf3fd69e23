"""The 78 decisions: id ranges, names, and the tables that kernels look up."""

from itertools import combinations
from typing import Any

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.cards import read_only

# First id of each kind; a kind ends where the next begins. The order is that of RULES.md.
TAKE_THREE, TAKE_PAIR, TAKE_ONE, TAKE_TWO = 0, 10, 20, 25
RESERVE, RESERVE_DECK = 30, 42
BUY, BUY_RESERVED = 45, 57
PASS = 60
RETURN = 61
NOBLE = 67
GOLD_FOR = 72
PAY = 77
ACTION_COUNT = 78

COLUMNS = 4  # slots a level
SLOTS = 12  # slots of the board
HAND = 3  # reserved cards a seat may hold at most

_wugrk = gems.COLOURS[:5]
_takes = (
    [*combinations(range(5), 3)] + [*combinations(range(5), 2)] + [(c,) for c in range(5)] + [(c, c) for c in range(5)]
)
_board = [f"{level}.{column}" for level in (1, 2, 3) for column in (1, 2, 3, 4)]

ACTION_NAMES: tuple[str, ...] = (
    *("take " + "".join(_wugrk[c] for c in take) for take in _takes),
    *(f"reserve {slot}" for slot in _board),
    *(f"reserve {level}.deck" for level in (1, 2, 3)),
    *(f"buy {slot}" for slot in _board),
    *(f"buy reserved.{place}" for place in (1, 2, 3)),
    "pass",
    *(f"return {colour}" for colour in gems.COLOURS),
    *(f"noble {place}" for place in (1, 2, 3, 4, 5)),
    *(f"gold for {colour}" for colour in _wugrk),
    "pay",
)
ACTION_IDS: dict[str, int] = {name: action for action, name in enumerate(ACTION_NAMES)}

# What a take moves from the bank to the hand: gem vectors [30].
TAKE_GEMS = read_only(np.array([gems.pack(take.count(c) for c in range(5)) for take in _takes], np.uint64))

# How `take_fewer` is held in a state.
WHEN_SCARCE, NEVER, UP_TO = 0, 1, 2


def _take_mask(take_fewer: int, colours: int) -> int:
    """Which of the takes 0-24 are legal with these colours (five bits) in the bank."""
    left = colours.bit_count()
    sizes = {WHEN_SCARCE: {min(left, 3)}, NEVER: {3}, UP_TO: {1, 2, 3}}[take_fewer]
    return sum(
        1 << action
        for action, take in enumerate(_takes[:TAKE_TWO])
        if len(take) in sizes and all(colours >> c & 1 for c in take)
    )


def _set_bits(mask: int, length: int) -> list[int]:
    bits = [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
    return bits + [0] * (length - len(bits))


_take_masks = [[_take_mask(fewer, colours) for colours in range(32)] for fewer in (WHEN_SCARCE, NEVER, UP_TO)]

TAKE_MASK = read_only(np.array(_take_masks, np.uint64))  # [take_fewer, colours in the bank], bits 0-24
TAKE_COUNT = read_only(np.array([[mask.bit_count() for mask in row] for row in _take_masks], np.int64))
TAKE_NTH = read_only(np.array([[_set_bits(mask, 25) for mask in row] for row in _take_masks], np.uint8))
# The positions of the set bits of a byte, ascending: [256, 8], and how many there are: [256].
BIT_NTH = read_only(np.array([_set_bits(mask, 8) for mask in range(256)], np.uint8))
BIT_COUNT = read_only(np.array([mask.bit_count() for mask in range(256)], np.int64))


def action_name(action: Any) -> str:
    """Return the name of a decision, which is its notation too.

    Raises IllegalActionError for anything but an id 0-77.
    """
    return ACTION_NAMES[check_action(action)]


def parse_action(name: Any) -> int:
    """Return the id of a decision from its name.

    Raises IllegalActionError, with what comes nearest, for an unknown name.
    """
    if not isinstance(name, str):
        raise IllegalActionError(f"the name of a decision is a string, not {type(name).__name__} {name!r}")
    action = ACTION_IDS.get(" ".join(name.split()))
    if action is None:
        from difflib import get_close_matches

        near = get_close_matches(name, ACTION_NAMES, n=3)
        hint = "did you mean " + " or ".join(repr(match) for match in near) if near else "for example 'take wug'"
        raise IllegalActionError(f"{name!r} names no decision; {hint}")
    return action


def check_action(action: Any) -> int:
    """Return an action id or name as an id; raise IllegalActionError for anything else."""
    if isinstance(action, str):
        return parse_action(action)
    if isinstance(action, bool | np.bool_) or not isinstance(action, int | np.integer):
        raise IllegalActionError(f"a decision is an id 0-{ACTION_COUNT - 1} or a name, not {action!r}")
    if not 0 <= action < ACTION_COUNT:
        raise IllegalActionError(f"a decision's id lies in 0-{ACTION_COUNT - 1}, not {int(action)}")
    return int(action)


class IllegalActionError(ValueError):
    """A decision that is not one of the 78, or is not legal now."""
