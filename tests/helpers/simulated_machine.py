# SPDX-License-Identifier: MPL-2.0
"""A small physical model of a worker: its parts decide how long each retrieve takes, and why.

A machine has a CPU, disks, a file system, limits, an image and neighbours. `run` does the retrieves of
cache-retrieve on it, one after the other, on a clock that only this module moves:

  work       lookups and copies cost CPU time, in user mode and in the kernel; a faster CPU costs less
  waiting    a quota, competitors and the hypervisor keep a runnable process from its CPU
  writeback  what a copy leaves dirty goes to the disks at their bandwidth, also during lookups; what
             the copy then waits for follows from the destination, the file system and the dirty limit
  reading    a file that is not in the page cache comes from the disks first
  scanning   a scanner holds each copy, without a CPU and without a disk

The truth of a run is the time in each part. Facts that touch no part change no time.
"""

import math
import random
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

MIB = 1024 * 1024
S = 1e9
PARTS = tuple(
    f"{phase}_{kind}"
    for phase in ("lookup", "copy")
    for kind in ("user", "kernel", "waiting", "blocked", "blocked-elsewhere")
)
# At speed 1.
LOOKUP_USER_NS, LOOKUP_KERNEL_NS = 350_000.0, 900_000.0
COPY_USER_NS, COPY_KERNEL_NS = 30_000.0, 60_000.0
COPY_NS_PER_BYTE = 0.2
# What first touching new memory costs.
TOUCH_NS_PER_MIB = 160_000
# The flush of a journal, where a copy waits for one.
JOURNAL_NS = 1_000_000.0
# Writeback takes CPU time, too, for which the kernel competes like a process.
FLUSH_NS_PER_BYTE = 0.15


@dataclass(frozen=True)
class Disk:
    """One disk: what it can do, and how it is named."""

    write_mib_per_s: float = 391.0  # as seed 000 measured one local SSD
    read_mib_per_s: float = 700.0
    write_iops: float = 90_000.0
    model: str = "nvme_card0"
    scheduler: str = "none"
    is_boot_disk: bool = False


@dataclass(frozen=True)
class Storage:
    """The disks under the place, how they are joined, and the file system on them."""

    disks: tuple[Disk, ...] = (Disk(), Disk())
    striped: bool = True
    mirrored: bool = False  # each disk has every byte
    filesystem: str = "ext4"
    flushes_rewritten_files: bool = True  # ext4's auto_da_alloc
    journals_data: bool = False  # data=journal: each byte is written twice
    synchronous: bool = False  # sync: a copy waits until its bytes are on the disk
    harmless_options: tuple[str, ...] = ()

    @property
    def amplification(self) -> int:
        """Return how often each byte is written, also to a journal and to each disk of a mirror."""
        return (2 if self.journals_data else 1) * (len(self.disks) if self.mirrored else 1)

    def bytes_per_s(self, mib_per_s: Sequence[float]) -> float:
        """Return what the disks do together; a linear volume uses one at a time."""
        usable = min(mib_per_s) * (len(mib_per_s) if self.striped else 1)
        return usable * MIB


@dataclass(frozen=True)
class Limits:
    """What cgroups allow; None: no limit."""

    write_bytes_per_s: float | None = None
    write_iops: float | None = None
    read_bytes_per_s: float | None = None
    memory_bytes: float | None = None
    cpus: float | None = None


@dataclass(frozen=True)
class Cpu:
    """A CPU: the speed of all work in it, and of work in the kernel besides."""

    model: str = "AMD EPYC 9B14"
    count: int = 16
    speed: float = 1.0
    stolen_share: float = 0.0  # of the time of a busy virtual CPU


@dataclass(frozen=True)
class Image:
    """The tools of the image: what a lookup costs with its grep."""

    grep_version: str = "3.8"
    lookup_factor: float = 1.0
    process_start_ns: float = 0.0  # beyond the usual, of each lookup


@dataclass(frozen=True)
class Neighbours:
    """What else runs on the machine."""

    runnable_per_cpu: float = 0.0  # competitors of the process for its CPU
    same_disk_write_mib_per_s: float = 0.0
    other_disk_blocked_share: float = 0.0  # blocked on a disk that the place does not use


@dataclass(frozen=True)
class Machine:
    """A worker's machine; the defaults are those of the seed's pool with two disks."""

    cpu: Cpu = field(default_factory=Cpu)
    storage: Storage = field(default_factory=Storage)
    limits: Limits = field(default_factory=Limits)
    image: Image = field(default_factory=Image)
    neighbours: Neighbours = field(default_factory=Neighbours)
    kernel: str = "6.8.0-1024-gcp"
    kernel_factor: float = 1.0  # of the cost of work in the kernel
    copy_factor: float = 1.0  # of the cost of copying in the kernel, beyond that
    user_factor: float = 1.0  # of how much work in user mode there is
    scan_ns: float = 0.0  # for which something that is no disk holds each copy
    memory_gib: int = 64
    dirty_ratio: int = 20
    first_touch_ns_per_mib: float = 0.0  # of a copy's page cache, beyond the usual
    resident_share: float = 0.0  # of the cache, in memory at the start
    slows_down_by: float = 0.0  # of the disks' bandwidth, lost evenly until the last retrieve

    @property
    def write_bytes_per_s(self) -> float:
        """Return the bandwidth that is left for this process's writeback."""
        disks, limits = self.storage.disks, self.limits
        rate = self.storage.bytes_per_s([disk.write_mib_per_s for disk in disks])
        rate -= self.neighbours.same_disk_write_mib_per_s * MIB
        rate = max(rate, 0.05 * self.storage.bytes_per_s([disk.write_mib_per_s for disk in disks]))
        if limits.write_bytes_per_s is not None:
            rate = min(rate, limits.write_bytes_per_s)
        if limits.write_iops is not None:
            rate = min(rate, limits.write_iops * 256 * 1024)
        competitors = self.neighbours.runnable_per_cpu
        rate = min(rate, S / (FLUSH_NS_PER_BYTE * (1 + competitors) / self.cpu.speed))
        return rate / (2 if self.storage.journals_data else 1)

    @property
    def read_bytes_per_s(self) -> float:
        rate = self.storage.bytes_per_s([disk.read_mib_per_s for disk in self.storage.disks])
        return min(rate, self.limits.read_bytes_per_s or rate)

    @property
    def page_cache_bytes(self) -> float:
        memory = self.memory_gib * 1024 * MIB
        return 0.9 * min(memory, self.limits.memory_bytes or memory)

    @property
    def dirty_limit_bytes(self) -> float:
        return self.page_cache_bytes * self.dirty_ratio / 100

    @property
    def waiting_per_cpu_ns(self) -> float:
        """Return how long the process waits for a CPU, per nanosecond on one."""
        competitors = self.neighbours.runnable_per_cpu
        quota = self.limits.cpus
        throttled = max(0.0, 1 / quota - 1) if quota is not None else 0.0
        return competitors + throttled

    @property
    def stolen_per_cpu_ns(self) -> float:
        return self.cpu.stolen_share / (1 - self.cpu.stolen_share)


@dataclass
class Run:
    """What a run did: each retrieve's parts in nanoseconds, and what the disks did meanwhile."""

    file_index: list[int]
    parts: dict[str, list[float]]
    stolen_ns: list[float] = field(default_factory=list)
    read_bytes: list[float] = field(default_factory=list)
    written_bytes: list[float] = field(default_factory=list)
    final_sync_ns: float = 0.0
    final_sync_bytes: float = 0.0

    def mean_ns(self, part: str) -> float:
        return sum(self.parts[part]) / len(self.file_index)

    @property
    def total_ns(self) -> list[float]:
        return [sum(row) for row in zip(*self.parts.values(), strict=True)]


class _PageCache:
    """Which files are in memory: the least recently used leave first."""

    def __init__(self, room_bytes: float) -> None:
        self._room_bytes = room_bytes
        self._files: OrderedDict[int, int] = OrderedDict()

    def holds(self, index: int, size_bytes: int) -> bool:
        """Return whether the file is there; afterwards it is."""
        known = index in self._files
        self._files[index] = size_bytes
        self._files.move_to_end(index)
        while sum(self._files.values()) > self._room_bytes and len(self._files) > 1:
            self._files.popitem(last=False)
        return known


class Writeback:
    """Dirty bytes on their way to the disks."""

    def __init__(self, machine: Machine, destination: str) -> None:
        self._machine = machine
        storage = machine.storage
        self._waits_for_the_last = destination == "overwrite" and storage.flushes_rewritten_files
        self._drops_the_last = destination == "unlink" or (
            destination == "overwrite" and not storage.flushes_rewritten_files
        )
        self._pending = 0.0
        self.written = 0.0
        self.bytes_per_s = machine.write_bytes_per_s

    @property
    def pending_bytes(self) -> float:
        return self._pending

    def pass_time(self, time_ns: float) -> None:
        """Let the disks write while the process does something else.

        Without a flush nothing is written before the background limit is reached.
        """
        background = 0.0 if self._waits_for_the_last else self._machine.dirty_limit_bytes / 2
        self._write(min(self.bytes_per_s * time_ns / S, max(0.0, self._pending - background)))

    def copy(self, size_bytes: int) -> float:
        """Take a copy's bytes; return how long it is blocked by those before, or by its own."""
        blocked_ns = 0.0
        if self._drops_the_last:
            self.drop()
        elif self._waits_for_the_last:
            blocked_ns += self._wait_until(0.0)
        self._pending += size_bytes
        limit = self._machine.dirty_limit_bytes
        if self._machine.storage.synchronous:
            return blocked_ns + self._wait_until(0.0) + JOURNAL_NS
        return blocked_ns + self._wait_until(limit)

    def drop(self) -> None:
        """Forget the dirty bytes of a file that was removed."""
        self._pending = 0.0

    def drain(self) -> float:
        return self._wait_until(0.0)

    def _wait_until(self, left_bytes: float) -> float:
        surplus = max(0.0, self._pending - left_bytes)
        self._write(surplus)
        return surplus / self.bytes_per_s * S

    def _write(self, size_bytes: float) -> None:
        self._pending -= size_bytes
        self.written += size_bytes * (2 if self._machine.storage.journals_data else 1)


def run(
    machine: Machine,
    sequence: Sequence[int],
    sizes_bytes: Sequence[int],
    *,
    destination: str = "overwrite",
    generator: random.Random,
    noise: float = 0.05,
) -> Run:
    """Do the retrieves; `noise` is the standard deviation of each part's logarithm."""
    machine = replace(machine, storage=with_limits_of_copies(machine.storage))
    cache = _PageCache(machine.page_cache_bytes)
    for index in range(round(len(sizes_bytes) * machine.resident_share)):
        cache.holds(index, sizes_bytes[index])
    writeback = Writeback(machine, destination)
    full_rate = writeback.bytes_per_s
    done = Run([], {part: [] for part in PARTS})

    def vary() -> float:
        return math.exp(noise * generator.gauss(0, 1))

    for at, index in enumerate(sequence):
        writeback.bytes_per_s = full_rate * (1 - machine.slows_down_by * at / len(sequence))
        size, written_before = sizes_bytes[index], writeback.written
        row = dict.fromkeys(PARTS, 0.0)
        row |= dict(zip(PARTS, lookup(machine, vary()), strict=False))
        writeback.pass_time(sum(row.values()))
        read = 0 if cache.holds(index, size) else size
        reading_ns = read / machine.read_bytes_per_s * S
        user, kernel, waiting, stolen = copy_work(machine, size, vary())
        # While the process works, so do the disks; the first bytes need the last file's place.
        scanned = machine.scan_ns
        writeback.pass_time(scanned)
        blocked = writeback.copy(size) * vary()
        writeback.pass_time(user + kernel + waiting + reading_ns)
        row |= {"copy_user": user, "copy_kernel": kernel, "copy_waiting": waiting}
        row["copy_blocked"] = blocked + reading_ns
        row["copy_blocked-elsewhere"] = scanned
        done.stolen_ns.append(stolen + _stolen(machine, row["lookup_user"] + row["lookup_kernel"]))
        done.read_bytes.append(read)
        done.written_bytes.append(writeback.written - written_before)
        done.file_index.append(index)
        for part in PARTS:
            done.parts[part].append(row[part])
    done.final_sync_bytes = writeback.pending_bytes
    done.final_sync_ns = writeback.drain() + JOURNAL_NS
    return done


def with_limits_of_copies(storage: Storage) -> Storage:
    """Only ext4 flushes a file that was truncated and rewritten."""
    flushes = storage.flushes_rewritten_files and storage.filesystem == "ext4"
    return replace(storage, flushes_rewritten_files=flushes)


def lookup(machine: Machine, factor: float) -> tuple[float, float, float, float]:
    """Return a lookup's parts: user, kernel, waiting, blocked."""
    image, speed = machine.image, machine.cpu.speed
    user = LOOKUP_USER_NS * machine.user_factor * image.lookup_factor * factor / speed
    kernel = (LOOKUP_KERNEL_NS + image.process_start_ns) * machine.kernel_factor * factor / speed
    waiting = (user + kernel) * machine.waiting_per_cpu_ns + _stolen(machine, user + kernel)
    return user, kernel, waiting, 0.0


def copy_work(
    machine: Machine, size_bytes: int, factor: float
) -> tuple[float, float, float, float]:
    """Return a copy's work: user, kernel, waiting, and how much of the waiting was stolen."""
    speed = machine.cpu.speed
    touching = machine.first_touch_ns_per_mib * size_bytes / MIB
    copying = COPY_NS_PER_BYTE * machine.copy_factor * size_bytes
    kernel = (COPY_KERNEL_NS + copying) * machine.kernel_factor / speed
    kernel = (kernel + touching) * factor
    user = COPY_USER_NS * machine.user_factor * factor / speed
    stolen = _stolen(machine, user + kernel)
    return user, kernel, (user + kernel) * machine.waiting_per_cpu_ns + stolen, stolen


def _stolen(machine: Machine, cpu_ns: float) -> float:
    return cpu_ns * machine.stolen_per_cpu_ns
