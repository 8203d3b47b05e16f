# SPDX-License-Identifier: MPL-2.0
"""Entries of the workloads besides cache-retrieve, by what a simulated Windows machine can do."""

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import workload_entries
from seed_case import outcome
from windows_machine import MB, MIB, Counters, WindowsClock, WindowsMachine

TICK_NS, MANY_TICKS = 15_625_000, 30
UNPACKED_FILES, UNPACKED_BYTES = 2406, 70 * MIB
# ns per byte of decompression in user mode.
ARCHIVES = {"warm-zip": 4.0, "warm-tar-gz": 4.5, "warm-tar-xz": 14.0}
FILES_PER_FOLDER = 24
BLOCK_BYTES = 4096
_RECORDED = {
    (kind.workload, kind.variant, kind.threads): kind
    for kind in workload_entries.KINDS
    if kind.threads in (None, 1, 4)
}
Entry = dict[str, Any]


class Cost(NamedTuple):
    """What one operation takes: on a CPU, and waiting for anything else."""

    user_ns: float = 0.0
    kernel_ns: float = 0.0
    held_ns: float = 0.0
    read_bytes: float = 0.0
    written_bytes: float = 0.0
    others_ns: float = 0.0  # of CPU time, by another process
    busy_ns: float = 0.0  # of the drive
    took_ns: float = 0.0  # of one operation, where several are in flight; 0: the sum of the above
    at_once: float = 1.0  # how many processes or threads work; CPU times are those of all


class Batch(NamedTuple):
    """A measurement: its operations and samples, and the cost of one operation."""

    workload: str
    variant: str
    cost: Cost
    operations: int
    samples: int
    threads: int | None = None
    window_ns: int | None = None


def _kernel_ns(machine: WindowsMachine, microseconds: float) -> float:
    return 1e3 * microseconds * machine.kernel_factor


def _created_us(machine: WindowsMachine, files_in_folder: int) -> float:
    """Return what a new file takes in the kernel: the file, and its short name."""
    took_us = machine.file_us * machine.filesystem_factor
    if machine.short_names:
        took_us += machine.short_name_us
        took_us += machine.short_name_us_per_thousand * files_in_folder / 1000
    return took_us


def _unpack(machine: WindowsMachine, variant: str) -> Cost:
    size_bytes = UNPACKED_BYTES / UNPACKED_FILES
    user_ns = 25e3 * machine.user_factor
    user_ns += ARCHIVES.get(variant, 0.0) * size_bytes * machine.user_factor
    per_mib_ns = machine.copy_ns_per_mib * machine.copy_factor * machine.kernel_factor
    kernel_ns = _kernel_ns(machine, _created_us(machine, FILES_PER_FOLDER))
    kernel_ns += per_mib_ns * size_bytes / MIB
    if machine.is_compressed and machine.compresses_in_caller:
        kernel_ns += machine.compress_ns_per_byte * size_bytes * machine.kernel_factor
    held_ns = others_ns = read_bytes = busy_ns = 0.0
    if machine.scanner.scans_place:
        scanned_ms = machine.scanner.close_ms + machine.scanner.ms_per_mib * size_bytes / MIB
        held_ns, others_ns = 1e6 * scanned_ms, 0.8e6 * scanned_ms
    if variant.startswith("cold"):
        reading_ns = 1e9 * size_bytes / machine.read_bytes_per_s
        read_bytes, busy_ns = size_bytes, reading_ns
        held_ns += max(0.0, reading_ns - 0.7 * (user_ns + kernel_ns))
    written_bytes = size_bytes * machine.compressed_share / 3  # the lazy writer's part
    if variant.endswith("-sync"):
        flushing_ns = 2e3 * _latency_us(machine) * machine.filesystem_factor
        flushing_ns += 1e9 * size_bytes / machine.write_bytes_per_s
        written_bytes = size_bytes * machine.compressed_share
        held_ns, busy_ns = held_ns + flushing_ns, busy_ns + flushing_ns
    return Cost(user_ns, kernel_ns, held_ns, read_bytes, written_bytes, others_ns, busy_ns)


def _latency_us(machine: WindowsMachine) -> float:
    """Return how long the drive takes for one small request, among those of others."""
    left = 1 - machine.neighbour_share - machine.hidden_share
    return machine.drive.latency_us / max(left, 0.05)


def _sync_write(machine: WindowsMachine, variant: str) -> Cost:
    requests = {"dsync-overwrite": 1.0, "dsync-append": 2.1, "append-fsync": 2.2}[variant]
    held_ns = 1e3 * _latency_us(machine) * requests
    return Cost(
        8e3 * machine.user_factor,
        _kernel_ns(machine, 25.0),
        held_ns,
        written_bytes=BLOCK_BYTES * requests,
        busy_ns=held_ns,
    )


def _random_io(machine: WindowsMachine, variant: str) -> Cost:
    operation, _, depth = variant.partition("-depth-")
    drive = machine.drive
    iops = (drive.read_iops if operation == "read" else drive.write_iops) * drive.disks
    iops *= max(0.05, 1 - machine.neighbour_share - machine.hidden_share)
    user_ns, kernel_ns = 6e3 * machine.user_factor, _kernel_ns(machine, 18.0)
    # Its threads wait for CPUs and disk at the same time, each with one operation.
    crowded_ns = (user_ns + kernel_ns) * (1 + machine.competitors_per_cpu)
    took_ns = max((1e3 * drive.latency_us + crowded_ns) / int(depth), 1e9 / iops)
    cost = Cost(user_ns, kernel_ns, busy_ns=took_ns, took_ns=took_ns, at_once=float(depth))
    if operation == "read":
        return cost._replace(read_bytes=BLOCK_BYTES)
    return cost._replace(written_bytes=BLOCK_BYTES)


def _metadata(machine: WindowsMachine, variant: str, threads: int) -> Cost:
    user_ns, kernel_us = 3e3 * machine.user_factor, machine.name_us * machine.filesystem_factor
    held_ns = 0.0
    if variant == "create-rename-unlink":
        created_us = _created_us(machine, 1)
        kernel_us = (2 * created_us + 90 * machine.filesystem_factor) / 3
        if machine.scanner.scans_place:
            held_ns = 1e6 * 0.3 * machine.scanner.close_ms / 3
    kernel_ns = _kernel_ns(machine, kernel_us)
    work_ns = (user_ns + kernel_ns) * (1 + machine.competitors_per_cpu) + held_ns
    took_ns = work_ns / min(threads, machine.cpus) ** 0.92
    return Cost(user_ns, kernel_ns, held_ns, took_ns=took_ns, at_once=float(threads))


def _spawn(machine: WindowsMachine) -> Cost:
    process_ns = 1e6 * machine.process_ms
    scanned_ns = 1e6 * machine.scanner.process_ms if machine.scanner.is_real_time else 0.0
    return Cost(
        0.3 * process_ns * machine.user_factor,
        0.7 * process_ns * machine.kernel_factor,
        machine.process_ns,
        others_ns=scanned_ns,
    )


def batches(machine: WindowsMachine, names: Sequence[str]) -> Iterator[Batch]:
    """Return the measurements of these workloads, with as much work as a worker does.

    It is in fewer samples than a worker's.
    """
    if "random-io" in names:
        for variant in ("read-depth-1", "write-depth-1", "read-depth-32", "write-depth-32"):
            cost = _random_io(machine, variant)
            yield Batch("random-io", variant, cost, 1, 30, window_ns=500_000_000)
    if "spawn" in names:
        yield Batch("spawn", "create-process", _spawn(machine), 5, 100)
    if "sync-write" in names:
        for variant in ("dsync-overwrite", "dsync-append", "append-fsync"):
            yield Batch("sync-write", variant, _sync_write(machine, variant), 100, 100)
    if "metadata" in names:
        for variant in ("stat", "create-rename-unlink"):
            for threads in (1, 4):
                cost = _metadata(machine, variant, threads)
                yield Batch("metadata", variant, cost, 1, 60, threads, 50_000_000)
    if "unpack" in names:
        for variant in ("cold", "cold-sync", "warm", "warm-sync", "warm-zip", "warm-tar-xz"):
            yield Batch("unpack", variant, _unpack(machine, variant), UNPACKED_FILES, 24)


def measure(
    clock: WindowsClock,
    machine: WindowsMachine,
    dice: random.Random,
    names: Sequence[str],
    work_share: float = 1.0,
) -> list[Entry]:
    """Run the workloads one after another on a machine; its clock's counters go on."""
    return [
        _entry(_shortened(batch, work_share), clock, machine, dice)
        for batch in batches(machine, names)
    ]


def _shortened(batch: Batch, work_share: float) -> Batch:
    window_ns = batch.window_ns and round(work_share * batch.window_ns)
    if batch.workload == "unpack":
        return batch._replace(samples=max(4, round(work_share * batch.samples)))
    operations = max(1, round(work_share * batch.operations))
    return batch._replace(operations=operations, window_ns=window_ns)


def _entry(
    batch: Batch, clock: WindowsClock, machine: WindowsMachine, dice: random.Random
) -> Entry:
    starts, durations, operations = [], [], []
    cost, wave = batch.cost, 0.0
    crowded = 1 + machine.competitors_per_cpu
    work_ns = (cost.user_ns + cost.kernel_ns) * crowded + cost.held_ns
    operation_ns = cost.took_ns or work_ns
    began = clock.now.copy()
    now_ns = 1e9 * clock.now.time_s
    for _ in range(batch.samples):
        wave = 0.7 * wave + 0.02 * dice.gauss(0, 1)
        noise = max(0.2, 1 + wave + 0.02 * dice.gauss(0, 1))
        done, took_ns = batch.operations, operation_ns * noise * batch.operations
        if batch.window_ns:
            done = max(1, round(batch.window_ns / (operation_ns * noise)))
            took_ns = float(batch.window_ns)
        starts.append(round(now_ns))
        durations.append(max(1, round(took_ns)))
        operations.append(done)
        now_ns += durations[-1] + 2000
    _pass(clock, machine, cost, sum(operations), (now_ns - 1e9 * began.time_s) / 1e9)
    moved = clock.now.since(began)
    kind = _recorded(batch)
    return {
        "name": batch.workload,
        "place": "workspace",
        "variant": batch.variant,
        "threads": batch.threads,
        "parameters": _parameters(batch, kind),
        "observed": _observed(batch, kind),
        "run_ns": round(1e9 * moved.time_s),
        "device_bytes": _device_bytes(machine, moved),
        "process_times": _process_times(batch, durations, operations, dice),
        "samples": {"start_ns": starts, "duration_ns": durations, "operations": operations},
        "outcome": outcome(),
    }


def _recorded(batch: Batch) -> workload_entries.Kind:
    variant = {"create-process": "posix-spawn"}.get(batch.variant, batch.variant)
    variant = "warm" if variant in ARCHIVES else variant
    return _RECORDED[batch.workload, variant, batch.threads]


def _parameters(batch: Batch, kind: workload_entries.Kind) -> Entry:
    changes = {"samples_planned": batch.samples}
    if batch.window_ns:
        changes["window_ns"] = batch.window_ns
    return kind.recorded("parameters", {**kind.parameters, **changes})


def _observed(batch: Batch, kind: workload_entries.Kind) -> Entry:
    seen = kind.recorded("observed", kind.observed)
    if batch.workload == "spawn":
        seen |= {"program": "cmd.exe /d /c exit", "method": "CreateProcessW"}
    if batch.workload == "random-io":
        seen |= {"method": "python, FILE_FLAG_NO_BUFFERING"}
    if batch.workload == "unpack":
        is_synced = batch.variant.endswith("-sync")
        sync_ns = batch.samples * UNPACKED_FILES * batch.cost.held_ns if is_synced else None
        seen |= {"resident_bytes": None, "unpacked_bytes": batch.samples * UNPACKED_BYTES}
        seen |= {"sync_ns": sync_ns and round(sync_ns)}
    return seen


def _pass(
    clock: WindowsClock, machine: WindowsMachine, cost: Cost, operations: int, lasted_s: float
) -> None:
    """Let the counters grow evenly while the samples are taken, with a row per second."""
    others_bytes = machine.neighbour_share * machine.drive.write_mb_per_s * machine.drive.disks * MB
    threads_s = operations / 1e9
    grown = Counters(
        time_s=lasted_s,
        written_bytes=cost.written_bytes * operations + others_bytes * lasted_s,
        read_bytes=cost.read_bytes * operations,
        busy_s=min(lasted_s, cost.busy_ns * threads_s + machine.neighbour_share * lasted_s),
        user_s=cost.user_ns * threads_s,
        kernel_s=cost.kernel_ns * threads_s,
        others_cpu_s=cost.others_ns * threads_s
        + (min(1.0, machine.competitors_per_cpu) * machine.cpus + 0.02) * lasted_s,
    )
    clock.pass_evenly(grown)


def _device_bytes(machine: WindowsMachine, moved: Counters) -> Entry | None:
    if not machine.has_counters:
        return {}
    return {
        "PhysicalDrive1": {"read": round(moved.read_bytes), "written": round(moved.written_bytes)}
    }


def ticks_ns(spent_ns: float, passed_ns: float, dice: random.Random) -> int:
    """Return a CPU time as Windows counts it: by whom each tick finds running."""
    ticks, share = passed_ns / TICK_NS, min(1.0, spent_ns / max(1.0, passed_ns))
    whole = int(ticks) + (dice.random() < ticks % 1)
    if whole > MANY_TICKS:
        deviation = math.sqrt(whole * share * (1 - share))
        found = round(max(0.0, whole * share + deviation * dice.gauss(0, 1)))
    else:
        found = sum(dice.random() < share for _ in range(whole))
    return found * TICK_NS


def _process_times(
    batch: Batch, durations: Sequence[int], operations: Sequence[int], dice: random.Random
) -> Entry:
    work, wall_ns = sum(operations), sum(durations) * batch.cost.at_once
    return {
        "wall_ns": round(wall_ns),
        "user_ns": ticks_ns(batch.cost.user_ns * work, wall_ns, dice),
        "kernel_ns": ticks_ns(batch.cost.kernel_ns * work, wall_ns, dice),
        "waiting_ns": None,
    }
