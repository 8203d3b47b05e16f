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
from operator import sub
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.looks import SINGLE, Look
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.noise import Series, relative_times, variance_of_mean
from io_benchmark.analysis.statistics.variances import (
    ASSUMED_VARIATION_DEGREES,
    FEWEST_FOR_VARIATION,
    LogMeans,
    MeanVariance,
    reach,
    tail,
)

# With few degrees of freedom and many comparisons an interval can end beyond the largest float.
_LARGEST_LOG = math.log(sys.float_info.max)
# At the levels of several looks so few workers cannot show which of the pools varies more.
_ONE_VARIANCE = {3, 4}
# Shorter runs do not show the waves: in simulations too many equal pools are called different.
_LONG_RUN = 100
# What is compared: workers, runs of one worker per side, or the samples of one run per side.
WORKERS, RUNS = "workers", "runs of one worker"

Workers = Sequence[Sequence[Series]]  # the runs of each worker


class MachineRatio(Struct, frozen=True):
    """ln of the mean of each run of two machines, and the variance of their averages by blocks."""

    candidate: Sequence[float]
    baseline: Sequence[float]
    blocks: Sequence[MeanVariance]
    method: str

    @property
    def log_ratio(self) -> float:
        return fmean(self.candidate) - fmean(self.baseline)

    @staticmethod
    def did_same_work(runs: Sequence[Series]) -> bool:
        """Return whether sample i did the same work in all runs.

        Retrieves did, as far as each run went.
        """
        return all(run.are_retrieves for run in runs) or all(
            run.operations == runs[0].operations for run in runs[1:]
        )

    @classmethod
    def between(
        cls, candidate: Sequence[Series], baseline: Sequence[Series], *, tries_longer: bool = False
    ) -> "MachineRatio":
        """Compare the runs of two machines, sample by sample where all did the same work.

        Retrieve i took the same file in each run, so that the effect of file sizes cancels in the
        difference; the samples that all runs have are compared. Batches of different work are
        compared by all samples, and each run has its own error.
        """
        # Sorted by their times, so that the order in which runs are given does not matter.
        sides = [
            sorted(side, key=lambda run: (run.mean_ns, run.total_ns.tobytes()))
            for side in (candidate, baseline)
        ]
        if not cls.did_same_work([*candidate, *baseline]):
            blocks = [part for side in sides for part in _variances_by_blocks(side, tries_longer)]
            return cls(_logs(sides[0]), _logs(sides[1]), blocks, "batches in blocks")
        first = sides[0][0]
        count = min(len(run.total_ns) for side in sides for run in side)
        (logs, times), (base_logs, base_times) = (_averaged(side, count) for side in sides)
        spread = variance_of_mean(
            list(map(sub, times, base_times)),
            first_reads=first.first_reads,
            tries_longer=tries_longer,
        )
        if first.are_retrieves:
            return cls(logs, base_logs, [spread], "paired retrieves")
        return cls(logs, base_logs, [_of_short(spread, count)], "paired batches")


class Estimate(Struct, frozen=True):
    """ln of a ratio and its variance."""

    log_ratio: float
    error: MeanVariance
    method: str = WORKERS
    assumed_variation: float | None = None  # between workers; None where it was estimated
    # The part of the variance that is not variation between workers.
    within_variance: float = 0.0
    # False: it decides nothing, however far it is from 1.
    can_decide: bool = True

    @classmethod
    def of_workers(
        cls, candidate: Workers, baseline: Workers, assumed_variation: float, look: Look = SINGLE
    ) -> "Estimate":
        """Compare two sides by what the runs of each worker measured."""
        counts = (len(candidate), len(baseline))
        if counts == (1, 1):
            return _one_worker_each(candidate[0], baseline[0], assumed_variation)
        noise: Sequence[MeanVariance] = ()
        if 1 in counts:
            noise = _noise_of_single(*sorted((candidate, baseline), key=len))
        logs = _log_means(candidate), _log_means(baseline)
        return cls.of_means(*logs, assumed_variation, look, noise_of_single=noise)

    @classmethod
    def of_means(
        cls,
        candidate: LogMeans,
        baseline: LogMeans,
        assumed_variation: float,
        look: Look = SINGLE,
        *,
        noise_of_single: Sequence[MeanVariance] = (),
    ) -> "Estimate":
        """Compare two sides by ln of the means of their workers, of which one side has several.

        `noise_of_single` is how far the mean of a single worker is known by its runs.
        """
        counts = {len(candidate), len(baseline)}
        if 1 in counts:
            workers = _one_worker_against_several(
                candidate, baseline, assumed_variation, noise_of_single
            )
        elif look.label is not None and counts <= _ONE_VARIANCE:
            workers = _with_one_variance(candidate, baseline)
        else:
            workers = _several_workers_each(candidate, baseline, assumed_variation)
        return replace(workers, log_ratio=fmean(candidate) - fmean(baseline))

    def with_further(self, error: MeanVariance) -> "Estimate":
        """Return the estimate with an error that the workers do not show."""
        within = self.within_variance + error.variance
        both = MeanVariance.of_sum([self.error, error])
        return replace(self, error=both, within_variance=within)

    @property
    def ratio(self) -> float:
        return math.exp(self.log_ratio)

    def interval(self, level: float) -> Interval:
        width = self.error.half_width(level)
        ends = (self.log_ratio - width, self.log_ratio + width)
        low, high = (math.exp(end) if end < _LARGEST_LOG else math.inf for end in ends)
        return Interval(low, high, level)

    @property
    def p_value(self) -> float:
        if not self.can_decide:
            return 1.0
        error = math.sqrt(self.error.variance)
        if error == 0:
            return 1.0 if self.log_ratio == 0 else 0.0
        return min(1.0, 2 * tail(abs(self.log_ratio) / error, self.error.degrees))

    def variation_to_explain(self, level: float) -> float | None:
        """Return how far workers must differ for this to be chance; None if the assumed is enough."""
        if self.method == WORKERS or math.isinf(self.error.variance):
            return None
        needed = (self.log_ratio / reach(level, self.error.degrees)) ** 2 - self.within_variance
        is_enough = needed / 2 <= (self.assumed_variation or 0.0) ** 2
        return None if is_enough else math.sqrt(needed / 2)


def _one_worker_each(
    candidate: Sequence[Series], baseline: Sequence[Series], assumed_variation: float
) -> Estimate:
    means = MachineRatio.between(candidate, baseline, tries_longer=True)
    between = MeanVariance(2 * assumed_variation**2, ASSUMED_VARIATION_DEGREES)
    repeated = MeanVariance.of_repeated_runs(means.candidate, means.baseline)
    within = MeanVariance.wider(means.blocks, repeated)
    sum_degrees = MeanVariance.howe if repeated else MeanVariance.satterthwaite
    variance = math.fsum(part.variance for part in within)
    return Estimate(
        means.log_ratio,
        MeanVariance(between.variance + variance, sum_degrees([*within, between])),
        RUNS if repeated else means.method,
        assumed_variation,
        variance,
    )


def _several_workers_each(candidate: LogMeans, baseline: LogMeans, assumed: float) -> Estimate:
    """Compare workers by Welch's t; return the pooled t where that is wider and Welch's too narrow.

    Welch's degrees of freedom are too many where the few workers of the smaller side happen to
    agree.
    """
    welch = Estimate(0.0, MeanVariance.of_sum([*map(MeanVariance.of_mean, (candidate, baseline))]))
    has_few = min(len(candidate), len(baseline)) < FEWEST_FOR_VARIATION
    if len(candidate) == len(baseline) and not has_few:
        return welch
    pooled = _with_one_variance(candidate, baseline, assumed if has_few else 0.0)
    return max(welch, pooled, key=lambda estimate: estimate.error.half_width(LEVEL))


def _with_one_variance(candidate: LogMeans, baseline: LogMeans, least: float = 0.0) -> Estimate:
    """Compare workers by the pooled t; both sides vary alike, and by `least` at least."""
    pooled = MeanVariance.combined([*map(MeanVariance.of_values, (candidate, baseline))])
    variance = max(pooled.variance, least**2)
    error = MeanVariance(variance * (1 / len(candidate) + 1 / len(baseline)), pooled.degrees)
    return Estimate(0.0, error, assumed_variation=least if variance == least**2 else None)


def _one_worker_against_several(
    candidate: LogMeans, baseline: LogMeans, assumed: float, noise: Sequence[MeanVariance]
) -> Estimate:
    """Compare workers; the single one varies as the other side does, if that is more than assumed."""
    several = max(candidate, baseline, key=len)
    seen = MeanVariance.of_values(several)
    single_parts = [MeanVariance(assumed**2, ASSUMED_VARIATION_DEGREES), *noise]
    if seen.variance > math.fsum(part.variance for part in single_parts):
        single_parts = [seen]
    parts = [MeanVariance.of_mean(several), *single_parts]
    return Estimate(
        0.0,
        MeanVariance(math.fsum(part.variance for part in parts), MeanVariance.howe(parts)),
        assumed_variation=assumed,
    )


def _noise_of_single(single: Workers, several: Workers) -> Sequence[MeanVariance]:
    """Return how far the mean of a single worker is known, by its blocks or by how runs differ."""
    (runs,) = single
    blocks = _variances_by_blocks(runs, tries_longer=True)
    between_runs = MeanVariance.pooled(map(_logs, (runs, *several)))
    if between_runs is None:
        return blocks
    of_mean = MeanVariance(between_runs.variance / len(runs), between_runs.degrees)
    return MeanVariance.wider(blocks, [of_mean])


def _averaged(runs: Sequence[Series], count: int) -> tuple[list[float], list[float]]:
    """Return ln of each run's mean, and the average of the runs, over the first `count` samples."""
    times_ns = [run.total_ns[:count] for run in runs]
    means = [sum(times) / count for times in times_ns]
    courses = [[time / mean for time in times] for times, mean in zip(times_ns, means, strict=True)]
    return list(map(math.log, means)), list(map(fmean, zip(*courses, strict=True)))


def _variances_by_blocks(runs: Sequence[Series], tries_longer: bool) -> list[MeanVariance]:
    """Return what each run's blocks add to the variance of the average of the runs' means."""
    spreads = (
        _of_short(relative_times(run).spread(tries_longer=tries_longer), len(run.total_ns))
        for run in runs
    )
    return [spread.share_of_average(len(runs)) for spread in spreads]


def _of_short(spread: MeanVariance, count: int) -> MeanVariance:
    """Enlarge the variance of a run that is too short to show its waves."""
    return MeanVariance(spread.variance * max(1.0, _LONG_RUN / count), spread.degrees)


def _logs(runs: Sequence[Series]) -> list[float]:
    return [math.log(run.mean_ns) for run in runs]


def _log_means(workers: Workers) -> LogMeans:
    return [fmean(_logs(runs)) for runs in workers]
