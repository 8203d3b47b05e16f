# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Find where a series of values changes its level, by E-divisive means with permutation tests.

Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate
data", JASA 109 (2014); used for benchmarks in continuous integration by Daly et al. (ICPE 2020) and
Fleming et al. (ICPE 2023). Two pieces X (m values) and Y (n values) that follow each other have

    q(X, Y) = m n / (m + n) * (2 mean |x - y| - mean |x - x'| - mean |y - y'|)

with the means over all pairs of two different values. X begins where the last change was; where Y
begins is the candidate, and Y may end anywhere (the paper's kappa), so that a change that reverts is
found as well. The candidate with the largest q of all is kept when so large a q is rare
among permutations of the values between the changes found before; then its two parts are examined
in the same way.

A level without a change is divided no more often than `_significance` says, however its values are
distributed. It is small, and smaller with more values, because weekly values may depend on each other
a little: a permutation test does not know that, and each further value is a further chance of an
error. tests/simulation holds both rates at 5 % for 10 to 60 values.

The permutations are drawn from a fixed seed: the same values give the same changes.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

# A single value is an outlier, not a level.
SMALLEST_PIECE = 2
# A perfect step of five and five is 2 of 252 orders; with fewer values no order is rare enough.
FEWEST_VALUES = 10
_PERMUTATIONS = 999
# Of the test, for few values, and divided by their number for many.
_SIGNIFICANCE, _SIGNIFICANCE_BY_COUNT = 0.02, 0.15
SEED = 2014
# Permuted at once, in pairs of values: arrays of 240 kB, which a cache holds.
_PAIRS_AT_ONCE = 30_000
# As large in spite of rounding: the same values in another order.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Candidate:
    """The best place to divide a piece."""

    at: int
    q: float


def find(values: Values) -> dict[int, float]:
    """Return the first value of each new level in order, and the p-value of the test that kept it."""
    generator = np.random.Generator(np.random.PCG64(SEED))
    ends = [0, len(values)]
    changes: dict[int, float] = {}
    while True:
        pieces = [values[start:end] for start, end in itertools.pairwise(ends)]
        candidates = [
            (candidate, start)
            for piece, start in zip(pieces, ends, strict=False)
            if (candidate := _best_division(piece)) is not None
        ]
        best, start = max(candidates, key=lambda pair: pair[0].q, default=(None, 0))
        if best is None or best.q <= 0:
            break
        p_value = _p_value(pieces, best.q, _significance(len(values)), generator)
        if p_value > _significance(len(values)):
            break
        changes[start + best.at] = p_value
        ends = sorted([*ends, start + best.at])
    return dict(sorted(changes.items()))


def _significance(count: int) -> float:
    """Return how rare a candidate among `count` values must be, at the rarest 1 in all permutations."""
    return max(min(_SIGNIFICANCE, _SIGNIFICANCE_BY_COUNT / count), 1 / (1 + _PERMUTATIONS))


def _best_division(values: Values) -> _Candidate | None:
    """Return where q is largest; None if there are too few values for two pieces."""
    if len(values) < 2 * SMALLEST_PIECE:
        return None
    q = _q_of_all(_distances(values)[None])[0]
    at, _ = np.unravel_index(int(np.argmax(q)), q.shape)
    return _Candidate(int(at), float(q.max()))


def _distances(values: Values) -> Values:
    distances: Values = np.abs(values[:, None] - values[None, :])
    return distances


def _p_value(
    pieces: list[Values], observed: float, rare: float, generator: np.random.Generator
) -> float:
    """Return how often permutations within the pieces give a largest q as large as the observed one.

    The test stops once that is too often to keep the candidate.
    """
    distances = [_distances(piece) for piece in pieces if len(piece) >= 2 * SMALLEST_PIECE]
    at_once = max(1, _PAIRS_AT_ONCE // max(map(len, distances)) ** 2)
    as_large = done = 0
    while done < _PERMUTATIONS and (1 + as_large) / (1 + _PERMUTATIONS) <= rare:
        count = min(at_once, _PERMUTATIONS - done)
        largest = np.max(
            [_largest_of_permutations(piece, count, generator) for piece in distances], 0
        )
        as_large += int(np.sum(largest >= observed * (1 - _ROUNDING)))
        done += count
    return (1 + as_large) / (1 + done)


def _largest_of_permutations(
    distances: Values, count: int, generator: np.random.Generator
) -> Values:
    orders = generator.permuted(np.tile(np.arange(len(distances)), (count, 1)), axis=1)
    permuted = distances[orders[:, :, None], orders[:, None, :]]
    largest: Values = _q_of_all(permuted).max(axis=(1, 2))
    return largest


def _q_of_all(distances: Values) -> Values:
    """Return q of each series (first axis), for each start of Y (second) and end of Y (third).

    `up_to[a, b]` is the sum of distances of the first a values to the first b, so that each q costs
    the same few operations however long the pieces are. An impossible division is -inf.
    """
    series, count, _ = distances.shape
    up_to = np.zeros((series, count + 1, count + 1))
    np.cumsum(np.cumsum(distances, axis=1), axis=2, out=up_to[:, 1:, 1:])
    ends = np.arange(count + 1)
    squares = up_to[:, ends, ends]
    m = ends[:, None].astype(np.float64)
    n = ends[None, :] - m
    across = up_to - squares[:, :, None]
    # Each pair of values once.
    within_x = squares[:, :, None] / 2
    within_y = (squares[:, None, :] - squares[:, :, None]) / 2 - across
    with np.errstate(divide="ignore", invalid="ignore"):
        energy = 2 * across / (m * n) - within_x / (m * (m - 1) / 2) - within_y / (n * (n - 1) / 2)
        q = m * n / (m + n) * energy
    possible = (m >= SMALLEST_PIECE) & (n >= SMALLEST_PIECE)
    return np.where(possible[None], q, -np.inf)
