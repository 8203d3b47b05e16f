# SPDX-License-Identifier: MPL-2.0
"""What is expected of a pool's next push: the levels of its kinds of machines, and of each machine.

A level is the mean of the middle half of the newest values, so that outliers do not move it.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION

# How far workers and weeks vary, until a pool shows how far its own do: a multiple of both.
WORKER_VARIANCE = DEFAULT_WORKER_VARIATION**2
WEEK_VARIANCE = 0.02**2
# Pushes that the level of a kind is the mean of.
_LEVEL_PUSHES = 12
_SHRUNK = 2.0  # readings that a machine's difference from its kind is shrunk by


class Measured(NamedTuple):
    """What a machine measured in a push."""

    log: float  # of the time that the figure's work takes: higher is slower
    machine: str
    kind: int  # the number of its kind of machine


class PushValues(NamedTuple):
    """A push's values of one figure."""

    number: int  # the number of the push among the pool's
    values: Sequence[Measured]


class Level(NamedTuple):
    log: float
    variance: float  # of this level, as a multiple of the scale


class Expected(NamedTuple):
    """What is expected of the next push."""

    readings: int  # that this is known from
    levels: Mapping[int, Level]
    usual: Level  # of the most frequent kind
    machines: Mapping[str, float]  # what a machine differs from its kind by

    def difference(self, value: Measured) -> float:
        level = self.levels.get(value.kind, self.usual)
        return value.log - level.log - self.machines.get(value.machine, 0.0)


def _middle_mean(values: Sequence[float]) -> float:
    """Return the mean of the middle half."""
    ordered = sorted(values)
    cut = len(ordered) // 4
    return fmean(ordered[cut : len(ordered) - cut])


def expected_of(pushes: Sequence[PushValues]) -> Expected:
    members: dict[int, list[Measured]] = {}
    counts: dict[int, int] = {}
    for push in reversed(pushes):
        kinds = {value.kind: None for value in push.values}
        taken = [kind for kind in kinds if counts.get(kind, 0) < _LEVEL_PUSHES]
        for kind in taken:
            counts[kind] = counts.get(kind, 0) + 1
            members.setdefault(kind, []).extend(
                value for value in push.values if value.kind == kind
            )
    levels, machines = {}, {}
    differences: dict[str, list[float]] = {}
    for kind, values in members.items():
        log = _middle_mean([value.log for value in values])
        variance = WEEK_VARIANCE / counts[kind] + WORKER_VARIANCE / len(values)
        levels[kind] = Level(log, variance)
        for value in values:
            differences.setdefault(value.machine, []).append(value.log - log)
    for machine, logs in differences.items():
        machines[machine] = math.fsum(logs) / (len(logs) + _SHRUNK)
    usual = max(levels, key=lambda kind: (len(members[kind]), kind))
    return Expected(sum(len(push.values) for push in pushes), levels, levels[usual], machines)
