"""The 90 cards and 10 nobles: counts, sums, and rows that other tables often have wrong."""

from pathlib import Path

import numpy as np
import pytest

from games import card_costing
from splendor_sim.core import cards, gems

pytestmark = pytest.mark.kernel

DATA = Path(__file__).parent / "data"
PACKAGE_DATA = Path(cards.__file__).parent.parent / "data"
LEVELS = {1: (40, 5, 33), 2: (30, 55, 41), 3: (20, 80, 43)}  # cards, prestige, and cost in each colour


@pytest.mark.parametrize("name", ["cards.csv", "nobles.csv"])
def test_the_tables_are_the_checked_ones(name):
    assert (PACKAGE_DATA / name).read_text().split() == (DATA / name).read_text().split()


@pytest.mark.parametrize("level", [1, 2, 3])
def test_each_level_has_its_number_of_cards_its_prestige_and_equal_costs_in_every_colour(level):
    number, prestige, cost = LEVELS[level]
    there = level == cards.CARD_LEVEL
    assert there.sum() == number
    assert cards.CARD_PRESTIGE[there].sum() == prestige
    assert cards.CARD_COST[there].sum(axis=0).tolist() == [cost] * 5


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("bonus", range(5))
def test_every_bonus_colour_has_the_same_share_of_each_level(level, bonus):
    number, prestige, cost = LEVELS[level]
    there = (level == cards.CARD_LEVEL) & (bonus == cards.CARD_BONUS)
    assert there.sum() == number // 5
    assert cards.CARD_PRESTIGE[there].sum() == prestige // 5
    assert cards.CARD_COST[there].sum() == cost


def test_ids_ascend_by_level():
    assert cards.CARD_LEVEL.tolist() == [1] * 40 + [2] * 30 + [3] * 20
    assert cards.LEVEL_START.tolist() == [0, 40, 70, 90]


@pytest.mark.parametrize(
    ("level", "bonus", "prestige", "cost"),
    [
        (1, "k", 0, (0, 0, 1, 3, 1)),
        (1, "w", 0, (0, 2, 0, 0, 2)),
        (2, "k", 2, (5, 0, 0, 0, 0)),
        (3, "w", 3, (0, 3, 3, 5, 3)),
        (3, "w", 4, (0, 0, 0, 0, 7)),
        (2, "r", 3, (0, 0, 0, 6, 0)),
        (2, "w", 2, (0, 0, 1, 4, 2)),
        (2, "u", 2, (2, 0, 0, 1, 4)),
        (3, "u", 4, (6, 3, 0, 0, 3)),
    ],
)
def test_cards_that_are_often_wrong_are_right(level, bonus, prestige, cost):
    card = card_costing(*cost, bonus=bonus)
    assert (cards.CARD_LEVEL[card], cards.CARD_PRESTIGE[card]) == (level, prestige)


def test_no_two_cards_are_the_same():
    rows = np.column_stack([cards.CARD_LEVEL, cards.CARD_BONUS, cards.CARD_PRESTIGE, cards.CARD_COST])
    assert len(np.unique(rows, axis=0)) == 90


def test_the_ten_nobles_require_four_and_four_or_three_three_and_three_of_neighbours():
    expected = set()
    for first in range(5):
        pair, triple = [0] * 5, [0] * 5
        for colour in (first, (first + 1) % 5):
            pair[colour] = 4
        for colour in (first, (first + 1) % 5, (first + 2) % 5):
            triple[colour] = 3
        expected |= {tuple(pair), tuple(triple)}
    assert {tuple(cost) for cost in cards.NOBLE_COST.tolist()} == expected
    assert cards.NOBLE_COST.sum(axis=0).tolist() == [17] * 5
    assert cards.NOBLE_PRESTIGE == 3


def test_gem_vectors_hold_the_costs():
    assert [gems.unpack(cost)[:5] for cost in cards.CARD_GEMS[:90]] == cards.CARD_COST.tolist()
    assert [gems.unpack(cost)[:5] for cost in cards.NOBLE_GEMS[:10]] == cards.NOBLE_COST.tolist()
    assert [gems.unpack(gems.pack(counts)) for counts in ([1, 2, 3, 4, 5, 6], [0] * 6)] == [[1, 2, 3, 4, 5, 6], [0] * 6]


def test_the_tables_cannot_be_written():
    for name, table in vars(cards).items():
        if isinstance(table, np.ndarray) and name.startswith(("CARD_", "NOBLE_")):
            assert not table.flags.writeable, name
