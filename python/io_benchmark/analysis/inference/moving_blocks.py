# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The error of one worker's mean, whose retrieves are not independent.

Writeback comes in waves: at a write-bound disk lags 5, 10 and 20 correlate at about 0.95. So the
variance of a mean is taken from the means of overlapping blocks well over 20 retrieves long
(overlapping batch means: Meketon and Schmeiser 1984), never from single retrieves.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from io_benchmark.analysis.inference.variances import MeanVariance
from io_benchmark.analysis.model import Entry

_BLOCK_RETRIEVES = 64
_BLOCKS_ABOUT = 10
# Bursts and modes may last longer than a tenth of a run: a fifth and a third of it are tried as well.
_LONGER_BLOCKS = (5, 3)
FEWEST_RETRIEVES = 20
# How the samples of two machines are compared.
PAIRED_RETRIEVES, PAIRED_BATCHES = "paired retrieves", "paired batches"
UNPAIRED_BATCHES = "batches in blocks"
# Shorter runs do not show the waves: in simulations too many equal pools are called different.
_LONG_RUN = 100


def _block_length(count: int) -> int:
    """Return a tenth of the run, well over 20 retrieves, so that there are at least two blocks."""
    return max(1, min(max(_BLOCK_RETRIEVES, math.ceil(count / _BLOCKS_ABOUT)), count // 2))


def _variance_of_mean(values: NDArray[np.float64], *, tries_longer: bool = False) -> MeanVariance:
    """Return the variance of the mean of a series in its order of time.

    `tries_longer` returns the largest variance by blocks of several lengths.
    """
    count = len(values)
    length = _block_length(count)
    if count < 2 * length or count < 2:
        return MeanVariance(math.inf, 1.0)
    lengths = {length}
    if tries_longer:
        lengths |= {max(length, count // blocks) for blocks in _LONGER_BLOCKS}
    spreads = [_variance_by_blocks(values, length) for length in sorted(lengths)]
    return max(spreads, key=lambda spread: spread.variance)


def _variance_by_blocks(values: NDArray[np.float64], length: int) -> MeanVariance:
    count = len(values)
    sums = np.concatenate(([0.0], np.cumsum(values)))
    means = (sums[length:] - sums[:-length]) / length
    squares = float(np.sum((means - values.mean()) ** 2))
    variance = squares * length / ((count - length + 1) * (count - length))
    # Half of what independent blocks would give. Bursts are skewed: a run that met few of them
    # underestimates its mean and its error together (measured in tests/simulation).
    return MeanVariance(variance, max(1.0, (count / length - 1) / 2))


class RelativeTimes(Struct, frozen=True):
    """The times and operations of a series, each divided by its average for the same work."""

    times: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, entry: Entry) -> "RelativeTimes":
        """Divide each time by the average time of its operations, for each file size."""
        times = entry.total_ns.astype(np.float64)
        operations = entry.operations.astype(np.float64)
        group = _by_size(entry.size_bytes.astype(np.int64, copy=False).tobytes())
        means = np.bincount(group, weights=times) / np.bincount(group, weights=operations)
        each = operations.mean()
        return cls(times / np.where(means > 0, means, 1.0)[group] / each, operations / each)

    def _mean(self, part: slice) -> float:
        """Return the time of one operation in a part of the run; it is 1 over the whole run."""
        return float(self.times[part].sum() / self.weights[part].sum())

    def spread(self, *, tries_longer: bool = False) -> MeanVariance:
        """Return the variance of the mean, a ratio of two means, to the first order."""
        return _variance_of_mean(self.times - self.weights, tries_longer=tries_longer)

    @property
    def error_of_mean(self) -> float:
        """Return the standard error of one worker's mean, as a part of the mean."""
        return math.sqrt(self.spread().variance)

    @property
    def halves_ratio(self) -> float:
        """Return even over odd samples: 1 except for noise, because both are from the same minutes."""
        return self._mean(slice(0, None, 2)) / self._mean(slice(1, None, 2))

    @property
    def first_third(self) -> float:
        """Return the time of an operation at the start; over the whole run it is 1."""
        return self._mean(slice(None, len(self.times) // 3))

    @property
    def last_third_over_first(self) -> float:
        """Return how much longer an operation took at the end than at the start."""
        third = len(self.times) // 3
        return self._mean(slice(-third, None)) / self._mean(slice(None, third))


@lru_cache(maxsize=4)
def _by_size(sizes_bytes: bytes) -> NDArray[np.intp]:
    """Return the number of each sample's file size; the runs of a push copy the same files in turn."""
    sizes = np.frombuffer(sizes_bytes, dtype=np.int64)
    return np.searchsorted(sorted(set(sizes.tolist())), sizes)


class _ComparedMeans(Struct, frozen=True):
    """ln of the mean of each run of two machines, and the variance of their averages by blocks."""

    candidate: tuple[float, ...]
    baseline: tuple[float, ...]
    blocks: tuple[MeanVariance, ...]
    method: str

    @property
    def log_ratio(self) -> float:
        return math.fsum(self.candidate) / len(self.candidate) - math.fsum(self.baseline) / len(
            self.baseline
        )


def did_same_work(entries: Sequence[Entry]) -> bool:
    """Return whether sample i did the same work in all runs; retrieves did, as far as each run went."""
    if all(entry.retrieves is not None for entry in entries):
        return True
    first = entries[0].operations
    return all(np.array_equal(first, entry.operations) for entry in entries[1:])


def compare_means(
    candidate: Sequence[Entry], baseline: Sequence[Entry], *, tries_longer: bool = False
) -> _ComparedMeans:
    """Compare the runs of two machines, sample by sample where all did the same work."""
    # Sorted by their times, so that the order in which runs are given does not matter.
    ours, theirs = (sorted(side, key=_order) for side in (candidate, baseline))
    compare = _paired if did_same_work([*candidate, *baseline]) else _unpaired
    return compare(ours, theirs, tries_longer)


def _order(entry: Entry) -> tuple[float, bytes]:
    return entry.mean_ns, entry.total_ns.tobytes()


def _paired(
    candidate: Sequence[Entry], baseline: Sequence[Entry], tries_longer: bool
) -> _ComparedMeans:
    """Compare the samples that all runs have.

    Retrieve i took the same file in each, so that the effect of file sizes cancels in the difference.
    """
    count = min(len(entry.total_ns) for entry in (*candidate, *baseline))
    (logs, times), (base_logs, base) = (_averaged(side, count) for side in (candidate, baseline))
    spread = _variance_of_mean(times - base, tries_longer=tries_longer)
    if candidate[0].retrieves is not None:
        return _ComparedMeans(logs, base_logs, (spread,), PAIRED_RETRIEVES)
    return _ComparedMeans(logs, base_logs, (_of_short(spread, count),), PAIRED_BATCHES)


def _averaged(
    entries: Sequence[Entry], count: int
) -> tuple[tuple[float, ...], NDArray[np.float64]]:
    """Return ln of each run's mean, and the average of the runs, over the first `count` samples."""
    times = [entry.total_ns[:count].astype(np.float64) for entry in entries]
    course = sum(run / run.mean() for run in times[1:]) + times[0] / times[0].mean()
    return tuple(math.log(run.mean()) for run in times), course / len(times)


def _unpaired(
    candidate: Sequence[Entry], baseline: Sequence[Entry], tries_longer: bool
) -> _ComparedMeans:
    """Compare all samples of batches whose lengths differ; each run has its own error."""
    return _ComparedMeans(
        tuple(math.log(entry.mean_ns) for entry in candidate),
        tuple(math.log(entry.mean_ns) for entry in baseline),
        (
            *variances_of_average(candidate, tries_longer=tries_longer),
            *variances_of_average(baseline, tries_longer=tries_longer),
        ),
        UNPAIRED_BATCHES,
    )


def variances_of_average(
    entries: Sequence[Entry], *, tries_longer: bool = False
) -> tuple[MeanVariance, ...]:
    """Return what each run's blocks add to the variance of the average of the runs' means."""
    count = len(entries)
    spreads = [
        _of_short(RelativeTimes.of(entry).spread(tries_longer=tries_longer), len(entry.total_ns))
        for entry in entries
    ]
    return tuple(MeanVariance(spread.variance / count**2, spread.degrees) for spread in spreads)


def _of_short(spread: MeanVariance, count: int) -> MeanVariance:
    """Enlarge the variance of a run that is too short to show its waves."""
    missed = max(1.0, _LONG_RUN / count)
    return MeanVariance(spread.variance * missed, spread.degrees)
