# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The sizes of what explains a history: its trend, seasons and steps, each with an interval.

The intervals take into account that points depend on the point before. They do not know that the data chose
the points of the steps, so they are a little too narrow.
"""

import calendar as names_of_days
import math
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from msgspec import Struct

from io_benchmark.analysis.arrays import Numbers
from io_benchmark.analysis.history.autoregression import Regression
from io_benchmark.analysis.history.explanations import explain
from io_benchmark.analysis.history.history_model import Effect
from io_benchmark.analysis.history.seasons import DAY, TREND, WAVES, Calendar
from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.variances import reach
from io_benchmark.analysis.model import Interval

# A step whose gain equals its penalty is found in this share of steady pools.
_FALSE_ALARMS = 0.05
_LARGEST_LOG = 700.0


class _Step(Struct, frozen=True):
    at: int
    p_value: float
    before_log: float
    log_ratio: float
    interval: Interval


class Effects(Struct, frozen=True):
    """What moves the points of a series, and how much."""

    trend: Effect | None = None
    seasons: tuple[Effect, ...] = ()
    steps: tuple[_Step, ...] = ()
    possible: tuple[str, ...] = ()
    autocorrelation: float | None = None
    expected: Numbers | None = None  # logarithms; None: steady

    @classmethod
    def of(cls, times: Sequence[datetime], values: Numbers) -> "Effects":
        """Return the effects in values (logarithms) at these times."""
        calendar = Calendar.of(times)
        found = explain(calendar, values)
        model = found.clear
        if not model.names and not model.steps:
            return cls(possible=found.possible)
        columns = model.columns(calendar)
        fit = Regression(columns, values).fit()
        sizes = _Sizes(fit.coefficients, fit.covariance, reach(LEVEL, fit.degrees))
        effects, place = [], 1
        for name in model.names:
            effects.append(sizes.effect(name, place))
            place += 2 if name in WAVES else 1
        steps = []
        for number, (at, gain) in enumerate(model.steps, start=place):
            # Without seasons, and before the step itself.
            kept = [0, *range(place, number)]
            if TREND in model.names:
                kept.append(1)
            before = float(columns[at, kept] @ fit.coefficients[kept])
            log_ratio, interval = float(fit.coefficients[number]), sizes.interval(number)
            p_value = _FALSE_ALARMS * math.exp(-gain / 2)
            steps.append(_Step(at, p_value, before, log_ratio, interval))
        return cls(
            next((effect for effect in effects if effect.name == TREND), None),
            tuple(effect for effect in effects if effect.name != TREND),
            tuple(steps),
            found.possible,
            fit.autocorrelation,
            columns @ fit.coefficients,
        )


class _Sizes(Struct, frozen=True):
    """A model's coefficients, and how many standard errors an interval reaches."""

    coefficients: Numbers
    covariance: Numbers
    reach: float

    def interval(self, place: int) -> Interval:
        """Return the interval of a coefficient, as a ratio."""
        size = float(self.coefficients[place])
        width = self.reach * math.sqrt(self.covariance[place, place])
        return Interval(_exp(size - width), _exp(size + width), LEVEL)

    def effect(self, name: str, place: int) -> Effect:
        """Return the effect whose first column has this place."""
        if name not in WAVES:
            return Effect(name, _exp(float(self.coefficients[place])), self.interval(place))
        both = slice(place, place + 2)
        size = float(np.linalg.norm(self.coefficients[both]))
        towards = self.coefficients[both] / size
        width = self.reach * math.sqrt(towards @ self.covariance[both, both] @ towards)
        interval = Interval(_exp(max(size - width, 0.0)), _exp(size + width), LEVEL)
        cosine, sine = self.coefficients[both]
        cycle = math.atan2(sine, cosine) / (2 * math.pi) % 1
        return Effect(name, _exp(size), interval, _time(name, cycle))


def _exp(log_ratio: float) -> float:
    """Return a ratio; a steep trend of a few days is infinite after a year."""
    return math.exp(log_ratio) if log_ratio < _LARGEST_LOG else math.inf


def _time(name: str, cycle: float) -> str:
    """Write the time of this part of a cycle."""
    if name == DAY:
        return f"{round(24 * cycle) % 24:02d}:00"
    return names_of_days.day_name[math.floor(7 * cycle) % 7]
