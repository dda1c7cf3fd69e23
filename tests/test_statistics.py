"""Intervals, moments and quantiles against SciPy and numpy, which are written by others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splendor_sim.statistics import QUANTILES, Distribution, Moments, Share, wilson_interval


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
