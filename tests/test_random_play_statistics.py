"""Statistics of random play and of the deal against what is known independently of this engine.

An engine can keep every invariant and still play another game; only its statistics tell.
"""

import math
from collections import Counter

import numba
import numpy as np
import pytest

import splendor_sim as ss

SLOW = bool(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK)
# Mean turns of random play by seats, and how far off the figure may be: 12 million games (standard deviation 6.4) and
# two decimals for 2 seats; for 3 and 4 seats the figures are rough.
TURNS = {2: (74.50, 6.4 / math.sqrt(12e6) + 0.005 / 4), 3: (105.8, 0.3 / 4), 4: (141.2, 0.3 / 4)}
GAMES = {2: 1_000_000, 3: 200_000, 4: 200_000}
# Of two seats, from 12 million games, to four decimals.
FIRST_WINS, SHARED_WINS, KNOWN_GAMES, ROUNDING = 0.4960, 0.0021, 12e6, 0.00005


def games(players: int) -> int:
    if numba.config.DISABLE_JIT:
        return 30
    return GAMES[players] // 20 if SLOW else GAMES[players]


def within(found: float, known: float, *errors: float) -> bool:
    """Whether two figures differ by at most four standard errors of their difference."""
    return abs(found - known) <= 4 * math.hypot(*errors)


def error_of_rate(rate: float, trials: float) -> float:
    return math.sqrt(rate * (1 - rate) / trials)


@pytest.fixture(scope="module")
def results() -> dict[int, ss.Result]:
    return {players: ss.simulate(games(players), players, seed=20) for players in TURNS}


@pytest.mark.kernel
@pytest.mark.parametrize("players", TURNS)
def test_random_games_take_as_many_turns_as_is_known(results, players):
    turns, (known, its_error) = results[players].turns, TURNS[players]
    assert within(turns.mean, known, turns.sd / math.sqrt(results[players].games), its_error)


@pytest.mark.kernel
def test_the_first_of_two_seats_wins_as_often_as_is_known(results):
    result = results[2]
    rate = result.by_seat[0].outright_wins / result.games
    errors = [error_of_rate(FIRST_WINS, trials) for trials in (result.games, KNOWN_GAMES)]
    assert within(rate, FIRST_WINS, *errors, ROUNDING)


@pytest.mark.kernel
def test_as_many_wins_of_two_seats_are_shared_as_is_known(results):
    result = results[2]
    errors = [error_of_rate(SHARED_WINS, trials) for trials in (result.games, KNOWN_GAMES)]
    assert within(result.shared_wins / result.games, SHARED_WINS, *errors, ROUNDING)


def test_no_game_is_won_before_the_winners_eleventh_turn():
    # Players hold fewer to be impossible; only a game that jams may be over sooner.
    result = ss.simulate(20 if numba.config.DISABLE_JIT else 100_000, agents=["greedy", "greedy"])
    assert result.rounds.min >= 11 or result.deadlocked > 0


# ------------------------------------------------------------------------------------------------------------- the deal

DEALS = 60_000
LEVELS = [range(40), range(40, 70), range(70, 90)]


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    """What is seen of openings of two seats: an array of observations."""
    if numba.config.DISABLE_JIT:
        pytest.skip("too many deals for Python")
    return ss.observe(ss.deal(DEALS, players=2, seed=11)).view(ss.OBSERVATION_DTYPE)[:, 0]


def chance_of(counts: np.ndarray) -> float:
    """How likely uniform draws are to be as uneven as these counts."""
    from scipy.stats import chisquare

    return float(chisquare(counts).pvalue)


@pytest.mark.parametrize("slot", range(12))
def test_every_card_of_its_level_is_as_likely_in_a_slot(table, slot):
    cards = LEVELS[slot // 4]
    counts = np.bincount(table["board_card"][:, slot] - 1, minlength=90)
    assert counts.sum() == counts[cards].sum() == DEALS
    assert chance_of(counts[cards]) > 1e-4


@pytest.mark.parametrize("first, second", [(0, 1), (0, 3), (1, 2), (4, 5), (6, 7), (8, 11), (0, 4), (3, 8), (7, 8)])
def test_slots_are_drawn_independently_but_for_the_cards_that_are_gone(table, first, second):
    from scipy.stats import chisquare

    pairs = Counter(zip(table["board_card"][:, first].tolist(), table["board_card"][:, second].tolist(), strict=True))
    ones, others = LEVELS[first // 4], LEVELS[second // 4]
    possible = [(one + 1, other + 1) for one in ones for other in others if one != other]
    assert pairs.keys() <= set(possible)
    assert chisquare([pairs[pair] for pair in possible]).pvalue > 1e-4


def test_every_set_of_nobles_is_as_likely(table):
    sets = Counter(tuple(sorted(row)) for row in table["noble"][:, :3].tolist())
    assert len(sets) == math.comb(10, 3)
    assert chance_of(np.array(list(sets.values()))) > 1e-4


def test_nobles_do_not_follow_from_the_cards(table):
    from scipy.stats import chi2_contingency

    together = np.zeros((40, 10), np.int64)
    np.add.at(together, (table["board_card"][:, 0] - 1, table["noble"][:, 0] - 1), 1)
    assert chi2_contingency(together).pvalue > 1e-4
