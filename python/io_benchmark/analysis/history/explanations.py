# SPDX-License-Identifier: MPL-2.0
"""What explains a pool's history: nothing, a trend, steps, or both; and how large these are.

A model is a choice of these. Its cost is how badly it fits the points' logarithms (`autoregression`), and a
penalty for each thing in it, as in Schwarz' criterion (Ann. Statist. 6, 1978). The penalties are larger than
his. With them, at most 5 % of steady histories show a step at any of 52 weekly looks (tests/simulation).
This includes histories with an autocorrelation of up to 0.5 and with heavy tails. The penalties grow with
the number of points, because each point adds a look, and a place for a step.

The report shows what is in the cheapest model, and in every other model that costs about as much. What is
only in some of these is listed as possible. The intervals take into account that points depend on the point
before. They do not know that the data chose the points of the steps, so they are a little too narrow.
"""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
from msgspec import Struct

from io_benchmark.analysis.history.autoregression import LOG_DECIMALS, Fit, Numbers, Regression
from io_benchmark.analysis.history.history_model import Change, Effect
from io_benchmark.analysis.levels import LEVEL
from io_benchmark.analysis.model import Interval
from io_benchmark.analysis.variances import reach

# A step between five equal values and five others is not found in fewer.
FEWEST_VALUES = 10
# The penalty of a step is 9 + 2 ln n, and 2 ln (n / 30) more beyond 30 points, because long histories have
# new points every day. Two steps back to the same level have 1.4 times that.
_STEP_PENALTY, _BACK_PENALTY, _LONG = 9.0, 1.4, 30
# The penalty of a trend is 11 + ln n. What happens within fewer days is no trend.
_TREND_PENALTY, _TREND_DAYS = 11.0, 14
# Models whose costs differ by less explain a history about as well. A drift that can be seen within less
# than half a year is so steep that a step is more likely from the start.
_ABOUT_AS_WELL, _ABOUT_AS_WELL_IN_SHORT = 6.0, 3.0
_DAY_S, _YEAR_DAYS = 86_400.0, 365.25
_MOST_STEPS = 12
STEP, TREND = "step", "trend"
# A step is the same in two models if it is at most this many points off.
_SAME_STEP = 3
# A step whose gain equals its penalty is found in this share of steady pools.
_FALSE_ALARMS = 0.05
_LARGEST_LOG = 700.0


class Explanation(Struct, frozen=True):
    """What moves the points of a series, and how much."""

    trend: Effect | None = None
    steps: tuple[Change, ...] = ()  # without the facts that changed
    possible: tuple[str, ...] = ()
    autocorrelation: float | None = None
    expected: Numbers | None = None  # logarithms; None: steady


class _Model(Struct, frozen=True):
    days: Numbers
    has_trend: bool = False
    # The first points of new levels, in order, and by how much each lowered the cost.
    steps: tuple[tuple[int, float], ...] = ()
    cost: float = 0.0

    @property
    def columns(self) -> Numbers:
        """Return the columns of a linear model: ones, the trend per year, steps."""
        count = len(self.days)
        trend = [(self.days - np.mean(self.days)) / _YEAR_DAYS] if self.has_trend else []
        steps = [(np.arange(count) >= start).astype(np.float64) for start, _ in self.steps]
        return np.column_stack([np.ones(count), *trend, *steps])

    def has_step(self, point: int) -> bool:
        return any(abs(point - start) <= _SAME_STEP for start, _ in self.steps)

    def is_part_of(self, whole: "_Model") -> bool:
        """Return whether another model contains this one, so that only their penalties decided."""
        return self.has_trend <= whole.has_trend and all(
            whole.has_step(start) for start, _ in self.steps
        )


def explain(times: Sequence[datetime], values: Numbers) -> Explanation:
    """Return what all good models of values (logarithms) at these times have in common."""
    if len(values) < FEWEST_VALUES:
        return Explanation()
    days = np.array([time.timestamp() for time in times]) / _DAY_S
    length_days = float(days[-1] - days[0])
    models = [
        model
        for has_trend in ((False, True) if length_days > 0 else (False,))
        for model in _with_steps(_Model(days, has_trend), values)
    ]
    best = min(models, key=lambda model: model.cost)
    margin = _ABOUT_AS_WELL_IN_SHORT if length_days < _YEAR_DAYS / 2 else _ABOUT_AS_WELL
    good = [best] + [
        model
        for model in models
        if model.cost <= best.cost + margin
        and not model.is_part_of(best)
        and not best.is_part_of(model)
    ]
    clear = _Model(
        days,
        length_days >= _TREND_DAYS and all(model.has_trend for model in good),
        tuple(step for step in best.steps if all(model.has_step(step[0]) for model in good)),
    )
    unclear_step = any(not clear.has_step(start) for model in good for start, _ in model.steps)
    unclear_trend = any(model.has_trend for model in good) and not clear.has_trend
    possible = (STEP,) * unclear_step + (TREND,) * unclear_trend
    if not clear.has_trend and not clear.steps:
        return Explanation(possible=possible)
    return _explanation(clear, values, possible)


def _with_steps(model: _Model, values: Numbers) -> Iterator[_Model]:
    """Return the model, and with steps added as long as these make it cheaper."""
    regression = Regression(model.columns, values)
    if not regression.is_possible:
        return
    count = len(values)
    cost = regression.deviance
    if model.has_trend:
        cost += _TREND_PENALTY + math.log(count)
    model = _Model(model.days, model.has_trend, cost=cost)
    penalty = _STEP_PENALTY + 2 * math.log(count) + 2 * max(0.0, math.log(count / _LONG))
    while regression.is_possible:
        yield model
        known = [start for start, _ in model.steps]
        (gain, starts), (gain_back, starts_back) = regression.best_steps(known)
        gain, starts = max(
            (round(gain - penalty, LOG_DECIMALS), starts),
            (round(gain_back - _BACK_PENALTY * penalty, LOG_DECIMALS), starts_back),
        )
        if gain <= 0 or len(model.steps) >= _MOST_STEPS:
            return
        steps = sorted([*model.steps, *((start, gain) for start in starts)])
        model = _Model(model.days, model.has_trend, tuple(steps), model.cost - gain)
        regression = Regression(model.columns, values)


def _explanation(model: _Model, values: Numbers, possible: tuple[str, ...]) -> Explanation:
    columns = model.columns
    fit = Regression(columns, values).fit()
    steps = []
    for column, (start, gain) in enumerate(model.steps, start=1 + model.has_trend):
        before = float(columns[start, :column] @ fit.coefficients[:column])
        before_ns = math.exp(round(before, LOG_DECIMALS))
        ratio, interval = _ratio(fit, column)
        p_value = _FALSE_ALARMS * math.exp(-gain / 2)
        after_ns = before_ns * ratio
        steps.append(Change(start, p_value, before_ns, after_ns, ratio, interval, (), (), True))
    return Explanation(
        Effect(TREND, *_ratio(fit, 1)) if model.has_trend else None,
        tuple(steps),
        possible,
        fit.autocorrelation,
        np.round(columns @ fit.coefficients, LOG_DECIMALS),
    )


def _ratio(fit: Fit, column: int) -> tuple[float, Interval]:
    """Return the ratio that a column makes, and its interval."""
    size = round(float(fit.coefficients[column]), LOG_DECIMALS)
    error = round(math.sqrt(fit.covariance[column, column]), LOG_DECIMALS)
    width = reach(LEVEL, fit.degrees) * error
    return _exp(size), Interval(_exp(size - width), _exp(size + width), LEVEL)


def _exp(log_ratio: float) -> float:
    """Return a ratio; a steep trend of a few days is infinite after a year."""
    return math.exp(log_ratio) if log_ratio < _LARGEST_LOG else math.inf
