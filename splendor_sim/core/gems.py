"""Gem vectors: six counts (w u g r k j) in one uint64, a byte a colour, white lowest; no count exceeds 127.

Arithmetic on whole hands replaces loops over colours. Every constant is a uint64, since `uint64 op int` leaves uint64.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from splendor_sim.core.jit import kernel

COLOURS = "wugrkj"
COLOUR_NAMES = ("white", "blue", "green", "red", "black", "gold")
GOLD = 5

EACH_1 = np.uint64(0x0101_0101_0101)
TOP_BITS = np.uint64(0x8080_8080_8080)
COLOURED = np.uint64(0xFF_FFFF_FFFF)  # the five colours, without gold
ONE_GOLD = np.uint64(1 << 40)
BYTE = np.uint64(0xFF)
_EIGHT = np.uint64(8)
_SEVEN = np.uint64(7)
_GOLD_SHIFT = np.uint64(40)
_SUM_SHIFT = np.uint64(56)
_ALL_1 = np.uint64(0x0101_0101_0101_0101)
# Bring the top bits of bytes together in the highest byte: bit 7 + 8c goes to bit 56 + c, all else below or beyond.
_GATHER_5 = np.uint64(sum(1 << (49 - 7 * c) for c in range(5)))
_GATHER_6 = np.uint64(sum(1 << (49 - 7 * c) for c in range(6)))


def pack(counts: Iterable[int]) -> np.uint64:
    """Return the gem vector of up to six counts in the order w u g r k j."""
    return np.uint64(sum(int(count) << (8 * colour) for colour, count in enumerate(counts)))


def unpack(gems: Any) -> list[int]:
    """Return the six counts of a gem vector, w u g r k j."""
    return [int(gems) >> (8 * colour) & 0xFF for colour in range(6)]


@kernel
def total(gems):
    """Number of gems, gold included, as uint64."""
    return (gems * _ALL_1) >> _SUM_SHIFT


@kernel
def gold(gems):
    """Number of gold, as uint64."""
    return (gems >> _GOLD_SHIFT) & BYTE


@kernel
def count(gems, colour):
    """Number of gems of one colour (0-5), as uint64."""
    return (gems >> (np.uint64(colour) * _EIGHT)) & BYTE


@kernel
def one(colour):
    """One gem of a colour (0-5)."""
    return np.uint64(1) << (np.uint64(colour) * _EIGHT)


@kernel
def less(gems, other):
    """`gems` less `other`, never below 0 in any colour."""
    difference = (gems | TOP_BITS) - other
    kept = difference & TOP_BITS
    return difference & (kept - (kept >> _SEVEN))


@kernel
def colours_with(gems, least):
    """Which colours, gold included, have at least `least` (uint64, 1-127) gems, as six bits."""
    return (_enough(gems, least) * _GATHER_6) >> _SUM_SHIFT


@kernel
def colours_without_gold(gems, least):
    """Which of w u g r k have at least `least` (uint64, 1-127) gems, as five bits."""
    return (_enough(gems, least) * _GATHER_5) >> _SUM_SHIFT


@kernel
def _enough(gems, least):
    return (gems + (TOP_BITS - least * EACH_1)) & TOP_BITS
