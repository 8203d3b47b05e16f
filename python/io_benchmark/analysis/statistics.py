# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From workers' means to a ratio, its intervals and a verdict.

The unit is the worker. Several workers a side: Welch's t on the logarithms of their means. One a
side: retrieves paired by index (batches of other workloads where sample i did the same on both, else
each side's own), moving blocks, and a between-worker variation that is assumed, because one worker
cannot show it. What one worker measured twice, in two places, needs no such assumption. Ratios are
handled as logarithms, so that swapping the sides changes nothing but the sign.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtr, ndtri, stdtr, stdtrit

from io_benchmark.analysis import moving_blocks
from io_benchmark.analysis.model import Entry, Interval, Verdict

LEVEL = 0.95
EQUIVALENCE_LEVEL = 0.90
# An assumed variation is trusted no more than one that was seen on about twenty workers.
ASSUMED_DEGREES = 20.0
# One worker a side: how its samples are held against the other's.
PAIRED_RETRIEVES, PAIRED_BATCHES = "paired retrieves", "paired batches"
UNPAIRED_BATCHES = "batches in blocks"
WORKERS = "workers"
ONE_WORKER = (PAIRED_RETRIEVES, PAIRED_BATCHES, UNPAIRED_BATCHES)


@dataclass(frozen=True)
class SideData:
    """One side's independent workers: ln of each one's mean, and the entries behind them."""

    log_means: tuple[float, ...]
    entries: tuple[Entry, ...]

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


def sample_variance(values: Sequence[float]) -> float:
    centre = math.fsum(values) / len(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def estimate(candidate: SideData, baseline: SideData, assumed_variation: float) -> Estimate:
    if candidate.count == 1 and baseline.count == 1:
        one, other = candidate.entries[0], baseline.entries[0]
        judge = _paired if moving_blocks.alike(one, other) else _unpaired
        return judge(one, other, assumed_variation)
    return _welch(candidate.log_means, baseline.log_means, assumed_variation)


def _paired(candidate: Entry, baseline: Entry, assumed_variation: float) -> Estimate:
    log_ratio, spread = moving_blocks.paired_log_ratio(candidate, baseline)
    between = 2 * assumed_variation**2
    variance = between + spread.variance
    return Estimate(
        log_ratio,
        variance,
        _satterthwaite(((spread.variance, spread.degrees), (between, ASSUMED_DEGREES))),
        _method(candidate, baseline),
        assumed_variation,
        spread.variance,
    )


def _unpaired(candidate: Entry, baseline: Entry, assumed_variation: float) -> Estimate:
    log_ratio, spreads = moving_blocks.unpaired_log_ratio(candidate, baseline)
    between = 2 * assumed_variation**2
    within = math.fsum(spread.variance for spread in spreads)
    parts = [(spread.variance, spread.degrees) for spread in spreads]
    return Estimate(
        log_ratio,
        between + within,
        _satterthwaite([*parts, (between, ASSUMED_DEGREES)]),
        _method(candidate, baseline),
        assumed_variation,
        within,
    )


def _welch(candidate: Sequence[float], baseline: Sequence[float], assumed: float) -> Estimate:
    """A side with one worker has no variance of its own: the larger of the other's and the assumed."""
    parts = []
    used_assumed = None
    for own, other in ((candidate, baseline), (baseline, candidate)):
        if len(own) > 1:
            parts.append((sample_variance(own) / len(own), len(own) - 1.0))
            continue
        seen = sample_variance(other)
        used_assumed = assumed
        parts.append(
            (seen, len(other) - 1.0) if seen > assumed**2 else (assumed**2, ASSUMED_DEGREES)
        )
    log_ratio = math.fsum(candidate) / len(candidate) - math.fsum(baseline) / len(baseline)
    variance = parts[0][0] + parts[1][0]
    return Estimate(log_ratio, variance, _satterthwaite(parts), WORKERS, used_assumed, 0.0)


def within_workers(machines: Sequence[Sequence[tuple[Entry, Entry]]]) -> Estimate:
    """One thing over another that the same tasks measured: pairs of entries, by machine.

    Each machine is held against itself, so that how machines differ cancels and nothing is assumed of
    it. Several show how far their ratios differ; one shows its own noise alone, and the interval holds
    for no other machine.
    """
    found = [[_of_one_task(*pair) for pair in pairs] for pairs in machines]
    logs = [math.fsum(log for log, _ in tasks) / len(tasks) for tasks in found]
    log_ratio = math.fsum(logs) / len(logs)
    if len(logs) > 1:
        variance = sample_variance(logs) / len(logs)
        return Estimate(log_ratio, variance, len(logs) - 1.0, WORKERS, None, 0.0)
    (tasks,) = found
    count = len(tasks)
    parts = [(one.variance / count**2, one.degrees) for _, spreads in tasks for one in spreads]
    variance = math.fsum(part for part, _ in parts)
    method = _method(*machines[0][0])
    return Estimate(log_ratio, variance, _satterthwaite(parts), method, None, variance)


def _of_one_task(one: Entry, other: Entry) -> tuple[float, list[moving_blocks.MeanVariance]]:
    if not moving_blocks.alike(one, other):
        return moving_blocks.unpaired_log_ratio(one, other)
    log_ratio, spread = moving_blocks.paired_log_ratio(one, other)
    return log_ratio, [spread]


def _method(one: Entry, other: Entry) -> str:
    if not moving_blocks.alike(one, other):
        return UNPAIRED_BATCHES
    return PAIRED_BATCHES if one.retrieves is None else PAIRED_RETRIEVES


def _satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of variances; a known one has infinitely many."""
    if any(math.isinf(variance) for variance, _ in parts):
        return 1.0
    total = math.fsum(variance for variance, _ in parts)
    weight = math.fsum(variance**2 / degrees for variance, degrees in parts)
    return total**2 / weight if weight > 0 else math.inf


def quantile(probability: float, degrees: float) -> float:
    """Student's t; the normal one where the variance is known."""
    if math.isinf(degrees) or degrees > 1e9:
        return float(ndtri(probability))
    return float(stdtrit(degrees, probability))


def interval(found: Estimate, level: float) -> Interval:
    if math.isinf(found.variance):
        return Interval(0.0, math.inf, level)
    reach = quantile(1 - (1 - level) / 2, found.degrees) * found.error
    return Interval(math.exp(found.log_ratio - reach), math.exp(found.log_ratio + reach), level)


def p_value(found: Estimate) -> float:
    """Two-sided, of the hypothesis that the ratio is 1."""
    if found.error == 0:
        return 1.0 if found.log_ratio == 0 else 0.0
    score = -abs(found.log_ratio) / found.error
    if math.isinf(found.degrees) or found.degrees > 1e9:
        return min(1.0, 2 * float(ndtr(score)))
    return min(1.0, 2 * float(stdtr(found.degrees, score)))


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[tuple[float, float]]:
    """For each: the adjusted p-value, and the level of the interval that decides alike.

    Holm's steps: the smallest p-value is held against alpha / m, the next against alpha / (m - 1),
    until one fails; that one and all above it are not rejected, so their intervals are those of
    the step that failed.
    """
    alpha = 1 - level
    order = sorted(range(len(p_values)), key=lambda at: (p_values[at], at))
    found: list[tuple[float, float]] = [(1.0, level)] * len(p_values)
    running, failed_at = 0.0, 0.0
    for rank, at in enumerate(order):
        left = len(order) - rank
        running = max(running, min(1.0, left * p_values[at]))
        step = failed_at or alpha / left
        if not failed_at and p_values[at] > step:
            failed_at = step
        found[at] = (running, 1 - step)
    return found


def margin_bounds(margin: float) -> tuple[float, float]:
    """Alike for both directions: within 1/1.05 to 1.05 for a margin of 5 %."""
    return 1 / (1 + margin), 1 + margin


def verdict(adjusted: Interval, at_90: Interval, margin: float) -> Verdict:
    low, high = margin_bounds(margin)
    if at_90.within(low, high):
        return Verdict.EQUIVALENT
    if adjusted.excludes(1.0) and not adjusted.within(low, high):
        return Verdict.SLOWER if adjusted.low > 1.0 else Verdict.FASTER
    return Verdict.INCONCLUSIVE


def variation_to_explain(found: Estimate, level: float) -> float | None:
    """How much workers would have to differ for this to be chance; None where it may be already."""
    if found.method not in ONE_WORKER or math.isinf(found.variance):
        return None
    reach = quantile(1 - (1 - level) / 2, found.degrees)
    needed = (found.log_ratio / reach) ** 2 - found.within_variance
    if needed / 2 <= (found.assumed_variation or 0.0) ** 2:
        return None
    return math.sqrt(needed / 2)
