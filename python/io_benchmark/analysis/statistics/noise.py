# SPDX-License-Identifier: MPL-2.0
"""One run's course: the error of its mean, and whether it became slower or faster at some point.

Retrieves are not independent. Writeback comes in waves: at a write-bound disk lags 5, 10 and 20
correlate at about 0.95. So the variance of a mean is taken from the means of overlapping blocks
well over 20 retrieves long (overlapping batch means: Meketon and Schmeiser 1984), never from single
retrieves. For a step the series is cut into blocks as well; `steps` looks for it.
"""

import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from operator import mul, sub, truediv
from statistics import fmean
from typing import Protocol

from msgspec import Struct

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.steps import Step, clearest_split
from io_benchmark.analysis.statistics.variances import MeanVariance

# A block is a tenth of the run, and at least three times as long as lags that correlate.
_BLOCK_RETRIEVES = 64
_BLOCKS_ABOUT = 10
# Bursts and modes may last longer than a tenth of a run: a fifth and a third of it are tried too.
_LONGER_BLOCKS = (5, 3)
# Fewer retrieves than lags that correlate show nothing of how far their mean varies.
FEWEST_RETRIEVES = 20
# Fewer first reads, or other samples, do not show by themselves how far they vary. Chosen.
_FEWEST_APART = 8
# A step is not looked for among fewer samples: one of its sides could have five. Chosen.
FEWEST_TO_JUDGE = 60
# More blocks find a step no better, and take longer.
_MOST_BLOCKS = 100
# The least height of a step in standard errors: far more than for a split that is known before. Of
# several runs together it is less, but they must agree on it, because a burst is one run's own.
# Chosen by tests/analysis/statistics/test_noise.py.
_ERRORS_IN_ONE_RUN = 4.5
_ERRORS_IN_SEVERAL = 3.5
_ERRORS_BETWEEN_RUNS = 3.0
# The time of a block that took no time, relative to the average: it must have a logarithm.
_SHORTEST_TIME = 1e-9


class Series(Protocol):
    """The samples of one run, in the order of time. Retrieve i is the same work in each run."""

    @property
    def mean_ns(self) -> float: ...

    @property
    def are_retrieves(self) -> bool: ...

    @property
    def total_ns(self) -> "array[int]": ...

    @property
    def operations(self) -> "array[int]": ...

    @property
    def size_bytes(self) -> "array[int]": ...

    @property
    def first_reads(self) -> Collection[int]: ...


def _block_length(count: int) -> int:
    """Return a tenth of the run, well over 20 retrieves, so that there are at least two blocks."""
    return min(max(_BLOCK_RETRIEVES, math.ceil(count / _BLOCKS_ABOUT)), count // 2)


def variance_of_mean(
    values: Sequence[float], *, first_reads: Collection[int] = (), tries_longer: bool = False
) -> MeanVariance:
    """Return the variance of the mean of a series in its order of time.

    `first_reads` are the samples that took a file for the first time. They become fewer, and blocks
    would take this course for waves; so they are a series apart where that is less.
    `tries_longer` returns the largest variance by blocks of several lengths.
    """
    firsts: list[float] = []
    others: list[float] = []
    for index, value in enumerate(values):
        if index in first_reads:
            firsts.append(value)
        else:
            others.append(value)
    whole = _variance_of_series(values, tries_longer)
    if min(len(firsts), len(others)) < _FEWEST_APART:
        return whole
    spread_of_firsts = _variance_of_series(firsts, tries_longer)
    spread_of_others = _variance_of_series(others, tries_longer)
    # A wave slows both, so their errors add up, and not their variances.
    error = len(firsts) / len(values) * math.sqrt(spread_of_firsts.variance)
    error += len(others) / len(values) * math.sqrt(spread_of_others.variance)
    apart = MeanVariance(error**2, min(spread_of_firsts.degrees, spread_of_others.degrees))
    return apart if apart.half_width(LEVEL) < whole.half_width(LEVEL) else whole


def _variance_of_series(values: Sequence[float], tries_longer: bool) -> MeanVariance:
    """Return the variance of the mean by blocks; the largest where several lengths are tried."""
    count = len(values)
    if count < 2:
        return MeanVariance(math.inf, 1.0)
    length = _block_length(count)
    lengths = {length}
    if tries_longer:
        lengths |= {max(length, count // blocks) for blocks in _LONGER_BLOCKS}
    sums = [0.0, *accumulate(values)]
    spreads = [_variance_by_blocks(sums, length) for length in sorted(lengths)]
    return max(spreads, key=lambda spread: spread.variance)


def _variance_by_blocks(sums: Sequence[float], length: int) -> MeanVariance:
    """Return the variance of the mean by all blocks of this length.

    `sums` are those of the values before each value, and of all.
    """
    count = len(sums) - 1
    expected = sums[-1] / count * length
    deviations = [end - start - expected for start, end in zip(sums, sums[length:], strict=False)]
    squares = math.fsum(map(mul, deviations, deviations))
    blocks = count - length + 1
    variance = squares / length / (blocks * (count - length))
    # Half of what independent blocks would give. Bursts are skewed: a run that met few of them
    # underestimates its mean and its error together (measured in tests/simulation).
    return MeanVariance(variance, max(1.0, (count / length - 1) / 2))


class RelativeTimes(Struct, frozen=True, dict=True):
    """The times and operations of a series, each divided by its average for the same work."""

    times: Sequence[float]
    weights: Sequence[float]
    first_reads: Collection[int]

    @classmethod
    def of(
        cls,
        total_ns: "array[int]",
        operations: "array[int]",
        size_bytes: "array[int]",
        first_reads: Collection[int] = (),
    ) -> "RelativeTimes":
        """Divide each time by the average time of its operations, for each file size."""
        mean_operations = sum(operations) / len(operations)
        usual_ns = cls.usual_ns(size_bytes, total_ns, operations)
        average_ns = {size: (ns or 1.0) * mean_operations for size, ns in usual_ns.items()}
        return cls(
            array("d", map(truediv, total_ns, map(average_ns.__getitem__, size_bytes))),
            array("d", [count / mean_operations for count in operations]),
            first_reads,
        )

    @staticmethod
    def usual_ns(
        kinds: Iterable[int], total_ns: Sequence[int], operations: Sequence[int]
    ) -> dict[int, float]:
        """Return the average time of an operation, for each kind of sample."""
        # Lists, because sums in dictionaries take three times as long.
        times_ns, done = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
        for kind, time_ns, count in zip(kinds, total_ns, operations, strict=True):
            times_ns[kind].append(time_ns)
            done[kind].append(count)
        return {kind: sum(times) / sum(done[kind]) for kind, times in times_ns.items()}

    @classmethod
    def step_of(cls, runs: Sequence["RelativeTimes"]) -> Step | None:
        """Return the step that runs of the same work share; None without one.

        It is a step of their average, until the shortest run ends.
        """
        if len(runs) == 1:
            return runs[0].step
        times = zip(*(run.times for run in runs), strict=False)
        weights = zip(*(run.weights for run in runs), strict=False)
        together = cls(
            array("d", map(math.fsum, times)),
            array("d", map(math.fsum, weights)),
            frozenset[int]().union(*(run.first_reads for run in runs)),
        )
        step = together.step_above(_ERRORS_IN_SEVERAL)
        if step is None:
            return None
        heights = []
        for run in runs:
            means = run.means_around(step.index)
            if means is not None and all(means):
                before, after = means
                heights.append(math.log(after / before))
        if len(heights) < 2:
            return None
        error = math.sqrt(MeanVariance.of_mean(heights).variance)
        return step if abs(fmean(heights)) >= _ERRORS_BETWEEN_RUNS * error else None

    def spread(self, *, tries_longer: bool = False) -> MeanVariance:
        """Return the variance of the mean, a ratio of two means, to the first order."""
        differences = list(map(sub, self.times, self.weights))
        return variance_of_mean(
            differences, first_reads=self.first_reads, tries_longer=tries_longer
        )

    @cached_property
    def error_of_mean(self) -> float:
        return math.sqrt(self.spread().variance)

    @cached_property
    def step(self) -> Step | None:
        """Return where the run became slower or faster; None without a step."""
        return self.step_above(_ERRORS_IN_ONE_RUN)

    def step_above(self, least_errors: float) -> Step | None:
        """Return the clearest step if its height exceeds so many standard errors.

        The first reads of files, which become fewer, count only where little else was measured.
        """
        kept = self._kept
        count = len(kept)
        if count < FEWEST_TO_JUDGE:
            return None
        blocks = min(_MOST_BLOCKS, count)
        ends = [count * block // blocks for block in range(blocks + 1)]
        times = [0.0, *accumulate(map(self.times.__getitem__, kept))]
        weights = [0.0, *accumulate(map(self.weights.__getitem__, kept))]
        logs = []
        for start, end in pairwise(ends):
            block_time = max(_SHORTEST_TIME, times[end] - times[start])
            logs.append(math.log(block_time / (weights[end] - weights[start])))
        split = clearest_split(logs)
        if split.standard_errors <= least_errors:
            return None
        index = ends[split.at]
        before = times[index] / weights[index]
        after = (times[-1] - times[index]) / (weights[-1] - weights[index])
        return Step(kept[index], before, after) if before > 0 else None

    @cached_property
    def _kept(self) -> Sequence[int]:
        """Return the indexes of the samples in which a step is looked for."""
        indexes = range(len(self.times))
        kept = array("I", [index for index in indexes if index not in self.first_reads])
        return kept if len(kept) >= FEWEST_TO_JUDGE else indexes

    def means_around(self, index: int | None) -> tuple[float, float] | None:
        """Return the means before and after a sample, or of both halves.

        Return None where there are too few samples to judge.
        """
        split = len(self._kept) // 2 if index is None else bisect_left(self._kept, index)
        before, after = self._kept[:split], self._kept[split:]
        if len(self._kept) < FEWEST_TO_JUDGE or not before or not after:
            return None
        return self._mean(before), self._mean(after)

    def _mean(self, indexes: Sequence[int]) -> float:
        """Return the mean time of an operation in these samples."""
        time = math.fsum(map(self.times.__getitem__, indexes))
        return time / math.fsum(map(self.weights.__getitem__, indexes))


@once
def relative_times(series: Series) -> RelativeTimes:
    """Return a series' times and operations, each divided by its average for the same work."""
    return RelativeTimes.of(
        series.total_ns, series.operations, series.size_bytes, series.first_reads
    )
