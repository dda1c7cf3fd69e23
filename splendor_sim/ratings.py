"""Strength from games: shares and Elo with intervals, a sequential test, ratings of many agents.

The unit is the deal: the games of one deal, in which the agents go through all orders of seats, depend on each other,
and deals do not. A game scores 1 for its winner, 1/k for each of k seats that share it, and 1 / seats for each seat
where nobody is to blame that it has no winner.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from splendor_sim.statistics import CONFIDENCE, Share

_NORMAL = NormalDist()
_Z = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2)
_ELO = 400 / math.log(10)  # of a factor e between the strengths of two agents
_NEVER = 1e-3  # in place of a count of 0, which would make a likelihood 0
_STEPS, _CLOSE = 1000, 1e-10  # of the iteration for ratings: the most, and where it ends


class RatingError(ValueError):
    """A bound or an error rate of a sequential test that is out of range, or a library that ratings lack."""


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval; the value or an end may be infinite."""

    value: float
    low: float
    high: float


# --- Two sides -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strength:
    """What a side scored against others.

    share: of the wins. elo: by how much it is stronger than each of the others. superiority: the likelihood that it is
    the stronger one.
    """

    share: Share
    elo: Interval
    superiority: float

    @classmethod
    def of(cls, deals: int, total: int, squares: int, most: int, others: int = 1) -> "Strength":
        """Return the strength from the sum and the sum of squares of the scores of deals, integers from 0 to `most`.

        The interval is the normal one after adding two deals, one that is all won and one all lost, as Agresti and
        Coull do for a rate (Approximate is better than exact, American Statistician 52, 1998), so that it holds where
        all deals end alike; Elo's ends are those of the share's. The likelihood is that of a normal distribution
        around the mean with the same spread. others: how many opponents sit at the table.
        """
        number = deals + 2
        centre = (total + most) / (most * number)
        error = math.sqrt(((squares + most**2) / (most**2 * number) - centre**2) / number)
        value, even = total / (most * deals), 1 / (1 + others)
        low, high = min(max(0.0, centre - _Z * error), value), max(min(1.0, centre + _Z * error), value)
        share = Share(value, low, high)
        elo = Interval(*(elo_of(bound, others) for bound in (value, low, high)))
        return cls(share, elo, _NORMAL.cdf((centre - even) / error))


def elo_of(share: float, others: int = 1) -> float:
    """Return by how many Elo points a side is stronger than each of its equal opponents, of whom it wins a share."""
    if not 0 < share < 1:
        return math.copysign(math.inf, share - 0.5)
    return _ELO * (math.log(share) - math.log1p(-share) + math.log(others))


def share_of_elo(elo: float) -> float:
    """Return the share of wins against one opponent that is weaker by `elo` points."""
    return 1 / (1 + math.exp(-elo / _ELO))


@dataclass(frozen=True)
class Sprt:
    """A sequential probability ratio test of two sides: is the first stronger by elo1 points, or by elo0?

    alpha: how often elo1 may be accepted if elo0 is true; beta: how often elo0, if elo1 is true. Raises RatingError.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        bounds = (self.elo0, self.elo1)
        if not all(isinstance(bound, int | float) and math.isfinite(bound) for bound in bounds) or not (
            -2000 <= self.elo0 < self.elo1 <= 2000
        ):
            raise RatingError(f"the bounds of a test are two numbers of Elo points, the lower first, not {bounds}")
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not isinstance(rate, int | float) or not 0 < rate < 0.5:
                raise RatingError(f"{name} must be a rate between 0 and 0.5, not {rate!r}")

    @property
    def lower(self) -> float:
        """At or below this log likelihood ratio elo0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """At or above this log likelihood ratio elo1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[float]) -> float:
        """Return the generalized log likelihood ratio of elo1 to elo0 from pairs of games by what they scored.

        counts: pairs that scored 0, then one step more and so on to all that can be scored; five counts for steps of a
        half. Each hypothesis is that distribution of pairs with its mean under which the counts are likeliest: Michel
        Van den Bergh, The generalized maximum likelihood ratio for the expectation value of a distribution (2019).
        """
        if not sum(counts):
            return 0.0
        seen = np.maximum(np.asarray(counts, float), _NEVER)
        scores = np.linspace(0, 1, len(seen))
        tilts = [_tilt(seen / seen.sum(), scores - share_of_elo(elo)) for elo in (self.elo0, self.elo1)]
        less, more = (1 + tilt * (scores - share_of_elo(elo)) for tilt, elo in zip(tilts, (self.elo0, self.elo1)))
        return float(seen @ (np.log(less) - np.log(more)))

    def accepted(self, llr: float) -> float | None:
        """Return the bound that a log likelihood ratio accepts, None if the test is to go on."""
        return self.elo0 if llr <= self.lower else self.elo1 if llr >= self.upper else None


def _tilt(likelihoods: Any, deviations: Any) -> float:
    """Lagrange's multiplier x of the likeliest distribution with mean 0: p / (1 + x d) sums to 1 and has mean 0."""
    from scipy.optimize import brentq

    low, high = -1 / deviations.max(), -1 / deviations.min()
    inside = 1e-9 * (high - low)
    found = brentq(
        lambda x: float((likelihoods * deviations / (1 + x * deviations)).sum()), low + inside, high - inside
    )
    return float(found)


# --- Many agents -----------------------------------------------------------------------------------------------------


def rate(
    tables: Sequence[Sequence[int]], wins: Any, games: int, deals: int, products: Any
) -> tuple[list[Interval], list[list[float]]]:
    """Return ratings in Elo points with the mean at 0, and by how many standard errors each agent is above each other.

    tables: the agents of each table. wins: [tables, seats], the games that each agent of a table won, shared ones in
    parts; games: those of each table. products: [agents, agents], sums over deals of products of what two agents won
    in all games of the deal. An agent wins at a table with a probability proportional to its strength: Bradley and
    Terry's model for two, the first choice of Plackett and Luce's for more. One even game is added to each table, so
    that an agent that won all or nothing has a rating too. The intervals are of the rating less the mean of all, from
    the spread of deals (White, Maximum likelihood estimation of misspecified models, Econometrica 50, 1982).
    """
    choix = require_ratings()
    number, seats = 1 + max(map(max, tables)), len(tables[0])
    places = np.asarray(tables)
    won = np.asarray(wins, float) + 1 / seats
    played = games + 1
    strengths = np.zeros(number)
    for _ in range(_STEPS):
        # With more than two at a table, a step of Luce spectral ranking (Maystre and Grossglauser, Fast and accurate
        # inference of Plackett-Luce models, 2015) is one of pairs, their wins scaled by the pair's part of the table.
        weights = np.exp(strengths)
        pairs = np.zeros((number, number))
        for agents, row in zip(places, won):
            part = (weights[agents][:, None] + weights[agents]) / weights[agents].sum()
            pairs[np.ix_(agents, agents)] += row[:, None] * part * (1 - np.eye(seats))
        before, strengths = strengths, choix.lsr_pairwise_dense(pairs, initial_params=strengths)
        strengths = strengths - strengths.mean()
        if np.abs(strengths - before).max() < _CLOSE:
            break
    information, prior = np.zeros((number, number)), np.zeros((number, number))
    for agents in places:
        chances = np.exp(strengths[agents]) / np.exp(strengths[agents]).sum()
        information[np.ix_(agents, agents)] += played * (np.diag(chances) - np.outer(chances, chances))
        prior[np.ix_(agents, agents)] += (np.eye(seats) - 1 / seats) / seats
    total = np.zeros(number)
    np.add.at(total, places, np.asarray(wins, float))
    spread = np.asarray(products, float) - np.outer(total, total) / deals
    inverse = np.linalg.pinv(information, 1e-9, hermitian=True)
    covariance = inverse @ (spread + prior) @ inverse
    return _as_elo(strengths, covariance)


def require_ratings() -> Any:
    """Return the library that ratings need; raise RatingError without it."""
    try:
        import choix
    except ImportError as error:
        raise RatingError("a tournament needs choix: pip install 'splendor-sim[ratings]'; a match does not") from error
    return choix


def _as_elo(strengths: Any, covariance: Any) -> tuple[list[Interval], list[list[float]]]:
    errors = np.sqrt(np.maximum(np.diag(covariance), 0))
    ratings = [
        Interval(*(_ELO * bound for bound in (value, value - _Z * error, value + _Z * error)))
        for value, error in zip(strengths.tolist(), errors.tolist())
    ]
    variances = np.diag(covariance)
    apart = np.sqrt(np.maximum(variances[:, None] + variances - 2 * covariance, 1e-300))
    return ratings, np.where(np.eye(len(strengths)) > 0, 0, (strengths[:, None] - strengths) / apart).tolist()
