# SPDX-License-Identifier: MPL-2.0
"""Changes of the documents of seed 000's case: facts of one side, by path."""

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import seed_case
from tried_workers import trials

MS, MIB = 1_000_000, 1024 * 1024
PLACE, ENTRY, COLUMNS = "storage.places.0", "workloads.0", "timeline.columns"
WRITTEN = "timeline.devices.nvme1n1.written_bytes"
COPIED_BYTES = sum(seed_case.SIZES_MIB[index] for index in seed_case.sequence()) * MIB
# What the slower side's disk writes per second.
RATE = 388 * MIB
BUSY_MS = "timeline.devices.{}.busy_ms"
Facts = dict[str, Any]


def changing(change: Callable[[int], float]) -> Callable[[list[int]], list[int]]:
    """Change every number of a column."""
    return lambda column: [round(change(number)) for number in column]


def counting(per_s: float) -> Callable[[list[int]], list[int]]:
    """A counter of the timeline, which has a sample per second."""
    return lambda column: [round(per_s * row) for row in range(len(column))]


# The slower side's disk writes half as much as usual, and is idle for a fifth of the time.
HALF_RATE: Facts = {
    WRITTEN: counting(RATE / 2),
    BUSY_MS.format("nvme1n1"): changing(lambda ms: 0.8 * ms),
}


def busy_disk(share: float, name: str = "nvme1n1") -> Facts:
    """The disk is busy for this share of the time that it was."""
    return {BUSY_MS.format(name): changing(lambda ms: share * ms)}


def both_disks(factor: float) -> Facts:
    """Both disks of amd-30 write this many times as much."""
    return {
        f"timeline.devices.{disk}.written_bytes": changing(lambda moved: factor * moved)
        for disk in ("nvme1n1", "nvme2n1")
    }


def idle_writes(mib_per_s: float) -> Facts:
    """Trials in which idle disks wrote a file at this rate."""
    return {f"{ENTRY}.trials": trials({}, ceilings=[mib_per_s])}


def longer_first_reads(ms_per_mib: float) -> Facts:
    """Files that take longer when they are copied for the first time."""
    numbers = dict(reversed([(file, at) for at, file in enumerate(seed_case.sequence())]))

    def read(column: list[int]) -> list[int]:
        firsts = set(numbers.values())
        sizes = [seed_case.SIZES_MIB[file] for file in seed_case.sequence()]
        return [
            ns + round(ms_per_mib * MS * size) if at in firsts else ns
            for at, (ns, size) in enumerate(zip(column, sizes, strict=True))
        ]

    return {f"{ENTRY}.samples.copy_ns": read}


def slower_lookups(more_ms: float) -> Facts:
    return {f"{ENTRY}.samples.lookup_ns": changing(lambda ns: ns + more_ms * MS)}


def taking(time_ms: float) -> Facts:
    """Retrieves of the slower side that take this long on average."""
    return {f"{ENTRY}.samples.copy_ns": changing(lambda ns: ns * (time_ms - 1.35) / (145.7 - 1.35))}


def last_third(factor: float) -> Facts:
    def slow_down(column: list[int]) -> list[int]:
        fast = 2 * len(column) // 3
        return column[:fast] + changing(lambda ns: ns * factor)(column[fast:])

    return {f"{ENTRY}.samples.copy_ns": slow_down}


def slow_for_a_while(factor: float) -> Facts:
    def slow_down(column: list[int]) -> list[int]:
        begin, end = 3 * len(column) // 5, 4 * len(column) // 5
        slow = changing(lambda ns: ns * factor)(column[begin:end])
        return [*column[:begin], *slow, *column[end:]]

    return {f"{ENTRY}.samples.copy_ns": slow_down}


def falling(share: float) -> Facts:
    """Copies take longer at the end; the disk writes this share of its rate, and then little."""

    def column(moved: list[int]) -> list[int]:
        rates = [RATE * (share if 2 * row < len(moved) else 0.2) for row in range(len(moved))]
        return [round(total) for total in accumulate(rates)]

    return last_third(1.6) | waiting_for_io(1) | {WRITTEN: column}


def first(count: int) -> Facts:
    """Only the first retrieves."""

    def shortened(columns: dict[str, Any]) -> dict[str, Any]:
        return {name: column and column[:count] for name, column in columns.items()}

    return {f"{ENTRY}.samples": shortened}


def spent(**times_ms: float) -> Facts:
    """What processes did in each retrieve, in ms; the rest of it was blocked."""
    kinds = ("user", "kernel", "waiting")
    names = [f"{phase}_{kind}" for phase in ("lookup", "copy") for kind in kinds]
    columns = {name: [round(times_ms.get(name, 0.0) * MS)] * seed_case.RETRIEVES for name in names}
    return {f"{ENTRY}.samples.{name}_ns": column for name, column in columns.items()}


def more_cpu_time(factor: float) -> Facts:
    """CPU time of the measuring process."""
    names = ("user", "system")
    return {f"{COLUMNS}.own_{name}_ms": changing(lambda ms: factor * ms) for name in names}


def waiting_for_io(share: float) -> Facts:
    return {f"{COLUMNS}.psi_io_some_us": counting(share * 1e6)}


def pressed(share: float) -> Facts:
    return {f"{COLUMNS}.psi_memory_some_us": counting(share * 1e6)}


def stolen(ms_per_s: float) -> Facts:
    return {f"{COLUMNS}.cpu_steal_ms": counting(ms_per_s)}


def written(share: float) -> Facts:
    """One disk wrote this part of the bytes copied, and read nothing."""
    moved = {"nvme1n1": {"read": 0, "written": round(share * COPIED_BYTES)}}
    return {f"{ENTRY}.device_bytes": moved}


def fixed_work(user: float, copying: float, calling: float) -> Facts:
    """Three bursts of each fixed work, which take this many milliseconds."""
    works = {"user": user, "kernel-copy": copying, "kernel-calls": calling}
    return {
        "host.fixed_work": [
            {"work": work, "start_ns": 0, "duration_ns": round(ms * MS), "operations": 1000}
            | {"user_ns": 0, "kernel_ns": 0, "waiting_ns": 0}
            for work, ms in works.items()
            for _ in range(3)
        ]
    }


def times_written(factor: float) -> Facts:
    """Each disk read nothing, and wrote so many times as much."""

    def change(moved: Any) -> Any:
        return {
            name: {"read": 0, "written": round(factor * disk["written"])}
            for name, disk in moved.items()
        }

    return {f"{ENTRY}.device_bytes": change}


def held_for(windows: int, then_mib_per_s: int = 100) -> Facts:
    """The disk writes at a limit of 200 MiB/s in the first windows of the measurement."""
    first_window = 18  # the rows before it are of the cache's making

    def column(before: list[int]) -> list[int]:
        is_held = [row < first_window + windows for row in range(len(before))]
        return list(accumulate((200 if held else then_mib_per_s) * MIB for held in is_held))

    return {WRITTEN: column} | io_limit(200 * MIB)


def io_limit(
    value: float,
    device: str = "259:0",
    name: str | None = "nvme1n1",
    kind: str = "write_bytes_per_s",
) -> Facts:
    group = {"group": "/sys/fs/cgroup", "device": device, "device_name": name}
    return {"limits.io": [{**group, "kind": kind, "value": round(value)}]}


def operations_limit(value: float, device: str = "259:0", name: str | None = "nvme1n1") -> Facts:
    return io_limit(value, device, name, "write_operations_per_s")


def memory_limit(mib: float) -> Facts:
    limit = {"group": "/sys/fs/cgroup", "file": "memory.max", "bytes": round(mib * MIB)}
    return {"limits.memory": [limit]}


def cpu_limit(cpus: float) -> Facts:
    quota = {"group": "/sys/fs/cgroup", "quota_us": round(cpus * 100_000), "period_us": 100_000}
    return {"limits.cpu": [quota]}


def touching(us_per_mib: float) -> Facts:
    return {"host.first_touch_ns_per_mib": [round(us_per_mib * 1000)] * 8}


def free_memory(mib: float) -> Facts:
    return {"host.memory_available_bytes": round(mib * MIB)}


def filesystem(name: str) -> Facts:
    return {f"{PLACE}.mount.filesystem": name, f"{PLACE}.filesystem.type": name}


def options(text: str) -> Facts:
    """All mount options."""
    return {f"{PLACE}.mount.super_options": text, f"{PLACE}.filesystem.ext4_options": None}


def further_option(name: str) -> Facts:
    return {f"{PLACE}.mount.super_options": lambda before: f"{before},{name}"}


def scheduler(name: str | None, disk: int = 1, **settings: int) -> Facts:
    path = f"{PLACE}.devices.{disk}.scheduler"
    return {path: name, f"{path}_settings": settings}
