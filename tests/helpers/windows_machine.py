# SPDX-License-Identifier: MPL-2.0
"""A Windows machine: its disks with the caps of its VM size, its cache, its scanner, its CPUs.

Retrieves run in steps of time. The cache takes what is written; each second the lazy writer queues
an eighth of it, and beyond a threshold writers wait. Rates are in MB/s, as vendors give them.
Where Windows' behaviour is not known, such as whether a rewritten file's old pages are dropped, a
machine has a switch, and simulations draw it.
"""

import math
import operator
import random
from dataclasses import dataclass, field, replace
from functools import cached_property

import seed_case

MIB, GIB, MB = 1 << 20, 1 << 30, 1e6
SIZES_BYTES = tuple(size * MIB for size in seed_case.SIZES_MIB)
# vCPUs, GiB of memory, and what the temporary disk reads: operations and MB per second.
VM_SIZES = {
    "Standard_F8s_v2": (8, 16, 16_000, 127),
    "Standard_F16s_v2": (16, 32, 32_000, 255),
    "Standard_D8ads_v5": (8, 32, 38_000, 500),
    "Standard_E8ads_v5": (8, 64, 38_000, 500),
    "Standard_D16pds_v5": (16, 64, 75_000, 1000),
    "Standard_D32ads_v5": (32, 128, 150_000, 2000),
}
LAZY_SHARE = 1 / 8  # of the unwritten data, queued every second
CHUNK_BYTES, STEP_S, TIMELINE_S = 40 * MIB, 0.25, 1.0
_USED_MEMORY_GIB = 3.0


@dataclass(frozen=True)
class Drive:
    """One disk, or Storage Spaces over several equal ones."""

    read_mb_per_s: float = 500.0
    write_mb_per_s: float = 400.0
    read_iops: float = 38_000.0
    write_iops: float = 30_000.0
    latency_us: float = 250.0  # of one small read, and of one write that the disk confirms
    bus: str = "scsi"
    model: str = "Msft Virtual Disk"
    is_rotational: bool = False
    size_gib: float = 300.0
    columns: int = 0  # of Storage Spaces; 0: a plain disk

    @property
    def disks(self) -> int:
        return max(1, self.columns)

    def divided(self, factor: float) -> "Drive":
        return replace(
            self,
            read_mb_per_s=self.read_mb_per_s / factor,
            write_mb_per_s=self.write_mb_per_s / factor,
            read_iops=self.read_iops / factor,
            write_iops=self.write_iops / factor,
            latency_us=self.latency_us * factor,
        )


@dataclass(frozen=True)
class Scanner:
    """Defender's real-time protection: what each opened, written and started file waits for."""

    is_real_time: bool = False
    is_defender: bool = True  # otherwise no fact of Defender shows it
    is_running: bool = True
    excludes_place: bool | None = None  # None: the exclusions cannot be read
    open_ms: float = 0.3  # of a file that it has not seen
    close_ms: float = 0.5  # of a file that was written
    ms_per_mib: float = 1.0
    process_ms: float = 2.0

    @property
    def is_shown(self) -> bool:
        return self.is_real_time and self.is_defender

    @property
    def scans_place(self) -> bool:
        return self.is_real_time and not self.excludes_place


@dataclass(frozen=True)
class WindowsMachine:
    """What a worker's machine is and does."""

    vm_size: str = "Standard_D8ads_v5"
    cpus: int = 8
    memory_gib: float = 32.0
    cpu_model: str = "AMD EPYC 7763 64-Core Processor"
    user_factor: float = 1.0  # of the time of work in user mode
    kernel_factor: float = 1.0
    copy_factor: float = 1.0  # of copying in the kernel, beyond that
    copy_ns_per_mib: float = 350_000.0
    touch_ns_per_mib: float = 120_000.0
    new_page_share: float = 0.5  # of a copy's pages that are new to the machine
    file_us: float = 150.0  # of creating and closing a file, in the kernel
    name_us: float = 22.0  # of looking at a file
    process_ms: float = 8.0  # of starting and ending a process
    process_held_ms: float = 2.0  # of it by other processes
    grep_ms: float = 4.0
    competitors_per_cpu: float = 0.0
    competes_with_bursts: bool = True  # otherwise only while workloads run
    quantum_s: float = 0.1875  # a server's; a client's is a sixth of it
    # Of the file system
    filesystem: str = "NTFS"
    filesystem_factor: float = 1.0  # of work on names and files
    clones_blocks: bool = False
    is_dev_drive: bool = False
    short_names: bool = False
    short_name_us: float = 40.0  # of each created file
    short_name_us_per_thousand: float = 0.0  # more, by the files of its folder
    is_compressed: bool = False
    compress_ns_per_byte: float = 8.0
    compresses_in_caller: bool = True  # else the lazy writer does
    compressed_share: float = 1.0  # of the bytes that reach the disk
    # Of the disks
    drive: Drive = field(default_factory=Drive)
    letter: str = "D:"
    is_system_disk: bool = False
    is_temporary_disk: bool = True
    has_paging_file: bool = True
    neighbour_share: float = 0.0  # of what the drive can do, by others on the same disk
    hidden_share: float = 0.0  # by another drive that is on the same device of the host
    image_mb_per_s: float = 0.0  # of a remote image, from which tools are read at first; 0: local
    image_latency_ms: float = 4.0
    tool_mib: float = 12.0  # read in small requests when a program first starts
    drops_rewritten: bool = True  # unwritten pages of a file that is truncated
    resident_share: float = 0.0  # of the files, in memory at the start
    threshold_share: float = 0.25  # of memory that may be unwritten before writers wait
    drive_varies: float = 0.03  # from one tenth of a second to the next
    scanner: Scanner = field(default_factory=Scanner)
    has_counters: bool = True  # of disks
    # What costs nothing
    build: str = "10.0.20348.2527"
    display_version: str = "21H2"
    product: str = "Windows Server 2022 Datacenter Azure Edition"
    cluster_bytes: int = 4096
    substituted_letter: str | None = None
    filters: tuple[str, ...] = ("WdFilter", "luafv")
    long_paths: bool = False
    last_access: bool = False
    power_plan: str = "High performance"
    paging_file: str = "D:\\pagefile.sys"
    grep_version: str = "2.5.4"
    defender_excludes: tuple[str, ...] | None = None  # where it scans nothing
    zone: str = "eastus-1"

    @cached_property
    def write_bytes_per_s(self) -> float:
        """Return what the drive writes of this machine's files."""
        left = 1 - self.neighbour_share - self.hidden_share
        rate = self.drive.write_mb_per_s * self.drive.disks * MB * max(left, 0.05)
        rate /= self.compressed_share
        if self.is_compressed and not self.compresses_in_caller:
            rate = min(rate, 1e9 / (self.compress_ns_per_byte * self.kernel_factor))
        return rate

    @cached_property
    def read_bytes_per_s(self) -> float:
        left = 1 - self.neighbour_share - self.hidden_share
        rate = self.drive.read_mb_per_s * self.drive.disks * MB * max(left, 0.05)
        return rate / self.compressed_share

    @property
    def threshold_bytes(self) -> float:
        return self.memory_gib * GIB * self.threshold_share

    @property
    def process_ns(self) -> float:
        scanned_ms = self.scanner.process_ms if self.scanner.is_real_time else 0.0
        return 1e6 * (self.process_held_ms + scanned_ms)

    @property
    def first_start_s(self) -> float:
        """Return how long a program's first start reads its files from a remote image."""
        if not self.image_mb_per_s:
            return 0.0
        requests = self.tool_mib * MIB / (64 * 1024)
        return requests * self.image_latency_ms / 1e3 + self.tool_mib * MIB / (
            self.image_mb_per_s * MB
        )


@dataclass
class Counters:
    """What counters show at a time, or their differences over an act."""

    time_s: float = 0.0
    written_bytes: float = 0.0
    read_bytes: float = 0.0
    busy_s: float = 0.0
    user_s: float = 0.0
    kernel_s: float = 0.0
    others_cpu_s: float = 0.0  # of all other processes
    dirty_bytes: float = 0.0

    def copy(self) -> "Counters":
        return Counters(*vars(self).values())

    def since(self, before: "Counters") -> "Counters":
        return Counters(*map(operator.sub, vars(self).values(), vars(before).values()))


class WindowsClock:
    """A running machine: each act takes time, in which the lazy writer works."""

    def __init__(self, machine: WindowsMachine, dice: random.Random, destination: str) -> None:
        self.machine, self._dice, self._destination = machine, dice, destination
        warm = round(len(SIZES_BYTES) * machine.resident_share)
        self._cached = dict.fromkeys(range(warm))  # the least recently used is the first one
        self._cached_bytes = float(sum(SIZES_BYTES[:warm]))
        used = _USED_MEMORY_GIB * GIB + machine.threshold_bytes / 2
        self._room_bytes = max(0.1 * machine.memory_gib * GIB, machine.memory_gib * GIB - used)
        self._scanned: set[int] = set()
        self._log_deviation, self._varies_at_s = 0.0, 0.0
        self._has_started = False
        self.now = Counters(time_s=20.0)
        self.timeline = [self.now.copy()]

    def vary(self, deviation: float = 0.04) -> float:
        return math.exp(deviation * self._dice.gauss(0, 1))

    def _speed(self) -> float:
        """Return how many times as fast as usual the drive is; neighbours in time are alike."""
        if self.now.time_s >= self._varies_at_s:
            change = self.machine.drive_varies * self._dice.gauss(0, 1)
            self._log_deviation = 0.8 * self._log_deviation + change
            self._varies_at_s = self.now.time_s + 0.1
        return math.exp(self._log_deviation)

    def advance(self, duration_s: float, reading_share: float = 0.0) -> None:
        """Let time pass; reads leave the lazy writer the rest of the drive."""
        now, machine = self.now, self.machine
        end_s = now.time_s + duration_s
        while now.time_s < end_s - 1e-12:
            step_s = min(end_s - now.time_s, STEP_S)
            most = machine.write_bytes_per_s * self._speed() * step_s
            left = most * max(0.3, 1 - reading_share)
            queued = now.dirty_bytes * LAZY_SHARE * step_s
            if now.dirty_bytes > 0.8 * machine.threshold_bytes:
                queued = now.dirty_bytes
            written = min(queued, left, now.dirty_bytes)
            now.dirty_bytes -= written
            self._moved(step_s, written, reading_share)

    def _moved(self, step_s: float, written: float, reading_share: float = 0.0) -> None:
        """Count what the drive did: these bytes of files, reads, and what others write."""
        now, machine = self.now, self.machine
        whole = machine.drive.write_mb_per_s * machine.drive.disks * MB * step_s
        stored = written * machine.compressed_share
        now.written_bytes += stored + machine.neighbour_share * whole
        # A drive that shares its device waits for the device, and counts as busy.
        left = 1 - machine.neighbour_share - machine.hidden_share
        busy = stored / (whole * max(left, 0.05)) + reading_share
        if machine.neighbour_share:
            busy = max(busy, machine.neighbour_share + busy * left)
        now.busy_s += min(1.0, busy) * step_s
        if machine.is_compressed and not machine.compresses_in_caller:
            compressing_ns = written * machine.compress_ns_per_byte * machine.kernel_factor
            now.others_cpu_s += compressing_ns / 1e9
        now.others_cpu_s += min(1.0, machine.competitors_per_cpu) * machine.cpus * step_s
        now.others_cpu_s += 0.02 * step_s
        now.time_s += step_s
        # A drive that reads and writes is busy once.
        last = self.timeline[-1]
        now.busy_s = min(now.busy_s, last.busy_s + now.time_s - last.time_s)
        if now.time_s >= last.time_s + TIMELINE_S:
            self.timeline.append(now.copy())

    def pass_evenly(self, grown: Counters) -> None:
        """Let counters grow evenly, with a row of the timeline per second."""
        begin, steps = self.now.copy(), max(1, math.ceil(grown.time_s / TIMELINE_S))
        for step in range(1, steps + 1):
            share = step / steps
            sums = (
                before + share * more
                for before, more in zip(vars(begin).values(), vars(grown).values(), strict=True)
            )
            self.now = Counters(*sums)
            self.timeline.append(self.now.copy())

    def _work(self, user_ns: float, kernel_ns: float) -> None:
        """Work on a CPU, for which others compete."""
        self.now.user_s += user_ns / 1e9
        self.now.kernel_s += kernel_ns / 1e9
        competitors = self.machine.competitors_per_cpu
        waiting = competitors * self.vary(0.3) if competitors else 0.0
        self.advance((user_ns + kernel_ns) / 1e9 * (1 + waiting))

    def _scan(self, scanned_ms: float) -> None:
        """Wait for the scanner, which works on another CPU."""
        scanned_s = scanned_ms / 1e3 * self.vary(0.15)
        self.now.others_cpu_s += 0.8 * scanned_s
        self.advance(scanned_s)

    def lookup(self) -> Counters:
        """Start grep, which finds a line."""
        machine, before = self.machine, self.now.copy()
        if not self._has_started:
            self._has_started = True
            self.advance(machine.first_start_s * self.vary(0.2))
        factor = self.vary(0.06)
        process_ns = 1e6 * machine.process_ms * factor
        self._work(
            (0.3 * process_ns + 1e6 * machine.grep_ms * factor) * machine.user_factor,
            0.7 * process_ns * machine.kernel_factor,
        )
        self.advance(machine.process_ns / 1e9 * self.vary(0.1))
        if machine.scanner.is_real_time:
            self.now.others_cpu_s += machine.scanner.process_ms / 1e3
        return self.now.since(before)

    def _is_cached(self, file: int) -> bool:
        """Return whether the file is in memory; afterwards it is."""
        was_cached = file in self._cached
        if was_cached:
            del self._cached[file]
        else:
            self._cached_bytes += SIZES_BYTES[file]
        self._cached[file] = None
        while self._cached_bytes > self._room_bytes:
            oldest = next(iter(self._cached))
            del self._cached[oldest]
            self._cached_bytes -= SIZES_BYTES[oldest]
        return was_cached

    def copy(self, file: int, way: str = "", pace_bytes_per_s: float = 0.0) -> Counters:
        """Copy a file to the place: in blocks, or by the way of a trial."""
        machine, now, before = self.machine, self.now, self.now.copy()
        destination, size_bytes = self._destination, SIZES_BYTES[file]
        if way == "unlink":
            destination = "unlink"
        scanner = machine.scanner
        if scanner.scans_place and file not in self._scanned:
            self._scanned.add(file)
            self._scan(scanner.open_ms + scanner.ms_per_mib * size_bytes / MIB)
        if destination == "unlink" or (destination == "overwrite" and machine.drops_rewritten):
            now.dirty_bytes = max(0.0, now.dirty_bytes - size_bytes)
        factor = self.vary()
        in_memory = self._is_cached(file)
        self._work(60e3 * machine.user_factor, 1e3 * machine.file_us * machine.kernel_factor)
        if way == "copy-file" and machine.clones_blocks:
            return now.since(before)
        ns_per_mib = machine.copy_ns_per_mib * machine.kernel_factor * machine.copy_factor
        ns_per_mib += machine.touch_ns_per_mib * machine.new_page_share * machine.kernel_factor
        if machine.is_compressed and machine.compresses_in_caller:
            ns_per_mib += machine.compress_ns_per_byte * MIB * machine.kernel_factor
        for begin in range(0, size_bytes, CHUNK_BYTES):
            chunk = min(CHUNK_BYTES, size_bytes - begin)
            began_s = now.time_s
            if not in_memory:
                self._read(chunk, ns_per_mib * chunk / MIB * factor / 1e9)
            self._work(20e3 * machine.user_factor, ns_per_mib * chunk / MIB * factor)
            self._write(chunk)
            if pace_bytes_per_s:
                self.advance(max(0.0, began_s + chunk / pace_bytes_per_s - now.time_s))
        if scanner.scans_place and way != "excluded":
            self._scan(scanner.close_ms + scanner.ms_per_mib * size_bytes / MIB)
        return now.since(before)

    def _read(self, size_bytes: float, work_s: float) -> None:
        """Read from the drive, ahead of the work."""
        reading_s = size_bytes / (self.machine.read_bytes_per_s * self._speed())
        self.now.read_bytes += size_bytes * self.machine.compressed_share
        self.now.busy_s += min(reading_s, 0.7 * work_s)
        self.advance(max(0.0, reading_s - 0.7 * work_s), reading_share=1.0)

    def _write(self, size_bytes: float) -> None:
        """Write to the cache; wait where too much is unwritten."""
        now, machine = self.now, self.machine
        now.dirty_bytes += size_bytes
        while now.dirty_bytes > machine.threshold_bytes:
            surplus = now.dirty_bytes - machine.threshold_bytes + 1
            self.advance(min(STEP_S, surplus / (machine.write_bytes_per_s * self._speed())))

    def sync(self) -> Counters:
        """Write everything."""
        before, machine = self.now.copy(), self.machine
        while self.now.dirty_bytes > 1:
            rate = machine.write_bytes_per_s * self._speed()
            written = min(self.now.dirty_bytes, rate * STEP_S)
            self.now.dirty_bytes -= written
            self._moved(written / rate, written)
        self.advance(machine.drive.latency_us / 1e6)
        return self.now.since(before)

    def write_file(self, size_bytes: float) -> Counters:
        """Write one large new file, and sync it."""
        self.sync()
        before = self.now.copy()
        work_ns = 0.5 * self.machine.copy_ns_per_mib * self.machine.kernel_factor
        self._work(0, work_ns * size_bytes / MIB)
        self.now.dirty_bytes += size_bytes
        self.sync()
        return self.now.since(before)
