"""Rates with intervals, moments and distributions, from exact integer totals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

QUANTILES = (5, 25, 50, 75, 95)  # per cent


@dataclass(frozen=True)
class Share:
    """A rate between 0 and 1 with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, successes: float, trials: int) -> "Share | None":
        """Return the rate of `successes` in `trials`, None without a trial."""
        return cls(successes / trials, *wilson_interval(successes, trials)) if trials else None


@dataclass(frozen=True)
class Moments:
    """Mean and sample standard deviation; None where there are too few values for it."""

    mean: float | None
    sd: float | None

    @classmethod
    def of(cls, number: int, total: int, squares: int) -> "Moments":
        """Return the moments of `number` values from their sum and their sum of squares.

        The arguments are Python integers, so that nothing cancels before the one division.
        """
        mean = total / number if number else None
        sd = math.sqrt((number * squares - total**2) / (number * (number - 1))) if number > 1 else None
        return cls(mean, sd)


@dataclass(frozen=True)
class Distribution:
    """What a histogram holds: mean, sample standard deviation, smallest and largest value, and quantiles.

    `quantiles` are (per cent, value) pairs; a quantile is the smallest value that so many of the games do not exceed.
    """

    mean: float | None
    sd: float | None
    min: int
    max: int
    quantiles: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, counts: Sequence[int]) -> "Distribution":
        """Return the distribution of a histogram that is not empty: counts by value, from 0."""
        filled = [(value, int(count)) for value, count in enumerate(counts) if count]
        number = sum(count for _, count in filled)
        moments = Moments.of(
            number,
            sum(value * count for value, count in filled),
            sum(value**2 * count for value, count in filled),
        )
        quantiles = tuple((percent, _quantile(filled, -(-number * percent // 100))) for percent in QUANTILES)
        return cls(moments.mean, moments.sd, filled[0][0], filled[-1][0], quantiles)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; the quantiles by their per cent as a string."""
        quantiles = {str(percent): value for percent, value in self.quantiles}
        return {"mean": self.mean, "sd": self.sd, "min": self.min, "max": self.max, "quantiles": quantiles}


def wilson_interval(successes: float, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval (low, high) of a rate.

    `successes` may be a sum of fractions, as of wins that several share: the true spread is then smaller than that of
    wins and losses with the same mean, so the interval errs on the wide side. Wilson, Probable inference, the law of
    succession, and statistical inference (JASA 22, 1927); without a correction for continuity, as Brown, Cai and
    DasGupta advise in Interval estimation for a binomial proportion (Statistical Science 16, 2001).
    Raises ValueError unless 0 <= successes <= trials, trials >= 1 and 0 < confidence < 1.
    """
    if trials < 1 or not 0 <= successes <= trials or not 0 < confidence < 1:
        raise ValueError(
            f"a rate needs 0 <= successes <= trials, a trial and a confidence between 0 and 1, "
            f"not {successes!r} of {trials!r} at {confidence!r}"
        )
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = successes / trials
    centre = rate + z * z / (2 * trials)
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # The exact bounds lie between 0 and the rate, and between the rate and 1; rounding must not leave them.
    low = min(max((centre - spread) / scale, 0.0), rate)
    high = max(min((centre + spread) / scale, 1.0), rate)
    return low, high


def _quantile(filled: list[tuple[int, int]], rank: int) -> int:
    """The value at a rank (from 1) among (value, count) pairs in ascending order."""
    reached = 0
    for value, count in filled:
        reached += count
        if reached >= rank:
            return value
    raise ValueError(f"there are only {reached} values, not {rank}")
