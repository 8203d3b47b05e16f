# SPDX-License-Identifier: MPL-2.0
"""A profiled run of a task, and what a reader of its prediction should know about the profiles."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from io_benchmark.analysis.model.side import mean_of_known
from io_benchmark.analysis.model.statements import (
    Quantity,
    Range,
    Statement,
    Unit,
    count,
    statement,
)
from io_benchmark.analysis.prediction.demand import BUSY_CPUS, SMALL_SHARE, Demand
from io_benchmark.analysis.prediction.machine_demand import machine_demand
from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.resource_profile import ResourceProfile
from io_benchmark.sources.run_results import RunProfile

_PLACE = "workspace"  # the place of a task whose profile names none
# Where results do not show how often each byte is counted: once, or three times, as a volume on
# partitions does.
_UNKNOWN_COUNTING = (1.0, 3.0)
# A profile stands alone if it differs by this, and by 3 times as much as its repeats do. Chosen.
_ALONE_LOG = math.log(1.1)
_ALONE_TIMES = 3


class ProfiledRun(NamedTuple):
    """A run, and what it demanded or why its profile cannot be used."""

    name: str  # the program, or the label of a task that published a resource profile
    source: str
    wall_ns: int
    places: tuple[str, ...]
    demand: Demand | Statement
    system: str
    # What a resource profile does not have.
    label: str | None = None  # by --label of measure
    sha256: str | None = None  # of the command's words
    cpu_ns: int | None = None  # of the command
    is_complete: bool = True
    other_cpus: float = 0.0  # that other processes used meanwhile

    @classmethod
    def of(cls, run: RunProfile, storage: PoolStorage | None) -> "ProfiledRun":
        """Read what a run demanded; `storage` is the pool that it ran on, where it is known."""
        profile = run.profile
        if isinstance(profile, ResourceProfile):
            place = _measured_place(storage)
            counting = storage.counting.get(place) if storage else None
            return cls(
                name=run.label,
                source=run.source,
                wall_ns=run.wall_ns,
                places=(place,),
                demand=machine_demand(profile, run.wall_ns, place, counting or _UNKNOWN_COUNTING),
                system=profile.system,
            )
        usage = profile.usage
        return cls(
            name=profile.command.program,
            label=profile.command.label,
            sha256=profile.command.sha256,
            source=run.source,
            wall_ns=profile.wall_ns,
            cpu_ns=None if usage is None else usage.user_ns + usage.kernel_ns,
            is_complete=profile.ending.code == 0,
            places=tuple(place.name for place in profile.storage.places),
            other_cpus=(profile.other_cpu_ms or 0) * 1e6 / max(1, profile.wall_ns),
            demand=Demand.of_command(profile),
            system=profile.host.system,
        )

    @property
    def task(self) -> tuple[str, str, str]:
        """Return what is the same of all runs of one task: how it is known, name and system."""
        if self.sha256 is None:
            return "resource profile", self.name, self.system
        if self.label is not None:
            return "label", self.label, self.system
        return "command", self.sha256, self.system


def _measured_place(storage: PoolStorage | None) -> str:
    """Return the usual place, or another one where only that was measured."""
    if storage is None:
        return _PLACE
    measured = [place for figure, place in storage.figures if figure is PoolFigure.WRITE_RATE]
    return _PLACE if not measured or _PLACE in measured else min(measured)


def notes_of(
    pools: Mapping[str | None, Sequence[ProfiledRun]], source: str | None, demands: Sequence[Demand]
) -> Iterator[Statement]:
    """Yield what the profiles of one task do not show; those of the pool `source` are used."""
    runs = pools[source]
    busy_cpus = max(run.other_cpus for run in runs)
    if busy_cpus > BUSY_CPUS:
        yield statement(
            "Other processes used {cpus} CPUs meanwhile: the task may have waited for CPUs, and "
            "their I/O is counted as its own; profile it on an idle machine",
            cpus=Quantity(busy_cpus, Unit.NUMBER),
        )
    if runs[0].sha256 is None:
        yield statement(
            "A resource profile is of a whole machine and has no syncs, which the interval "
            "includes; its disks are taken to be those of the place {place}",
            place=runs[0].places[0],
        )
    if runs[0].system == WINDOWS:
        yield statement(
            "Windows shows neither how long tasks wait for disks nor their syncs; the interval "
            "includes both"
        )
    unseen_ns = mean_of_known(demand.unseen_ns for demand in demands) or 0.0
    if unseen_ns > SMALL_SHARE * runs[0].wall_ns:
        yield statement(
            "{unseen} of the task are before or after its profile, and writing for a quarter of "
            "that is assumed",
            unseen=Quantity(unseen_ns, Unit.NANOSECONDS),
        )
    for of_pool in pools.values():
        complete = [run for run in of_pool if run.is_complete]
        # CPU time first: other tasks of the machine change it least.
        note = _standing_alone(complete, "CPU time", [run.cpu_ns for run in complete])
        if note is None:
            note = _standing_alone(complete, "time", [run.wall_ns for run in complete])
        if note is not None:
            yield note


def _standing_alone(
    runs: Sequence[ProfiledRun], what: str, times_ns: Sequence[int | None]
) -> Statement | None:
    """Return which profile differs from all of its repeats, or that two differ, or None."""
    logs = [math.log(time_ns) for time_ns in times_ns if time_ns]
    if len(logs) < max(2, len(runs)):
        return None
    distances = [
        _distance(logs[:position] + logs[position + 1 :], log) for position, log in enumerate(logs)
    ]
    farthest = distances.index(max(distances))
    if distances[farthest] <= _ALONE_LOG:
        return None
    if len(logs) == 2:
        return statement(
            f"The {what} of the two profiles differs: {{low}} and {{high}}. A first run is often "
            "slow; profile the task once more",
            low=Quantity(math.exp(min(logs)), Unit.NANOSECONDS),
            high=Quantity(math.exp(max(logs)), Unit.NANOSECONDS),
        )
    repeats = logs[:farthest] + logs[farthest + 1 :]
    return statement(
        f"The profile {{source}} stands alone: its {what} is {{alone}}, that of the {{count}} "
        "others {others}. A first run is often slow; omit this profile if it was the first",
        source=runs[farthest].source,
        alone=Quantity(math.exp(logs[farthest]), Unit.NANOSECONDS),
        count=count(len(repeats)),
        others=Range(math.exp(min(repeats)), math.exp(max(repeats)), Unit.NANOSECONDS),
    )


def _distance(others: Sequence[float], log: float) -> float:
    """Return how far a run is from all others; 0 where they differ among themselves as well."""
    distance = abs(log - median(others))
    return distance if distance > _ALONE_TIMES * (max(others) - min(others)) else 0.0
