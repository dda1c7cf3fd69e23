"""The 90 cards and 10 nobles as read-only tables (checked against 34 public tables)."""

import csv
import importlib.resources
from collections.abc import Iterable

import numpy as np

from splendor_sim.core import gems

CARD_COUNT = 90
NOBLE_COUNT = 10
LEVEL_START = np.array([0, 40, 70, 90])  # first card id of each level, then the end
NOBLE_PRESTIGE = 3


def _rows(name: str) -> list[dict[str, str]]:
    text = (importlib.resources.files("splendor_sim") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _costs(rows: list[dict[str, str]]) -> np.ndarray:
    return np.array([[int(row[colour]) for colour in gems.COLOUR_NAMES[:5]] for row in rows], np.uint8)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return the array, closed to writing."""
    array.setflags(write=False)
    return array


_cards, _nobles = _rows("cards.csv"), _rows("nobles.csv")

CARD_LEVEL = read_only(np.array([int(row["level"]) for row in _cards], np.uint8))  # [90], 1-3
CARD_BONUS = read_only(np.array([gems.COLOUR_NAMES.index(row["bonus"]) for row in _cards], np.uint8))  # [90], 0-4
CARD_PRESTIGE = read_only(np.array([int(row["points"]) for row in _cards], np.uint8))  # [90]
CARD_COST = read_only(_costs(_cards))  # [90, 5]
NOBLE_COST = read_only(_costs(_nobles))  # [10, 5] bonuses required

# An empty place holds what nobody can pay or meet: 64 white are more than all bonuses, tokens and gold.
NO_CARD, NO_NOBLE = CARD_COUNT, NOBLE_COUNT
_OUT_OF_REACH = 64

# By noble tile, NO_NOBLE included: gem vectors [11].
NOBLE_GEMS = read_only(np.array([*(gems.pack(cost) for cost in NOBLE_COST), _OUT_OF_REACH], np.uint64))
# By card, NO_CARD included: costs as gem vectors [91].
CARD_GEMS = read_only(np.array([*(gems.pack(cost) for cost in CARD_COST), _OUT_OF_REACH], np.uint64))


def card_name(card: int) -> str:
    """Return how a card is named for people: id, level, colour and prestige, cost, such as `73 L3 w5 w3k7`."""
    colour = gems.COLOURS[CARD_BONUS[card]]
    return f"{card:2} L{CARD_LEVEL[card]} {colour}{CARD_PRESTIGE[card]} {gem_counts(CARD_COST[card])}"


def gem_counts(counts: Iterable[int]) -> str:
    """Return counts of colours in the order w u g r k j as a text such as `w3k7`."""
    return "".join(f"{colour}{count}" for colour, count in zip(gems.COLOURS, counts) if count)
