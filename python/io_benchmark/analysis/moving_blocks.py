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


def normalised(entry: Entry) -> NDArray[np.float64]:
    """Each time over the mean of its file size: what is left when sizes are no noise."""
    times = entry.total_ns.astype(np.float64)
    sizes = np.array(entry.facts.file_sizes_bytes, dtype=np.int64)[entry.file_index]
    _, group = np.unique(sizes, return_inverse=True)
    means = np.bincount(group, weights=times) / np.bincount(group)
    return times / np.where(means[group] > 0, means[group], 1.0)


def relative_error_of_mean(entry: Entry) -> float:
    """The standard error of one worker's mean, as a part of the mean."""
    return math.sqrt(variance_of_mean(normalised(entry)).variance)


def ratio_of_interleaved_halves(entry: Entry) -> float:
    """Even retrieves over odd ones: 1 but for noise, since both saw the same minutes."""
    values = normalised(entry)
    return float(values[0::2].mean() / values[1::2].mean())


def paired_log_ratio(candidate: Entry, baseline: Entry) -> tuple[float, MeanVariance]:
    """ln of the ratio of means over the retrieves that both made, and its variance.

    Retrieve i took the same file on both, so what the sizes do cancels in each pair.
    """
    count = min(len(candidate.total_ns), len(baseline.total_ns))
    times = candidate.total_ns[:count].astype(np.float64)
    base = baseline.total_ns[:count].astype(np.float64)
    spread = variance_of_mean(times / times.mean() - base / base.mean())
    return math.log(times.mean() / base.mean()), spread
