# SPDX-License-Identifier: MPL-2.0
"""The sizes of what explains a history: its trend, seasons and steps, each with an interval.

The intervals take into account that points depend on the point before. They do not know that the data chose
the points of the steps, so they are a little too narrow.
"""

import calendar as names_of_days
import math
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.arrays import Numbers
from io_benchmark.analysis.history.autoregression import Fit, Regression
from io_benchmark.analysis.history.explanations import explain
from io_benchmark.analysis.history.history_model import Effect
from io_benchmark.analysis.history.seasons import DAY, TREND, WAVES, Calendar
from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.variances import reach
from io_benchmark.analysis.model import Interval

# A step whose gain equals its penalty is found in this share of steady pools.
_FALSE_ALARMS = 0.05
_LARGEST_LOG = 700.0
_ALONE: Numbers = np.ones(1)


class _Step(NamedTuple):
    at: int
    p_value: float
    before_ns: float
    ratio: float
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
        model, possible = explain(calendar, values)
        if not model.names and not model.steps:
            return cls(possible=possible)
        columns = model.columns(calendar)
        fit = Regression(columns, values).fit()
        effects, place = [], 1
        for name in model.names:
            effects.append(_effect(fit, name, place))
            place += 2 if name in WAVES else 1
        steps = []
        for number, (at, gain) in enumerate(model.steps, start=place):
            # Without seasons, and before the step itself.
            kept = [0, *range(place, number)]
            if TREND in model.names:
                kept.append(1)
            before_ns = math.exp(columns[at, kept] @ fit.coefficients[kept])
            p_value = _FALSE_ALARMS * math.exp(-gain / 2)
            steps.append(_Step(at, p_value, before_ns, *_ratio(fit, slice(number, number + 1))))
        return cls(
            next((effect for effect in effects if effect.name == TREND), None),
            tuple(effect for effect in effects if effect.name != TREND),
            tuple(steps),
            possible,
            fit.autocorrelation,
            columns @ fit.coefficients,
        )


def _effect(fit: Fit, name: str, place: int) -> Effect:
    """Return the effect whose first column has this place."""
    if name not in WAVES:
        return Effect(name, *_ratio(fit, slice(place, place + 1)))
    wave = slice(place, place + 2)
    cosine, sine = fit.coefficients[wave]
    ratio, interval = _ratio(fit, wave, np.array([cosine, sine]) / math.hypot(cosine, sine))
    interval = replace(interval, low_ratio=max(1.0, interval.low_ratio))
    return Effect(name, ratio, interval, _time(name, math.atan2(sine, cosine) / (2 * math.pi) % 1))


def _ratio(fit: Fit, columns: slice, weights: Numbers = _ALONE) -> tuple[float, Interval]:
    """Return the ratio that these columns make with these weights, and its interval."""
    size = float(weights @ fit.coefficients[columns])
    variance = float(weights @ fit.covariance[columns, columns] @ weights)
    width = reach(LEVEL, fit.degrees) * math.sqrt(variance)
    return _exp(size), Interval(_exp(size - width), _exp(size + width), LEVEL)


def _exp(log_ratio: float) -> float:
    """Return a ratio; a steep trend of a few days is infinite after a year."""
    return math.exp(log_ratio) if log_ratio < _LARGEST_LOG else math.inf


def _time(name: str, cycle: float) -> str:
    """Write the time of this part of a cycle."""
    if name == DAY:
        return f"{round(24 * cycle) % 24:02d}:00"
    return names_of_days.day_name[math.floor(7 * cycle) % 7]
