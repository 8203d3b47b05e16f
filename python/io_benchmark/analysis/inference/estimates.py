# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From workers' means to a ratio, its intervals and a verdict.

The unit is the worker. Several workers a side: Welch's t on the logarithms of their means. One a
side: the averages of its runs, whose variance comes from blocks within the runs and from how far
runs of one worker differ, and a between-worker variation that is assumed, because one worker cannot
show it. What one worker measured twice, in two places, needs no such assumption. Ratios are handled
as logarithms, so that swapping the sides changes nothing but the sign.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scipy.special import ndtr, stdtr

from io_benchmark.analysis.inference import moving_blocks
from io_benchmark.analysis.inference import repeated_runs as runs
from io_benchmark.analysis.inference.levels import LEVEL, two_sided
from io_benchmark.analysis.inference.student import (
    MANY_DEGREES,
    MeanVariance,
    howe,
    quantile,
    sample_variance,
    satterthwaite,
)
from io_benchmark.analysis.model import Entry, Interval, Verdict

# A larger end of an interval, in many comparisons with few degrees of freedom, is no number.
LARGEST_LOG = math.log(sys.float_info.max)
# An assumed variation is trusted no more than one that was seen on about twenty workers.
ASSUMED_DEGREES = 20.0
# One worker a side: how its samples are held against the other's.
PAIRED_RETRIEVES, PAIRED_BATCHES = "paired retrieves", "paired batches"
UNPAIRED_BATCHES = "batches in blocks"
RUNS = "runs of one worker"
WORKERS = "workers"
ONE_WORKER = (PAIRED_RETRIEVES, PAIRED_BATCHES, UNPAIRED_BATCHES, RUNS)


@dataclass(frozen=True)
class SideData:
    """One side's independent workers: ln of each one's mean, and the runs behind it."""

    log_means: tuple[float, ...]
    runs: tuple[tuple[Entry, ...], ...]  # by worker, as the means

    @property
    def count(self) -> int:
        return len(self.log_means)


@dataclass(frozen=True)
class Estimate:
    """ln of the ratio, with the variance of that and its degrees of freedom."""

    log_ratio: float
    variance: float
    degrees: float
    method: str
    assumed_variation: float | None  # what was put in for what could not be seen
    # The part of the variance that is no between-worker variation.
    within_variance: float

    @property
    def ratio(self) -> float:
        return math.exp(self.log_ratio)

    @property
    def error(self) -> float:
        return math.sqrt(self.variance)


def estimate(candidate: SideData, baseline: SideData, assumed_variation: float) -> Estimate:
    if candidate.count == 1 and baseline.count == 1:
        return _one_worker_each(candidate.runs[0], baseline.runs[0], assumed_variation)
    return _welch(candidate, baseline, assumed_variation)


def _one_worker_each(
    candidate: Sequence[Entry], baseline: Sequence[Entry], assumed_variation: float
) -> Estimate:
    means = moving_blocks.means(candidate, baseline)
    between = MeanVariance(2 * assumed_variation**2, ASSUMED_DEGREES)
    seen = runs.of_pair(means.candidate, means.baseline)
    within = runs.larger(means.blocks, seen)
    degrees = (howe if seen else satterthwaite)([*within, between])
    variance = math.fsum(part.variance for part in within)
    return Estimate(
        means.log_ratio,
        between.variance + variance,
        degrees,
        _method([*candidate, *baseline]) if not seen else RUNS,
        assumed_variation,
        variance,
    )


def _welch(candidate: SideData, baseline: SideData, assumed: float) -> Estimate:
    """A side with one worker has no variance of its own: the larger of the other's and the assumed."""
    parts: list[MeanVariance] = []
    used_assumed = None
    for own, other in ((candidate, baseline), (baseline, candidate)):
        if own.count > 1:
            variance = sample_variance(own.log_means) / own.count
            parts.append(MeanVariance(variance, own.count - 1.0))
        else:
            used_assumed = assumed
            parts += _alone(own, other, assumed)
    log_ratio = _mean(candidate.log_means) - _mean(baseline.log_means)
    variance = math.fsum(part.variance for part in parts)
    # More than a part a side: runs of one worker are among them, often two or three.
    degrees = (howe if len(parts) > 2 else satterthwaite)(parts)
    return Estimate(log_ratio, variance, degrees, WORKERS, used_assumed, 0.0)


def _alone(own: SideData, other: SideData, assumed: float) -> list[MeanVariance]:
    """The variance of one worker's mean, beside several: as theirs, or as assumed and by its runs."""
    seen = MeanVariance(sample_variance(other.log_means), other.count - 1.0)
    between = MeanVariance(assumed**2, ASSUMED_DEGREES)
    within = _within(own.runs, other.runs)
    if seen.variance > between.variance + math.fsum(part.variance for part in within):
        return [seen]
    return [between, *within]


def _within(own: Sequence[Sequence[Entry]], other: Sequence[Sequence[Entry]]) -> list[MeanVariance]:
    """Of one worker's mean: its blocks, or how far runs of one worker are seen to differ."""
    if not own:
        return []
    blocks = moving_blocks.of_average(own[0])
    logs = [[math.log(entry.mean_ns) for entry in worker] for worker in (*own, *other)]
    seen = runs.pooled(logs)
    if seen is None:
        return list(blocks)
    return runs.larger(blocks, [MeanVariance(seen.variance / len(own[0]), seen.degrees)])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def within_workers(machines: Sequence[Sequence[tuple[Entry, Entry]]]) -> Estimate:
    """One thing over another that the same tasks measured: pairs of entries, by machine.

    Each machine is held against itself, so that how machines differ cancels and nothing is assumed of
    it. Several show how far their ratios differ; one shows its own noise alone, and the interval holds
    for no other machine.
    """
    found = [[moving_blocks.means([one], [base]) for one, base in pairs] for pairs in machines]
    logs = [_mean([task.log_ratio for task in tasks]) for tasks in found]
    if len(logs) > 1:
        variance = sample_variance(logs) / len(logs)
        return Estimate(_mean(logs), variance, len(logs) - 1.0, WORKERS, None, 0.0)
    (tasks,) = found
    count = len(tasks)
    blocks = [
        MeanVariance(one.variance / count**2, one.degrees) for task in tasks for one in task.blocks
    ]
    parts, degrees = blocks, satterthwaite(blocks)
    if count > 1:
        ratios = [task.log_ratio for task in tasks]
        seen = [MeanVariance(sample_variance(ratios) / count, count - 1.0)]
        if runs.larger(blocks, seen) == seen:
            parts, degrees = seen, count - 1.0
    variance = math.fsum(part.variance for part in parts)
    method = _method(machines[0][0]) if parts is blocks else RUNS
    return Estimate(logs[0], variance, degrees, method, None, variance)


def _method(entries: Sequence[Entry]) -> str:
    if not moving_blocks.alike(entries):
        return UNPAIRED_BATCHES
    return PAIRED_BATCHES if entries[0].retrieves is None else PAIRED_RETRIEVES


def interval(found: Estimate, level: float) -> Interval:
    if math.isinf(found.variance):
        return Interval(0.0, math.inf, level)
    reach = quantile(two_sided(level), found.degrees) * found.error
    ends = (found.log_ratio - reach, found.log_ratio + reach)
    low, high = (math.exp(end) if end < LARGEST_LOG else math.inf for end in ends)
    return Interval(low, high, level)


def p_value(found: Estimate) -> float:
    """Two-sided, of the hypothesis that the ratio is 1."""
    if found.error == 0:
        return 1.0 if found.log_ratio == 0 else 0.0
    score = -abs(found.log_ratio) / found.error
    if found.degrees > MANY_DEGREES:
        return min(1.0, 2 * float(ndtr(score)))
    return min(1.0, 2 * float(stdtr(found.degrees, score)))


class AdjustedTest(NamedTuple):
    """One of several tests."""

    p_value: float
    level: float  # of the interval that decides as the p-value does


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[AdjustedTest]:
    """Adjust the tests of several candidates.

    Holm's steps: the smallest p-value is compared with alpha / m, the next with alpha / (m - 1),
    until one fails; that one and all above it are not rejected, so their intervals are those of
    the step that failed.
    """
    alpha = 1 - level
    order = sorted(range(len(p_values)), key=lambda at: (p_values[at], at))
    tests = [AdjustedTest(1.0, level)] * len(p_values)
    running, failed_at = 0.0, 0.0
    for rank, at in enumerate(order):
        left = len(order) - rank
        running = max(running, min(1.0, left * p_values[at]))
        step = failed_at or alpha / left
        if not failed_at and p_values[at] > step:
            failed_at = step
        tests[at] = AdjustedTest(running, 1 - step)
    return tests


def margin_bounds(margin: float) -> tuple[float, float]:
    """Alike for both directions: within 1/1.05 to 1.05 for a margin of 5 %."""
    return 1 / (1 + margin), 1 + margin


def verdict(adjusted: Interval, at_90: Interval, margin: float) -> Verdict:
    low, high = margin_bounds(margin)
    if at_90.within(low, high):
        return Verdict.EQUIVALENT
    if adjusted.excludes(1.0) and not adjusted.within(low, high):
        return Verdict.SLOWER if adjusted.low_ratio > 1.0 else Verdict.FASTER
    return Verdict.INCONCLUSIVE


def variation_to_explain(found: Estimate, level: float) -> float | None:
    """How much workers would have to differ for this to be chance; None where it may be already."""
    if found.method not in ONE_WORKER or math.isinf(found.variance):
        return None
    reach = quantile(two_sided(level), found.degrees)
    needed = (found.log_ratio / reach) ** 2 - found.within_variance
    if needed / 2 <= (found.assumed_variation or 0.0) ** 2:
        return None
    return math.sqrt(needed / 2)
