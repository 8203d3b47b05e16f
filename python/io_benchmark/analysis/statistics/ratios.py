# SPDX-License-Identifier: MPL-2.0
"""From workers' means to a ratio and its intervals.

The unit is the worker. Several workers per side: Welch's t on the logarithms of their means, or the
t of pooled variances where that is wider and one side has few workers or fewer than the other side.
One worker per side: the averages of its runs. Their variance comes from blocks within the runs and
from how far runs of one worker differ; the variation between workers is assumed, because one
worker does not show it. Two places of one worker need no such assumption. Ratios are handled as
logarithms, so that swapping the sides changes only the sign.
"""

import math
import sys
from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.looks import SINGLE, Look
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.machine_ratios import (
    MachineRatio,
    log_means,
    noise_of_mean,
)
from io_benchmark.analysis.statistics.noise import Series
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
_WITH_ONE_VARIANCE = (3, 4)
# What is compared: workers, runs of one worker per side, or the samples of one run per side.
WORKERS = "workers"
RUNS = "runs of one worker"

Workers = Sequence[Sequence[Series]]  # the runs of each worker


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
        if len(candidate) == 1 and len(baseline) == 1:
            return _one_worker_each(candidate[0], baseline[0], assumed_variation)
        noise: Sequence[MeanVariance] = ()
        if len(candidate) == 1:
            noise = noise_of_mean(candidate[0], baseline)
        elif len(baseline) == 1:
            noise = noise_of_mean(baseline[0], candidate)
        return cls.of_means(
            _log_means(candidate),
            _log_means(baseline),
            assumed_variation,
            look,
            noise_of_single=noise,
        )

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
        log_ratio = fmean(candidate) - fmean(baseline)
        counts = (len(candidate), len(baseline))
        if 1 in counts:
            return _one_worker_against_several(
                log_ratio, max(candidate, baseline, key=len), assumed_variation, noise_of_single
            )
        is_adjusted = look.label is not None
        if is_adjusted and all(count in _WITH_ONE_VARIANCE for count in counts):
            return _with_one_variance(log_ratio, candidate, baseline)
        return _several_workers_each(log_ratio, candidate, baseline, assumed_variation)

    def with_further(self, error: MeanVariance) -> "Estimate":
        """Return the estimate with an error that the workers do not show."""
        within = self.within_variance + error.variance
        both = MeanVariance.of_sum([self.error, error])
        return replace(self, error=both, within_variance=within)

    @property
    def ratio(self) -> float:
        """Return how much longer the candidate takes."""
        return math.exp(self.log_ratio)

    def interval(self, level: float) -> Interval:
        """Return the interval of the ratio at this level."""
        width = self.error.half_width(level)
        low, high = _exponential(self.log_ratio - width), _exponential(self.log_ratio + width)
        return Interval(low, high, level)

    @property
    def p_value(self) -> float:
        """Return the chance of a ratio at least as far from 1 where nothing differs."""
        if not self.can_decide:
            return 1.0
        error = math.sqrt(self.error.variance)
        if error == 0:
            return 1.0 if self.log_ratio == 0 else 0.0
        return min(1.0, 2 * tail(abs(self.log_ratio) / error, self.error.degrees))

    def variation_to_explain(self, level: float) -> float | None:
        """Return how far workers must differ for this to be chance.

        Return None where they need not differ further than is assumed, or where they are compared.
        """
        if self.method == WORKERS or math.isinf(self.error.variance):
            return None
        needed = (self.log_ratio / reach(level, self.error.degrees)) ** 2 - self.within_variance
        of_one_side = needed / 2
        if of_one_side <= (self.assumed_variation or 0.0) ** 2:
            return None
        return math.sqrt(of_one_side)


def _exponential(log_ratio: float) -> float:
    """Return a ratio, which may be too large for a float."""
    return math.exp(log_ratio) if log_ratio < _LARGEST_LOG else math.inf


def _one_worker_each(
    candidate: Sequence[Series], baseline: Sequence[Series], assumed_variation: float
) -> Estimate:
    """Compare two workers by their runs; how far workers differ is assumed."""
    means = MachineRatio.between(candidate, baseline, tries_longer=True)
    between = MeanVariance(2 * assumed_variation**2, ASSUMED_VARIATION_DEGREES)
    repeated = MeanVariance.of_repeated_runs(means.candidate, means.baseline)
    within = MeanVariance.wider(means.blocks, repeated)
    parts = [*within, between]
    # Blocks have many degrees of freedom; those of a few runs need the wider sum.
    degrees = MeanVariance.howe(parts) if repeated else MeanVariance.satterthwaite(parts)
    variance = math.fsum(part.variance for part in within)
    return Estimate(
        log_ratio=means.log_ratio,
        error=MeanVariance(between.variance + variance, degrees),
        method=RUNS if repeated else means.method,
        assumed_variation=assumed_variation,
        within_variance=variance,
    )


def _several_workers_each(
    log_ratio: float, candidate: LogMeans, baseline: LogMeans, assumed: float
) -> Estimate:
    """Compare workers by Welch's t; return the pooled t where that is wider and Welch's too narrow.

    Welch's degrees of freedom are too many where the few workers of the smaller side happen to
    agree.
    """
    errors = [MeanVariance.of_mean(candidate), MeanVariance.of_mean(baseline)]
    welch = Estimate(log_ratio, MeanVariance.of_sum(errors))
    has_few = min(len(candidate), len(baseline)) < FEWEST_FOR_VARIATION
    if len(candidate) == len(baseline) and not has_few:
        return welch
    pooled = _with_one_variance(log_ratio, candidate, baseline, assumed if has_few else 0.0)
    return max(welch, pooled, key=lambda estimate: estimate.error.half_width(LEVEL))


def _with_one_variance(
    log_ratio: float, candidate: LogMeans, baseline: LogMeans, least: float = 0.0
) -> Estimate:
    """Compare workers by the pooled t; both sides vary alike, and by `least` at least."""
    pooled = MeanVariance.combined(
        [MeanVariance.of_values(candidate), MeanVariance.of_values(baseline)]
    )
    variance = max(pooled.variance, least**2)
    error = MeanVariance(variance * (1 / len(candidate) + 1 / len(baseline)), pooled.degrees)
    is_assumed = variance == least**2
    return Estimate(log_ratio, error, assumed_variation=least if is_assumed else None)


def _one_worker_against_several(
    log_ratio: float, several: LogMeans, assumed: float, noise: Sequence[MeanVariance]
) -> Estimate:
    """Compare workers; the single one varies as the others do, if that is more than assumed."""
    seen = MeanVariance.of_values(several)
    single_parts = [MeanVariance(assumed**2, ASSUMED_VARIATION_DEGREES), *noise]
    if seen.variance > math.fsum(part.variance for part in single_parts):
        single_parts = [seen]
    parts = [MeanVariance.of_mean(several), *single_parts]
    variance = math.fsum(part.variance for part in parts)
    error = MeanVariance(variance, MeanVariance.howe(parts))
    return Estimate(log_ratio, error, assumed_variation=assumed)


def _log_means(workers: Workers) -> LogMeans:
    """Return ln of the mean of each worker, whose runs count alike."""
    return [fmean(log_means(runs)) for runs in workers]
