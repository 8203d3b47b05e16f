# SPDX-License-Identifier: MPL-2.0
"""What a task demanded, by one profile: its disks' bytes, requests and flushes per half second."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from io_benchmark.analysis.arrays import Numbers
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.results.machine import StoragePlace
from io_benchmark.results.task_profile import TaskProfile

# In shorter windows, writeback that nobody waits for counts as time; longer ones hide waiting.
WINDOW_NS = 500_000_000
# Rows are a tenth of a second apart, and late by some milliseconds.
_LATE_NS = 20_000_000
# Two windows: one does not show when the task wrote.
_LEAST_NS = 1_000_000_000
# The share of the command's time that the timeline may miss or exceed.
_UNCOVERED_SHARE = 0.1
# Each byte of a file is one byte of a disk; mirrors and parity write more.
_WRITTEN_ONCE = {None, "linear", "raid0", "single"}


class PlaceDemand(Struct, frozen=True):
    """What the task demanded of the disks of one place, in each window."""

    name: str
    filesystem: str | None
    written_bytes: Numbers  # by all of the disks
    writes: Numbers  # requests of the busiest disk
    flushes: Numbers
    read_bytes: float
    # How many synchronous writes, at least and at most; None: not known.
    syncs: tuple[float, float] | None


class Demand(Struct, frozen=True):
    """One profile, divided into windows. All times are in nanoseconds."""

    wall_ns: int
    spans_ns: Numbers
    places: tuple[PlaceDemand, ...]
    cpus_used: float  # on average
    cpus: float  # the machine's
    kernel_share: float  # of the time; the CPU time in the kernel
    dirty_bytes: float  # the most that waited in memory to be written, beyond what did at the start

    @property
    def written_bytes(self) -> float:
        """Return what all places together wrote."""
        return sum(float(np.sum(place.written_bytes)) for place in self.places)

    @property
    def cpu_share(self) -> float:
        """Return the part of the time on a CPU; 1 for a task that keeps several of them busy."""
        return min(1.0, self.cpus_used)

    @classmethod
    def of(cls, profile: TaskProfile) -> "Demand | Statement":
        """Return what the profile shows, or why it cannot be used."""
        if profile.ending.code != 0:
            return statement("the profiled command failed; profile it again")
        if profile.usage is None:
            return statement("the profile has no CPU time of the command; profile it again")
        times = profile.timeline.columns.get("time_ns", ())
        if len(times) < 2 or None in times:
            return statement("the profile has no timeline; profile it again")
        ends = _ends(times)
        spans = np.diff(_numbers(times, ends))
        if profile.wall_ns < _LEAST_NS:
            return statement(
                "the command took less than {least}, which does not show when it wrote; "
                "profile a longer part of the task",
                least=Quantity(_LEAST_NS, Unit.NANOSECONDS),
            )
        covered_ns = float(np.sum(spans))
        if abs(covered_ns - profile.wall_ns) > _LEAST_NS + profile.wall_ns * _UNCOVERED_SHARE:
            return statement("the profile's timeline is not of all its time; profile it again")
        if not profile.storage.places:
            return statement("the profile watched no disk; profile with --place on a local disk")
        places = []
        for place in profile.storage.places:
            demand = _place_demand(profile, place, ends)
            if isinstance(demand, Statement):
                return demand
            places.append(demand)
        usage = profile.usage
        return cls(
            wall_ns=profile.wall_ns,
            spans_ns=spans,
            places=tuple(places),
            cpus_used=(usage.user_ns + usage.kernel_ns) / profile.wall_ns,
            cpus=profile.host.usable_cpus(profile.limits),
            kernel_share=min(1.0, usage.kernel_ns / profile.wall_ns),
            dirty_bytes=_dirty_bytes(profile),
        )


def _dirty_bytes(profile: TaskProfile) -> float:
    """Return how much more was dirty than at the beginning, at most; 0 where it is not known."""
    columns = profile.timeline.columns
    rows = zip(columns.get("dirty_bytes", ()), columns.get("writeback_bytes", ()), strict=False)
    sums = [dirty + writeback for dirty, writeback in rows if None not in (dirty, writeback)]  # type: ignore[operator]
    return float(max(sums) - sums[0]) if sums else 0.0


def _ends(times: Sequence[int | None]) -> list[int]:
    """Return the rows where windows end; the first is where the first window begins."""
    ends = [0]
    for row, time_ns in enumerate(times):
        if (time_ns or 0) - (times[ends[-1]] or 0) >= WINDOW_NS - _LATE_NS:
            ends.append(row)
    last = len(times) - 1
    return ends if ends[-1] == last else [*ends, last]


def _place_demand(
    profile: TaskProfile, place: StoragePlace, ends: Sequence[int]
) -> PlaceDemand | Statement:
    disks = [device.name for device in place.leaf_devices]
    counters = [profile.timeline.devices.get(disk, {}) for disk in disks]
    needed = ("written_bytes", "read_bytes", "writes")
    if not disks or any(None in disk.get(name, [None]) for disk in counters for name in needed):
        return statement(
            "the profile has no counters of the disks of {place}; profile with --place on a local disk",
            place=place.name,
        )
    levels = {device.raid_level for device in place.devices}
    levels |= set((place.filesystem.btrfs_data_profiles if place.filesystem else None) or ())
    if not {level and level.lower() for level in levels} <= _WRITTEN_ONCE:
        return statement(
            "the disks of {place} write each byte more than once (mirrors or parity); profile on "
            "another machine",
            place=place.name,
        )
    written, read, writes = (
        [np.diff(_numbers(disk[name], ends)) for disk in counters] for name in needed
    )
    with_flushes = [disk for disk in counters if None not in disk.get("flushes", [None])]
    flushes = [np.diff(_numbers(disk["flushes"], ends)) for disk in with_flushes]
    if min(map(np.min, (*written, *read, *writes, *flushes))) < 0:
        return statement(
            "the counters of the disks of {place} started again at 0; profile again",
            place=place.name,
        )
    return PlaceDemand(
        name=place.name,
        filesystem=place.filesystem.type if place.filesystem else place.kind,
        written_bytes=np.sum(written, axis=0),
        writes=np.max(writes, axis=0),
        flushes=np.max(flushes, axis=0) if flushes else np.zeros(len(ends) - 1),
        read_bytes=float(np.sum(read)),
        syncs=_syncs(profile, place.name),
    )


def _syncs(profile: TaskProfile, place: str) -> tuple[float, float] | None:
    """Return how many writes waited for the disk, at least and at most.

    A sync that commits ext4's journal flushes the disk twice, any other one once. Elsewhere a sync
    flushes once or twice.
    """
    counts = profile.syncs.get(place)
    if counts is None or (counts.commits is None and counts.flushes is None):
        return None
    flushes = float(counts.flushes or 0)
    if counts.commits is None:
        return flushes / 2, flushes
    count = counts.commits + max(0.0, flushes - 2 * counts.commits)
    return count, count


def _numbers(column: Sequence[int | None], rows: Sequence[int]) -> Numbers:
    return np.array([column[row] for row in rows], dtype=np.float64)
