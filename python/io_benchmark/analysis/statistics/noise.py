# SPDX-License-Identifier: MPL-2.0
"""One run's course: the error of its mean, and whether it became slower or faster at some point.

Retrieves are not independent. Writeback comes in waves: at a write-bound disk lags 5, 10 and 20 correlate
at about 0.95. So the variance of a mean is taken from the means of overlapping blocks well over 20
retrieves long (overlapping batch means: Meketon and Schmeiser 1984), never from single retrieves.

For a step the series is cut into blocks. The split with the largest difference of means is compared with
the long-run variance around both means, by batches of several lengths (CUSUM: Csörgő and Horváth 1997).
So waves and stalls that come again are no step. Autocorrelation of 0.8 between retrieves finds one in
fewer than one of 100 runs of 400 retrieves or more. A burst that comes by chance and lasts for a tenth of
the run looks like a step; so several runs must agree on it.
"""

import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, compress, pairwise
from operator import attrgetter, mul, not_, sub, truediv
from statistics import fmean, linear_regression
from typing import Protocol

from msgspec import Struct

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.variances import MeanVariance

_BLOCK_RETRIEVES = 64
_BLOCKS_ABOUT = 10
# Bursts and modes may last longer than a tenth of a run: a fifth and a third of it are tried as well.
_LONGER_BLOCKS = (5, 3)
FEWEST_RETRIEVES = 20
# First reads, and other samples, that show by themselves how far they vary.
_FEWEST_APART = 8
FEWEST_TO_JUDGE = 60
_MOST_BLOCKS = 100
# The least height of a step in standard errors: far more than for a split that is known before. Of several
# runs together less, but they must agree on it: a burst is one run's own.
_OF_ONE_RUN, _OF_SEVERAL, _BETWEEN_RUNS = 4.5, 3.5, 3.0
# A step that has less of the run on one side is not judged.
_SMALLEST_SIDE = 0.1
_BATCH_LENGTHS = (0.01, 0.05, 0.1, 0.2)  # of the run
# The halves of each side differ by less than this from the step's height; a wave's do not.
_LEVEL_SHARE = 0.3
_SHORTEST_NS = 1e-9  # relative to the average, for a block that took no time


class Series(Protocol):
    """The samples of one run, in the order of time."""

    @property
    def total_ns(self) -> "array[int]": ...

    @property
    def operations(self) -> "array[int]": ...

    @property
    def size_bytes(self) -> "array[int]": ...

    @property
    def first_reads(self) -> Collection[int]: ...


class Step(Struct, frozen=True):
    index: int  # of the first sample after it
    before: float  # the time of an operation, relative to the run's average
    after: float

    @property
    def ratio(self) -> float:
        """Return how much longer an operation took after it than before it."""
        return self.after / self.before


def _clearest_split(values: Sequence[float]) -> tuple[int, float]:
    """Return where the means of both sides differ most, and by how many standard errors; 0 is no step."""
    count, sums = len(values), [0.0, *accumulate(values)]

    def mean(start: int, end: int) -> float:
        return (sums[end] - sums[start]) / (end - start)

    def contrast(split: int) -> float:
        return (mean(split, count) - mean(0, split)) * math.sqrt(split * (count - split) / count)

    margin = math.ceil(_SMALLEST_SIDE * count)
    split = max(range(margin, count - margin + 1), key=lambda place: abs(contrast(place)))
    height = mean(split, count) - mean(0, split)
    sign, middle = math.copysign(1, height), (split + count) // 2
    before = max(sign * mean(0, split // 2), sign * mean(split // 2, split))
    after = min(sign * mean(split, middle), sign * mean(middle, count))
    rest = [value - mean(0, split) for value in values[:split]]
    rest += [value - mean(split, count) for value in values[split:]]
    # A run that slows down steadily varies around a line, and not around two levels.
    slope, start = linear_regression(range(count), values)
    around_line = [value - start - slope * at for at, value in enumerate(values)]
    error = math.sqrt(min(map(_long_run_variance, (rest, around_line))))
    if not error or after - before < _LEVEL_SHARE * abs(height):
        return split, 0.0
    return split, abs(contrast(split)) / error


def _long_run_variance(rest: Sequence[float]) -> float:
    """Return the largest variance by batches, of what differs from the run's course."""
    count, sums = len(rest), [0.0, *accumulate(rest)]

    def variance(length: int) -> float:
        batches = [end - start for start, end in zip(sums, sums[length:], strict=False)]
        squares = math.fsum(batch * batch for batch in batches) / len(batches)
        # Of the variance of a batch, the course has taken this share away.
        return squares / length / (1 - 2 * length / count)

    return max(variance(max(1, int(share * count))) for share in _BATCH_LENGTHS)


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
    count = len(values)
    firsts = {index for index in first_reads if index < count}
    whole = _variance_of_series(values, tries_longer)
    if min(len(firsts), count - len(firsts)) < _FEWEST_APART:
        return whole
    is_first = [index in firsts for index in range(count)]
    error, degrees = 0.0, math.inf
    for part in (compress(values, is_first), compress(values, map(not_, is_first))):
        series = list(part)
        spread = _variance_of_series(series, tries_longer)
        # A wave slows both, so their errors add up.
        error += len(series) / count * math.sqrt(spread.variance)
        degrees = min(degrees, spread.degrees)
    apart = MeanVariance(error**2, degrees)
    return min(whole, apart, key=lambda spread: spread.half_width(LEVEL))


def _variance_of_series(values: Sequence[float], tries_longer: bool) -> MeanVariance:
    count = len(values)
    if count < 2:
        return MeanVariance(math.inf, 1.0)
    length = _block_length(count)
    lengths = {length}
    if tries_longer:
        lengths |= {max(length, count // blocks) for blocks in _LONGER_BLOCKS}
    sums = [0.0, *accumulate(values)]
    spreads = (_variance_by_blocks(sums, length) for length in sorted(lengths))
    return max(spreads, key=attrgetter("variance"))


def _variance_by_blocks(sums: Sequence[float], length: int) -> MeanVariance:
    """Return the variance by all blocks of this length; `sums` are those of the values before each."""
    count = len(sums) - 1
    expected = sums[-1] / count * length
    deviations = [end - start - expected for start, end in zip(sums, sums[length:], strict=False)]
    squares = math.fsum(map(mul, deviations, deviations))
    variance = squares / length / ((count - length + 1) * (count - length))
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
        """Return the step that runs of the same work share, in their average until the shortest one ends."""
        if len(runs) == 1:
            return runs[0].step
        times, weights = (
            array("d", map(math.fsum, zip(*columns, strict=False)))
            for columns in ([run.times for run in runs], [run.weights for run in runs])
        )
        first_reads = frozenset[int]().union(*(run.first_reads for run in runs))
        step = cls(times, weights, first_reads).step_above(_OF_SEVERAL)
        around = [run.means_around(step.index) for run in runs] if step else []
        heights = [math.log(means[1] / means[0]) for means in around if means and all(means)]
        if len(heights) < 2:
            return None
        error = math.sqrt(MeanVariance.of_mean(heights).variance)
        return step if abs(fmean(heights)) >= _BETWEEN_RUNS * error else None

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
        return self.step_above(_OF_ONE_RUN)

    def step_above(self, least_errors: float) -> Step | None:
        """The first reads of files, which become fewer, count only where little else was measured."""
        kept = self._kept
        count = len(kept)
        if count < FEWEST_TO_JUDGE:
            return None
        blocks = min(_MOST_BLOCKS, count)
        ends = [count * block // blocks for block in range(blocks + 1)]
        time_sums, weight_sums = (
            [0.0, *accumulate(map(values.__getitem__, kept))]
            for values in (self.times, self.weights)
        )
        logs = [
            math.log(
                max(_SHORTEST_NS, time_sums[end] - time_sums[start])
                / (weight_sums[end] - weight_sums[start])
            )
            for start, end in pairwise(ends)
        ]
        split, errors = _clearest_split(logs)
        if errors <= least_errors:
            return None
        index = ends[split]
        before = time_sums[index] / weight_sums[index]
        after = (time_sums[-1] - time_sums[index]) / (weight_sums[-1] - weight_sums[index])
        return Step(kept[index], before, after) if before > 0 else None

    @cached_property
    def _kept(self) -> Sequence[int]:
        indexes = range(len(self.times))
        kept = array("I", [index for index in indexes if index not in self.first_reads])
        return kept if len(kept) >= FEWEST_TO_JUDGE else indexes

    def means_around(self, index: int | None) -> tuple[float, float] | None:
        """Return the means before and after a sample, or of both halves; None where they are too few to judge."""
        split = len(self._kept) // 2 if index is None else bisect_left(self._kept, index)
        parts = self._kept[:split], self._kept[split:]
        if len(self._kept) < FEWEST_TO_JUDGE or not all(parts):
            return None
        before, after = (
            math.fsum(map(self.times.__getitem__, part))
            / math.fsum(map(self.weights.__getitem__, part))
            for part in parts
        )
        return before, after


@once
def relative_times(series: Series) -> RelativeTimes:
    """Return a series' times and operations, each divided by its average for the same work."""
    return RelativeTimes.of(
        series.total_ns, series.operations, series.size_bytes, series.first_reads
    )
