# SPDX-License-Identifier: MPL-2.0
"""What is expected of a pool's next push: the levels of its kinds of machines, and of each machine.

A level is the mean of the middle half of the newest values, so that outliers do not move it.
"""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from statistics import fmean
from typing import NamedTuple

from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION

# How far workers and weeks vary, until a pool shows how far its own do: a multiple of both.
WORKER_VARIANCE = DEFAULT_WORKER_VARIATION**2
WEEK_VARIANCE = 0.02**2
# Pushes that the level of a kind is the mean of.
_LEVEL_PUSHES = 8
_SHRUNK = 2.0  # readings that a machine's difference from its kind is shrunk by


class Measured(NamedTuple):
    """What a machine measured in a push."""

    log: float  # of the time that the figure's work takes: higher is slower
    machine: str
    kind: int  # the number of its kind of machine


class KindValues(NamedTuple):
    """What machines of one kind measured; both have the same order."""

    logs: list[float]
    machines: list[str]


class PushValues(NamedTuple):
    """A push's values of one figure."""

    number: int  # the number of the push among the pool's
    values: Sequence[Measured]
    by_kind: Mapping[int, KindValues]

    @classmethod
    def of(cls, number: int, values: Sequence[Measured]) -> "PushValues":
        by_kind: dict[int, KindValues] = {}
        for log, machine, kind in values:
            of_kind = by_kind.setdefault(kind, KindValues([], []))
            of_kind.logs.append(log)
            of_kind.machines.append(machine)
        return cls(number, values, by_kind)


class Level(NamedTuple):
    log: float
    variance: float  # of this level, as a multiple of the scale


class Expected(NamedTuple):
    """What is expected of the next push."""

    readings: int  # that this is known from
    levels: Mapping[int, Level]
    usual: Level  # of the most frequent kind
    members: Mapping[int, KindValues]  # that the levels are of
    known: AbstractSet[str]  # all machines of these
    # What a machine differs from its kind by, of those that were asked for.
    kept_differences: dict[str, float]

    def level_of(self, kind: int) -> Level:
        return self.levels.get(kind, self.usual)

    def of_machine(self, machine: str) -> float:
        """Return what a machine differs from its kind by; 0 of one that was not seen."""
        if machine not in self.known:
            return 0.0
        if machine not in self.kept_differences:
            logs = [
                log - self.levels[kind].log
                for kind, of_kind in self.members.items()
                for log, name in zip(of_kind.logs, of_kind.machines, strict=True)
                if name == machine
            ]
            self.kept_differences[machine] = math.fsum(logs) / (len(logs) + _SHRUNK)
        return self.kept_differences[machine]


def _middle_mean(values: Sequence[float]) -> float:
    """Return the mean of the middle half."""
    ordered = sorted(values)
    cut = len(ordered) // 4
    return fmean(ordered[cut : len(ordered) - cut])


def expected_of(pushes: Sequence[PushValues]) -> Expected:
    """Return what these pushes let expect; each kind of machine by its newest ones."""
    members: dict[int, KindValues] = {}
    counts: dict[int, int] = {}
    readings = 0
    for push in reversed(pushes):
        readings += len(push.values)
        for kind, (logs, machines) in push.by_kind.items():
            if kind not in counts:
                counts[kind] = 1
                members[kind] = KindValues(logs.copy(), machines.copy())
            elif counts[kind] < _LEVEL_PUSHES:
                counts[kind] += 1
                members[kind].logs.extend(logs)
                members[kind].machines.extend(machines)
    levels = {
        kind: Level(
            _middle_mean(of_kind.logs),
            WEEK_VARIANCE / counts[kind] + WORKER_VARIANCE / len(of_kind.logs),
        )
        for kind, of_kind in members.items()
    }
    usual = max(levels, key=lambda kind: (len(members[kind].logs), kind))
    return Expected(
        readings=readings,
        levels=levels,
        usual=levels[usual],
        members=members,
        known={name for of_kind in members.values() for name in of_kind.machines},
        kept_differences={},
    )
