# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How well one worker's mean is known, when its retrieves are not independent.

Writeback comes in waves: at a write-bound disk lags 5, 10 and 20 correlate at about 0.95. So the
variance of a mean is taken from the means of overlapping blocks well over 20 retrieves long
(overlapping batch means: Meketon and Schmeiser 1984), never from single retrieves.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_benchmark.analysis.model import Entry

BLOCK_RETRIEVES = 64
BLOCKS_ABOUT = 10
RETRIEVES_AT_LEAST = 20
# From here on the waves are seen; below, tests/simulation calls too many equal pools different.
LONG_ENOUGH = 100


@dataclass(frozen=True)
class MeanVariance:
    """The variance of a mean and how many degrees of freedom its estimate has."""

    variance: float
    degrees: float


def block_length(count: int) -> int:
    """A tenth of the run, well over 20 retrieves, and at least two blocks."""
    return max(1, min(max(BLOCK_RETRIEVES, math.ceil(count / BLOCKS_ABOUT)), count // 2))


def variance_of_mean(values: NDArray[np.float64]) -> MeanVariance:
    """Of the mean of one series in its order of time."""
    count = len(values)
    length = block_length(count)
    if count < 2 * length or count < 2:
        return MeanVariance(math.inf, 1.0)
    sums = np.concatenate(([0.0], np.cumsum(values)))
    means = (sums[length:] - sums[:-length]) / length
    squares = float(np.sum((means - values.mean()) ** 2))
    variance = squares * length / ((count - length + 1) * (count - length))
    # Half of what independent blocks would give. Bursts are skewed: a run that met few of them
    # underestimates its mean and its error together (measured in tests/simulation).
    return MeanVariance(variance, max(1.0, (count / length - 1) / 2))


@dataclass(frozen=True)
class Relative:
    """A series' times and operations, each over its average: what is left when likes are alike."""

    times: NDArray[np.float64]
    weights: NDArray[np.float64]

    def mean(self, part: slice) -> float:
        """The time of one operation in a part of the run, 1 over the whole."""
        return float(self.times[part].sum() / self.weights[part].sum())


def relative(entry: Entry) -> Relative:
    """Each time over what its operations take on average, file sizes being told apart."""
    times = entry.total_ns.astype(np.float64)
    operations = entry.operations.astype(np.float64)
    _, group = np.unique(entry.alike, return_inverse=True)
    means = np.bincount(group, weights=times) / np.bincount(group, weights=operations)
    each = operations.mean()
    return Relative(times / np.where(means > 0, means, 1.0)[group] / each, operations / each)


def relative_error_of_mean(entry: Entry) -> float:
    """The standard error of one worker's mean, as a part of the mean."""
    return math.sqrt(_spread(relative(entry)).variance)


def _spread(values: Relative) -> MeanVariance:
    """Of a ratio of two means: to the first order that of what is left of one by the other."""
    return variance_of_mean(values.times - values.weights)


def ratio_of_interleaved_halves(entry: Entry) -> float:
    """Even samples over odd ones: 1 but for noise, since both saw the same minutes."""
    values = relative(entry)
    return values.mean(slice(0, None, 2)) / values.mean(slice(1, None, 2))


def last_third_over_first(entry: Entry) -> float:
    """How much longer an operation took at the end than at the start."""
    values = relative(entry)
    third = len(values.times) // 3
    return values.mean(slice(-third, None)) / values.mean(slice(None, third))


def alike(candidate: Entry, baseline: Entry) -> bool:
    """Did sample i do the same on both? Of retrieves, as far as both went."""
    if candidate.retrieves is not None and baseline.retrieves is not None:
        return True
    return np.array_equal(candidate.operations, baseline.operations)


def paired_log_ratio(candidate: Entry, baseline: Entry) -> tuple[float, MeanVariance]:
    """ln of the ratio of means over the samples that both made, and its variance.

    Retrieve i took the same file on both, so what the sizes do cancels in each pair.
    """
    count = min(len(candidate.total_ns), len(baseline.total_ns))
    times = candidate.total_ns[:count].astype(np.float64)
    base = baseline.total_ns[:count].astype(np.float64)
    spread = variance_of_mean(times / times.mean() - base / base.mean())
    if candidate.retrieves is None:
        spread = _of_short(spread, count)
    return math.log(times.mean() / base.mean()), spread


def unpaired_log_ratio(candidate: Entry, baseline: Entry) -> tuple[float, list[MeanVariance]]:
    """Where batches are as long as they turned out: all samples of both, each with its own error."""
    spreads = [
        _of_short(_spread(relative(one)), len(one.total_ns)) for one in (candidate, baseline)
    ]
    return math.log(candidate.mean_ns / baseline.mean_ns), spreads


def _of_short(spread: MeanVariance, count: int) -> MeanVariance:
    """A run that is hardly longer than its waves sees less than one: what it shows is not all."""
    missed = max(1.0, LONG_ENOUGH / count)
    return MeanVariance(spread.variance * missed, spread.degrees)
