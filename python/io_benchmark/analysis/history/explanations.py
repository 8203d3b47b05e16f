# SPDX-License-Identifier: MPL-2.0
"""What explains a pool's history: nothing, a trend, steps, or both; and how large these are.

A model is a choice of these. Its cost is how badly it fits the points' logarithms, and a penalty for each
thing in it, as in Schwarz' criterion (Ann. Statist. 6, 1978). The penalties are larger than his. With them,
at most 5 % of steady histories show a step at any of 52 weekly looks (tests/simulation). This includes
histories with an autocorrelation of up to 0.5 and with heavy tails. The penalties grow with the number of
points, because each point adds a look, and a place for a step.

The fit is least squares with errors that are autoregressive of first order. For each of a few
autocorrelations the values and the columns are whitened: what the value before predicts is subtracted. Each
model has the autocorrelation with the highest likelihood. So a step must explain more than dependence on the
value before does (Robbins, Gallagher, Lund and Aue 2011, Journal of Time Series Analysis 32). A whitened
value counts as at most `_OUTLIER` robust standard deviations off its model (Huber 1981, Robust Statistics,
chapter 7).

The report shows what is in the cheapest model, and in every other model that costs about as much. What is
only in some of these is listed as possible. The intervals take into account that points depend on the point
before. They do not know that the data chose the points of the steps, so they are a little too narrow.
"""

import math
import operator
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from io_benchmark.analysis.history import Change, Effect
from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.variances import reach

Numbers = NDArray[np.float64]
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
_LARGEST_LOG = 700.0
# The digits of logarithms that are the same on all machines: numpy adds up in the order that suits the CPU.
_LOG_DECIMALS = 9
# Where the autocorrelation is higher, no step can be distinguished from chance.
_AUTOCORRELATIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_OUTLIER = 3.5
# Until the outliers no longer move the model by much.
_ROUNDS = 3
# The median of the distances of normal values from their median, in standard deviations.
_NORMAL_MEDIAN = 0.6745
# Fewer values are not a level: one or two may be outliers.
_SHORTEST_LEVEL = 3
# A column that differs by less than this from the others cannot be told from them.
_DISTINCT = 1e-6
# Models explain more by chance where there are few values.
_LOST_VALUES = 4.0
# All values are equal, in spite of rounding.
_EQUAL = 1e-12
# How much better a model gets by steps at these values: twice the logarithm of the ratio of likelihoods.
_Steps = tuple[float, tuple[int, ...]]


class Explanation(Struct, frozen=True):
    """What moves the points of a series, and how much."""

    trend: Effect | None = None
    steps: tuple[Change, ...] = ()  # without the facts that changed
    possible: tuple[str, ...] = ()
    expected: Numbers | None = None  # logarithms; None: steady

    @classmethod
    def of(cls, times: Sequence[datetime], values: Numbers) -> "Explanation":
        """Return what all good models of values (logarithms) at these times have in common."""
        if len(values) < FEWEST_VALUES:
            return cls()
        days = np.array([time.timestamp() for time in times]) / _DAY_S
        length_days = float(days[-1] - days[0])
        models = [
            model
            for has_trend in ((False, True) if length_days > 0 else (False,))
            for model in _Model(days, has_trend).with_steps(values)
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
            tuple(step for step in best.steps if all(model.has_step(step) for model in good)),
        )
        unclear_step = any(not clear.has_step(start) for model in good for start in model.steps)
        unclear_trend = any(model.has_trend for model in good) and not clear.has_trend
        possible = (STEP,) * unclear_step + (TREND,) * unclear_trend
        if not clear.has_trend and not clear.steps:
            return cls(possible=possible)
        return clear.explanation(values, possible)


class _Model(Struct, frozen=True):
    days: Numbers
    has_trend: bool = False
    steps: tuple[int, ...] = ()  # the first points of new levels, in order
    cost: float = 0.0

    @property
    def columns(self) -> Numbers:
        """Return the columns of a linear model: ones, the trend per year, steps."""
        count = len(self.days)
        trend = [(self.days - np.mean(self.days)) / _YEAR_DAYS] if self.has_trend else []
        steps = [(np.arange(count) >= start).astype(np.float64) for start in self.steps]
        return np.column_stack([np.ones(count), *trend, *steps])

    def has_step(self, point: int) -> bool:
        return any(abs(point - start) <= _SAME_STEP for start in self.steps)

    def is_part_of(self, whole: "_Model") -> bool:
        """Return whether another model contains this one, so that only their penalties decided."""
        return self.has_trend <= whole.has_trend and all(map(whole.has_step, self.steps))

    def with_steps(self, values: Numbers) -> "Iterator[_Model]":
        """Yield the model, and with steps added as long as these make it cheaper."""
        model, count = self, len(values)
        regression = _Regression(model.columns, values)
        trend_penalty = _TREND_PENALTY + math.log(count) if model.has_trend else 0.0
        model = replace(model, cost=regression.deviance + trend_penalty)
        penalty = _STEP_PENALTY + 2 * math.log(count) + 2 * max(0.0, math.log(count / _LONG))
        while regression.is_possible:
            yield model
            (gain, starts), (gain_back, starts_back) = regression.best_steps(model.steps)
            gain, starts = max(
                (round(gain - penalty, _LOG_DECIMALS), starts),
                (round(gain_back - _BACK_PENALTY * penalty, _LOG_DECIMALS), starts_back),
            )
            if gain <= 0 or len(model.steps) >= _MOST_STEPS:
                return
            steps = tuple(sorted((*model.steps, *starts)))
            model = replace(model, steps=steps, cost=model.cost - gain)
            regression = _Regression(model.columns, values)

    def explanation(self, values: Numbers, possible: tuple[str, ...]) -> Explanation:
        columns = self.columns
        coefficients, covariance, degrees = _Regression(columns, values).fit()

        def effect(column: int) -> Effect:
            """Return the ratio that a column makes; a steep trend of a few days is infinite after a year."""
            size = round(float(coefficients[column]), _LOG_DECIMALS)
            error = round(math.sqrt(covariance[column, column]), _LOG_DECIMALS)
            width = reach(LEVEL, degrees) * error
            low, ratio, high = (
                math.exp(log_ratio) if log_ratio < _LARGEST_LOG else math.inf
                for log_ratio in (size - width, size, size + width)
            )
            return Effect(ratio, Interval(low, high, LEVEL))

        steps = []
        for column, start in enumerate(self.steps, start=1 + self.has_trend):
            before = float(columns[start, :column] @ coefficients[:column])
            before_ns, step = math.exp(round(before, _LOG_DECIMALS)), effect(column)
            after_ns = before_ns * step.ratio
            steps.append(Change(start, before_ns, after_ns, step.ratio, step.interval, (), True))
        return Explanation(
            effect(1) if self.has_trend else None,
            tuple(steps),
            possible,
            np.round(columns @ coefficients, _LOG_DECIMALS),
        )


class _Regression(Struct, frozen=True, eq=False):
    """A linear model of values; the columns are independent of each other."""

    columns: Numbers
    values: Numbers

    @property
    def is_possible(self) -> bool:
        """Return whether no column is a combination of the others."""
        sizes = np.linalg.svd(self.columns / np.linalg.norm(self.columns, axis=0), compute_uv=False)
        return bool(sizes[-1] > _DISTINCT)

    @property
    def deviance(self) -> float:
        """Return how badly the model fits: twice the negative logarithm of its likelihood."""
        count = len(self.values)
        deviances = (
            _deviance(count, float(left @ left), rho) for rho, *_, left in self._whitened()
        )
        return _scaled(count, min(deviances))

    def best_steps(self, steps: Sequence[int]) -> tuple[_Steps, _Steps]:
        """Return the step, and the two steps that leave the level unchanged, that explain most.

        `steps` are known already; no level between them and new ones is too short.
        """
        count = len(self.values)
        without, step, back = math.inf, (math.inf, (0,)), (math.inf, (0, 0))
        for rho, basis, _, _, residuals in self._whitened():
            square = float(residuals @ residuals)
            columns, squares = _whitened_steps(count, rho)
            along = columns.T @ residuals
            scores = (along[:, None] - along[None, :]) ** 2
            # How much of the difference of two steps the columns do not explain.
            explained = basis.T @ columns
            norms = np.sum(explained**2, axis=0)
            squares = squares - norms[:, None] - norms[None, :] + 2 * explained.T @ explained
            scores /= np.where(_are_levels(count, steps) & (squares > _DISTINCT), squares, np.inf)
            without = min(without, _deviance(count, square, rho))
            start = int(np.argmax(scores[:, count]))
            step = min(step, (_deviance(count, square - scores[start, count], rho), (start,)))
            ends = divmod(int(np.argmax(scores[:, :count])), count)
            back = min(back, (_deviance(count, square - scores[ends], rho), ends))
        return (
            (_scaled(count, without - step[0]), step[1]),
            (_scaled(count, without - back[0]), back[1]),
        )

    def fit(self) -> tuple[Numbers, Numbers, float]:
        """Return coefficients, covariance and degrees of freedom, by restricted maximum likelihood."""
        degrees = len(self.values) - self.columns.shape[1]
        fits = []
        for rho, basis, triangle, cleaned, residuals in self._whitened():
            square = max(float(residuals @ residuals), _EQUAL)
            size = 2 * float(np.sum(np.log(np.abs(np.diag(triangle)))))
            restricted = degrees * math.log(square) + size - math.log1p(-(rho**2))
            fits.append((restricted, np.linalg.inv(triangle), basis.T @ cleaned, square))
        _, inverse, along, square = min(fits, key=operator.itemgetter(0))
        return inverse @ along, inverse @ inverse.T * square / degrees, float(degrees)

    def _whitened(self) -> Iterator[tuple[float, Numbers, Numbers, Numbers, Numbers]]:
        """Yield each autocorrelation, the columns' basis and triangle, the values, and what is left of these."""
        for rho in _AUTOCORRELATIONS:
            basis, triangle = np.linalg.qr(_whiten(self.columns, rho))
            cleaned = _cleaned(basis, _whiten(self.values, rho))
            yield rho, basis, triangle, cleaned, cleaned - basis @ (basis.T @ cleaned)


def _deviance(count: int, square: float, rho: float) -> float:
    return count * math.log(max(square, _EQUAL)) - math.log1p(-(rho**2))


def _scaled(count: int, difference: float) -> float:
    return difference * (1 - _LOST_VALUES / count)


def _whiten(values: Numbers, rho: float) -> Numbers:
    whitened = values.copy()
    whitened[1:] -= rho * values[:-1]
    whitened[0] *= math.sqrt(1 - rho**2)
    return whitened


def _cleaned(basis: Numbers, whitened: Numbers) -> Numbers:
    """Return values with the outliers moved closer to the model."""
    cleaned = whitened
    for _ in range(_ROUNDS):
        model = basis @ (basis.T @ cleaned)
        residuals = whitened - model
        middle = np.median(residuals)
        reach = _OUTLIER / _NORMAL_MEDIAN * np.median(np.abs(residuals - middle))
        if reach == 0:  # half of the values are equal
            return whitened
        cleaned = model + middle + np.clip(residuals - middle, -reach, reach)
    return cleaned


@lru_cache(maxsize=64)
def _whitened_steps(count: int, rho: float) -> tuple[Numbers, Numbers]:
    """Return a step per first value of a new level, the last being none, and the squares of differences."""
    numbers = np.arange(count + 1)
    steps = _whiten((numbers[:-1, None] >= numbers[None, :]).astype(np.float64), rho)
    products = steps.T @ steps
    norms = np.diag(products)
    return steps, norms[:, None] + norms[None, :] - 2 * products


def _are_levels(count: int, known_steps: Sequence[int]) -> NDArray[np.bool_]:
    """Return which starts and ends leave no level too short; an end after the last value is none."""
    ends = np.arange(count + 1)
    is_free = np.all([abs(ends - step) >= _SHORTEST_LEVEL for step in (0, *known_steps)], axis=0)
    is_end = is_free & (count - ends >= _SHORTEST_LEVEL) | (ends == count)
    lengths = ends - ends[:, None]
    are_long: NDArray[np.bool_] = is_free[:, None] & is_end & (lengths >= _SHORTEST_LEVEL)
    return are_long
