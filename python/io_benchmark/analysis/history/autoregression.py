# SPDX-License-Identifier: MPL-2.0
"""Least squares for values that depend on the value before, and have outliers.

The errors are autoregressive of first order. For each of a few autocorrelations the values and the columns
are whitened: what the value before predicts is subtracted. Each model has the autocorrelation with the
highest likelihood. So a step must explain more than dependence on the value before does. Source: Robbins,
Gallagher, Lund and Aue 2011, Journal of Time Series Analysis 32.

A whitened value counts as at most `_OUTLIER` robust standard deviations off its model (Huber 1981, Robust
Statistics, chapter 7).
"""

import math
import operator
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
# The digits of logarithms that are the same on all machines: numpy adds up in the order that suits the CPU.
LOG_DECIMALS = 9
# Where the autocorrelation is higher, no step can be distinguished from chance.
_AUTOCORRELATIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_OUTLIER = 3.5
# Until the outliers no longer move the model by much.
_ROUNDS = 3
# The median of the distances of normal values from their median, in standard deviations.
_NORMAL_MEDIAN = 0.6745
# Fewer values are not a level: one or two may be outliers.
SHORTEST_LEVEL = 3
# A column that differs by less than this from the others cannot be told from them.
_DISTINCT = 1e-6
# Models explain more by chance where there are few values.
_LOST_VALUES = 4.0
# All values are equal, in spite of rounding.
_EQUAL = 1e-12
# How much better a model gets by steps at these values: twice the logarithm of the ratio of likelihoods.
_Steps = tuple[float, tuple[int, ...]]


class Fit(Struct, frozen=True):
    """A fitted model: coefficients and their covariance."""

    coefficients: Numbers
    covariance: Numbers
    degrees: float
    autocorrelation: float


class Regression(Struct, frozen=True, eq=False):
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
        return _scaled(
            len(self.values),
            min(
                _deviance(len(self.values), float(residuals @ residuals), rho)
                for rho, residuals in self._residuals()
            ),
        )

    def best_steps(self, steps: Sequence[int] = ()) -> tuple[_Steps, _Steps]:
        """Return the step, and the two steps that leave the level unchanged, that explain most.

        `steps` are known already; no level between them and new ones is too short.
        """
        count = len(self.values)
        without, step, back = math.inf, (math.inf, (0,)), (math.inf, (0, 0))
        for rho, residuals in self._residuals():
            square = float(residuals @ residuals)
            along = _whitened_steps(count, rho)[0].T @ residuals
            scores = (along[:, None] - along[None, :]) ** 2
            scores /= _squares(self.columns, rho, steps)
            without = min(without, _deviance(count, square, rho))
            start = int(np.argmax(scores[:, count]))
            step = min(step, (_deviance(count, square - scores[start, count], rho), (start,)))
            ends = divmod(int(np.argmax(scores[:, :count])), count)
            back = min(back, (_deviance(count, square - scores[ends], rho), ends))
        return (
            (_scaled(count, without - step[0]), step[1]),
            (_scaled(count, without - back[0]), back[1]),
        )

    def fit(self) -> Fit:
        """Return the model's coefficients, by restricted maximum likelihood."""
        degrees = len(self.values) - self.columns.shape[1]
        fits = []
        for rho in _AUTOCORRELATIONS:
            basis, triangle = np.linalg.qr(_whiten(self.columns, rho))
            cleaned = _cleaned(basis, _whiten(self.values, rho))
            residuals = cleaned - basis @ (basis.T @ cleaned)
            square = max(float(residuals @ residuals), _EQUAL)
            size = 2 * float(np.sum(np.log(np.abs(np.diag(triangle)))))
            restricted = degrees * math.log(square) + size - math.log1p(-(rho**2))
            fits.append((restricted, rho, np.linalg.inv(triangle), basis.T @ cleaned, square))
        _, rho, inverse, along, square = min(fits, key=operator.itemgetter(0, 1))
        covariance = inverse @ inverse.T * square / degrees
        return Fit(inverse @ along, covariance, float(degrees), rho)

    def _residuals(self) -> Iterator[tuple[float, Numbers]]:
        """Return what the model leaves of the whitened values, for each autocorrelation."""
        for rho in _AUTOCORRELATIONS:
            basis = np.linalg.qr(_whiten(self.columns, rho))[0]
            cleaned = _cleaned(basis, _whiten(self.values, rho))
            yield rho, cleaned - basis @ (basis.T @ cleaned)


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


def _squares(columns: Numbers, rho: float, known_steps: Sequence[int]) -> Numbers:
    """Return how much of the difference of two steps the columns do not explain.

    It is infinite where a level would be too short.
    """
    count = len(columns)
    steps, squares = _whitened_steps(count, rho)
    explained = np.linalg.qr(_whiten(columns, rho))[0].T @ steps
    norms = np.sum(explained**2, axis=0)
    squares = squares - norms[:, None] - norms[None, :] + 2 * explained.T @ explained
    numbers = np.arange(count + 1)
    is_free = np.ones(count + 1, dtype=np.bool_)
    for step in known_steps:
        is_free &= np.abs(numbers - step) >= SHORTEST_LEVEL
    are_free = is_free[:, None] & (is_free | (numbers == count))
    return np.where(_are_levels(count) & are_free & (squares > _DISTINCT), squares, np.inf)


@lru_cache(maxsize=64)
def _whitened_steps(count: int, rho: float) -> tuple[Numbers, Numbers]:
    """Return a step per first value of a new level, the last being none, and the squares of differences."""
    numbers = np.arange(count + 1)
    steps = _whiten((numbers[:-1, None] >= numbers[None, :]).astype(np.float64), rho)
    products = steps.T @ steps
    norms = np.diag(products)
    return steps, norms[:, None] + norms[None, :] - 2 * products


@lru_cache(maxsize=64)
def _are_levels(count: int) -> NDArray[np.bool_]:
    """Return which starts and ends leave no level too short; an end after the last value is none."""
    numbers = np.arange(count + 1)
    starts, ends = numbers[:, None], numbers[None, :]
    are_long: NDArray[np.bool_] = (
        (starts >= SHORTEST_LEVEL)
        & (ends - starts >= SHORTEST_LEVEL)
        & ((count - ends >= SHORTEST_LEVEL) | (ends == count))
    )
    return are_long
