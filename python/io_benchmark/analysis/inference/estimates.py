# SPDX-License-Identifier: MPL-2.0
"""From workers' means to a ratio and its intervals.

The unit is the worker. Several workers per side: Welch's t on the logarithms of their means, or the t
of pooled variances where that is wider and one side has few workers or fewer than the other side. One
worker per side: the averages of its runs. Their variance comes from blocks within the runs and from
how far runs of one worker differ; the variation between workers is assumed, because one worker does
not show it. Two places of one worker need no such assumption. Ratios are handled as logarithms, so
that swapping the sides changes only the sign.
"""

import math
import sys
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.inference import compared_means
from io_benchmark.analysis.inference.levels import LEVEL, SINGLE_WORKER_VARIATION
from io_benchmark.analysis.inference.looks import SINGLE, Look
from io_benchmark.analysis.inference.variances import (
    ASSUMED_VARIATION_DEGREES,
    MeanVariance,
    reach,
    sample_variance,
    tail,
)
from io_benchmark.analysis.model import Entry, Interval, Run
from io_benchmark.analysis.observed.machine_identity import by_machine

# With few degrees of freedom and many comparisons an interval can end beyond the largest float.
_LARGEST_LOG = math.log(sys.float_info.max)
# Two workers agree by chance too often to show how far workers of their pool differ.
_TOO_FEW_FOR_VARIATION = 2
# At the levels of several looks so few workers cannot show which of the pools varies more.
_ONE_VARIANCE = {3, 4}
# What is compared, apart from the samples of one worker per side.
RUNS = "runs of one worker"
WORKERS = "workers"


class SideData(Struct, frozen=True):
    """The independent workers of one side: ln of each mean, and its runs."""

    log_means: tuple[float, ...]
    runs: tuple[tuple[Entry, ...], ...]  # in the order of the means

    @classmethod
    def of(cls, runs: Sequence[Run]) -> "SideData":
        """Return one side's workers; several tasks on one machine are one worker with their average."""
        machines = [tuple(run.entry for run in of_machine) for of_machine in by_machine(runs)]
        logs = [[math.log(entry.mean_ns) for entry in entries] for entries in machines]
        return cls(tuple(map(_mean, logs)), tuple(machines))

    @property
    def count(self) -> int:
        return len(self.log_means)

    @property
    def mean_ns(self) -> float:
        """Return the geometric mean, of which ratios are."""
        return math.exp(_mean(self.log_means))


class Estimate(Struct, frozen=True):
    """ln of a ratio, its variance and the degrees of freedom of that."""

    log_ratio: float
    variance: float
    degrees: float
    method: str = WORKERS
    assumed_variation: float | None = None  # between workers; None where it was estimated
    # The part of the variance that is not variation between workers.
    within_variance: float = 0.0
    # Sides with one worker, and the variance that is assumed for the other workers of their pools.
    single_sides: int = 0
    single_variance: float = 0.0

    @classmethod
    def of_sides(
        cls,
        candidate: SideData,
        baseline: SideData,
        assumed_variation: float,
        look: Look = SINGLE,
    ) -> "Estimate":
        counts = {candidate.count, baseline.count}
        if counts == {1}:
            return _one_worker_each(candidate.runs[0], baseline.runs[0], assumed_variation)
        log_ratio = _mean(candidate.log_means) - _mean(baseline.log_means)
        if 1 in counts:
            workers = _one_worker_against_several(candidate, baseline, assumed_variation)
        elif look.text is not None and counts <= _ONE_VARIANCE:
            workers = _with_one_variance(candidate, baseline)
        else:
            workers = _several_workers_each(candidate, baseline, assumed_variation)
        return replace(workers, log_ratio=log_ratio)

    @classmethod
    def within_workers(cls, machines: Sequence[Sequence[tuple[Entry, Entry]]]) -> "Estimate":
        """Compare pairs of measurements that the same tasks made, by machine.

        Each machine is compared with itself, so that differences between machines cancel and need no
        assumption. Several machines show how far their ratios differ; a single one shows only its own
        noise, and the interval does not apply to other machines.
        """
        by_machine = [
            [compared_means.compare_means([entry], [base]) for entry, base in pairs]
            for pairs in machines
        ]
        logs = [_mean([task.log_ratio for task in tasks]) for tasks in by_machine]
        if len(logs) > 1:
            variance = sample_variance(logs) / len(logs)
            return cls(_mean(logs), variance, len(logs) - 1.0)
        (tasks,) = by_machine
        blocks = [
            MeanVariance(block.variance / len(tasks) ** 2, block.degrees)
            for task in tasks
            for block in task.blocks
        ]
        error, method = MeanVariance.of_sum(blocks), tasks[0].method
        if len(tasks) > 1:
            seen = MeanVariance.of_mean([task.log_ratio for task in tasks])
            if MeanVariance.wider(blocks, [seen]) == [seen]:
                error, method = seen, RUNS
        return cls(logs[0], error.variance, error.degrees, method, None, error.variance)

    @property
    def ratio(self) -> float:
        return math.exp(self.log_ratio)

    @property
    def error(self) -> float:
        return math.sqrt(self.variance)

    def interval(self, level: float) -> Interval:
        if math.isinf(self.variance):
            return Interval(0.0, math.inf, level)
        width = reach(level, self.degrees) * self.error
        ends = (self.log_ratio - width, self.log_ratio + width)
        low, high = (math.exp(end) if end < _LARGEST_LOG else math.inf for end in ends)
        return Interval(low, high, level)

    @property
    def p_value(self) -> float:
        if self.error == 0:
            return 1.0 if self.log_ratio == 0 else 0.0
        return min(1.0, 2 * tail(abs(self.log_ratio) / self.error, self.degrees))

    def variation_to_explain(self, level: float) -> float | None:
        """Return how far workers must differ for this to be chance; None where the assumed is enough."""
        if self.method == WORKERS or math.isinf(self.variance):
            return None
        needed = (self.log_ratio / reach(level, self.degrees)) ** 2 - self.within_variance
        if needed / 2 <= (self.assumed_variation or 0.0) ** 2:
            return None
        return math.sqrt(needed / 2)

    def may_be_one_worker(self, level: float) -> bool:
        """Return whether the difference may be that of a single worker from its own pool."""
        explained = self.variance - self.single_variance
        explained += self.single_sides * SINGLE_WORKER_VARIATION**2
        reached = reach(level, self.degrees) * math.sqrt(explained)
        return self.single_sides > 0 and abs(self.log_ratio) <= reached


def _one_worker_each(
    candidate: Sequence[Entry], baseline: Sequence[Entry], assumed_variation: float
) -> Estimate:
    means = compared_means.compare_means(candidate, baseline, tries_longer=True)
    between = MeanVariance(2 * assumed_variation**2, ASSUMED_VARIATION_DEGREES)
    seen = MeanVariance.of_repeated_runs(means.candidate, means.baseline)
    within = MeanVariance.wider(means.blocks, seen)
    sum_degrees = MeanVariance.howe if seen else MeanVariance.satterthwaite
    variance = math.fsum(part.variance for part in within)
    return Estimate(
        means.log_ratio,
        between.variance + variance,
        sum_degrees([*within, between]),
        RUNS if seen else means.method,
        assumed_variation,
        variance,
        single_sides=2,
        single_variance=between.variance,
    )


def _several_workers_each(candidate: SideData, baseline: SideData, assumed: float) -> Estimate:
    """Compare workers by Welch's t; return the pooled t where that is wider and Welch's too narrow.

    Welch's degrees of freedom are too many where the few workers of the smaller side happen to agree.
    """
    sides = (candidate, baseline)
    variance = MeanVariance.of_sum([MeanVariance.of_mean(side.log_means) for side in sides])
    welch = Estimate(0.0, variance.variance, variance.degrees)
    has_few = _TOO_FEW_FOR_VARIATION in (candidate.count, baseline.count)
    if candidate.count == baseline.count and not has_few:
        return welch
    pooled = _with_one_variance(candidate, baseline, assumed if has_few else 0.0)
    return max(welch, pooled, key=lambda estimate: reach(LEVEL, estimate.degrees) * estimate.error)


def _with_one_variance(candidate: SideData, baseline: SideData, least: float = 0.0) -> Estimate:
    """Compare workers by the pooled t; both sides vary alike, and by `least` at least."""
    sides = (candidate, baseline)
    degrees = candidate.count + baseline.count - 2.0
    squares = math.fsum(sample_variance(side.log_means) * (side.count - 1) for side in sides)
    variance = max(squares / degrees, least**2)
    return Estimate(
        0.0,
        variance * (1 / candidate.count + 1 / baseline.count),
        degrees,
        assumed_variation=least if variance == least**2 else None,
    )


def _one_worker_against_several(
    candidate: SideData, baseline: SideData, assumed: float
) -> Estimate:
    """Compare workers; for the single one, use the larger of the other side's variance and `assumed`."""
    single, several = sorted((candidate, baseline), key=lambda side: side.count)
    # The single worker's variance: the other side's, or as assumed and by its runs.
    seen = MeanVariance(sample_variance(several.log_means), several.count - 1.0)
    between = MeanVariance(assumed**2, ASSUMED_VARIATION_DEGREES)
    single_parts = [between, *_within(single.runs, several.runs)]
    if seen.variance > math.fsum(part.variance for part in single_parts):
        single_parts = [seen]
    parts = [MeanVariance.of_mean(several.log_means), *single_parts]
    return Estimate(
        0.0,
        math.fsum(part.variance for part in parts),
        MeanVariance.howe(parts),
        assumed_variation=assumed,
        single_sides=1,
        single_variance=single_parts[0].variance,
    )


def _within(
    single: Sequence[Sequence[Entry]], several: Sequence[Sequence[Entry]]
) -> list[MeanVariance]:
    """Return the variance of one worker's mean by its blocks, or by how far runs of a worker differ."""
    if not single:
        return []
    blocks = compared_means.variances_of_average(single[0], tries_longer=True)
    logs = [[math.log(entry.mean_ns) for entry in worker] for worker in (*single, *several)]
    seen = MeanVariance.pooled(logs)
    if seen is None:
        return list(blocks)
    return MeanVariance.wider(blocks, [MeanVariance(seen.variance / len(single[0]), seen.degrees)])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
