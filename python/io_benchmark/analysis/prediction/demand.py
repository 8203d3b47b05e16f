# SPDX-License-Identifier: MPL-2.0
"""What a task demanded of disks, memory and CPUs in each window of time, by one profile.

A profile of `measure` is of one command; `machine_demand` has that of a whole machine.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, statement
from io_benchmark.results.format import TaskProfile
from io_benchmark.results.machine import LINUX, StoragePlace

Numbers = NDArray[np.float64]
NS_PER_MS = 1e6
_NS_PER_US = 1e3
# The least share of a window in which nothing waited: 0 cannot divide.
_LEAST_WORKING_SHARE = 1e-3
# Windows of 0.2 s, of which the last sample may be some ms early. Longer ones hide peaks; in
# shorter ones, ticks of CPUs are too coarse.
WINDOW_NS = 180_000_000
# A shorter profile has too few windows to show when the task wrote. Chosen.
LEAST_NS = 1_000_000_000
# The share of the time that a timeline or samples may miss. Chosen: as much as the model's error.
UNCOVERED_SHARE = 0.1
# The share of the task's time that may be neglected. Chosen: as much as the model's own error.
SMALL_SHARE = 0.1
# With more flushes in a window than this, the task syncs. Chosen: two of ext4's own commits.
_OWN_FLUSHES = 4
FLUSHES_PER_COMMIT = 2  # of ext4's journal
# Columns of the timeline: the time that CPUs work, and the bytes that wait in memory.
_BUSY = ("cpu_user_ms", "cpu_nice_ms", "cpu_system_ms", "cpu_irq_ms", "cpu_softirq_ms")
_BUSY_ON_WINDOWS = ("cpu_user_ms", "cpu_system_ms")
_UNWRITTEN = ("dirty_bytes", "writeback_bytes")
# Other processes that use this many CPUs show that other tasks work on the machine. Chosen.
BUSY_CPUS = 0.3
PAGE_BYTES = 4096
# Each byte of a file is one byte of a disk; mirrors and parity write more.
_WRITTEN_ONCE = {"linear", "raid0", "single"}


class PlaceDemand(Struct, frozen=True):
    """What the task demanded of the disks of one place, in each window."""

    name: str
    written_bytes: Numbers  # by all of the disks
    writes: Numbers  # requests that the busiest disk got
    unmerged_writes: Numbers  # before the kernel merged neighbours, as a cgroup's limit counts
    flushes: Numbers
    read_bytes: Numbers
    # How many synchronous writes, at least and at most; None: not known.
    syncs: tuple[float, float] | None
    # False: of all disks of the machine, or of Windows: without flushes and what was merged.
    is_alone: bool = True
    # True: requested commits are known, and most flushes are theirs.
    has_few_own_flushes: bool = False

    @property
    def most_syncs(self) -> float:
        """Return how many synchronous writes there were at most; 0 where that is not known."""
        if self.syncs is None:
            return 0.0
        _, most = self.syncs
        return most

    @property
    def is_synced(self) -> NDArray[np.bool_]:
        """Return in which windows the task itself made the disk write what it had."""
        return self.flushes > (0 if self.has_few_own_flushes else _OWN_FLUSHES)


class ThreadCounts(NamedTuple):
    """How many threads were runnable, at the moments of the timeline's rows."""

    counts: Numbers
    windows: NDArray[np.intp]  # the window of each moment


class Demand(Struct, frozen=True):
    """One profile, divided into windows. All times are in nanoseconds."""

    wall_ns: int
    spans_ns: Numbers
    places: tuple[PlaceDemand, ...]
    cpus_used: float  # on average
    cpus: float  # the machine's
    kernel_share: float  # of the time; the CPU time in the kernel
    unwritten_bytes: Numbers  # in memory at the end of each window, beyond those at the start
    waiting_share: Numbers | None  # of each window: how long something waited for I/O
    busy_ns: Numbers | None  # the time on all of the machine's CPUs, in each window
    unseen_ns: float = 0.0  # the task's time before and after the profile
    # How many times the disks' counters hold each byte, at least and at most; None: once.
    counting: tuple[float, float] | None = None
    threads: ThreadCounts | None = None  # those of the command; None: not counted

    @classmethod
    def of_command(cls, profile: TaskProfile) -> Self | Statement:
        """Return what the profile shows, or why it cannot be used."""
        columns, usage = profile.timeline.columns, profile.usage
        if profile.ending.code != 0:
            return statement("the profiled command failed; profile it again")
        if usage is None:
            return statement(
                "the profile has no CPU time of the command; profile a longer part of the task"
            )
        if profile.wall_ns < LEAST_NS:
            return statement(
                "the command took less than {least}, which does not show when it wrote; "
                "profile a longer part of the task",
                least=Quantity(LEAST_NS, Unit.NANOSECONDS),
            )
        ends = window_ends(columns.get("time_ns", ()), WINDOW_NS)
        times = _sums(columns, ("time_ns",), ends)
        spans = np.zeros(1) if times is None or len(ends) < 2 else np.diff(times)
        uncovered_ns = abs(float(np.sum(spans)) - profile.wall_ns)
        if uncovered_ns > LEAST_NS + profile.wall_ns * UNCOVERED_SHARE or not spans.all():
            return statement("the profile's timeline is not of all its time; profile it again")
        if not profile.storage.places:
            return statement("the profile watched no disk; profile with --place on a local disk")
        places = []
        for storage in profile.storage.places:
            place = _place_demand(profile, storage, ends)
            if isinstance(place, Statement):
                return place
            places.append(place)
        is_linux = profile.host.system == LINUX
        unwritten = _sums(columns, _UNWRITTEN if is_linux else _UNWRITTEN[:1], ends)
        more = np.zeros(len(ends)) if unwritten is None else unwritten - unwritten[0]
        waited_us = _sums(columns, ("psi_io_some_us",), ends)
        idle_ms = _sums(columns, ("cpu_iowait_ms",), ends)
        busy_ms = _sums(columns, _BUSY if is_linux else _BUSY_ON_WINDOWS, ends)
        busy_ns = None if busy_ms is None else np.diff(busy_ms) * NS_PER_MS
        return cls(
            wall_ns=profile.wall_ns,
            spans_ns=spans,
            places=tuple(places),
            cpus_used=(usage.user_ns + usage.kernel_ns) / profile.wall_ns,
            cpus=profile.host.usable_cpus(profile.limits),
            kernel_share=min(1.0, usage.kernel_ns / profile.wall_ns),
            unwritten_bytes=np.maximum(0.0, more[1:]),
            waiting_share=_waiting_share(waited_us, idle_ms, busy_ns, spans),
            busy_ns=busy_ns,
            threads=_thread_counts(profile, ends, busy_ns),
        )

    @property
    def command_busy_share(self) -> float:
        """Return the share of the time on CPUs that was the command's own."""
        busy_ns = 0.0 if self.busy_ns is None else float(np.sum(self.busy_ns))
        return min(1.0, self.cpus_used * self.wall_ns / max(1.0, busy_ns))

    @property
    def shows_no_waiting(self) -> bool:
        """Return whether the profile is of a system that shows neither waiting nor syncs."""
        return self.waiting_share is None and not any(place.is_alone for place in self.places)

    def is_small(self, time_ns: Numbers | float) -> bool:
        """Return whether this much of the task's time may be neglected."""
        return float(np.sum(time_ns)) <= SMALL_SHARE * self.wall_ns

    @property
    def cpu_share(self) -> float:
        """Return the share of the time on a CPU; 1 for a task that keeps several of them busy."""
        return min(1.0, self.cpus_used)

    def as_counted(self, level: float = 0.5, unwritten: float = 0.5) -> "Demand":
        """Return the demand if bytes were counted at this level between least and most."""
        if self.counting is None:
            return self
        low, high = self.counting
        times = low * (high / low) ** level
        (place,) = self.places
        counted = replace(
            place,
            written_bytes=place.written_bytes / times,
            writes=place.writes / times,
            unmerged_writes=place.unmerged_writes / times,
            read_bytes=place.read_bytes / times,
            syncs=(0.0, float(np.sum(place.writes)) / times),
        )
        left_bytes = 2 * unwritten * self.unwritten_bytes
        return replace(self, places=(counted,), unwritten_bytes=left_bytes, counting=None)


def window_ends(times: Sequence[float | None], window: float) -> list[int]:
    """Return the rows where windows end; the first is where the first window begins."""
    ends = [0]
    for row, time in enumerate(times):
        if (time or 0) - (times[ends[-1]] or 0) >= window:
            ends.append(row)
    return ends if ends[-1] >= len(times) - 1 else [*ends, len(times) - 1]


def _sums(
    columns: Mapping[str, Sequence[int | None]], names: Sequence[str], rows: Sequence[int]
) -> Numbers | None:
    """Return the sums of some columns in these rows; None where a value is missing."""
    values = [[columns[name][row] for row in rows] for name in names if name in columns]
    if len(values) < len(names) or any(None in column for column in values):
        return None
    sums: Numbers = np.array(values, dtype=np.float64).sum(axis=0)
    return sums


def _waiting_share(
    waited_us: Numbers | None, idle_ms: Numbers | None, busy_ns: Numbers | None, spans_ns: Numbers
) -> Numbers | None:
    """Return how long something waited for I/O, as a share of each window; None: not known.

    The kernel's pressure is the mean over CPUs, each by how long it worked or something waited on
    it. So a share of 0.5 is all of the time where a second CPU worked, or where one process waited
    on two CPUs in turn. What idle CPUs wait is not divided. The larger of both counts.
    """
    if waited_us is None or busy_ns is None:
        return None
    seen = np.clip(np.diff(waited_us) * _NS_PER_US / spans_ns, 0.0, 1.0)
    busy_cpus = busy_ns / spans_ns
    # Seen is waited ÷ (waited + busy CPUs), where something waited on one more CPU.
    undivided = seen * busy_cpus / np.maximum(_LEAST_WORKING_SHARE, 1 - seen)
    share = np.minimum(1.0, np.maximum(seen, undivided))
    if idle_ms is None:
        return share
    return np.clip(np.diff(idle_ms) * NS_PER_MS / spans_ns, share, 1)


def _thread_counts(
    profile: TaskProfile, ends: Sequence[int], busy_ns: Numbers | None
) -> ThreadCounts | None:
    """Return the command's runnable threads; profiles before version 1.1 have none.

    All of the machine's are counted. Others run at least as often as they used CPUs; those of
    other tasks may also wait for one, so that nothing shows which threads are the command's.
    """
    counts = profile.timeline.columns.get("runnable_threads", ())
    rows = range(1, len(counts))
    if not rows or busy_ns is None or profile.usage is None or None in counts:
        return None
    command_ns = profile.usage.user_ns + profile.usage.kernel_ns
    others = max(0.0, float(np.sum(busy_ns)) - command_ns) / profile.wall_ns
    if others > BUSY_CPUS:
        return None
    own_counts = np.maximum(0.0, np.array(counts[1:], dtype=np.float64) - others)
    return ThreadCounts(own_counts, np.searchsorted(ends, rows) - 1)


def _place_demand(
    profile: TaskProfile, place: StoragePlace, ends: Sequence[int]
) -> PlaceDemand | Statement:
    """Return what the task demanded of a place, or why the profile does not show it."""
    levels = [device.raid_level for device in place.devices if device.raid_level is not None]
    if place.filesystem is not None:
        levels += place.filesystem.btrfs_data_profiles or []
    if not all(level.lower() in _WRITTEN_ONCE for level in levels):
        return statement(
            "the disks of {place} write each byte more than once (mirrors or parity); profile on "
            "another machine",
            place=place.name,
        )
    disks = [profile.timeline.devices.get(device.name, {}) for device in place.leaf_devices]

    def grown(name: str) -> list[Numbers] | None:
        """Return what a counter of each disk grew by in each window; None: not known."""
        totals = [_sums(disk, (name,), ends) for disk in disks]
        steps = [np.diff(total) for total in totals if total is not None]
        return steps if steps and len(steps) == len(disks) and np.min(steps) >= 0 else None

    written, read, writes = grown("written_bytes"), grown("read_bytes"), grown("writes")
    if written is None or read is None or writes is None:
        return statement(
            "the profile has no counters of the disks of {place}, or they started again at 0; "
            "profile with --place on a local disk",
            place=place.name,
        )
    # Without counts, requests were as small as pages at most.
    merged = grown("merged_writes") or [size / PAGE_BYTES for size in written]
    is_alone = profile.host.system == LINUX
    any_request = 0.0, float(np.sum(np.max(writes, axis=0)))
    return PlaceDemand(
        name=place.name,
        written_bytes=np.sum(written, axis=0),
        writes=np.max(writes, axis=0),
        unmerged_writes=np.max(np.add(writes, merged), axis=0),
        flushes=np.max(grown("flushes") or np.zeros((1, len(ends) - 1)), axis=0),
        read_bytes=np.sum(read, axis=0),
        syncs=_syncs(profile, place.name) if is_alone else any_request,
        is_alone=is_alone,
        has_few_own_flushes=_has_few_own_flushes(profile, place.name),
    )


def _has_few_own_flushes(profile: TaskProfile, place: str) -> bool:
    counts = profile.syncs.get(place)
    if counts is None or not counts.commits or counts.flushes is None:
        return False
    return FLUSHES_PER_COMMIT * counts.commits > counts.flushes / 2


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
    count = counts.commits + max(0.0, flushes - FLUSHES_PER_COMMIT * counts.commits)
    return count, count
