# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Estimated variances, their degrees of freedom, and Student's t."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtri, stdtridf, stdtrit

from io_benchmark.analysis.inference.levels import LEVEL, two_sided

# From here on Student's distribution is the normal one.
MANY_DEGREES = 1e9
# At which degrees are fitted: that of a verdict's interval.
_PROBABILITY = two_sided(LEVEL)


@dataclass(frozen=True)
class MeanVariance:
    """The variance of a mean and how many degrees of freedom its estimate has."""

    variance: float
    degrees: float


def sample_variance(values: Sequence[float]) -> float:
    centre = math.fsum(values) / len(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t, or the normal one if the variance is known."""
    if degrees > MANY_DEGREES:
        return float(ndtri(probability))
    return float(stdtrit(degrees, probability))


def satterthwaite(parts: Sequence[MeanVariance]) -> float:
    """Return the degrees of freedom of a sum of variances; a known variance has infinitely many."""
    if any(math.isinf(part.variance) for part in parts):
        return 1.0
    total = math.fsum(part.variance for part in parts)
    weight = math.fsum(part.variance**2 / part.degrees for part in parts)
    return total**2 / weight if weight > 0 else math.inf


def squared_reach(parts: Sequence[MeanVariance]) -> float:
    """Return the squared half width of the interval, each part with its own quantile.

    Howe 1974, JASA 69:789.
    """
    return math.fsum(quantile(_PROBABILITY, part.degrees) ** 2 * part.variance for part in parts)


def howe(parts: Sequence[MeanVariance]) -> float:
    """Return the degrees of freedom that make a sum's interval as wide as its parts require.

    Satterthwaite's degrees are too many where a part with few degrees is small by chance: two runs
    often agree better than runs usually do. tests/simulation shows the rates.
    """
    total = math.fsum(part.variance for part in parts)
    if not 0 < total < math.inf:
        return satterthwaite(parts)
    reach = math.sqrt(squared_reach(parts) / total)
    if reach <= quantile(_PROBABILITY, MANY_DEGREES):
        return math.inf
    return float(stdtridf(_PROBABILITY, reach))
