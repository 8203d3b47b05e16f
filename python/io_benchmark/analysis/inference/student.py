# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Variances that are estimated, their degrees of freedom, and Student's t."""

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
    """Student's t; the normal one where the variance is known."""
    if degrees > MANY_DEGREES:
        return float(ndtri(probability))
    return float(stdtrit(degrees, probability))


def satterthwaite(parts: Sequence[MeanVariance]) -> float:
    """Degrees of freedom of a sum of variances; a known one has infinitely many."""
    if any(math.isinf(part.variance) for part in parts):
        return 1.0
    total = math.fsum(part.variance for part in parts)
    weight = math.fsum(part.variance**2 / part.degrees for part in parts)
    return total**2 / weight if weight > 0 else math.inf


def squared_reach(parts: Sequence[MeanVariance]) -> float:
    """Of the 95 % interval, each part with its own quantile (Howe 1974, JASA 69:789)."""
    return math.fsum(quantile(_PROBABILITY, one.degrees) ** 2 * one.variance for one in parts)


def howe(parts: Sequence[MeanVariance]) -> float:
    """Degrees with which a sum of variances reaches as far as its parts do, each with its own.

    Satterthwaite's degrees are too many where a part of few degrees is small by chance: two runs
    often agree better than runs do. tests/simulation shows the rates.
    """
    total = math.fsum(part.variance for part in parts)
    if not 0 < total < math.inf:
        return satterthwaite(parts)
    reach = math.sqrt(squared_reach(parts) / total)
    if reach <= quantile(_PROBABILITY, MANY_DEGREES):
        return math.inf
    return float(stdtridf(_PROBABILITY, reach))
