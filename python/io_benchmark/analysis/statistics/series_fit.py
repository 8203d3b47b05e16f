# SPDX-License-Identifier: MPL-2.0
"""What moves the values of a series: nothing, a trend, steps, or both; and how large these are.

A model is a choice of these. Its cost is how badly it fits the logarithms of the values, and a
penalty for each thing in it, as in Schwarz' criterion (Ann. Statist. 6, 1978). The penalties are
larger than his. With them, at most 5 % of steady histories show a step at any of 52 weekly looks
(tests/simulation). This includes histories with an autocorrelation of up to 0.5 and with heavy
tails. The penalties grow with the number of values, because each value adds a look, and a place for
a step.

A fit shows what is in the cheapest model, and in every other model that costs about as much. What
is only in some of these is possible. The intervals take into account that values depend on the
value before. They do not know that the data chose the places of the steps, so they are a little too
narrow.
"""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Self

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.regression import Fit, Numbers, Regression
from io_benchmark.analysis.statistics.variances import reach

# A step between five equal values and five others is not found in fewer.
FEWEST_VALUES = 10
# The penalty of a step is 9 + 2 ln n, and 2 ln (n / 30) more beyond 30 values, because long
# histories have new values every day. Two steps back to the same level have 1.4 times that. Chosen
# by tests/simulation, as are those of trends.
_STEP_PENALTY = 9.0
_BACK_PENALTY = 1.4
_LONG = 30
# The penalty of a trend is 11 + ln n. What happens within fewer days is no trend.
_TREND_PENALTY = 11.0
_TREND_DAYS = 14
# Models whose costs differ by less explain a history about as well. A drift that can be seen within
# less than half a year is so steep that a step is more likely from the start.
_ABOUT_AS_WELL = 6.0
_ABOUT_AS_WELL_IN_SHORT = 3.0
_DAY_S = 86_400.0
_YEAR_DAYS = 365.25
# A series with more steps has no levels that tell anything.
_MOST_STEPS = 12
# What is possible, by its name.
STEP = "step"
TREND = "trend"
# A step is the same in two models if it is at most this many values off: noise moves it so far.
_SAME_STEP = 3
# ln of the largest ratio that is still a number.
_LARGEST_LOG = 700.0
# The digits of logarithms that are the same on all machines: numpy adds up in the order that suits
# the CPU.
_LOG_DECIMALS = 9


class YearlyRatio(NamedTuple):
    """A trend, as the ratio of values after a year."""

    ratio: float
    interval: Interval


class LevelStep(Struct, frozen=True):
    """The end of one level and the start of the next."""

    at: int  # the first value of the new level
    # Just before and after the step.
    before: float
    after: float
    ratio: float
    interval: Interval


class SeriesFit(Struct, frozen=True):
    """What moves the values of a series, and how much."""

    trend: YearlyRatio | None = None
    steps: tuple[LevelStep, ...] = ()
    possible: tuple[str, ...] = ()  # what else may move them: `step`, `trend`
    expected: Numbers | None = None  # logarithms; None: steady

    @classmethod
    def of(cls, times: Sequence[datetime], logs: Numbers) -> Self:
        """Return what all good models of the values, by their logarithms, have in common."""
        if len(logs) < FEWEST_VALUES:
            return cls()
        days = np.array([time.timestamp() for time in times]) / _DAY_S
        length_days = float(days[-1] - days[0])
        models = list(_Model(days).with_steps(logs))
        if length_days > 0:
            models += _Model(days, has_trend=True).with_steps(logs)
        best = min(models, key=lambda model: model.cost)
        good = _good_models(models, best, length_days)
        clear = _Model(
            days,
            length_days >= _TREND_DAYS and all(model.has_trend for model in good),
            tuple(step for step in best.steps if all(model.has_step(step) for model in good)),
        )
        possible = []
        if any(not clear.has_step(start) for model in good for start in model.steps):
            possible.append(STEP)
        if any(model.has_trend for model in good) and not clear.has_trend:
            possible.append(TREND)
        if not clear.has_trend and not clear.steps:
            return cls(possible=tuple(possible))
        fit = Regression(clear.columns, logs).fit()
        return cls(
            trend=clear.trend(fit),
            steps=tuple(clear.fitted_steps(fit)),
            possible=tuple(possible),
            expected=np.round(clear.columns @ fit.coefficients, _LOG_DECIMALS),
        )


class _Model(Struct, frozen=True):
    """A choice of a trend and steps, and what it costs."""

    days: Numbers
    has_trend: bool = False
    steps: tuple[int, ...] = ()  # the first values of new levels, in order
    cost: float = 0.0

    @property
    def columns(self) -> Numbers:
        """Return the columns of a linear model: ones, the trend per year, steps."""
        count = len(self.days)
        columns = [np.ones(count)]
        if self.has_trend:
            columns.append((self.days - np.mean(self.days)) / _YEAR_DAYS)
        columns += [(np.arange(count) >= start).astype(np.float64) for start in self.steps]
        return np.column_stack(columns)

    def has_step(self, start: int) -> bool:
        """Return whether a step of this model is near this value."""
        return any(abs(start - step) <= _SAME_STEP for step in self.steps)

    def is_part_of(self, whole: "_Model") -> bool:
        """Return whether another model contains this one, so that only their penalties decided."""
        if self.has_trend and not whole.has_trend:
            return False
        return all(whole.has_step(step) for step in self.steps)

    def with_steps(self, logs: Numbers) -> "Iterator[_Model]":
        """Yield the model, and with steps added as long as these make it cheaper."""
        model, count = self, len(logs)
        regression = Regression(model.columns, logs)
        trend_penalty = _TREND_PENALTY + math.log(count) if model.has_trend else 0.0
        model = replace(model, cost=regression.deviance + trend_penalty)
        penalty = _STEP_PENALTY + 2 * math.log(count) + 2 * max(0.0, math.log(count / _LONG))
        while regression.is_possible:
            yield model
            single, back = regression.best_steps(model.steps)
            single_gain = round(single.gain - penalty, _LOG_DECIMALS)
            back_gain = round(back.gain - _BACK_PENALTY * penalty, _LOG_DECIMALS)
            gain, starts = max((single_gain, single.starts), (back_gain, back.starts))
            if gain <= 0 or len(model.steps) >= _MOST_STEPS:
                return
            steps = tuple(sorted((*model.steps, *starts)))
            model = replace(model, steps=steps, cost=model.cost - gain)
            regression = Regression(model.columns, logs)

    def trend(self, fit: Fit) -> YearlyRatio | None:
        """Return the trend; a steep one of a few days is infinite after a year."""
        if not self.has_trend:
            return None
        return YearlyRatio(_ratio(fit, 1), _interval(fit, 1))

    def fitted_steps(self, fit: Fit) -> Iterator[LevelStep]:
        """Yield the steps with their sizes."""
        columns = self.columns
        first_column = 2 if self.has_trend else 1
        for column, start in enumerate(self.steps, start=first_column):
            before_log = float(columns[start, :column] @ fit.coefficients[:column])
            before = math.exp(round(before_log, _LOG_DECIMALS))
            ratio = _ratio(fit, column)
            yield LevelStep(start, before, before * ratio, ratio, _interval(fit, column))


def _good_models(models: Sequence[_Model], best: _Model, length_days: float) -> list[_Model]:
    """Return the best model, and those that explain the values about as well in another way."""
    margin = _ABOUT_AS_WELL_IN_SHORT if length_days < _YEAR_DAYS / 2 else _ABOUT_AS_WELL
    good = [best]
    for model in models:
        is_about_as_good = model.cost <= best.cost + margin
        if is_about_as_good and not model.is_part_of(best) and not best.is_part_of(model):
            good.append(model)
    return good


def _ratio(fit: Fit, column: int) -> float:
    """Return the ratio that a column makes."""
    return _exponential(round(float(fit.coefficients[column]), _LOG_DECIMALS))


def _interval(fit: Fit, column: int) -> Interval:
    """Return the interval of the ratio that a column makes."""
    size = round(float(fit.coefficients[column]), _LOG_DECIMALS)
    error = round(math.sqrt(fit.covariance[column, column]), _LOG_DECIMALS)
    width = reach(LEVEL, fit.degrees) * error
    return Interval(_exponential(size - width), _exponential(size + width), LEVEL)


def _exponential(log_ratio: float) -> float:
    return math.exp(log_ratio) if log_ratio < _LARGEST_LOG else math.inf
