# SPDX-License-Identifier: MPL-2.0
"""The result files that workers on independent machines write: samples, trials, facts, counters.

What the machine does not decide is as in seed 000's result files.
"""

import base64
import bisect
import hashlib
import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import seed_case
from independent_machine import GIB, MB, MIB, SYNC_S, Clock, Counters, Machine
from seed_facts import PLACE, cpu_limit, io_limit, memory_limit

SIZES_BYTES = [size * MIB for size in seed_case.SIZES_MIB]
TRIED_FILES = 16
TICK_S = 0.004
TIMELINE_S = 0.5
# A counter of the machine does not start at 0.
BOOTED = 1_000_000


def result(
    machine: Machine,
    identity: tuple[str, int, int],  # pool, worker, seed
    *,
    destination: str,
    between: float,
    retrieves: int,
) -> dict[str, Any]:
    """Run the benchmark on one worker; `between` is how much equal machines differ."""
    generator = random.Random(str(identity))
    varied = _vary(machine, between, generator)
    clock = Clock(varied, generator, destination)
    rows = []
    for file in seed_case.sequence()[:retrieves]:
        start_s = clock.time_s
        rows.append((file, start_s, clock.lookup(), clock.copy(file, SIZES_BYTES[file])))
    ended = clock.counters()
    left_bytes = clock.dirty_bytes, clock.writeback_bytes
    sync_s = clock.sync()
    trials = _trials(clock, varied)
    facts = _facts(machine, generator)
    (document,) = seed_case.documents(1, pools=["intel"], change={"intel": facts})
    digest = hashlib.sha256(str(identity).encode()).digest()
    task_id = base64.urlsafe_b64encode(digest).decode()[:21] + "A"
    document["task"] |= {"pool": identity[0], "task_id": task_id}
    document["config"] |= {"retrieves": retrieves, "destinations": [destination]}
    document["duration_ns"] = _ns(clock.time_s + 1)
    (entry,) = document["workloads"]
    names = [disk["name"] for disk in _disks(machine)]
    copies = len(names) if machine.layout == "mirror" else 1
    lasted_s = ended.time_s - clock.history[0].time_s
    written_bytes = copies * ended.written_bytes + machine.neighbour_mb_per_s * MB * lasted_s
    entry |= {
        "destination": destination,
        "retrieves_planned": retrieves,
        "fresh_ring_bytes": 64 * GIB if destination == "fresh" else None,
        "run_ns": _ns(lasted_s),
        "final_sync_ns": _ns(sync_s),
        "dirty_before_sync_bytes": round(left_bytes[0]),
        "writeback_before_sync_bytes": round(left_bytes[1]),
        "device_bytes": _of_each(names, ended.read_bytes, written_bytes),
        "final_sync_device_bytes": _of_each(names, 0, sum(left_bytes) * copies),
        "samples": _samples(rows, generator),
        "trials": trials,
    }
    document["timeline"] = _timeline(varied, clock, generator)
    return document


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _vary(machine: Machine, between: float, generator: random.Random) -> Machine:
    """Equal machines are not quite equal: each has its own disks, CPU and memory."""
    disks, cpu, memory = (
        math.exp(deviation * generator.gauss(0, 1)) for deviation in (between, between, between / 2)
    )
    return replace(
        machine,
        disks=tuple(disk.divided(disks) for disk in machine.disks),
        user_factor=machine.user_factor * cpu,
        kernel_factor=machine.kernel_factor * cpu,
        copy_factor=machine.copy_factor * memory,
    )


def _of_each(names: Sequence[str], read: float, written: float) -> dict[str, dict[str, int]]:
    moved = {"read": read, "written": written}
    return {
        name: {kind: round(size / len(names)) for kind, size in moved.items()} for name in names
    }


def _samples(
    rows: Sequence[tuple[int, float, Counters, Counters]], generator: random.Random
) -> dict[str, list[int]]:
    columns = {
        "file_index": [row[0] for row in rows],
        "start_ns": [_ns(row[1]) for row in rows],
    }
    for name, at in (("lookup", 2), ("copy", 3)):
        phases: list[Counters] = [row[at] for row in rows]  # type: ignore[misc]
        columns[f"{name}_ns"] = [_ns(phase.time_s) for phase in phases]
        columns[f"{name}_waiting_ns"] = [_ns(phase.waiting_s) for phase in phases]
        user = [_user_by_ticks(phase, generator) for phase in phases]
        columns[f"{name}_user_ns"] = [_ns(seconds) for seconds in user]
        columns[f"{name}_kernel_ns"] = [
            _ns(phase.user_s + phase.kernel_s - seconds)
            for phase, seconds in zip(phases, user, strict=True)
        ]
    return columns


def _user_by_ticks(phase: Counters, generator: random.Random) -> float:
    """Linux knows the sum exactly, and divides it by where its ticks found the process."""
    total_s = phase.user_s + phase.kernel_s
    ticks = min(60, max(1, round(total_s / TICK_S)))
    in_kernel = sum(generator.random() < phase.kernel_s / total_s for _ in range(ticks))
    return total_s * (1 - in_kernel / ticks)


def _trials(clock: Clock, machine: Machine) -> dict[str, Any]:
    """Measure what idle disks write, then repeat blocks of retrieves with one thing changed."""
    start_s = clock.time_s
    by_size = sorted(range(len(SIZES_BYTES)), key=SIZES_BYTES.__getitem__)
    # Evenly over the sizes, each half before each quarter.
    places = [int(f"{at:04b}"[::-1], 2) / TRIED_FILES for at in range(TRIED_FILES)]
    files = [by_size[int(place * len(by_size))] for place in places]
    ceilings = [_ceiling(clock, machine) for _ in range(3)]
    kinds = ["normal", "lookup", "unlink", "memory"]
    between, blocks = itertools.cycle(files), []
    for at in range(len(kinds)):
        for kind in kinds[at:] + kinds[:at]:
            for file in itertools.islice(between, 3):
                clock.lookup()
                clock.copy(file, SIZES_BYTES[file])
            lookup_ns, copy_ns = [], []
            for file in files:
                lookup_ns.append(2000 if kind == "lookup" else _ns(clock.lookup().time_s))
                destination = kind if kind in {"unlink", "memory"} else ""
                phase = clock.copy(file, SIZES_BYTES[file], destination)
                copy_ns.append(_ns(phase.time_s))
            blocks.append({"trial": kind, "lookup_ns": lookup_ns, "copy_ns": copy_ns})
    clock.sync()
    trials = {"pace_bytes_per_s": None, "file_indexes": files, "state": "completed", "reason": None}
    duration_ns = _ns(clock.time_s - start_s)
    return trials | {"duration_ns": duration_ns, "ceilings": ceilings, "blocks": blocks}


def _ceiling(clock: Clock, machine: Machine) -> dict[str, int]:
    """Write one large file for as long as the disks need for about 1.3 s of it."""
    start_s, storage = clock.time_s, clock.storage
    size_bytes = int(1.3 * storage.write_bytes_per_s / storage.amplification) // MIB * MIB
    for begin in range(0, size_bytes, 16 * MIB):
        chunk = min(16 * MIB, size_bytes - begin)
        kernel_ns = 0.7 * machine.copy_ns_per_mib * machine.kernel_factor * chunk / MIB
        clock.work(0, kernel_ns)
        clock.writeback_bytes += chunk
    clock.write_back()
    clock.advance(SYNC_S)
    return {"written_bytes": size_bytes, "duration_ns": _ns(clock.time_s - start_s)}


def _facts(machine: Machine, generator: random.Random) -> dict[str, Any]:
    """Return what the machine's document says differently, by path."""
    touch_ns = machine.touch_ns_per_mib * machine.kernel_factor
    options = [*machine.harmless_options]
    options += ["data=journal"] if machine.journals_data else []
    options += ["sync"] if machine.synchronous else []
    flush = "auto_da_alloc" if machine.flushes_rewritten_files else "noauto_da_alloc"
    shown = options if machine.flushes_rewritten_files else [*options, flush]
    kinds = {"write": machine.write_limit_mb_per_s, "read": machine.read_limit_mb_per_s}
    io_limits = [
        io_limit(limit * MB, disk["number"], disk["name"], f"{kind}_bytes_per_s")["limits.io"]
        for disk in _disks(machine)
        for kind, limit in kinds.items()
        if limit
    ]
    return {
        "task.instance_type": None,
        "task.location": {"cloud": "google", "region": machine.zone[:-2], "zone": machine.zone},
        "host.kernel": machine.kernel,
        "host.cpu_model": machine.cpu_model,
        "host.cpu_count": machine.cpus,
        "host.cpu_online_count": machine.cpus,
        "host.memory_bytes": machine.memory_gib * GIB,
        "host.memory_available_bytes": int(0.96 * machine.memory_gib * GIB),
        "host.first_touch_ns_per_mib": [
            round(touch_ns * math.exp(0.04 * generator.gauss(0, 1))) for _ in range(8)
        ],
        "host.fixed_work": _fixed_work(machine, generator),
        "host.vm.dirty_ratio": machine.dirty_ratio,
        "host.vm.dirty_background_ratio": machine.dirty_ratio // 2,
        "host.vm.swappiness": machine.swappiness,
        "host.tools.grep.version": f"grep (GNU grep) {machine.grep_version}",
        "host.tools.cp.version": f"cp (GNU coreutils) {machine.cp_version}",
        f"{PLACE}.probe": None,
        f"{PLACE}.mount.super_options": ",".join(["rw", *shown]),
        f"{PLACE}.filesystem.ext4_options": sorted({"rw", "delalloc", flush, *options}),
        f"{PLACE}.devices": lambda devices: _devices(devices[-1], machine),
        "limits.io": [limit for limits in io_limits for limit in limits],
        **(memory_limit(machine.memory_limit_gib * 1024) if machine.memory_limit_gib else {}),
        **(cpu_limit(machine.quota_cpus) if machine.quota_cpus else {}),
        **({f"{PLACE}.mount.device": "9:0"} if machine.layout == "mirror" else {}),
    }


def _disks(machine: Machine) -> list[dict[str, str]]:
    if machine.is_boot_disk:
        return [{"name": "sda", "number": "8:0", "model": "PersistentDisk"}]
    return [
        {"name": f"nvme{at}n1", "number": f"259:{at}", "model": machine.disk_model}
        for at in range(len(machine.disks))
    ]


def _devices(usual: dict[str, Any], machine: Machine) -> list[dict[str, Any]]:
    """Return the devices under the place; the volume comes before its disks."""
    disks = [{**usual, **disk, "scheduler": machine.scheduler} for disk in _disks(machine)]
    if machine.is_boot_disk:
        return disks
    is_striped = machine.layout == "striped" and len(disks) > 1
    names = [disk["name"] for disk in disks]
    volume = seed_case.volume(names, len(disks) * seed_case.DISK_BYTES, striped=is_striped)
    if machine.layout == "mirror":
        volume |= {"name": "md0", "number": "9:0", "kind": "raid", "raid_level": "raid1"}
        volume |= {"size_bytes": seed_case.DISK_BYTES, "mapper_name": None}
    return [volume, *disks]


def _fixed_work(machine: Machine, generator: random.Random) -> list[dict[str, Any]]:
    """Bursts of the same work before and after, of which others take their part."""
    copying = machine.kernel_factor * machine.copy_factor
    works = {
        "user": 1_200_000 * machine.user_factor,
        "kernel-copy": 100_000 * copying,
        "kernel-calls": 120 * machine.kernel_factor,
    }
    share = machine.competitors_per_cpu / (1 + machine.competitors_per_cpu)
    if 0 < machine.quota_cpus < 1:
        share = 1 - machine.quota_cpus
    bursts = []
    for start_s, (work, operation_ns), burst in itertools.product((1, 60), works.items(), range(5)):
        duration_ns = 5e7 * (1 + 0.02 * generator.random())
        cpu_ns = duration_ns * (1 - share - machine.stolen_share)
        operations = int(cpu_ns / (operation_ns * math.exp(0.01 * generator.gauss(0, 1))))
        granule = 1000 if work == "kernel-calls" else 1
        timed = {"work": work, "start_ns": _ns(start_s + 0.06 * burst)}
        timed |= {"duration_ns": round(duration_ns), "waiting_ns": round(duration_ns * share)}
        timed["operations"] = max(granule, operations // granule * granule)
        timed["user_ns"] = round(cpu_ns) if work == "user" else 0
        bursts.append(timed | {"kernel_ns": 0 if work == "user" else round(cpu_ns)})
    return bursts


def _timeline(machine: Machine, clock: Clock, generator: random.Random) -> dict[str, Any]:
    """Counters at regular times, each as it was at the last event before, with the neighbours'."""
    begin_s = clock.history[0].time_s
    count = int((clock.time_s - begin_s) / TIMELINE_S) + 1
    passed_s = [TIMELINE_S * at for at in range(count)]
    event_s = [counters.time_s for counters in clock.history]
    last_events = (bisect.bisect_right(event_s, begin_s + passed) - 1 for passed in passed_s)
    rows = [clock.history[at]._replace(time_s=passed_s[n]) for n, at in enumerate(last_events)]
    others = min(1, machine.competitors_per_cpu) * machine.cpus
    stolen = machine.stolen_share / (1 - machine.stolen_share)
    names, storage = [disk["name"] for disk in _disks(machine)], clock.storage
    copies = len(names) if machine.layout == "mirror" else 1

    def column(factor: float, figure: Callable[[Counters], float]) -> list[int]:
        return [BOOTED + round(factor * figure(row)) for row in rows]

    nothing = [BOOTED] * count
    columns = {
        "time_ns": [_ns(begin_s + passed) for passed in passed_s],
        "dirty_bytes": [round(generator.uniform(10, 60) * MIB) for _ in rows],
        "writeback_bytes": [round(generator.uniform(5, 30) * MIB) for _ in rows],
        "memory_available_bytes": [round(0.8 * machine.memory_gib * GIB)] * count,
        "psi_io_some_us": column(1e6, lambda row: row.blocked_s),
        "psi_memory_some_us": nothing,
        "psi_cpu_some_us": column(1e6, lambda row: row.waiting_s),
        "cpu_user_ms": column(1e3, lambda row: row.user_s + 0.8 * others * row.time_s),
        "cpu_nice_ms": nothing,
        "cpu_system_ms": column(1e3, lambda row: row.kernel_s + 0.2 * others * row.time_s),
        "cpu_irq_ms": nothing,
        "cpu_softirq_ms": nothing,
        "cpu_steal_ms": column(
            1e3, lambda row: stolen * (row.user_s + row.kernel_s + others * row.time_s)
        ),
        "own_user_ms": column(1e3, lambda row: row.user_s),
        "own_system_ms": column(1e3, lambda row: row.kernel_s),
    }

    def written_bytes(row: Counters) -> float:
        return copies * row.written_bytes + machine.neighbour_mb_per_s * MB * row.time_s

    def busy_s(row: Counters) -> float:
        writing_s = row.written_bytes / storage.write_bytes_per_s
        return min(row.time_s, writing_s + row.read_bytes / storage.read_bytes_per_s)

    device = {
        "read_bytes": column(1 / len(names), lambda row: row.read_bytes),
        "written_bytes": column(1 / len(names), written_bytes),
        "busy_ms": column(1e3, busy_s),
    }
    devices = dict.fromkeys(names, device)
    return {"interval_s": TIMELINE_S, "columns": columns, "devices": devices}
