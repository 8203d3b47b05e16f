# SPDX-License-Identifier: MPL-2.0
"""Linear models of a series whose errors depend on the error before: fits, and the best new steps.

The fit is least squares with errors that are autoregressive of first order. For each of a few
autocorrelations the values and the columns are whitened: what the value before predicts is
subtracted. Each model has the autocorrelation with the highest likelihood. So a step must explain
more than dependence on the value before does (Robbins, Gallagher, Lund and Aue 2011, Journal of
Time Series Analysis 32). A whitened value counts as at most `_OUTLIER` robust standard deviations
off its model (Huber 1981, Robust Statistics, chapter 7).
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
# Where the autocorrelation is higher, no step can be distinguished from chance.
_AUTOCORRELATIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
# Chosen: of normal values, one in 2,000 is farther away.
_OUTLIER = 3.5
# Until the outliers no longer move the model by much.
_ROUNDS = 3
# The median of the distances of normal values from their median, in standard deviations.
_NORMAL_MEDIAN = 0.6745
# Fewer values are not a level: one or two may be outliers.
_SHORTEST_LEVEL = 3
# A column that differs by less than this from the others cannot be told from them.
_DISTINCT = 1e-6
# Models explain more by chance where there are few values. Chosen by tests/simulation.
_LOST_VALUES = 4.0
# A smaller sum of squares is 0, in spite of rounding: all values are equal.
_EQUAL = 1e-12


class NewSteps(NamedTuple):
    """Steps that make a model better."""

    gain: float  # twice the logarithm of the ratio of likelihoods
    starts: tuple[int, ...]  # the first values of new levels


class Fit(NamedTuple):
    """A fitted model."""

    coefficients: Numbers  # of the columns
    covariance: Numbers
    degrees: float


class _Whitened(NamedTuple):
    """A model at one autocorrelation, when what the value before predicts is subtracted."""

    autocorrelation: float
    basis: Numbers  # of the columns: orthonormal
    triangle: Numbers  # that makes the columns of the basis
    values: Numbers
    residuals: Numbers

    @property
    def square(self) -> float:
        """Return the sum of the squares that the model leaves."""
        return float(self.residuals @ self.residuals)


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
        count = len(self.values)
        deviances = [
            _deviance(count, model.square, model.autocorrelation) for model in self._whitened()
        ]
        return _scaled(count, min(deviances))

    def best_steps(self, steps: Sequence[int]) -> tuple[NewSteps, NewSteps]:
        """Return the step, and the two steps that leave the level unchanged, that explain most.

        `steps` are known already; no level between them and new ones is too short.
        """
        count = len(self.values)
        without = math.inf
        # The least deviance, and the steps that have it.
        single, back = (math.inf, (0,)), (math.inf, (0, 0))
        for model in self._whitened():
            rho = model.autocorrelation
            square = model.square
            columns, squares = _whitened_steps(count, rho)
            along = columns.T @ model.residuals
            scores = (along[:, None] - along[None, :]) ** 2
            # How much of the difference of two steps the columns do not explain.
            explained = model.basis.T @ columns
            norms = np.sum(explained**2, axis=0)
            squares = squares - norms[:, None] - norms[None, :] + 2 * explained.T @ explained
            scores /= np.where(_are_levels(count, steps) & (squares > _DISTINCT), squares, np.inf)
            without = min(without, _deviance(count, square, rho))
            # The last row and column are of no second step.
            start = int(np.argmax(scores[:, count]))
            single = min(single, (_deviance(count, square - scores[start, count], rho), (start,)))
            ends = divmod(int(np.argmax(scores[:, :count])), count)
            back = min(back, (_deviance(count, square - scores[ends], rho), ends))

        def new_steps(best: tuple[float, tuple[int, ...]]) -> NewSteps:
            deviance, starts = best
            return NewSteps(_scaled(count, without - deviance), starts)

        return new_steps(single), new_steps(back)

    def fit(self) -> Fit:
        """Fit the model, by restricted maximum likelihood."""
        degrees = len(self.values) - self.columns.shape[1]

        def restricted_deviance(model: _Whitened) -> float:
            square = max(model.square, _EQUAL)
            size = 2 * float(np.sum(np.log(np.abs(np.diag(model.triangle)))))
            whitening = math.log1p(-(model.autocorrelation**2))
            return float(degrees * math.log(square) + size - whitening)

        best = min(self._whitened(), key=restricted_deviance)
        inverse = np.linalg.inv(best.triangle)
        coefficients = inverse @ (best.basis.T @ best.values)
        covariance = inverse @ inverse.T * max(best.square, _EQUAL) / degrees
        return Fit(coefficients, covariance, float(degrees))

    def _whitened(self) -> Iterator[_Whitened]:
        """Yield the model at each autocorrelation."""
        for rho in _AUTOCORRELATIONS:
            basis, triangle = np.linalg.qr(_whiten(self.columns, rho))
            cleaned = _cleaned(basis, _whiten(self.values, rho))
            yield _Whitened(rho, basis, triangle, cleaned, cleaned - basis @ (basis.T @ cleaned))


def _deviance(count: int, square: float, rho: float) -> float:
    """Return twice the negative logarithm of the likelihood of residuals with this square."""
    return count * math.log(max(square, _EQUAL)) - math.log1p(-(rho**2))


def _scaled(count: int, difference: float) -> float:
    """Return a difference of deviances as it counts for this number of values."""
    return difference * (1 - _LOST_VALUES / count)


def _whiten(values: Numbers, rho: float) -> Numbers:
    """Subtract from each value what the value before predicts."""
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
    """Return a step per first value of a new level, and the squares of their differences.

    The last step is none.
    """
    numbers = np.arange(count + 1)
    steps = _whiten((numbers[:-1, None] >= numbers[None, :]).astype(np.float64), rho)
    products = steps.T @ steps
    norms = np.diag(products)
    return steps, norms[:, None] + norms[None, :] - 2 * products


def _are_levels(count: int, known_steps: Sequence[int]) -> NDArray[np.bool_]:
    """Return which starts and ends leave no level too short; the last end is none."""
    ends = np.arange(count + 1)
    is_free = np.all([abs(ends - step) >= _SHORTEST_LEVEL for step in (0, *known_steps)], axis=0)
    is_end = is_free & (count - ends >= _SHORTEST_LEVEL) | (ends == count)
    lengths = ends - ends[:, None]
    are_long: NDArray[np.bool_] = is_free[:, None] & is_end & (lengths >= _SHORTEST_LEVEL)
    return are_long
