# SPDX-License-Identifier: MPL-2.0
"""One run as analysis sees it: what it measured of a subject, where, and figures derived from both."""

from collections.abc import Iterable
from functools import cached_property
from statistics import fmean, median
from typing import SupportsFloat

from msgspec import Struct

from io_benchmark.analysis.model.run import Entry, Worker
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind
from io_benchmark.analysis.reading.disks import MachineType, Stack
from io_benchmark.analysis.reading.windows import BUSY_COLUMNS, TimelineRows, Window
from io_benchmark.results import CacheRetrieveEntry, workloads
from io_benchmark.results.format import RecordedTimeline
from io_benchmark.results.machine import Host, Limits, StoragePlace
from io_benchmark.results.parts import NS_PER_S

# File systems that hide the one below them.
LAYERED = ("overlay", "fuse.fuse-overlayfs")
WAITS_SHARE = 0.2
# Below these shares nothing waits for a disk, whatever the disk could do.
_HARDLY_MOVED_SHARE = 0.2
# Copies that are blocked for a smaller share of a retrieve's time do not wait for the disks.
_BLOCKED_SHARE = 0.02
# Nor do those for which all that waits for storage on the machine does so for less of the time.
_WAITED_SHARE = 0.5


class Run(Struct, frozen=True, dict=True):
    """One run of a worker and what it measured of one subject; None is what its file does not have."""

    worker: Worker
    entry: Entry  # without samples where the run did not measure this

    @classmethod
    def of(cls, worker: Worker, subject: Subject) -> "Run":
        entries = (e for e in worker.entries if e.subject == subject and len(e.total_ns))
        return cls(worker, next(entries, Entry(subject)))

    @property
    def is_measured(self) -> bool:
        return len(self.entry.total_ns) > 0

    @property
    def side(self) -> str:
        return self.worker.side

    @property
    def subject(self) -> Subject:
        return self.entry.subject

    @cached_property
    def place(self) -> StoragePlace | None:
        places = self.worker.result.storage.places
        return next((place for place in places if place.name == self.subject.place), None)

    @cached_property
    def stack(self) -> Stack | None:
        return Stack.under(self.place)

    @property
    def host(self) -> Host | None:
        return self.worker.result.host

    @property
    def limits(self) -> Limits | None:
        return self.worker.result.limits

    @property
    def sees_cgroups(self) -> bool:
        return self.limits is not None and bool(self.limits.cgroup_versions)

    @property
    def machine_type(self) -> MachineType:
        return MachineType(self.worker.instance_type)

    @property
    def mean_ns(self) -> float | None:
        return self.entry.mean_ns if self.is_measured else None

    @cached_property
    def copied_bytes(self) -> int | None:
        return sum(self.entry.size_bytes) if self.entry.retrieves is not None else None

    @cached_property
    def moved_bytes(self) -> tuple[int, int] | None:
        """Return the bytes that the disks read and wrote, from the first retrieve to the end of the final sync."""
        devices = self.entry.facts.device_bytes if self.entry.facts is not None else None
        if not devices:
            return None
        return sum(d.read for d in devices.values()), sum(d.written for d in devices.values())

    @property
    def written_share(self) -> float | None:
        """Return the bytes that reached the disks per byte copied."""
        moved, copied = self.moved_bytes, self.copied_bytes
        return moved[1] / copied if moved is not None and copied else None

    @cached_property
    def moved_bytes_per_s(self) -> tuple[float, float] | None:
        """Return the rates at which all disks of the place read and wrote."""
        facts = self.entry.facts
        if facts is None or self.moved_bytes is None or not facts.run_ns:
            return None
        sync_ns = facts.final_sync_ns if isinstance(facts, CacheRetrieveEntry) else 0
        elapsed_s = (facts.run_ns + (sync_ns or 0)) / NS_PER_S
        return self.moved_bytes[0] / elapsed_s, self.moved_bytes[1] / elapsed_s

    @property
    def written_bytes_per_s(self) -> float | None:
        return self.moved_bytes_per_s[1] if self.moved_bytes_per_s is not None else None

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """Return the run in windows of its timeline; none where the disks' counters are missing."""
        if self.stack is None:
            return ()
        disks = {disk.name for disk in self.stack.disks}
        are_limited = self.limits is not None and bool(self.limits.io)
        return Window.of_run(self.entry, self._inside, disks, are_limited=are_limited)

    def windows_around(self, moment_ns: int) -> tuple[tuple[Window, ...], tuple[Window, ...]]:
        windows = list(zip(self.windows, self._inside.spans_ns, strict=False))
        before = tuple(window for window, (_, end_ns) in windows if end_ns <= moment_ns)
        return before, tuple(window for window, (begin_ns, _) in windows if begin_ns > moment_ns)

    @cached_property
    def peak_bytes_per_s(self) -> tuple[float, float] | None:
        """Return the rates at which the disks read and wrote while copies waited for them."""
        return self.window_peak or self.moved_bytes_per_s

    @cached_property
    def window_peak(self) -> tuple[float, float] | None:
        return Window.peak(self.windows)

    @cached_property
    def _inside(self) -> TimelineRows:
        """Return the timeline's rows within the samples; none where nothing was recorded."""
        timeline = self.worker.result.timeline
        if timeline is None or not self.is_measured:
            return TimelineRows(RecordedTimeline({}, {}), ())
        return TimelineRows.of_samples(timeline, self.entry)

    def growth(self, *columns: str) -> float | None:
        """Return how much counters of the timeline grew together per second, during the retrieves."""
        recorded = self._inside.timeline.columns
        growths = [self._inside.growth(recorded.get(name)) for name in columns]
        complete = [growth for growth in growths if growth is not None]
        return sum(complete) / self._inside.lasted_s if len(complete) == len(columns) else None

    def per_operation_ms(self, *columns: str) -> float | None:
        """Return the growth of counters in ms per retrieve or operation."""
        growth = self.growth(*columns)
        if growth is None:
            return None
        # Until the last sample's start.
        in_turns, starts_ns = bool(self.entry.turn_ends), self.entry.start_ns
        lasted_ns = sum(self.entry.total_ns[:-1]) if in_turns else starts_ns[-1] - starts_ns[0]
        return growth * lasted_ns / NS_PER_S / max(1, sum(self.entry.operations[:-1]))

    @property
    def stolen_share(self) -> float | None:
        """Return the part of the CPUs' busy time that other guests took."""
        stolen, total = self.growth("cpu_steal_ms"), self.growth(*BUSY_COLUMNS)
        return None if stolen is None or not total else stolen / total

    @cached_property
    def io_wait_share(self) -> float | None:
        """Return the part of the time in which something waited for I/O: by pressure, or by idle CPUs.

        Not the pressure `full`: a neighbour that only computes would hide every wait of the copies.
        """
        pressed_us, idle_ms = self.growth("psi_io_some_us"), self.growth("cpu_iowait_ms") or 0.0
        return None if pressed_us is None else min(1.0, max(pressed_us / 1e6, idle_ms / 1e3))

    def disk_growths(self, column: str) -> list[float]:
        """Return how much a counter of each disk of the timeline grew per second; nothing where unknown."""
        counters = (columns.get(column) for columns in self._inside.timeline.devices.values())
        growths = (growth for growth in map(self._inside.growth, counters) if growth is not None)
        return [growth / self._inside.lasted_s for growth in growths]

    @property
    def busiest_share(self) -> float | None:
        return max((busy_ms / 1000 for busy_ms in self.disk_growths("busy_ms")), default=None)

    def published_cap_of(self, disks: int) -> float | None:
        """Return how many bytes per second this many of the place's disks write, if published."""
        cloud = self.stack.cloud_of_local_ssds if self.stack is not None else None
        return cloud.write_cap(self.machine_type.family, disks) if cloud is not None else None

    @cached_property
    def published_write_cap(self) -> float | None:
        return self.published_cap_of(self.stack.width) if self.stack is not None else None

    @cached_property
    def write_cap(self) -> float | None:
        """Return the tighter of the published cap and the cgroups' limit, which counts if all disks have one."""
        caps = [self.published_write_cap] if self.published_write_cap is not None else []
        if self.stack is not None and self.limits is not None:
            writes = (limit for limit in self.limits.io if limit.kind == "write_bytes_per_s")
            limits = {limit.device_name: limit.value for limit in writes}
            names = {disk.name for disk in self.stack.disks}
            if names <= limits.keys():
                caps.append(float(min(limits[name] for name in names) * self.stack.width))
        return min(caps, default=None)

    @cached_property
    def waits_for_disks(self) -> bool | None:
        """Return whether this worker's copies waited for its disks; None: nothing shows it.

        The process' own time decides where it was recorded: pressure also counts writeback and neighbours.
        """
        into_files = self.copied_bytes
        written_bytes = workloads.of(self.subject.workload).written_bytes
        if written_bytes is not None and self.is_measured:
            into_files = written_bytes(self.entry.measured)
        least_bytes = _HARDLY_MOVED_SHARE * (into_files or 0)
        if self.moved_bytes is not None and sum(self.moved_bytes) < least_bytes:
            return False
        if self.entry.blocked_ns is not None and self.mean_ns:
            is_blocked = self.entry.blocked_ns >= _BLOCKED_SHARE * self.mean_ns
            return is_blocked and not self._storage_is_idle
        return None if self.io_wait_share is None else self.io_wait_share >= WAITS_SHARE

    @property
    def _storage_is_idle(self) -> bool:
        """Return whether nothing waited for storage most of the time; False where nothing shows it."""
        if any(part.kind is Kind.ELSEWHERE for part in self.entry.parts_ns):
            return False  # the blocked time is for storage then
        waited = self._inside.waited_share(self.entry, range(len(self._inside.spans_ns)))
        return waited is not None and waited < _WAITED_SHARE

    # What this run's machine can do, as far as it was measured: by fixed work, by idle disks, or by disks while
    # something waited for them. A rate that was only seen is *at least* that. A number of disks is not a capacity.

    def fixed_work_rate(self, work: str) -> float | None:
        rates = []
        for burst in (self.host.fixed_work if self.host is not None else None) or ():
            # What waits for a CPU does not show what the CPU can do.
            worked_ns = burst.duration_ns - (burst.waiting_ns or 0)
            if burst.work == work and worked_ns > 0:
                rates.append(burst.operations / worked_ns)
        return median(rates) * NS_PER_S if rates else None

    @property
    def idle_write_rate(self) -> float | None:
        """Return how fast idle disks wrote the files of the trials, in bytes per second."""
        # Few files: the median leaves out one that something else disturbed.
        rates = [
            file.written_bytes / file.duration_ns
            for entry in self.worker.entries
            if entry.subject.place == self.subject.place and entry.trials is not None
            for file in entry.trials.ceilings
        ]
        return median(rates) * NS_PER_S if rates else None

    @property
    def busy_read_rate(self) -> float | None:
        """Return how fast the disks read while copies waited for them, in bytes per second."""
        return self._busy_rates[0] or None

    @property
    def busy_write_rate(self) -> float | None:
        """Return how fast the disks wrote while copies waited for them, in bytes of files per second."""
        return self._busy_rates[1] / (self.stack.copies if self.stack is not None else 1) or None

    @property
    def _busy_rates(self) -> tuple[float, float]:
        return (self.window_peak if self.waits_for_disks else None) or (0.0, 0.0)

    @property
    def filesystem_type(self) -> str | None:
        """Return 'ext4'; an overlay hides the file system below it."""
        if self.place is None:
            return None
        if self.place.filesystem is not None:
            return self.place.filesystem.type
        return self.place.mount.filesystem if self.place.mount is not None else None

    @property
    def mount_table_options(self) -> dict[str, str]:
        """Return the options in the mount table, which leaves some defaults out."""
        mount = self.place.mount if self.place is not None else None
        return _options(f"{mount.options},{mount.super_options}".split(",")) if mount else {}

    @cached_property
    def mount_options(self) -> dict[str, str]:
        """Return every option that the mount table, the super block and ext4 itself name."""
        details = self.place.filesystem if self.place is not None else None
        options = self.mount_table_options | _options((details and details.ext4_options) or [])
        barrier = {"0": "nobarrier", "1": "barrier"}.get(options.get("barrier", ""))
        if barrier is not None:
            del options["barrier"]
            options[barrier] = ""
        return options


def _options(options: Iterable[str]) -> dict[str, str]:
    parts = (option.partition("=") for option in options if option)
    return {name: value for name, _, value in parts}


def mean_of_known(values: Iterable[SupportsFloat | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if numbers else None
