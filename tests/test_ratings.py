"""Shares, Elo, the sequential test and ratings: against published figures, other software, and simulated truth."""

import math

import choix
import numpy as np
import pytest

from splendor_sim.ratings import RatingError, Sprt, Strength, elo_of, rate, share_of_elo

# Tests of the chess program Stockfish on its test farm fishtest, as its pull requests quote them: bounds in (logistic)
# Elo, pairs of games by their score, and the log likelihood ratio. github.com/official-stockfish/Stockfish/pull/NUMBER
PUBLISHED = [
    (2493, (-1.0, 3.0), (424, 2948, 5832, 3045, 460), 2.94),
    (2493, (0.0, 2.0), (1284, 17437, 55536, 18085, 1292), 2.94),
    (2920, (-0.5, 1.5), (665, 4806, 9333, 4893, 747), 2.95),
    (2920, (0.25, 1.75), (328, 4564, 15580, 4789, 371), 2.98),
    (2971, (0.25, 1.75), (11, 407, 3238, 513, 11), 2.93),
    (3017, (-1.5, 0.5), (40, 1272, 12142, 1300, 30), 3.01),
    (3209, (0.25, 1.25), (58, 3302, 33130, 3518, 84), 2.97),
]


@pytest.mark.parametrize("number, bounds, counts, llr", PUBLISHED)
def test_the_log_likelihood_ratio_is_the_one_that_was_published(number, bounds, counts, llr):
    assert f"{Sprt(*bounds).llr(counts):.2f}" == f"{llr:.2f}"


def test_a_test_accepts_the_wrong_bound_about_as_often_as_it_may():
    test = Sprt(0, 100)
    rng = np.random.default_rng(1)
    for elo, wrong in ((0, 100), (100, 0)):
        chances = np.array([0.15, 0.02, 0.66, 0.02, 0.15])
        tilt = np.exp(np.linspace(-1, 1, 5) * _tilt_to(chances, share_of_elo(elo)))
        chances = chances * tilt / (chances * tilt).sum()
        assert chances @ np.linspace(0, 1, 5) == pytest.approx(share_of_elo(elo))
        mistakes, runs = 0, 200
        for _ in range(runs):
            counts, accepted = np.zeros(5), None
            while accepted is None:
                counts += rng.multinomial(8, chances)
                accepted = test.accepted(test.llr(counts))
            mistakes += accepted == wrong
        assert mistakes / runs < 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def _tilt_to(chances, mean):
    low, high = -20.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        tilted = chances * np.exp(np.linspace(-1, 1, 5) * middle)
        low, high = (middle, high) if tilted @ np.linspace(0, 1, 5) / tilted.sum() < mean else (low, middle)
    return low


def test_where_all_pairs_end_alike_the_test_still_ends():
    test = Sprt(0, 10)
    assert test.llr([0] * 5) == 0 and test.accepted(0) is None
    assert test.accepted(test.llr([0, 0, 0, 0, 400])) == 10 and test.accepted(test.llr([400, 0, 0, 0, 0])) == 0
    assert test.upper == pytest.approx(2.944, abs=1e-3) and test.lower == -test.upper


@pytest.mark.parametrize("given", [(5, 5), (5, 0), ("a", 1), (0, math.nan), (0, 5, 0), (0, 5, 0.05, 0.5)])
def test_a_test_without_sense_is_refused(given):
    with pytest.raises(RatingError):
        Sprt(*given)


@pytest.mark.parametrize("chances", [[0.2, 0.2, 0.2, 0.2, 0.2], [0.05, 0.1, 0.7, 0.1, 0.05], [0, 0, 0.02, 0.08, 0.9]])
def test_intervals_of_shares_hold_the_truth_95_times_in_100(chances):
    rng = np.random.default_rng(2)
    scores, deals, runs = np.arange(5), 60, 2000
    held = 0
    for counts in rng.multinomial(deals, chances, runs):
        found = Strength.of(deals, int(counts @ scores), int(counts @ scores**2), 4)
        held += found.share.low <= np.dot(chances, scores) / 4 <= found.share.high
    assert held / runs > 0.95 - 3 * math.sqrt(0.05 * 0.95 / runs)


def test_elo_is_that_of_one_opponent_and_infinite_where_nothing_was_lost():
    assert elo_of(0.75) == pytest.approx(190.85, abs=0.01) and share_of_elo(elo_of(0.3)) == pytest.approx(0.3)
    assert elo_of(0.25, others=3) == pytest.approx(0) and elo_of(0.5, others=3) == pytest.approx(elo_of(0.75))
    won = Strength.of(50, 200, 800, 4)
    assert won.share.value == won.share.high == 1 and won.elo.value == won.elo.high == math.inf
    assert 300 < won.elo.low < 1000 and won.superiority > 0.999


def test_ratings_of_pairs_are_those_of_choix():
    wins = np.array([[60, 40], [85, 15], [70.5, 29.5]])
    found, _ = rate([(0, 1), (0, 2), (1, 2)], wins, 100, 50, np.eye(3) * 9999)
    matrix = np.zeros((3, 3))
    for (a, b), row in zip([(0, 1), (0, 2), (1, 2)], wins + 0.5):
        matrix[a, b], matrix[b, a] = row
    expected = choix.ilsr_pairwise_dense(matrix) * 400 / math.log(10)
    assert [each.value for each in found] == pytest.approx(expected.tolist(), abs=1e-4)


def test_ratings_of_larger_tables_are_those_of_choix():
    tables, wins = [(0, 1, 2), (0, 1, 3), (1, 2, 3)], np.array([[14, 8, 5], [11, 11, 5], [20, 5, 2]])
    found, _ = rate(tables, wins - 1 / 3, 26, 13, np.eye(4) * 9999)  # one even game is added to each table
    choices = [
        (winner, [agent for agent in table if agent != winner])
        for table, row in zip(tables, wins.tolist())
        for winner, number in zip(table, row)
        for _ in range(number)
    ]
    expected = choix.ilsr_top1(4, choices) * 400 / math.log(10)
    assert [each.value for each in found] == pytest.approx(expected.tolist(), abs=1e-3)


def test_intervals_of_ratings_hold_the_truth_95_times_in_100():
    rng = np.random.default_rng(3)
    tables, deals, runs = [(0, 1), (0, 2), (1, 2)], 150, 300
    true = np.array([-0.5, 0.0, 0.5])
    held = np.zeros(3)
    for _ in range(runs):
        wins, scored = np.zeros((3, 2)), np.zeros((deals, 3))
        for table, (a, b) in enumerate(tables):
            chance = 1 / (1 + np.exp(true[b] - true[a]))
            first = rng.random(deals) < chance
            second = np.where(rng.random(deals) < 0.5, first, rng.random(deals) < chance)  # luck of the deal
            won = first.astype(int) + second
            wins[table] = won.sum(), 2 * deals - won.sum()
            scored[:, a] += won
            scored[:, b] += 2 - won
        found, _ = rate(tables, wins, 2 * deals, deals, scored.T @ scored)
        held += [each.low <= value * 400 / math.log(10) <= each.high for each, value in zip(found, true)]
    assert (held / runs > 0.95 - 4 * math.sqrt(0.05 * 0.95 / runs)).all()


def test_an_agent_that_won_everything_has_a_rating_with_an_interval():
    found, errors = rate([(0, 1)], [[100, 0]], 100, 50, [[200, 0], [0, 0]])
    assert found[0].value == -found[1].value > 300 and found[0].low > 0 and found[0].high < 2000
    assert errors[0][1] == pytest.approx(-errors[1][0]) and errors[0][1] > 2
