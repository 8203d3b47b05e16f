# SPDX-License-Identifier: MPL-2.0
"""A machine in steps of time: disks that vary and stall, writeback, a page cache, a shared CPU.

Rates are in MB/s, as vendors give them; times in seconds.
"""

import math
import operator
import random
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import seed_case

MIB, GIB = 1 << 20, 1 << 30
MB = 1e6
SIZES_BYTES = tuple(size * MIB for size in seed_case.SIZES_MIB)
# What first touching new memory costs on the usual machine; a copy includes it.
USUAL_TOUCH_NS_PER_MIB = 150_000.0
STALL_S, JOURNAL_S, SYNC_S = 0.06, 0.0006, 0.001
STEP_S, TIMELINE_S = 0.05, 0.5
CHUNK_BYTES, REQUEST_BYTES = 8 * MIB, 256 * 1024


class Disk(NamedTuple):
    write_mb_per_s: float = 390.0
    read_mb_per_s: float = 680.0

    def divided(self, factor: float) -> "Disk":
        return Disk(self.write_mb_per_s / factor, self.read_mb_per_s / factor)


@dataclass(frozen=True)
class Machine:
    """What a worker's machine is and does; 0 in a limit means that there is none."""

    cpu_model: str = "AMD EPYC 9B14"
    cpus: int = 16
    user_factor: float = 1.0  # of the time of work in user mode
    kernel_factor: float = 1.0  # of the time of work in the kernel
    copy_factor: float = 1.0  # of the time of copying in the kernel, beyond that
    copy_ns_per_mib: float = 150_000.0
    process_ns: float = 800_000.0  # of starting and ending grep, in the kernel
    grep_ns: float = 300_000.0  # of grep's own work
    stolen_share: float = 0.0  # of a virtual CPU's time, by the hypervisor
    competitors_per_cpu: float = 0.0
    quota_cpus: float = 0.0
    disks: tuple[Disk, ...] = (Disk(), Disk())
    layout: str = "striped"  # or linear, mirror
    disk_model: str = "nvme_card0"
    is_boot_disk: bool = False  # one network disk
    network_model: str = "PersistentDisk"  # of the boot disk
    network_gib: float = 375.0
    instance_type: str | None = None
    cloud: str = "google"
    scheduler: str = "none"
    neighbour_share: float = 0.0  # of what the same disks can write, written by others
    blocked_elsewhere_share: float = 0.0  # of others, by a disk that the place does not use
    write_limit_mb_per_s: float = 0.0  # of each device, by a cgroup
    write_limit_per_s: float = 0.0  # operations
    read_limit_mb_per_s: float = 0.0
    slows_down_after_gib: float = 0.0  # as disks do whose fast cells are full
    slows_down_factor: float = 1.0
    flush_ns_per_byte: float = 0.0  # of writeback in the kernel, where it is worth mentioning
    disks_vary: float = 0.04  # from one tenth of a second to the next
    stalls_per_gib: float = 0.05
    flushes_rewritten_files: bool = True  # ext4's auto_da_alloc
    journals_data: bool = False  # each byte is written twice
    synchronous: bool = False
    harmless_options: tuple[str, ...] = ()
    memory_gib: int = 64
    memory_limit_gib: float = 0.0
    resident_share: float = 0.0  # of the files, in memory at the start
    dirty_ratio: int = 20
    swappiness: int = 60
    touch_ns_per_mib: float = USUAL_TOUCH_NS_PER_MIB
    new_page_share: float = 0.25  # of a copy's pages that are new to the guest
    scan_ms: float = 0.0  # for which a scanner holds each copy
    scan_ms_per_mib: float = 0.0
    lookup_held_ms: float = 0.0  # by a name service or a security module
    kernel: str = "6.8.0-1024-gcp"
    grep_version: str = "3.8"
    cp_version: str = "9.1"
    zone: str = "us-central1-f"

    def write_bytes_per_s(self, factor: float = 1.0, *, is_limited: bool = True) -> float:
        """Return how many bytes of files are written where disks are so many times as fast."""
        left = self.disks_bytes_per_s * max(1 - self.neighbour_share, 0.1)
        limit = self._limit_bytes_per_s if is_limited else math.inf
        return min(limit, left * factor) / (2 if self.journals_data else 1)

    @cached_property
    def read_bytes_per_s(self) -> float:
        slowest = min(disk.read_mb_per_s for disk in self.disks)
        readers = 1 if self.layout == "linear" else len(self.disks)
        return min(slowest, self.read_limit_mb_per_s or slowest) * readers * MB

    @cached_property
    def times_written(self) -> int:
        """Return how often each byte is written: to a journal, and to each disk of a mirror."""
        copies = len(self.disks) if self.layout == "mirror" else 1
        return copies * (2 if self.journals_data else 1)

    @cached_property
    def disks_bytes_per_s(self) -> float:
        """Return what the disks write together; of a linear volume and a mirror one at a time."""
        return min(disk.write_mb_per_s for disk in self.disks) * MB * self._writers

    @cached_property
    def _limit_bytes_per_s(self) -> float:
        """Return what cgroups and the CPU let the disks write."""
        each = (self.write_limit_mb_per_s * MB, self.write_limit_per_s * REQUEST_BYTES)
        limit = min((rate for rate in each if rate), default=math.inf) * self._writers
        flush_ns = self.flush_ns_per_byte * self.kernel_factor * (1 + self.competitors_per_cpu)
        return min(limit, 1e9 / flush_ns) if flush_ns else limit

    @property
    def _writers(self) -> int:
        return len(self.disks) if self.layout == "striped" else 1


@dataclass
class Counters:
    """What counters show at a time, or their differences over an act."""

    time_s: float = 0.0
    written_bytes: float = 0.0
    read_bytes: float = 0.0
    busy_s: float = 0.0  # of the disks
    blocked_s: float = 0.0
    user_s: float = 0.0
    kernel_s: float = 0.0
    waiting_s: float = 0.0
    stolen_s: float = 0.0
    dirty_bytes: float = 0.0
    writeback_bytes: float = 0.0

    def copy(self) -> "Counters":
        return Counters(*vars(self).values())

    def since(self, before: "Counters") -> "Counters":
        return Counters(*map(operator.sub, vars(self).values(), vars(before).values()))

    @property
    def held_s(self) -> float:
        """Return the time in which the process neither worked nor waited for a CPU or a disk."""
        known_s = self.user_s + self.kernel_s + self.waiting_s + self.stolen_s + self.blocked_s
        return max(0.0, self.time_s - known_s)


@dataclass
class Pace:
    """Bytes that may be written: they come at a rate, and those of the last seconds are kept."""

    bytes_per_s: float
    kept_s: float
    due_s: float

    def wait_s(self, time_s: float, size_bytes: int) -> float:
        """Take so many bytes; return how long it takes until they have come."""
        self.due_s = max(self.due_s, time_s - self.kept_s) + size_bytes / self.bytes_per_s
        return max(0.0, self.due_s - time_s)


class Clock:
    """A running machine: each act takes time, in which the disks write what is under writeback."""

    def __init__(self, machine: Machine, generator: random.Random, destination: str) -> None:
        self._machine, self._generator, self._destination = machine, generator, destination
        limit_bytes = machine.memory_limit_gib * GIB
        memory_bytes = min(machine.memory_gib * GIB, limit_bytes or math.inf)
        self._dirty_limit = 0.9 * memory_bytes * machine.dirty_ratio / 100
        # The files in memory; the least recently used is the first one.
        self._cached = list(range(round(len(SIZES_BYTES) * machine.resident_share)))
        self._cached_bytes = sum(SIZES_BYTES[file] for file in self._cached)
        self._room_bytes = 0.92 * memory_bytes - (0 if limit_bytes else GIB)
        self._competitors = machine.competitors_per_cpu
        self._log_deviation, self._varies_at_s = 0.0, 0.0
        self.now = Counters(time_s=20.0)
        # The counters every half second.
        self.timeline = [self.now.copy()]

    def vary(self, deviation: float = 0.04) -> float:
        return math.exp(deviation * self._generator.gauss(0, 1))

    def _rate(self) -> float:
        """Return how many bytes of files are written per second."""
        return self._machine.write_bytes_per_s(self._speed())

    def _speed(self) -> float:
        """Return how many times as fast as usual the disks are; neighbours in time are alike."""
        now, machine = self.now, self._machine
        if now.time_s >= self._varies_at_s:
            change = machine.disks_vary * self._generator.gauss(0, 1)
            self._log_deviation = 0.8 * self._log_deviation + change
            self._varies_at_s = now.time_s + 0.1
        factor = math.exp(self._log_deviation)
        if machine.slows_down_after_gib and now.written_bytes > machine.slows_down_after_gib * GIB:
            factor *= machine.slows_down_factor
        return factor

    def advance(self, duration_s: float) -> None:
        """Let time pass; the flusher takes what is above the background limit."""
        now, machine = self.now, self._machine
        end_s = now.time_s + duration_s
        while now.time_s < end_s - 1e-12:
            step_s = min(end_s - now.time_s, STEP_S)
            surplus = max(0.0, now.dirty_bytes - self._dirty_limit / 2)
            now.dirty_bytes -= surplus
            now.writeback_bytes += surplus
            speed, writing_s = self._speed(), 0.0
            if now.writeback_bytes:
                written = min(now.writeback_bytes, machine.write_bytes_per_s(speed) * step_s)
                now.writeback_bytes -= written
                now.written_bytes += written * machine.times_written
                # Disks that a cgroup holds back are idle.
                writing_s = written / machine.write_bytes_per_s(speed, is_limited=False)
            others_s = machine.neighbour_share * (step_s - writing_s)
            self._pass(step_s, writing_s + others_s)

    def _pass(self, duration_s: float, busy_s: float) -> None:
        now, last = self.now, self.timeline[-1]
        now.time_s += duration_s
        # Disks that read and write are busy once.
        now.busy_s = min(now.busy_s + busy_s, last.busy_s + now.time_s - last.time_s)
        if now.time_s >= last.time_s + TIMELINE_S:
            self.timeline.append(now.copy())

    def _work(self, user_ns: float, kernel_ns: float, read_bytes: int = 0) -> None:
        """Work on a CPU, for which others compete as much as they just now do; read ahead of it."""
        machine, dice, now = self._machine, self._generator, self.now
        if dice.random() < 0.02:
            self._competitors = machine.competitors_per_cpu * self.vary(0.4)
        cpu_s = (user_ns + kernel_ns) / 1e9
        waiting_s = cpu_s * self._competitors
        if 0 < machine.quota_cpus < 1:
            waiting_s += cpu_s * (1 / machine.quota_cpus - 1)
        stolen_s = cpu_s * machine.stolen_share / (1 - machine.stolen_share) * dice.expovariate(1)
        reading_s = read_bytes / machine.read_bytes_per_s * self.vary(0.03)
        blocked_s = max(0.0, reading_s - 0.7 * (cpu_s + waiting_s))
        now.user_s += user_ns / 1e9
        now.kernel_s += kernel_ns / 1e9
        now.waiting_s += waiting_s
        now.stolen_s += stolen_s
        now.read_bytes += read_bytes
        now.blocked_s += blocked_s
        now.busy_s += reading_s
        self.advance(cpu_s + waiting_s + stolen_s + blocked_s)

    def _write_back(self, left_bytes: float = 0.0) -> None:
        """Wait until no more than this is under writeback; now and then the disks stall."""
        now, start_s = self.now, self.now.time_s
        while now.writeback_bytes > left_bytes + 1:
            needed_s = (now.writeback_bytes - left_bytes) / self._rate()
            step_s = min(needed_s, STEP_S)
            now.blocked_s += step_s
            self.advance(step_s)
        stalls = self._generator.random() < self._machine.stalls_per_gib * 0.07
        if stalls and start_s != now.time_s:
            stall_s = STALL_S * self._generator.expovariate(1)
            now.blocked_s += stall_s
            self._pass(stall_s, stall_s)

    def lookup(self) -> Counters:
        """Start grep, which finds a line."""
        machine, before = self._machine, self.now.copy()
        factor = self.vary(0.06)
        user_ns = machine.grep_ns * machine.user_factor * factor
        self._work(user_ns, machine.process_ns * machine.kernel_factor * factor)
        self.advance(machine.lookup_held_ms / 1e3 * self.vary(0.15))
        return self.now.since(before)

    def _is_cached(self, file: int) -> bool:
        """Return whether the file is in memory; afterwards it is."""
        was_cached = file in self._cached
        if was_cached:
            self._cached.remove(file)
        else:
            self._cached_bytes += SIZES_BYTES[file]
        self._cached.append(file)
        while self._cached_bytes > self._room_bytes:
            self._cached_bytes -= SIZES_BYTES[self._cached.pop(0)]
        return was_cached

    def copy(self, file: int, destination: str = "", pace: Pace | None = None) -> Counters:
        """Copy a file over, beside or in place of an earlier one; `memory`: to no disk."""
        machine, now, before = self._machine, self.now, self.now.copy()
        destination, size_bytes = destination or self._destination, SIZES_BYTES[file]
        held_ms = machine.scan_ms + machine.scan_ms_per_mib * size_bytes / MIB
        self.advance(held_ms / 1e3 * self.vary(0.1))
        if destination == "unlink":
            now.dirty_bytes = now.writeback_bytes = 0.0
        elif destination == "overwrite":
            if not machine.flushes_rewritten_files:
                now.dirty_bytes = 0.0
            # Truncation waits for pages that are under writeback.
            self._write_back()
        in_memory = self._is_cached(file) or destination == "memory"
        factor = self.vary()
        ns_per_mib = machine.copy_ns_per_mib * machine.kernel_factor * machine.copy_factor
        more_touch_ns = max(0.0, machine.touch_ns_per_mib - USUAL_TOUCH_NS_PER_MIB)
        ns_per_mib += more_touch_ns * machine.new_page_share
        # Opening and closing.
        self._work(30e3 * machine.user_factor * factor, 60e3 * machine.kernel_factor * factor)
        for begin in range(0, size_bytes, CHUNK_BYTES):
            chunk = min(CHUNK_BYTES, size_bytes - begin)
            if pace:
                self.advance(pace.wait_s(now.time_s, chunk))
            kernel_ns = ns_per_mib * chunk / MIB * factor
            self._work(1500 * machine.user_factor, kernel_ns, 0 if in_memory else chunk)
            if destination != "memory":
                self._dirty(chunk)
        if destination == "overwrite" and machine.flushes_rewritten_files:
            self._flush()
        return now.since(before)

    def _dirty(self, size_bytes: int) -> None:
        now = self.now
        if self._machine.synchronous:
            now.writeback_bytes += size_bytes
            self._write_back()
            now.blocked_s += JOURNAL_S
            self.advance(JOURNAL_S)
            return
        now.dirty_bytes += size_bytes
        if now.dirty_bytes + now.writeback_bytes > self._dirty_limit:
            self._flush()
            self._write_back(self._dirty_limit)

    def _flush(self) -> None:
        self.now.writeback_bytes += self.now.dirty_bytes
        self.now.dirty_bytes = 0.0

    def sync(self) -> Counters:
        """Write everything."""
        before = self.now.copy()
        self._flush()
        self._write_back()
        self.advance(SYNC_S)
        return self.now.since(before)

    def write_file(self, size_bytes: int) -> Counters:
        """Write one large new file, of whole chunks, and sync it."""
        before = self.now.copy()
        ns_per_mib = 0.7 * self._machine.copy_ns_per_mib * self._machine.kernel_factor
        for _ in range(0, size_bytes, CHUNK_BYTES):
            self._work(0, ns_per_mib * CHUNK_BYTES / MIB)
            self.now.writeback_bytes += CHUNK_BYTES
        self.sync()
        return self.now.since(before)
