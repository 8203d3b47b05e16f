# SPDX-License-Identifier: MPL-2.0
"""A machine in steps of time: disks that vary and stall, writeback, a page cache, a shared CPU.

A second physical model, independent of `simulated_machine`: a mistake that both the program and
that model make would not show there. Rates are in MB/s, as vendors give them; times in seconds.
"""

import math
import random
from dataclasses import dataclass
from typing import NamedTuple

MIB, GIB = 1 << 20, 1 << 30
MB = 1e6
# What first touching new memory costs on the usual machine; a copy includes it.
USUAL_TOUCH_NS_PER_MIB = 150_000.0
STALL_S = 0.06
JOURNAL_S = 0.0006
SYNC_S = 0.001
STEP_S = 0.05
CHUNK_BYTES = 8 * MIB


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
    is_boot_disk: bool = False
    scheduler: str = "none"
    neighbour_mb_per_s: float = 0.0  # written by others to the same disks
    write_limit_mb_per_s: float = 0.0  # of each device, by a cgroup
    read_limit_mb_per_s: float = 0.0
    slows_down_after_gib: float = 0.0  # as disks do whose fast cells are full
    slows_down_factor: float = 1.0
    stalls_per_gib: float = 0.05
    flushes_rewritten_files: bool = True  # ext4's auto_da_alloc
    journals_data: bool = False  # each byte is written twice
    synchronous: bool = False
    harmless_options: tuple[str, ...] = ()
    memory_gib: int = 64
    memory_limit_gib: float = 0.0
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


class Counters(NamedTuple):
    """What counters show at a time, or their differences over an act."""

    time_s: float
    written_bytes: float
    read_bytes: float
    blocked_s: float
    user_s: float
    kernel_s: float
    waiting_s: float


class Storage:
    """The disks together: a slowly varying rate, at most what a cgroup allows."""

    def __init__(self, machine: Machine, generator: random.Random) -> None:
        self._machine, self._generator = machine, generator
        # The slowest decides; a linear volume and a mirror write to one disk's bandwidth.
        write = min(disk.write_mb_per_s for disk in machine.disks)
        read = min(disk.read_mb_per_s for disk in machine.disks)
        writers = len(machine.disks) if machine.layout == "striped" else 1
        readers = 1 if machine.layout == "linear" else len(machine.disks)
        limit = machine.write_limit_mb_per_s or math.inf
        neighbour = machine.neighbour_mb_per_s * MB
        self._limit = limit * writers * MB
        full = write * writers * MB
        limited = min(full, self._limit)
        self._full = max(full - neighbour, 0.1 * full)
        self.write_bytes_per_s = max(limited - neighbour, 0.1 * limited)
        self.read_bytes_per_s = min(read, machine.read_limit_mb_per_s or read) * readers * MB
        self._log_deviation, self._varies_at_s = 0.0, 0.0
        self.written_bytes = 0.0

    @property
    def amplification(self) -> int:
        return 2 if self._machine.journals_data else 1

    def rate(self, time_s: float) -> float:
        """Return how many bytes of files are written per second; neighbours in time are alike."""
        if time_s >= self._varies_at_s:
            self._log_deviation = 0.8 * self._log_deviation + 0.04 * self._generator.gauss(0, 1)
            self._varies_at_s = time_s + 0.1
        rate = self._full * math.exp(self._log_deviation)
        slows_down_at = self._machine.slows_down_after_gib * GIB
        if slows_down_at and self.written_bytes > slows_down_at:
            rate *= self._machine.slows_down_factor
        return min(self._limit, rate) / self.amplification


class PageCache:
    """The files in memory; the least recently used leave first."""

    def __init__(self, machine: Machine) -> None:
        memory = machine.memory_gib * GIB
        limit = machine.memory_limit_gib * GIB
        self.memory_bytes = min(memory, limit or memory)
        self._room_bytes = 0.92 * self.memory_bytes - (0 if limit else GIB)
        self._sizes: dict[int, int] = {}
        self._used_bytes = 0

    def holds(self, file: int, size_bytes: int) -> bool:
        """Return whether the file is in memory; afterwards it is."""
        held = self._sizes.pop(file, None) is not None
        self._sizes[file] = size_bytes
        self._used_bytes += 0 if held else size_bytes
        while self._used_bytes > self._room_bytes and len(self._sizes) > 1:
            self._used_bytes -= self._sizes.pop(next(iter(self._sizes)))
        return held


class Clock:
    """A running machine: each act takes time, in which the disks write what is under writeback."""

    def __init__(self, machine: Machine, generator: random.Random, destination: str) -> None:
        self._machine, self._generator = machine, generator
        self._destination = destination
        self.storage, self.cache = Storage(machine, generator), PageCache(machine)
        self._dirty_limit = 0.9 * self.cache.memory_bytes * machine.dirty_ratio / 100
        self._competitors = machine.competitors_per_cpu
        self.time_s = 20.0
        self.writeback_bytes = self.dirty_bytes = 0.0
        self._read_bytes = self._blocked_s = 0.0
        self._user_s = self._kernel_s = self._waiting_s = 0.0

    def counters(self) -> Counters:
        work = (self._user_s, self._kernel_s, self._waiting_s)
        written = self.storage.written_bytes
        return Counters(self.time_s, written, self._read_bytes, self._blocked_s, *work)

    def vary(self, deviation: float = 0.04) -> float:
        return math.exp(deviation * self._generator.gauss(0, 1))

    def advance(self, duration_s: float) -> None:
        """Let time pass; the flusher takes what is above the background limit."""
        end_s = self.time_s + duration_s
        while self.time_s < end_s - 1e-12:
            step_s = min(end_s - self.time_s, STEP_S)
            surplus = max(0.0, self.dirty_bytes - self._dirty_limit / 2)
            self.dirty_bytes -= surplus
            self.writeback_bytes += surplus
            written = min(self.writeback_bytes, self.storage.rate(self.time_s) * step_s)
            self.writeback_bytes -= written
            self.storage.written_bytes += written * self.storage.amplification
            self.time_s += step_s

    def since(self, before: Counters) -> Counters:
        pairs = zip(self.counters(), before, strict=True)
        return Counters(*(now - then for now, then in pairs))

    def work(self, user_ns: float, kernel_ns: float, read_bytes: int = 0) -> None:
        """Work on a CPU, for which others compete as much as they just now do; read ahead of it."""
        machine, dice = self._machine, self._generator
        if dice.random() < 0.02:
            self._competitors = machine.competitors_per_cpu * self.vary(0.4)
        cpu_s = (user_ns + kernel_ns) / 1e9
        waiting_s = cpu_s * self._competitors
        if 0 < machine.quota_cpus < 1:
            waiting_s += cpu_s * (1 / machine.quota_cpus - 1)
        stolen_s = cpu_s * machine.stolen_share / (1 - machine.stolen_share) * dice.expovariate(1)
        reading_s = read_bytes / self.storage.read_bytes_per_s * self.vary(0.03)
        blocked_s = max(0.0, reading_s - 0.7 * (cpu_s + waiting_s))
        self._user_s += user_ns / 1e9
        self._kernel_s += kernel_ns / 1e9
        self._waiting_s += waiting_s
        self._read_bytes += read_bytes
        self._blocked_s += blocked_s
        self.advance(cpu_s + waiting_s + stolen_s + blocked_s)

    def write_back(self, left_bytes: float = 0.0) -> None:
        """Wait until no more than this is under writeback; now and then the disks stall."""
        start_s = self.time_s
        while self.writeback_bytes > left_bytes + 1:
            needed_s = (self.writeback_bytes - left_bytes) / self.storage.rate(self.time_s)
            step_s = min(needed_s, STEP_S)
            self._blocked_s += step_s
            self.advance(step_s)
        stalls = self._generator.random() < self._machine.stalls_per_gib * 0.07
        if stalls and start_s != self.time_s:
            stall_s = STALL_S * self._generator.expovariate(1)
            self._blocked_s += stall_s
            self.time_s += stall_s

    def lookup(self) -> Counters:
        """Start grep, which finds a line."""
        machine, before = self._machine, self.counters()
        factor = self.vary(0.06)
        user_ns = machine.grep_ns * machine.user_factor * factor
        self.work(user_ns, machine.process_ns * machine.kernel_factor * factor)
        self.advance(machine.lookup_held_ms / 1e3 * self.vary(0.15))
        return self.since(before)

    def copy(self, file: int, size_bytes: int, destination: str = "") -> Counters:
        """Copy a file over, beside or in place of an earlier one; `memory`: to no disk."""
        machine, before = self._machine, self.counters()
        destination = destination or self._destination
        held_ms = machine.scan_ms + machine.scan_ms_per_mib * size_bytes / MIB
        self.advance(held_ms / 1e3 * self.vary(0.1))
        if destination == "unlink":
            self.dirty_bytes = self.writeback_bytes = 0.0
        elif destination == "overwrite":
            if not machine.flushes_rewritten_files:
                self.dirty_bytes = 0.0
            # Truncation waits for pages that are under writeback.
            self.write_back()
        in_memory = self.cache.holds(file, size_bytes) or destination == "memory"
        factor = self.vary()
        ns_per_mib = machine.copy_ns_per_mib * machine.kernel_factor * machine.copy_factor
        more_touch_ns = max(0.0, machine.touch_ns_per_mib - USUAL_TOUCH_NS_PER_MIB)
        ns_per_mib += more_touch_ns * machine.new_page_share
        # Opening and closing.
        self.work(30e3 * machine.user_factor * factor, 60e3 * machine.kernel_factor * factor)
        for begin in range(0, size_bytes, CHUNK_BYTES):
            chunk = min(CHUNK_BYTES, size_bytes - begin)
            kernel_ns = ns_per_mib * chunk / MIB * factor
            self.work(1500 * machine.user_factor, kernel_ns, 0 if in_memory else chunk)
            if destination != "memory":
                self._dirty(chunk)
        if destination == "overwrite" and machine.flushes_rewritten_files:
            self._flush()
        return self.since(before)

    def _dirty(self, size_bytes: int) -> None:
        if self._machine.synchronous:
            self.writeback_bytes += size_bytes
            self.write_back()
            self._blocked_s += JOURNAL_S
            self.advance(JOURNAL_S)
            return
        self.dirty_bytes += size_bytes
        if self.dirty_bytes + self.writeback_bytes > self._dirty_limit:
            self._flush()
            self.write_back(self._dirty_limit)

    def _flush(self) -> None:
        self.writeback_bytes += self.dirty_bytes
        self.dirty_bytes = 0.0

    def sync(self) -> float:
        """Write everything; return how long that took."""
        start_s = self.time_s
        self._flush()
        self.write_back()
        return self.time_s - start_s + SYNC_S
