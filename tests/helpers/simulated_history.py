# SPDX-License-Identifier: MPL-2.0
"""Histories whose truth is known: when the points are, what moves them, and how they vary.

Nothing is normalised away: a heavy tail keeps its outliers, and dependent values keep their drift.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

DAY_S = 86_400.0
WEEK, YEAR = 7.0, 365.25  # days
MONDAY = 1_777_258_800.0  # 2026-04-27, 3:00 UTC
VARIATION = 0.05  # between workers of a pool, as everywhere in the simulations
# Until nothing is left of how dependent noise began.
_WARM_UP = 30


def daily(count: int) -> Values:
    return MONDAY + DAY_S * np.arange(count, dtype=np.float64)


def weekly(count: int) -> Values:
    return MONDAY + WEEK * DAY_S * np.arange(count, dtype=np.float64)


def irregular(generator: np.random.Generator, count: int) -> Values:
    """Return pushes whenever somebody pushes: the gaps are exponential."""
    return MONDAY + DAY_S * np.cumsum(generator.exponential(WEEK, count))


@dataclass(frozen=True)
class Noise:
    """How the logarithms of points vary, apart from what a history reports."""

    variation: float = VARIATION
    autocorrelation: float = 0.0  # of first order, from one point to the next
    degrees: float = math.inf  # of Student's t; 3 has heavy tails
    outliers: float = 0.0  # part of the points that take twice as long
    growth: float = 1.0  # of the variation, from the first point to the last

    def draw(self, generator: np.random.Generator, count: int) -> Values:
        drawn = count + _WARM_UP
        if math.isinf(self.degrees):
            innovations = generator.normal(0, 1, drawn)
        else:
            usual = math.sqrt(self.degrees / (self.degrees - 2))
            innovations = generator.standard_t(self.degrees, drawn) / usual
        values = np.empty(drawn)
        last = 0.0
        for at, innovation in enumerate(innovations):
            last = self.autocorrelation * last + innovation
            values[at] = last
        values *= math.sqrt(1 - self.autocorrelation**2) * self.variation
        kept: Values = values[_WARM_UP:] * np.linspace(1, self.growth, count)
        return kept + math.log(2) * (generator.random(count) < self.outliers)


def drift(times: Values, per_year: float) -> Values:
    """Return what a trend adds; 0.1 is 10 % per year."""
    slope = math.log1p(per_year) / (YEAR * DAY_S)
    return slope * (times - float(times[0]))


def steps(count: int, *steps: tuple[int, float]) -> Values:
    """Return what steps add: from each point on so many times as slow as before."""
    values = np.zeros(count)
    for at, ratio in steps:
        values[at:] += math.log(ratio)
    return values
