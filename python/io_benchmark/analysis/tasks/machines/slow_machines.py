# SPDX-License-Identifier: MPL-2.0
"""Which machines are slower than machines of their pool usually are, and by how much.

Machines that are alike differ as well, by a few percent. A machine is slow if it is farther off
than that: the machines that are farthest from the middle are set aside one after another, and each
is compared with those that remain (Rosner 1983, Technometrics 25:165). Of the machines that are
named, at most 5 % are usual ones on average (Benjamini and Hochberg 1995, JRSS B 57:289).

A usual machine's factor is shrunk to the middle by how much usual ones differ; that of a slow one
by how much slow ones do.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.variances import MeanVariance, reach, tail
from io_benchmark.analysis.tasks.machines.machine_levels import MachineLevel
from io_benchmark.analysis.tasks.machines.machine_runs import Numbers

_FALSE_DISCOVERIES = 0.05
# More than this part of a pool is not an exception: then it has several kinds of machines.
_MOST_SET_ASIDE = 1 / 4
_FEWEST_MACHINES = 4  # two or three do not show which of them is usual
_FEWEST_BLOCKS = 3
# A machine is judged if it would be seen to be slow by this ratio.
_SEEN_RATIO = 1.25
_MOST_DEGREES = 12.0  # of freedom: the tails of pools are heavier than normal
# Machines of one kind differ at least by about so much. Chosen: few may agree by chance.
_LEAST_VARIATION = 0.01
_NORMAL_MEDIAN = 0.6745
_STEPS = 60
_NORMAL = NormalDist()


class UsualMachines(NamedTuple):
    """The middle of usual machines, and how far they differ."""

    log: float
    variance: float
    machines: int
    unknown_variance: float  # of the level of one of them, on average


class Judgement(NamedTuple):
    """How a machine compares with usual machines of its pool."""

    ratio: float  # shrunk
    interval: Interval
    is_unusual: bool  # slower or faster than usual machines are


class JudgedPool(NamedTuple):
    usual: UsualMachines | None  # None: too few machines can be judged
    machines: list[Judgement | None]  # None: not enough runs


def judge_machines(levels: Sequence[MachineLevel | None]) -> JudgedPool:
    """Judge the machines of a pool by their levels."""
    judgeable = [level for level in levels if level is not None and level.blocks >= _FEWEST_BLOCKS]
    clear = _clear(judgeable)
    if len(clear) < _FEWEST_MACHINES:
        return JudgedPool(None, [None] * len(levels))
    usual, unusual = _set_aside(clear)
    slow_variance = usual.variance
    if unusual:
        squares = [(level.log - usual.log) ** 2 - level.variance for level in unusual]
        slow_variance = max(slow_variance, math.fsum(squares) / len(squares))
    judged: list[Judgement | None] = []
    for level in levels:
        if level is None or level not in clear:
            judged.append(None)
            continue
        is_unusual = level in unusual
        prior = slow_variance if is_unusual else usual.variance
        judged.append(_judgement(level, usual, prior, is_unusual=is_unusual))
    return JudgedPool(usual, judged)


def _clear(levels: Sequence[MachineLevel]) -> list[MachineLevel]:
    """Return the levels that are known well enough to show a slow machine."""
    if len(levels) < _FEWEST_MACHINES:
        return []
    logs = np.array([level.log for level in levels])
    spread = float(np.median(np.abs(logs - np.median(logs)))) / _NORMAL_MEDIAN
    seen = math.log(_SEEN_RATIO)
    return [
        level
        for level in levels
        if math.hypot(spread, reach(LEVEL, level.degrees) * math.sqrt(level.variance)) < seen
        or reach(LEVEL, level.degrees) * math.sqrt(level.variance) < spread
    ]


def _usual(logs: Numbers, variances: Numbers) -> UsualMachines:
    """Return the middle of machines and how far they differ by more than what is not known.

    Paule and Mandel 1982, Journal of Research of the NBS 87:377.
    """
    low, high = 0.0, float(np.var(logs, ddof=1))
    for _ in range(_STEPS):
        variance = (low + high) / 2
        weights = 1 / np.maximum(variance + variances, 1e-12)
        mean = float(np.average(logs, weights=weights))
        if float(weights @ (logs - mean) ** 2) > len(logs) - 1:
            low = variance
        else:
            high = variance
    variance = max(_LEAST_VARIATION**2, (low + high) / 2)
    return UsualMachines(mean, variance, len(logs), float(np.mean(variances)))


def _set_aside(levels: Sequence[MachineLevel]) -> tuple[UsualMachines, list[MachineLevel]]:
    """Return the usual machines, and those that differ by more than usual ones do."""
    logs = np.array([level.log for level in levels])
    variances = np.array([level.variance for level in levels])
    distances = np.abs(logs - np.median(logs))
    spread = float(np.median(distances)) / _NORMAL_MEDIAN
    order = np.argsort(distances / np.sqrt(spread**2 + variances))
    count = len(levels)
    usual, unusual = _usual(logs, variances), 0
    for number in range(1, int(_MOST_SET_ASIDE * count) + 1):
        rest = order[: count - number]
        remaining = _usual(logs[rest], variances[rest])
        # Usual machines without the farthest of them differ by less than all of them do.
        whole = remaining._replace(variance=remaining.variance / _left((number - 1) / count))
        p_value = _p_value(levels[order[count - number]], whole)
        if p_value <= _FALSE_DISCOVERIES * number / count:
            usual, unusual = remaining, number
    return usual, [levels[place] for place in order[count - unusual :]]


def _left(share: float) -> float:
    """Return which part of a normal distribution's variance its middle has without this share."""
    if not share:
        return 1.0
    end = _NORMAL.inv_cdf(1 - share / 2)
    return 1 - 2 * end * _NORMAL.pdf(end) / (1 - share)


def _p_value(level: MachineLevel, usual: UsualMachines) -> float:
    """Return how often a usual machine would be as far off, to either side."""
    # What the usual machines show is how far they and what is not known of them vary together.
    common = min(level.variance, usual.unknown_variance)
    seen = MeanVariance(usual.variance * (1 + 1 / usual.machines) + common, usual.machines - 1.0)
    rest = MeanVariance(level.variance - common, level.degrees)
    whole = MeanVariance.of_sum([seen, rest])
    distance = abs(level.log - usual.log) / math.sqrt(whole.variance)
    return min(1.0, 2 * tail(distance, min(whole.degrees, _MOST_DEGREES)))


def _judgement(
    level: MachineLevel, usual: UsualMachines, prior_variance: float, *, is_unusual: bool
) -> Judgement:
    whole = prior_variance + level.variance
    kept = prior_variance / whole
    log = kept * (level.log - usual.log)
    variance = kept * level.variance + usual.variance / usual.machines
    width = reach(LEVEL, level.degrees) * math.sqrt(variance)
    interval = Interval(math.exp(log - width), math.exp(log + width), LEVEL)
    return Judgement(math.exp(log), interval, is_unusual)
