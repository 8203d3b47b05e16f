# SPDX-License-Identifier: MPL-2.0
"""The result files that Windows workers of simulated machines write.

Facts, times and counters come from one machine, so a fact never differs without its effect, and a
time never without its cause. Windows counts CPU time in ticks, and no time waiting for a CPU.
"""

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import seed_case
import windows_workloads
from seed_facts import ENTRY, PLACE, Facts
from windows_facts import windows_host, windows_place
from windows_machine import GIB, MIB, SIZES_BYTES, Counters, WindowsClock, WindowsMachine

Document = dict[str, Any]
DISK = "PhysicalDrive1"
LETTERS_GUID = r"\\?\Volume{3f1a7d0c-0000-0000-0000-100000000000}\\"
BURST_S, OPERATIONS_PER_S = 0.05, 20_000
TRIAL_FILES, TRIAL_ROUNDS, REFILLS, CEILINGS, CEILING_S = 8, 3, 2, 3, 1.3


@dataclass(frozen=True)
class WindowsPool:
    """Some workers of one kind."""

    name: str
    machine: WindowsMachine
    workers: int = 4
    between: float = 0.03  # how much equal machines differ


@dataclass(frozen=True)
class Measuring:
    """What every worker of a push measures."""

    destination: str = "overwrite"
    retrieves: int = 120
    workloads: tuple[str, ...] = ()
    has_trials: bool = False
    bursts: int = 10  # of each fixed work; a short run has fewer
    work_share: float = 1.0  # of the other workloads' usual work; a short run does less
    unknown: tuple[str, ...] = ()  # what the workers could not read, by its path in the document
    knows_dirty: bool = True  # the workers' program was told of unwritten data


def measure(pools: Sequence[WindowsPool], seed: int, how: Measuring) -> dict[str, list[Document]]:
    """Run the benchmark on every worker of these pools."""
    return {
        pool.name: [measure_one(pool, number, seed, how) for number in range(pool.workers)]
        for pool in pools
    }


def measure_one(pool: WindowsPool, number: int, seed: int, how: Measuring) -> Document:
    dice = random.Random(f"{seed}/{pool.name}/{number}")
    machine = _vary(pool.machine, pool.between, dice)
    clock = WindowsClock(machine, dice, how.destination)
    rows = [
        (file, clock.lookup(), clock.copy(file)) for file in seed_case.sequence()[: how.retrieves]
    ]
    run = clock.now.since(clock.timeline[0])
    final_sync = clock.sync()
    facts: Facts = {
        "task.pool": pool.name,
        "task.task_id": seed_case.task_id_of(pool.name, number),
        "task.instance_type": machine.vm_size,
        "task.location": {"cloud": "azure", "region": machine.zone[:-2], "zone": machine.zone},
        "config.environment": {"IO_BENCHMARK_REPLICATES": str(pool.workers)},
        "config.workloads": ["cache-retrieve", *how.workloads],
        "config.retrieves": how.retrieves,
        "config.destinations": [how.destination],
        f"{ENTRY}.destination": how.destination,
        f"{ENTRY}.retrieves_planned": how.retrieves,
    }
    facts |= _host(machine, how, dice) | _place(machine) | _totals(machine, run, final_sync, how)
    facts |= {f"limits.{name}": [] for name in ("cgroup_versions", "io", "memory", "cpu")}
    facts["limits.groups"] = {}
    (document,) = seed_case.documents(1, pools=["intel"], change={"intel": facts})
    document["sharing_violations"] = 0
    (entry,) = document["workloads"]
    entry["samples"] = _samples(rows, dice)
    entry["trials"] = _trials(clock, machine) if how.has_trials else None
    document["workloads"] += windows_workloads.measure(
        clock, machine, dice, how.workloads, how.work_share
    )
    document["duration_ns"] = _ns(clock.now.time_s)
    document["timeline"] = _timeline(machine, [*clock.timeline, clock.now], how)
    for path in how.unknown:
        seed_case._replace(document, path, None)
    return document


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _vary(machine: WindowsMachine, between: float, dice: random.Random) -> WindowsMachine:
    """Equal machines are not quite equal: each has its own drive, CPU and memory."""
    drive, cpu, memory = (
        math.exp(deviation * dice.gauss(0, 1)) for deviation in (between, between, between / 2)
    )
    return replace(
        machine,
        drive=machine.drive.divided(drive),
        user_factor=machine.user_factor * cpu,
        kernel_factor=machine.kernel_factor * cpu,
        copy_factor=machine.copy_factor * memory,
    )


def _samples(
    rows: Sequence[tuple[int, Counters, Counters]], dice: random.Random
) -> Mapping[str, list[int] | None]:
    columns: dict[str, Any] = defaultdict(list)
    columns["file_index"] = [file for file, *_ in rows]
    for _, *phases in rows:
        for name, phase in zip(("lookup", "copy"), phases, strict=True):
            columns[f"{name}_ns"].append(_ns(phase.time_s))
            for mode, spent_s in (("user", phase.user_s), ("kernel", phase.kernel_s)):
                ticks_ns = windows_workloads.ticks_ns(1e9 * spent_s, 1e9 * phase.time_s, dice)
                columns[f"{name}_{mode}_ns"].append(ticks_ns)
    totals = map(sum, zip(columns["lookup_ns"], columns["copy_ns"], strict=True))
    columns["start_ns"] = [*itertools.accumulate(totals, initial=_ns(20))][:-1]
    return columns | dict.fromkeys(["lookup_waiting_ns", "copy_waiting_ns"])


def _trials(clock: WindowsClock, machine: WindowsMachine) -> dict[str, Any]:
    """Return an entry's trials: some retrieves again, with one thing changed."""
    start_s = clock.now.time_s
    by_size = sorted(range(len(SIZES_BYTES)), key=SIZES_BYTES.__getitem__)
    files = [by_size[at * len(by_size) // TRIAL_FILES] for at in range(TRIAL_FILES)]
    for file in files:
        clock.copy(file)  # so that no block reads it first
    size_bytes = round(CEILING_S * machine.write_bytes_per_s) // MIB * MIB
    ceilings = [
        {"written_bytes": size_bytes, "duration_ns": _ns(clock.write_file(size_bytes).time_s)}
        for _ in range(CEILINGS)
    ]
    kinds = ["normal", "lookup", "unlink", "copy-file"]
    if machine.scanner.is_shown and machine.scanner.excludes_place is not None:
        kinds.append("excluded")
    blocks = []
    for kind in (kind for at in range(TRIAL_ROUNDS) for kind in kinds[at:] + kinds[:at]):
        for file in files[:REFILLS]:
            clock.copy(file)
        lookup_ns, copy_ns = [], []
        for file in files:
            lookup_ns.append(2000 if kind == "lookup" else _ns(clock.lookup().time_s))
            copy_ns.append(_ns(clock.copy(file, kind).time_s))
        blocks.append({"trial": kind, "lookup_ns": lookup_ns, "copy_ns": copy_ns})
    clock.sync()
    return {
        "state": "completed",
        "reason": "memory: Windows has no files in memory",
        "pace_bytes_per_s": None,
        "file_indexes": files,
        "duration_ns": _ns(clock.now.time_s - start_s),
        "ceilings": ceilings,
        "blocks": blocks,
    }


def _totals(machine: WindowsMachine, run: Counters, final_sync: Counters, how: Measuring) -> Facts:
    """Return what an entry says of the whole run."""
    cache_bytes = sum(SIZES_BYTES)
    both = run.read_bytes + final_sync.read_bytes, run.written_bytes + final_sync.written_bytes
    moved = {DISK: {"read": round(both[0]), "written": round(both[1])}}
    synced = {DISK: {"read": 0, "written": round(final_sync.written_bytes)}}
    return {
        f"{ENTRY}.lookup_method": "grep -Fnx, CreateProcess",
        f"{ENTRY}.copy_method": "read and write 1 MiB",
        f"{ENTRY}.shares_extents": None,
        f"{ENTRY}.final_sync_method": "FlushFileBuffers",
        f"{ENTRY}.run_ns": _ns(run.time_s),
        f"{ENTRY}.final_sync_ns": _ns(final_sync.time_s),
        f"{ENTRY}.dirty_before_sync_bytes": round(run.dirty_bytes) if how.knows_dirty else None,
        f"{ENTRY}.writeback_before_sync_bytes": None,
        f"{ENTRY}.cache_state": {
            "drop_caches": "not possible: Windows drops single files only",
            "cache_bytes": cache_bytes,
            "resident_bytes": None,
        },
        f"{ENTRY}.device_bytes": moved if machine.has_counters else {},
        f"{ENTRY}.final_sync_device_bytes": synced if machine.has_counters else {},
    }


def _host(machine: WindowsMachine, how: Measuring, dice: random.Random) -> Facts:
    memory_bytes = round(machine.memory_gib * GIB)
    touch_ns = machine.touch_ns_per_mib * machine.kernel_factor
    scanner = machine.scanner
    excluded = machine.defender_excludes
    if scanner.is_shown and scanner.excludes_place is not None:
        excluded = (f"{machine.letter}\\excluded",)
        excluded = (f"{machine.letter}\\",) if scanner.excludes_place else excluded
    works = {
        "user": machine.user_factor,
        "kernel-copy": machine.kernel_factor * machine.copy_factor,
        "kernel-calls": machine.kernel_factor,
    }
    return {
        "host.system": "windows",
        "host.kernel": machine.build,
        "host.kernel_version": machine.display_version,
        "host.distribution": machine.product,
        "host.architecture": "AMD64",
        "host.cpu_model": machine.cpu_model,
        "host.cpu_count": machine.cpus,
        "host.cpu_online_count": machine.cpus,
        "host.memory_bytes": memory_bytes,
        "host.memory_available_bytes": round(0.88 * memory_bytes),
        "host.container": None,
        "host.user_id": None,
        "host.transparent_huge_pages": None,
        "host.vm": {},
        "host.first_touch_ns_per_mib": [
            round(touch_ns * dice.uniform(0.97, 1.03)) for _ in range(8)
        ],
        "host.tools": {
            "python3": {"path": r"C:\mozilla-build\python3\python3.exe", "version": "3.11.5"},
            "grep": {"path": "grep.exe", "version": f"grep (GNU grep) {machine.grep_version}"},
        },
        "host.windows": windows_host(
            power_plan=machine.power_plan,
            paging_files=[machine.paging_file],
            long_paths=machine.long_paths,
            last_access=machine.last_access,
            defender={
                "is_running": scanner.is_running,
                "is_real_time": scanner.is_shown,
                "excluded_paths": None if excluded is None else list(excluded),
            },
            filters=list(machine.filters),
        ),
        "host.fixed_work": [
            _burst(work, work_factor, machine, dice)
            for work, work_factor in works.items()
            for _ in range(how.bursts)
        ],
    }


def _burst(
    work: str, work_factor: float, machine: WindowsMachine, dice: random.Random
) -> dict[str, Any]:
    """Return one burst of fixed work: until 50 ms have passed, without what others take.

    A thread keeps its CPU for a quantum, and each competitor then has one as well.
    """
    competitors = machine.competitors_per_cpu if machine.competes_with_bursts else 0.0
    worked_s, passed_s, left_s = 0.0, 0.0, dice.uniform(0, machine.quantum_s)
    while passed_s < BURST_S:
        step_s = min(left_s, BURST_S - passed_s)
        worked_s, passed_s, left_s = worked_s + step_s, passed_s + step_s, left_s - step_s
        if left_s <= 0:
            waited_s = competitors * machine.quantum_s * dice.expovariate(1)
            passed_s, left_s = passed_s + waited_s, machine.quantum_s
    worked_ns, passed_ns = 1e9 * worked_s, 1e9 * passed_s
    in_user_mode = {"user": 1.0, "kernel-copy": 0.05, "kernel-calls": 0.2}[work]
    return {
        "work": work,
        "start_ns": 0,
        "duration_ns": _ns(passed_s),
        "operations": max(1, round(worked_s * OPERATIONS_PER_S / work_factor)),
        "user_ns": windows_workloads.ticks_ns(worked_ns * in_user_mode, passed_ns, dice),
        "kernel_ns": windows_workloads.ticks_ns(worked_ns * (1 - in_user_mode), passed_ns, dice),
        "waiting_ns": None,
    }


def _place(machine: WindowsMachine) -> Facts:
    drive, scanner = machine.drive, machine.scanner
    letter = machine.substituted_letter or machine.letter
    size_bytes = round(drive.size_gib * GIB)
    excluded = scanner.excludes_place
    if not scanner.is_shown and machine.defender_excludes is not None:
        excluded = f"{machine.letter}\\" in machine.defender_excludes
    disk: dict[str, Any] = {
        "name": DISK,
        "number": None,
        "kind": "spaces" if drive.columns else "disk",
        "below": [],
        "size_bytes": size_bytes,
        "stripe_count": drive.columns or None,
        "minimum_io_bytes": None,
        "raid_level": None,
        "model": drive.model,
        "scheduler": None,
        "scheduler_settings": {},
        "queue": {"rotational": int(drive.is_rotational)},
        "write_cache": None,
        "bus": "spaces" if drive.columns else drive.bus,
        "is_removable": False,
    }
    return {
        f"{PLACE}.path": f"{letter}\\task_1764455909",
        f"{PLACE}.resolved_path": f"{letter}\\task_1764455909",
        f"{PLACE}.kind": "directory",
        f"{PLACE}.mount": {
            "device": "2890137649",
            "root": "\\",
            "point": f"{letter}\\",
            "options": "",
            "filesystem": machine.filesystem,
            "source": LETTERS_GUID,
            "super_options": "",
        },
        f"{PLACE}.overlay": None,
        f"{PLACE}.filesystem": {
            "type": machine.filesystem,
            "ext4_options": None,
            "btrfs_data_profiles": None,
        },
        f"{PLACE}.size_bytes": size_bytes,
        f"{PLACE}.free_bytes": size_bytes * 8 // 10,
        f"{PLACE}.devices": [disk],
        f"{PLACE}.windows": windows_place(
            drive=letter,
            is_substituted_for=f"{machine.letter}\\" if machine.substituted_letter else None,
            is_dev_drive=machine.is_dev_drive,
            is_trusted_dev_drive=machine.is_dev_drive,
            cluster_bytes=machine.cluster_bytes,
            short_names=machine.short_names,
            is_compressed=machine.is_compressed,
            clones_blocks=machine.clones_blocks,
            is_system_disk=machine.is_system_disk,
            has_paging_file=machine.has_paging_file,
            is_excluded=excluded,
            is_temporary_disk=machine.is_temporary_disk,
        ),
    }


def _timeline(
    machine: WindowsMachine, samples: Sequence[Counters], how: Measuring
) -> dict[str, Any]:
    columns: dict[str, list[int | None]] = defaultdict(list)
    devices: dict[str, list[int]] = defaultdict(list)
    first = samples[0]
    for sample in samples:
        others_s = sample.others_cpu_s
        # Defender and the lazy writer work in other processes, mostly in the kernel's name.
        row = {
            "time_ns": _ns(sample.time_s),
            "dirty_bytes": sample.dirty_bytes if how.knows_dirty else None,
            "memory_available_bytes": 0.85 * machine.memory_gib * GIB,
            "cpu_user_ms": _ticks_ms(sample.user_s + 0.6 * others_s),
            "cpu_system_ms": _ticks_ms(sample.kernel_s + 0.4 * others_s),
            "own_user_ms": _ticks_ms(sample.user_s),
            "own_system_ms": _ticks_ms(sample.kernel_s),
        }
        busy_s = sample.user_s + sample.kernel_s + others_s
        passed_s = sample.time_s - first.time_s
        row["cpu_idle_ms"] = _ticks_ms(max(0.0, machine.cpus * passed_s - busy_s))
        for name, value in row.items():
            columns[name].append(None if value is None else round(value))
        devices["read_bytes"].append(round(sample.read_bytes))
        devices["written_bytes"].append(round(sample.written_bytes))
        devices["busy_ms"].append(round(1e3 * sample.busy_s))
    if not how.knows_dirty:
        del columns["dirty_bytes"]
    by_disk = {DISK: devices} if machine.has_counters else {}
    return {"interval_s": 1.0, "columns": columns, "devices": by_disk}


def _ticks_ms(seconds: float) -> float:
    tick_ms = windows_workloads.TICK_NS / 1e6
    return 1e3 * seconds // tick_ms * tick_ms
