# SPDX-License-Identifier: MPL-2.0
"""What a pool can do by its readings, how sure that is, and the ranks of pools.

The value is the geometric mean over machines; a machine's is the mean over its pushes. Two things
make it uncertain: machines differ, and so do weeks, which move all machines of a push together.
Both are estimated from the readings' differences from the mean, summed by machine and by push
(two-way clusters: Cameron, Gelbach and Miller 2011, JBES 29:238). A machine that measured in one
push only carries that push's difference, which then counts once. Fewer than three machines or
pushes do not show how far they differ, so that this is assumed, as comparisons do.
"""

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from operator import mul
from statistics import fmean
from typing import NamedTuple, TypeVar

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.statistics.levels import (
    DEFAULT_PUSH_VARIATION,
    DEFAULT_WORKER_VARIATION,
    LEVEL,
    SINGLE_WORKER_VARIATION,
)
from io_benchmark.analysis.statistics.variances import FEWEST_FOR_VARIATION, MeanVariance

# Weeks that are looked back, by the number of pushes: 2 of 8, 4 of 52.
_LAGS_POWER = 1 / 3

K = TypeVar("K", bound=Hashable)


class MachineValue(NamedTuple):
    """What a machine measured in a push."""

    machine: str
    push: int
    value: float


class MeanValue(NamedTuple):
    """The mean of a pool's machines."""

    value: float
    interval: Interval
    machines: int
    is_assumed: bool  # too few machines or pushes to show how far they differ


def mean_value(readings: Sequence[MachineValue], *, is_counted: bool = False) -> MeanValue:
    """Return the geometric mean of the machines; what is counted is not measured anew each time."""
    by_machine: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for machine, push, value in readings:
        by_machine[machine][push].append(math.log(value))
    count = len(by_machine)
    # What each machine measured in each push, and how much it counts.
    weighted = [
        (machine, push, fmean(logs), 1 / (count * len(pushes)))
        for machine, pushes in by_machine.items()
        for push, logs in pushes.items()
    ]
    if is_counted and len({reading.value for reading in readings}) == 1:
        value = readings[0].value
        return MeanValue(value, Interval(value, value, LEVEL), count, is_assumed=False)
    mean = math.fsum(weight * log for _, _, log, weight in weighted)
    parts, is_assumed = _parts(weighted, mean)
    width = MeanVariance.half_width_of(parts)
    interval = Interval(math.exp(mean - width), math.exp(mean + width), LEVEL)
    return MeanValue(math.exp(mean), interval, count, is_assumed)


_Weighted = tuple[str, int, float, float]  # machine, push, ln of the value, and its weight


def _parts(weighted: Sequence[_Weighted], mean: float) -> tuple[list[MeanVariance], bool]:
    """Return the variances of a mean, of pushes and of machines, and whether one is assumed."""
    has_machines = len({name for name, *_ in weighted}) >= FEWEST_FOR_VARIATION
    has_pushes = len({push for _, push, *_ in weighted}) >= FEWEST_FOR_VARIATION
    if has_pushes:
        of_pushes = _clusters(((push, log, weight) for _, push, log, weight in weighted), mean)
        pushes = _of_clusters([each for _, each in sorted(of_pushes.items())], is_ordered=True)
    else:
        pushes = _of_few(_log_means(weighted, 1), DEFAULT_PUSH_VARIATION)
    if has_machines:
        of_names = _clusters(((name, log, weight) for name, _, log, weight in weighted), mean)
        machines = _of_clusters([*of_names.values()])
    else:
        logs = _log_means(weighted, 0)
        assumed = SINGLE_WORKER_VARIATION if len(logs) == 1 else DEFAULT_WORKER_VARIATION
        machines = _of_few(logs, assumed)
    if has_machines and has_pushes:
        # What machines show of the pushes that they measured in is in the pushes' part already.
        both = _of_clusters(
            [_Cluster(weight, weight * (log - mean)) for _, _, log, weight in weighted]
        )
        rest = max(0.0, machines.variance - both.variance)
        machines = MeanVariance(rest, machines.degrees)
    return [pushes, machines], not (has_machines and has_pushes)


def _log_means(weighted: Iterable[_Weighted], position: int) -> list[float]:
    """Return the mean logarithm of each machine or push."""
    logs: dict[Hashable, list[float]] = defaultdict(list)
    for item in weighted:
        logs[item[position]].append(item[2])
    return [fmean(values) for values in logs.values()]


def _of_few(logs: Sequence[float], assumed: float) -> MeanVariance:
    """Return the variance of the mean of one or two; two are taken with what is assumed."""
    single = MeanVariance.of_single(logs[:1], assumed)
    if len(logs) > 1:
        seen = MeanVariance.of_values(logs)
        single = MeanVariance.combined([MeanVariance.assumed(assumed), seen])
    return MeanVariance(single.variance / len(logs), single.degrees)


class _Cluster(NamedTuple):
    """A machine or a push."""

    weight: float
    added: float  # to the mean's difference from the truth


def _clusters(weighted: Iterable[tuple[K, float, float]], mean: float) -> dict[K, _Cluster]:
    """Return the machines, or the pushes."""
    clusters: dict[K, _Cluster] = {}
    for key, log, weight in weighted:
        before = clusters.get(key, _NOTHING)
        added = before.added + weight * (log - mean)
        clusters[key] = _Cluster(before.weight + weight, added)
    return clusters


_NOTHING = _Cluster(0.0, 0.0)


def _of_clusters(clusters: Sequence[_Cluster], *, is_ordered: bool = False) -> MeanVariance:
    """Return the variance of a mean by what its clusters add to it.

    Weeks in their order resemble the ones before. So their products count as well, those of near
    ones more (Newey and West 1987, Econometrica 55:703). A push with four machines weighs as much
    as four with one, so that unequal pushes show less than as many equal ones.
    """
    concentration = math.fsum(weight**2 for weight, _ in clusters)
    sums = [added for _, added in clusters]
    variance = math.fsum(added**2 for added in sums)
    lags = round(len(sums) ** _LAGS_POWER) if is_ordered else 0
    covariances = [
        (1 - lag / (lags + 1)) * math.fsum(map(mul, sums, sums[lag:])) for lag in range(1, lags + 1)
    ]
    variance += max(0.0, 2 * math.fsum(covariances))
    return MeanVariance(variance / (1 - concentration), 1 / concentration - 1)


def ranks(intervals: Sequence[Interval], *, higher_is_better: bool) -> list[tuple[int, int]]:
    """Return the best and the worst rank of each pool, by which intervals are certainly apart.

    Pools whose intervals overlap have a rank in common: what is certainly better than the first of
    them is not certainly worse than the second.
    """
    sign = 1.0 if higher_is_better else -1.0
    bounds = [
        sorted((sign * interval.low_ratio, sign * interval.high_ratio)) for interval in intervals
    ]
    worst_ends = sorted(low for low, _ in bounds)
    best_ends = sorted(high for _, high in bounds)
    total = len(bounds)
    return [
        (1 + total - bisect_right(worst_ends, high), total - bisect_left(best_ends, low))
        for low, high in bounds
    ]
