# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How well one worker's mean is known, when its retrieves are not independent.

Writeback comes in waves: at a write-bound disk lags 5, 10 and 20 correlate at about 0.95. So the
variance of a mean is taken from the means of overlapping blocks well over 20 retrieves long
(overlapping batch means: Meketon and Schmeiser 1984), never from single retrieves.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_benchmark.analysis.inference.student import MeanVariance
from io_benchmark.analysis.model import Entry

BLOCK_RETRIEVES = 64
BLOCKS_ABOUT = 10
FEWEST_RETRIEVES = 20
# From here on the waves are seen; below, tests/simulation calls too many equal pools different.
LONG_ENOUGH = 100


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


@dataclass(frozen=True)
class Means:
    """ln of the mean of each run of two machines, and what blocks tell of the averages' difference."""

    candidate: tuple[float, ...]
    baseline: tuple[float, ...]
    blocks: tuple[MeanVariance, ...]

    @property
    def log_ratio(self) -> float:
        return math.fsum(self.candidate) / len(self.candidate) - math.fsum(self.baseline) / len(
            self.baseline
        )


def alike(entries: Sequence[Entry]) -> bool:
    """Did sample i do the same in all of them? Of retrieves, as far as each went."""
    if all(entry.retrieves is not None for entry in entries):
        return True
    first = entries[0].operations
    return all(np.array_equal(first, entry.operations) for entry in entries[1:])


def means(candidate: Sequence[Entry], baseline: Sequence[Entry]) -> Means:
    """Of the runs of two machines, sample by sample where all did the same."""
    # By their times, so that nothing depends on the order in which runs are given.
    sides = [sorted(side, key=_order) for side in (candidate, baseline)]
    return (_paired if alike([*candidate, *baseline]) else _unpaired)(*sides)


def _order(entry: Entry) -> tuple[float, bytes]:
    return entry.mean_ns, entry.total_ns.tobytes()


def _paired(candidate: Sequence[Entry], baseline: Sequence[Entry]) -> Means:
    """Over the samples that all runs made.

    Retrieve i took the same file in each, so what the sizes do cancels in the difference.
    """
    count = min(len(entry.total_ns) for entry in (*candidate, *baseline))
    (logs, times), (base_logs, base) = (_averaged(side, count) for side in (candidate, baseline))
    spread = variance_of_mean(times - base)
    if candidate[0].retrieves is None:
        spread = _of_short(spread, count)
    return Means(logs, base_logs, (spread,))


def _averaged(
    entries: Sequence[Entry], count: int
) -> tuple[tuple[float, ...], NDArray[np.float64]]:
    """ln of each run's mean, and the runs' average course, over the first so many samples."""
    times = [entry.total_ns[:count].astype(np.float64) for entry in entries]
    course = sum(one / one.mean() for one in times[1:]) + times[0] / times[0].mean()
    return tuple(math.log(one.mean()) for one in times), course / len(times)


def _unpaired(candidate: Sequence[Entry], baseline: Sequence[Entry]) -> Means:
    """Where batches are as long as they turned out: all samples, each run with its own error."""
    return Means(
        tuple(math.log(entry.mean_ns) for entry in candidate),
        tuple(math.log(entry.mean_ns) for entry in baseline),
        (*of_average(candidate), *of_average(baseline)),
    )


def of_average(entries: Sequence[Entry]) -> tuple[MeanVariance, ...]:
    """What each run's own blocks add to the variance of the average of their means."""
    count = len(entries)
    spreads = [_of_short(_spread(relative(one)), len(one.total_ns)) for one in entries]
    return tuple(MeanVariance(one.variance / count**2, one.degrees) for one in spreads)


def _of_short(spread: MeanVariance, count: int) -> MeanVariance:
    """A run that is hardly longer than its waves sees less than one: what it shows is not all."""
    missed = max(1.0, LONG_ENOUGH / count)
    return MeanVariance(spread.variance * missed, spread.degrees)
