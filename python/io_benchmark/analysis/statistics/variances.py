# SPDX-License-Identifier: MPL-2.0
"""Estimated variances of a mean, their degrees of freedom, and Student's t to ten digits.

There are two levels within a machine that measured several times: blocks of samples within a run,
and runs. What affects a run as a whole (where its files lie, what else the host did) is not visible
in its blocks, and runs of one machine differ by far more than their blocks do. The spread of the
runs' means includes both levels, but has few degrees of freedom. The level with the wider interval
is used.

scipy has Student's t as well, but loading it takes as long as a whole comparison. The tests compare
every function with scipy.
"""

import functools
import math
from collections.abc import Iterable, Sequence
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION, LEVEL

# Two values agree by chance too often to show how far others differ.
FEWEST_FOR_VARIATION = 3
# An assumed variation counts as much as one estimated from about twenty workers.
ASSUMED_VARIATION_DEGREES = 20.0

_DEGREES_OF_FIVE = 4.0  # five workers; chosen

# From so many degrees of freedom on, Student's distribution is the normal one to ten digits.
MANY_DEGREES = 1e9
# From here on Hill's transformation has more digits than the continued fraction.
_LARGE_DEGREES = 1e4
# Lentz's method puts this in the place of a zero, which it would divide by.
_SMALLEST = 1e-300
# The continued fraction ends where a step changes it by less than a float can show.
_LAST_FACTOR = 1e-15
# Newton's method ends with this step: each step has twice the digits of the one before.
_LAST_STEP = 1e-8
# How exactly degrees of freedom are found, relative to their number.
_CLOSE = 1e-12

LogMeans = Sequence[float]  # of each run of one machine, or of each worker of a pool


class MeanVariance(Struct, frozen=True):
    """The variance of a mean and how many degrees of freedom its estimate has."""

    variance: float
    degrees: float

    @classmethod
    def of_values(cls, values: Sequence[float]) -> "MeanVariance":
        """Return how far single values differ."""
        return cls(_sample_variance(values), len(values) - 1.0)

    @classmethod
    def of_mean(cls, values: Sequence[float]) -> "MeanVariance":
        """Return how far the mean of values like these differs."""
        return cls(_sample_variance(values) / len(values), len(values) - 1.0)

    @classmethod
    def of_single(
        cls, values: Sequence[float], assumed: float = DEFAULT_WORKER_VARIATION
    ) -> "MeanVariance":
        """Return how far single values differ; a few do not show it, so that it is assumed."""
        default = cls(assumed**2, ASSUMED_VARIATION_DEGREES)
        if len(values) < 2:
            return default
        seen = cls.of_values(values)
        if len(values) >= FEWEST_FOR_VARIATION:
            return seen
        (wider,) = cls.wider([default], [seen])
        return wider

    @classmethod
    def assumed(cls, ratio: float) -> "MeanVariance":
        """Return an assumed variation of workers, which counts as much as that of five."""
        return cls(ratio**2, _DEGREES_OF_FIVE)

    def share_of_average(self, count: int) -> "MeanVariance":
        """Return what the variance of one mean adds to that of the average of `count` means."""
        return MeanVariance(self.variance / count**2, self.degrees)

    @classmethod
    def of_sum(cls, parts: Sequence["MeanVariance"]) -> "MeanVariance":
        """Return the variance of a sum of independent values with these variances."""
        return cls(math.fsum(part.variance for part in parts), cls.satterthwaite(parts))

    def half_width(self, level: float) -> float:
        """Return how far an interval of this level reaches to each side."""
        if not self.variance:
            return 0.0
        return reach(level, self.degrees) * math.sqrt(self.variance)

    @staticmethod
    def half_width_of(parts: Sequence["MeanVariance"]) -> float:
        """Return how far the interval of a sum reaches to each side, at the level of intervals.

        Each part counts with its own quantile, so that one with few degrees does not lend a
        small one to the others.
        """
        return math.sqrt(_squared_reach(parts))

    @classmethod
    def of_repeated_runs(cls, candidate: LogMeans, baseline: LogMeans) -> "list[MeanVariance]":
        """Return the variance of each side's average by how far runs differ.

        Return nothing where neither side has repeated runs. Two runs that agree by chance would
        make a side's spread too small. Both sides ran the same program, so each side's runs are
        taken to differ as far as the other's do. The degrees of freedom of the other side count at
        most as much as the side's own.
        """
        several = [side for side in (candidate, baseline) if len(side) > 1]
        if not several:
            return []
        variance = max(map(_sample_variance, several))
        seen = sum(len(side) - 1 for side in several)
        variances = []
        for side in (candidate, baseline):
            own = len(side) - 1
            # A single run has no degrees of its own to count the other side's by.
            degrees = min(seen, 2 * own) if own else seen
            variances.append(cls(variance / len(side), float(degrees)))
        return variances

    @classmethod
    def pooled(cls, groups: Iterable[LogMeans]) -> "MeanVariance | None":
        """Return how far values of one group differ, over several; None if no group has two."""
        several = [cls.of_values(group) for group in groups if len(group) > 1]
        return cls.combined(several) if several else None

    @classmethod
    def combined(cls, parts: Sequence["MeanVariance"]) -> "MeanVariance":
        """Return one estimate of the same variance; each part counts by its degrees of freedom."""
        degrees = math.fsum(part.degrees for part in parts)
        return cls(math.fsum(part.variance * part.degrees for part in parts) / degrees, degrees)

    @staticmethod
    def wider(
        blocks: Sequence["MeanVariance"], runs: Sequence["MeanVariance"]
    ) -> "list[MeanVariance]":
        """Return the parts with the wider interval."""
        return list(runs if _squared_reach(runs) > _squared_reach(blocks) else blocks)

    @staticmethod
    def satterthwaite(parts: Sequence["MeanVariance"]) -> float:
        """Return the degrees of freedom of a sum of variances; a known one has infinitely many."""
        if any(math.isinf(part.variance) for part in parts):
            return 1.0
        total = math.fsum(part.variance for part in parts)
        weight = math.fsum(part.variance**2 / part.degrees for part in parts)
        return total**2 / weight if weight > 0 else math.inf

    @staticmethod
    def howe(parts: Sequence["MeanVariance"]) -> float:
        """Return the degrees of freedom that make a sum's interval as wide as its parts require.

        Satterthwaite's degrees are too many where a part with few degrees is small by chance: two
        runs often agree better than runs usually do. tests/simulation shows the rates.
        """
        total = math.fsum(part.variance for part in parts)
        if not 0 < total < math.inf:
            return MeanVariance.satterthwaite(parts)
        needed = math.sqrt(_squared_reach(parts) / total)
        if needed <= reach(LEVEL, math.inf):
            return math.inf
        return _degrees_with(needed, (1 - LEVEL) / 2)


def _sample_variance(values: Sequence[float]) -> float:
    centre = fmean(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def reach(level: float, degrees: float) -> float:
    """Return how many standard errors an interval of this level reaches to each side.

    That is a quantile of Student's t, or the normal one if the variance is known.
    """
    return quantile((1 - level) / 2, degrees)


def _squared_reach(parts: Sequence[MeanVariance]) -> float:
    """Return the squared half width of the interval, each part with its own quantile.

    Howe 1974, JASA 69:789.
    """
    return math.fsum(reach(LEVEL, part.degrees) ** 2 * part.variance for part in parts)


def tail(value: float, degrees: float) -> float:
    """Return the probability that Student's t is larger than a value.

    Below 0 only with many degrees of freedom, such as infinitely many: the normal distribution.
    """
    if degrees > MANY_DEGREES:
        return math.erfc(value / math.sqrt(2)) / 2
    square = value * value
    if degrees > _LARGE_DEGREES:
        # Hill 1970, CACM 13:617; further terms are below 1e-14.
        y = (degrees - 0.5) * math.log1p(square / degrees)
        return tail(math.sqrt(y) * (1 + (y + 3) / (48 * (degrees - 0.5) ** 2)), math.inf)
    # Near 0 the other end of the distribution has more digits.
    x, rest = degrees / (degrees + square), square / (degrees + square)
    a = degrees / 2
    # x^a √(1 − x) ÷ B(a, 1/2)
    front = math.sqrt(rest) * _density(value, degrees) * math.sqrt(degrees / x)
    if rest < 1.5 / (a + 2.5):
        return 0.5 - front * _beta_fraction(0.5, a, rest)
    return front * _beta_fraction(a, 0.5, x) / (2 * a)


def _density(value: float, degrees: float) -> float:
    if degrees > MANY_DEGREES:
        return math.exp(-value * value / 2) / math.sqrt(2 * math.pi)
    a = degrees / 2
    step = math.lgamma(a + 0.5) - math.lgamma(a)
    exponent = step - (a + 0.5) * math.log1p(value * value / degrees)
    return math.exp(exponent) / math.sqrt(degrees * math.pi)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz."""
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or _SMALLEST)
    value, step, m = d, 0.0, 0
    while abs(step - 1) > _LAST_FACTOR:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or _SMALLEST)
            c = (1 + term / c) or _SMALLEST
            step = c * d
            value *= step
    return value


@functools.lru_cache(maxsize=1024)
def quantile(probability: float, degrees: float) -> float:
    """Return the value that Student's t exceeds with this probability, which is below 1/2.

    Newton's method for ln P(T > e^u). The function is concave, because ln |T| is a difference of
    log-gamma variables, so that the method converges from every start.
    """
    value, step = math.sqrt(-2 * math.log(2 * probability)), math.inf
    # Each step has twice the digits of the one before.
    while abs(step) > _LAST_STEP:
        above = tail(value, degrees)
        step = above * math.log(above / probability) / (value * _density(value, degrees))
        value *= math.exp(step)
    return value


def _degrees_with(value: float, probability: float) -> float:
    """Return the degrees of freedom with which Student's t exceeds a value so often; at least 1."""
    low, high = 1 / MANY_DEGREES, 1.0
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        if tail(value, 1 / middle) > probability:
            high = middle
        else:
            low = middle
    return 1 / high
