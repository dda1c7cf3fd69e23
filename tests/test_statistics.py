"""Intervals, moments and quantiles against SciPy and numpy, which are written by others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splendor_sim.statistics import (
    QUANTILES,
    Distribution,
    Lift,
    Mean,
    Moments,
    Share,
    binomial_p,
    holm,
    seat_effect,
    wilson_interval,
)


def test_wilson_interval_of_20_wins_in_112_games_is_12_to_26_percent():
    low, high = wilson_interval(20, 112)
    assert (round(100 * low, 1), round(100 * high, 1)) == (11.9, 26.0)


@pytest.mark.parametrize("successes, trials", [(0, 1), (1, 1), (0, 10), (10, 10), (20, 112), (29, 112), (3, 10**6)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_wilson_interval_is_that_of_scipy(successes, trials, confidence):
    from scipy.stats import binomtest

    known = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    assert wilson_interval(successes, trials, confidence) == pytest.approx((known.low, known.high), abs=1e-12)


@given(st.integers(1, 10**12).flatmap(lambda n: st.tuples(st.just(n), st.floats(0, n))))
def test_wilson_interval_holds_the_rate_and_stays_between_0_and_1(case):
    trials, successes = case
    low, high = wilson_interval(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1


@pytest.mark.parametrize("successes, trials, confidence", [(1, 0, 0.95), (-1, 5, 0.95), (6, 5, 0.95), (1, 5, 1.0)])
def test_what_is_no_rate_is_refused(successes, trials, confidence):
    with pytest.raises(ValueError, match="0 <= successes <= trials"):
        wilson_interval(successes, trials, confidence)


def test_a_share_of_no_trials_is_none():
    assert Share.of(0, 0) is None
    share = Share.of(0.5, 2)
    assert share is not None and share.value == 0.25


@given(st.lists(st.integers(0, 1000), min_size=2))
def test_moments_are_those_of_numpy(values):
    moments = Moments.of(len(values), sum(values), sum(value**2 for value in values))
    assert moments.mean == pytest.approx(np.mean(values))
    assert moments.sd == pytest.approx(np.std(values, ddof=1))


def test_moments_of_great_numbers_lose_nothing():
    # Values 10**9 and 10**9 + 1, half a million each: in floats the squares would cancel.
    half = 500_000
    moments = Moments.of(2 * half, half * (2 * 10**9 + 1), half * (10**18 + (10**9 + 1) ** 2))
    assert moments.sd == pytest.approx(0.5, rel=1e-5)


def test_moments_of_too_few_values_are_none():
    assert Moments.of(0, 0, 0) == Moments(None, None)
    assert Moments.of(1, 7, 49) == Moments(7.0, None)


@given(st.lists(st.integers(0, 60), min_size=1))
def test_a_distribution_is_that_of_the_values_one_by_one(values):
    found = Distribution.of(np.bincount(values).tolist())
    known = np.percentile(values, QUANTILES, method="inverted_cdf")
    assert (found.min, found.max) == (min(values), max(values))
    assert [value for _, value in found.quantiles] == known.tolist()
    assert found.mean == pytest.approx(np.mean(values))
    assert found.sd is None if len(values) == 1 else found.sd == pytest.approx(np.std(values, ddof=1))


def test_a_distribution_is_plain_json():
    assert Distribution.of([0, 3, 1]).to_dict() == {
        "mean": 1.25,
        "sd": 0.5,
        "min": 1,
        "max": 2,
        "quantiles": {"5": 1, "25": 1, "50": 1, "75": 1, "95": 2},
    }


@given(st.lists(st.integers(0, 100), min_size=2, max_size=50), st.integers(1, 4), st.integers(0, 2))
def test_the_interval_of_a_mean_is_that_of_scipy(values, unit, start):
    from scipy.stats import t

    found = Mean.of(len(values), sum(values), sum(value**2 for value in values), unit, start)
    scaled = np.array(values) / unit + start
    assert found.mean == pytest.approx(scaled.mean())
    assert found.sd == pytest.approx(scaled.std(ddof=1), abs=1e-9)
    if found.sd > 0:
        known = t.interval(0.95, len(values) - 1, scaled.mean(), scaled.std(ddof=1) / len(values) ** 0.5)
        assert (found.low, found.high) == pytest.approx(known)


def test_means_of_too_few_values_have_no_interval():
    assert Mean.of(0, 0, 0) == Mean(None, None, None, None)
    assert Mean.of(1, 6, 36, 2, 1) == Mean(4.0, None, None, None)


@pytest.mark.parametrize(
    "successes, trials, rate", [(0, 5, 0.4), (5, 5, 0.4), (60, 100, 0.5), (3, 400, 0.03), (9, 9, 1)]
)
def test_p_value_of_a_count_is_twice_the_smaller_tail_of_scipy(successes, trials, rate):
    from scipy.stats import binomtest

    tails = [binomtest(successes, trials, rate, side).pvalue for side in ("less", "greater")]
    assert binomial_p(successes, trials, rate) == pytest.approx(min(1.0, 2 * min(tails)))


def test_p_value_of_fractions_lies_on_the_high_side():
    assert binomial_p(60.5, 100, 0.5) == binomial_p(60, 100, 0.5) > binomial_p(61, 100, 0.5)
    assert binomial_p(40.5, 100, 0.5) == binomial_p(41, 100, 0.5) > binomial_p(40, 100, 0.5)
    assert binomial_p(50.5, 101, 0.5) == 1


def test_holm_is_the_example_by_hand():
    # 0.01 times 4, 0.015 times 3, 0.03 times 2, and 0.04 is no less than that.
    assert holm([0.04, 0.01, 0.03, 0.015]) == pytest.approx([0.06, 0.04, 0.06, 0.045])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_lies_between_no_correction_and_that_of_bonferroni_and_keeps_the_order(p_values):
    found = holm(p_values)
    assert all(p <= q <= min(1, len(p_values) * p) for p, q in zip(p_values, found))
    assert sorted(range(len(found)), key=lambda i: (p_values[i], i)) == sorted(
        range(len(found)), key=lambda i: (found[i], p_values[i], i)
    )


def test_seats_that_win_20_29_31_and_32_of_112_games_do_not_differ():
    found = seat_effect([20, 29, 31, 32])
    assert (round(found.statistic, 2), found.degrees, round(found.p, 2)) == (3.21, 3, 0.36)


@pytest.mark.parametrize("wins", [[1, 2], [50.5, 49.5], [300, 200, 100, 0]])
def test_the_effect_of_seats_is_that_of_scipy(wins):
    from scipy.stats import chisquare

    known = chisquare(wins)
    found = seat_effect(wins)
    assert (found.statistic, found.p) == pytest.approx((known.statistic, known.pvalue))


def test_seats_without_a_win_have_no_effect():
    assert seat_effect([0, 0, 0]) is None


def test_lifts_are_shares_less_their_base_and_are_corrected_together():
    first, none, second = Lift.family([(20, 112, 0.25), (0, 0, 0.0), (80, 112, 0.5)])
    assert none is None
    assert (first.value, first.share) == (20 / 112 - 0.25, Share.of(20, 112))
    assert (first.low, first.high) == (first.share.low - 0.25, first.share.high - 0.25)
    assert (first.p_holm, second.p_holm) == pytest.approx((first.p, 2 * second.p))
    assert (first.differs, second.differs) == (False, True)
