"""Rates with intervals, moments and distributions, from exact integer totals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

QUANTILES = (5, 25, 50, 75, 95)  # per cent
CONFIDENCE = 0.95  # of every interval


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
class Mean:
    """A mean with its 95 % interval, and the sample standard deviation; None where there are too few values for it."""

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, number: int, total: int, squares: int, unit: int = 1, start: int = 0) -> "Mean":
        """Return the mean of `number` values v / unit + start from the sum and the sum of squares of the integers v.

        The interval is Student's, which for many values needs nothing of how they are spread.
        """
        plain = Moments.of(number, total, squares)
        mean = None if plain.mean is None else plain.mean / unit + start
        if mean is None or plain.sd is None:
            return cls(mean, None, None, None)
        from scipy.special import stdtrit

        sd = plain.sd / unit
        reach = float(stdtrit(number - 1, (1 + CONFIDENCE) / 2)) * sd / math.sqrt(number)
        return cls(mean, sd, mean - reach, mean + reach)


@dataclass(frozen=True)
class ChiSquare:
    """A chi-square test of no difference: its statistic, its degrees of freedom, and the p value."""

    statistic: float
    degrees: int
    p: float


@dataclass(frozen=True)
class Lift:
    """A win share against a base rate.

    value, low, high: share less base, with its 95 % interval: Wilson's interval of the share, shifted. The base is
    taken as exact, since it rests on far more games than the share. p: two-sided, of no difference; p_holm: corrected
    for the number of comparisons that were made together; differs: whether p_holm is below 5 %.
    """

    share: Share
    base: float
    value: float
    low: float
    high: float
    p: float
    p_holm: float
    differs: bool

    @classmethod
    def family(cls, trials: Sequence[tuple[float, int, float]]) -> "list[Lift | None]":
        """Return the lifts of (successes, trials, base) that are compared together; None without a trial."""
        shares = [Share.of(successes, number) for successes, number, _ in trials]
        p_values = [binomial_p(*trial) for trial in trials if trial[1]]
        corrected = iter(zip(p_values, holm(p_values), strict=True))
        lifts: list[Lift | None] = []
        for share, (_, _, base) in zip(shares, trials, strict=True):
            if share is None:
                lifts.append(None)
                continue
            p, p_holm = next(corrected)
            bounds = share.value - base, share.low - base, share.high - base
            lifts.append(cls(share, base, *bounds, p, p_holm, p_holm < 1 - CONFIDENCE))
        return lifts


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


def wilson_interval(successes: float, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
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


def binomial_p(successes: float, trials: int, rate: float) -> float:
    """Return the two-sided p value of `successes` in independent trials that succeed at a rate: twice the smaller tail.

    The tails are exact. Fractions of a success, as of wins that several share, are rounded toward the rate, and trials
    whose rates differ around the given mean have thinner tails (Hoeffding, On the distribution of the number of
    successes in independent trials, Annals of Mathematical Statistics 27, 1956): the value errs on the high side.
    """
    from scipy.special import bdtr, bdtrc

    low, high = math.ceil(successes), math.floor(successes)
    at_most = float(bdtr(low, trials, rate)) if low < trials else 1.0
    at_least = float(bdtrc(high - 1, trials, rate)) if high > 0 else 1.0
    return min(1.0, 2 * at_most, 2 * at_least)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for their number, so that 5 % bounds the chance of a single false claim among them.

    Holm, A simple sequentially rejective multiple test procedure (Scandinavian Journal of Statistics 6, 1979): valid
    however the tests depend on each other, and never weaker than Bonferroni's.
    """
    corrected, reached = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = reached
    return corrected


def seat_effect(wins: Sequence[float]) -> ChiSquare | None:
    """Return Pearson's test that all seats win alike, from the wins of each; None without a win.

    It serves for agents too, if they rotate. Wins may be sums of fractions, and agents of different strength may rotate
    over the seats: both make the statistic smaller on average, so the p value errs on the high side.
    """
    total = sum(wins)
    if not total:
        return None
    from scipy.special import chdtrc

    expected = total / len(wins)
    statistic = sum((number - expected) ** 2 for number in wins) / expected
    return ChiSquare(statistic, len(wins) - 1, float(chdtrc(len(wins) - 1, statistic)))


def _quantile(filled: list[tuple[int, int]], rank: int) -> int:
    """The value at a rank (from 1) among (value, count) pairs in ascending order."""
    reached = 0
    for value, count in filled:
        reached += count
        if reached >= rank:
            return value
    raise ValueError(f"there are only {reached} values, not {rank}")
