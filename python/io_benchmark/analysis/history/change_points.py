# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Where a series of values changes its level: E-divisive means, with permutation tests.

Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate
data", JASA 109 (2014); used for benchmarks in continuous integration by Daly et al. (ICPE 2020) and
Fleming et al. (ICPE 2023). Two pieces X (m values) and Y (n values) that follow each other have

    q(X, Y) = m n / (m + n) * (2 mean |x - y| - mean |x - x'| - mean |y - y'|)

with the means over all pairs of two different values. X begins where the last change was; where Y
begins is the candidate, and Y may end anywhere (the paper's kappa), so that what comes and goes
again is seen as well. The candidate with the largest q of all is kept when so large a q is rare
among permutations of the values between the changes found before; then its two parts are looked at
in the same way.

A level that nothing changes is divided no more often than `significance` says, however its values
are distributed. That is small, and smaller the more values there are, because weekly values may
hang together a little: a permutation test does not know that, and each further value is a further
place for it to go wrong. tests/simulation holds both rates at 5 % for 10 to 60 values.

The permutations are drawn from a fixed seed: the same values give the same changes.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

# One value alone is an outlier and no level.
SMALLEST_PIECE = 2
# A perfect step of five and five is 2 of 252 orders; of fewer values none is as rare as it has to be.
FEWEST_VALUES = 10
PERMUTATIONS = 999
# Of the test, for few values, and divided by their number for many.
SIGNIFICANCE, SIGNIFICANCE_BY_COUNT = 0.02, 0.15
SEED = 2014
# Permuted at once, in pairs of values: arrays of 240 kB, which a cache holds.
PAIRS_AT_ONCE = 30_000
# As large in spite of rounding: the same values in another order.
ROUNDING = 1e-9


@dataclass(frozen=True)
class ChangePoint:
    """The first value of the new level."""

    at: int
    p_value: float  # of the permutation test that kept it


@dataclass(frozen=True)
class Candidate:
    """The best place to divide a piece."""

    at: int
    q: float


def find(values: Values) -> tuple[ChangePoint, ...]:
    """All changes, in the order of the values."""
    generator = np.random.Generator(np.random.PCG64(SEED))
    ends = [0, len(values)]
    found: list[ChangePoint] = []
    while True:
        pieces = [values[start:end] for start, end in itertools.pairwise(ends)]
        candidates = [
            (candidate, start)
            for piece, start in zip(pieces, ends, strict=False)
            if (candidate := best_division(piece)) is not None
        ]
        best, start = max(candidates, key=lambda one: one[0].q, default=(None, 0))
        if best is None or best.q <= 0:
            break
        p_value = _p_value(pieces, best.q, significance(len(values)), generator)
        if p_value > significance(len(values)):
            break
        found.append(ChangePoint(start + best.at, p_value))
        ends = sorted([*ends, start + best.at])
    return tuple(sorted(found, key=lambda change: change.at))


def significance(count: int) -> float:
    """How rare a candidate among so many values has to be; no rarer than the test can tell."""
    return max(min(SIGNIFICANCE, SIGNIFICANCE_BY_COUNT / count), 1 / (1 + PERMUTATIONS))


def best_division(values: Values) -> Candidate | None:
    """Where q is largest; None where there are not values enough for two pieces."""
    if len(values) < 2 * SMALLEST_PIECE:
        return None
    q = _q_of_all(_distances(values)[None])[0]
    at, _ = np.unravel_index(int(np.argmax(q)), q.shape)
    return Candidate(int(at), float(q.max()))


def _distances(values: Values) -> Values:
    distances: Values = np.abs(values[:, None] - values[None, :])
    return distances


def _p_value(
    pieces: list[Values], observed: float, rare: float, generator: np.random.Generator
) -> float:
    """How often permutations within the pieces give a largest q as large as the observed one.

    Once that is too often for the candidate to be kept, the rest are not looked at.
    """
    distances = [_distances(piece) for piece in pieces if len(piece) >= 2 * SMALLEST_PIECE]
    at_once = max(1, PAIRS_AT_ONCE // max(len(one) for one in distances) ** 2)
    as_large = done = 0
    while done < PERMUTATIONS and (1 + as_large) / (1 + PERMUTATIONS) <= rare:
        count = min(at_once, PERMUTATIONS - done)
        largest = np.max([_largest_of_permutations(one, count, generator) for one in distances], 0)
        as_large += int(np.sum(largest >= observed * (1 - ROUNDING)))
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
    """q of each series (first axis), for each beginning of Y (second) and end of Y (third).

    `up_to[a, b]` is the sum of distances of the first a values to the first b, so that each q costs
    the same few operations however long the pieces are. What is no division is -inf.
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
