# SPDX-License-Identifier: MPL-2.0
"""The result files that the workers of simulated machines write.

Facts, times and counters come from one machine, so a fact never differs without its effect, and a
time never without its cause. What the machine does not decide is as in seed 000's result files.
"""

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import seed_case
import simulated_trials
from seed_facts import ENTRY, PLACE, Facts, cpu_limit, fixed_work, io_limit, memory_limit
from simulated_machine import GIB, MB, MIB, SIZES_BYTES, Clock, Counters, Machine

from io_benchmark.analysis.model.time_parts import Kind, Part, Phase

RETRIEVES = 400
TICK_S = 0.004
Document = dict[str, Any]
Row = tuple[int, Counters, Counters]  # a file, its lookup and its copy


@dataclass(frozen=True)
class Pool:
    """Some workers of one kind; `exceptions` are other machines among them, by number."""

    name: str
    machine: Machine
    workers: int = 3
    exceptions: Mapping[int, Machine] | None = None

    def machine_of(self, number: int) -> Machine:
        return (self.exceptions or {}).get(number, self.machine)


class Measured(NamedTuple):
    """The document that a worker leaves, and where a retrieve's time went."""

    document: Document
    mean_ns: Mapping[Part, float]


def measure(pools: Sequence[Pool], seed: int, **options: Any) -> dict[str, list[Measured]]:
    """Run the benchmark on every worker of these pools, as `measure_one` does."""
    return {
        pool.name: [measure_one(pool, number, seed, **options) for number in range(pool.workers)]
        for pool in pools
    }


def measure_one(
    pool: Pool,
    number: int,
    seed: int,
    *,
    destination: str = "overwrite",
    between: float = 0.03,
    retrieves: int = RETRIEVES,
    trials: bool = False,
    pace_bytes_per_s: float | None = None,
) -> Measured:
    """Run the benchmark on one worker; `between` is how much equal machines differ.

    Its trials follow where it overwrites, with `pace` where there is a rate for it.
    """
    generator = random.Random(f"{seed}/{pool.name}/{number}")
    machine = _vary(pool.machine_of(number), between, generator)
    clock = Clock(machine, generator, destination)
    rows = [(file, clock.lookup(), clock.copy(file)) for file in seed_case.sequence()[:retrieves]]
    run, final_sync = clock.now.since(clock.timeline[0]), clock.sync()
    facts = {
        "task.pool": pool.name,
        "task.task_id": seed_case.task_id_of(pool.name, number),
        "task.instance_type": machine.instance_type,
        "task.location.cloud": machine.cloud,
        "task.location.region": machine.zone[:-2],
        "task.location.zone": machine.zone,
        "config.environment": {"IO_BENCHMARK_REPLICATES": str(pool.workers)},
        "config.retrieves": retrieves,
        "config.destinations": [destination],
        "config.pace_bytes_per_s": pace_bytes_per_s,
        "duration_ns": _ns(clock.now.time_s),
        f"{ENTRY}.destination": destination,
        f"{ENTRY}.retrieves_planned": retrieves,
    }
    facts |= _host(machine, generator) | _place(machine) | _limits(machine)
    facts |= _totals(machine, run, final_sync)
    (document,) = seed_case.documents(1, pools=["intel"], change={"intel": facts})
    document["timeline"] = _timeline(machine, [*clock.timeline, clock.now], generator)
    (entry,) = document["workloads"]
    entry["samples"] = _samples(rows, generator)
    if destination == "overwrite" and (trials or pace_bytes_per_s is not None):
        entry["trials"] = simulated_trials.of_clock(clock, machine, pace_bytes_per_s)
    return Measured(document, _mean_ns(rows))


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


def _samples(rows: Sequence[Row], generator: random.Random) -> Mapping[str, list[int]]:
    columns: dict[str, list[int]] = defaultdict(list)
    columns["file_index"] = [file for file, *_ in rows]
    for _, *phases in rows:
        for name, phase in zip(("lookup", "copy"), phases, strict=True):
            user_s = _user_by_ticks(phase, generator)
            spent_s = {
                name: phase.time_s,
                f"{name}_user": user_s,
                f"{name}_kernel": phase.user_s + phase.kernel_s - user_s,
                # Linux does not count what the hypervisor takes.
                f"{name}_waiting": phase.waiting_s,
            }
            for column, seconds in spent_s.items():
                columns[f"{column}_ns"].append(_ns(seconds))
    totals = map(sum, zip(columns["lookup_ns"], columns["copy_ns"], strict=True))
    columns["start_ns"] = [*itertools.accumulate(totals, initial=_ns(20))][:-1]
    return columns


def _user_by_ticks(phase: Counters, generator: random.Random) -> float:
    """Linux knows the sum exactly, and divides it by where its ticks found the process."""
    total_s = phase.user_s + phase.kernel_s
    ticks = min(60, max(1, round(total_s / TICK_S)))
    in_kernel = sum(generator.random() < phase.kernel_s / total_s for _ in range(ticks))
    return total_s * (1 - in_kernel / ticks)


def _mean_ns(rows: Sequence[Row]) -> dict[Part, float]:
    """Return how long each part of a retrieve takes on average."""
    sums: dict[Part, float] = defaultdict(float)
    for _, *phases in rows:
        for name, phase in zip((Phase.LOOKUP, Phase.COPY), phases, strict=True):
            sums[Part(name, Kind.USER)] += phase.user_s
            sums[Part(name, Kind.KERNEL)] += phase.kernel_s
            sums[Part(name, Kind.WAITING)] += phase.waiting_s + phase.stolen_s
            sums[Part(name, Kind.BLOCKED)] += phase.blocked_s
            sums[Part(name, Kind.ELSEWHERE)] += phase.held_s
    return {part: 1e9 * seconds / len(rows) for part, seconds in sums.items()}


def _totals(machine: Machine, run: Counters, final_sync: Counters) -> Facts:
    """Return what an entry says of the whole run."""
    names, cache_bytes = _disk_names(machine), sum(SIZES_BYTES)
    others_bytes = machine.neighbour_share * machine.disks_bytes_per_s * run.time_s
    written_bytes = run.written_bytes + final_sync.written_bytes + others_bytes
    read, written, synced = (
        round(total / len(names))
        for total in (run.read_bytes, written_bytes, final_sync.written_bytes)
    )
    return {
        f"{ENTRY}.run_ns": _ns(run.time_s),
        f"{ENTRY}.final_sync_ns": _ns(final_sync.time_s),
        f"{ENTRY}.dirty_before_sync_bytes": round(run.dirty_bytes + run.writeback_bytes),
        f"{ENTRY}.cache_state.cache_bytes": cache_bytes,
        f"{ENTRY}.cache_state.resident_bytes": round(cache_bytes * machine.resident_share),
        f"{ENTRY}.device_bytes": {name: {"read": read, "written": written} for name in names},
        f"{ENTRY}.final_sync_device_bytes": {
            name: {"read": 0, "written": synced} for name in names
        },
    }


def _host(machine: Machine, generator: random.Random) -> Facts:
    memory_bytes = machine.memory_gib * GIB
    user, calls = machine.user_factor, machine.kernel_factor
    touch_ns = machine.touch_ns_per_mib * machine.kernel_factor
    return {
        "host.kernel": machine.kernel,
        "host.cpu_model": machine.cpu_model,
        "host.cpu_count": machine.cpus,
        "host.cpu_online_count": machine.cpus,
        "host.memory_bytes": memory_bytes,
        "host.memory_available_bytes": round(0.97 * memory_bytes),
        "host.vm.dirty_ratio": machine.dirty_ratio,
        "host.vm.dirty_background_ratio": machine.dirty_ratio // 2,
        "host.vm.swappiness": machine.swappiness,
        "host.first_touch_ns_per_mib": [
            round(touch_ns * generator.uniform(0.97, 1.03)) for _ in range(8)
        ],
        "host.tools.grep": {
            "path": "/usr/bin/grep",
            "version": f"grep (GNU grep) {machine.grep_version}",
        },
        "host.tools.cp.version": f"cp (GNU coreutils) {machine.cp_version}",
        **fixed_work(user, calls * machine.copy_factor, calls),
    }


def _disk_names(machine: Machine) -> list[str]:
    return ["sda"] if machine.is_boot_disk else [f"nvme{at}n1" for at in range(len(machine.disks))]


def _place(machine: Machine) -> Facts:
    names = _disk_names(machine)
    options = [*machine.harmless_options]
    if machine.journals_data:
        options.append("data=journal")
    if machine.synchronous:
        options.append("sync")
    flush, shown = "auto_da_alloc", ["rw", *options]
    if not machine.flushes_rewritten_files:
        flush = "noauto_da_alloc"
        shown.append(flush)  # the default is not shown
    is_striped = len(names) > 1 and machine.layout == "striped"
    volume = seed_case.volume(names, seed_case.DISK_BYTES * len(names), striped=is_striped)
    facts: Facts = {}
    if machine.layout == "mirror":
        facts = {f"{PLACE}.mount.device": "9:0"}
        volume |= {"name": "md0", "number": "9:0", "kind": "raid", "raid_level": "raid1"}
        volume |= {"size_bytes": seed_case.DISK_BYTES, "mapper_name": None}

    def devices(recorded: list[Facts]) -> list[Facts]:
        disks = [
            {
                **recorded[-1],
                "name": name,
                "number": "8:1" if machine.is_boot_disk else f"259:{at}",
                "model": machine.network_model if machine.is_boot_disk else machine.disk_model,
                "scheduler": machine.scheduler,
            }
            for at, name in enumerate(names)
        ]
        if machine.is_boot_disk:
            disks[0]["size_bytes"] = round(machine.network_gib * GIB)
        return disks if machine.is_boot_disk else [volume, *disks]

    return facts | {
        f"{PLACE}.mount.super_options": ",".join(shown),
        f"{PLACE}.filesystem.ext4_options": sorted(["rw", "barrier", "delalloc", flush, *options]),
        f"{PLACE}.devices": devices,
    }


def _limits(machine: Machine) -> Facts:
    values = {
        "write_bytes_per_s": machine.write_limit_mb_per_s * MB,
        "write_operations_per_s": machine.write_limit_per_s,
        "read_bytes_per_s": machine.read_limit_mb_per_s * MB,
    }
    limits = [
        io_limit(value, f"259:{at}", name, kind)["limits.io"]
        for at, name in enumerate(_disk_names(machine))
        for kind, value in values.items()
        if value
    ]
    facts: Facts = {"limits.io": list(itertools.chain(*limits))}
    facts |= memory_limit(machine.memory_limit_gib * 1024) if machine.memory_limit_gib else {}
    return facts | (cpu_limit(machine.quota_cpus) if machine.quota_cpus else {})


def _timeline(
    machine: Machine, samples: Sequence[Counters], generator: random.Random
) -> dict[str, Any]:
    names = _disk_names(machine)
    columns: dict[str, list[int]] = defaultdict(list)
    devices: dict[str, list[int]] = defaultdict(list)
    others_cpus = min(1.0, machine.competitors_per_cpu) * machine.cpus
    stolen_per_cpu = machine.stolen_share / (1 - machine.stolen_share)
    for sample in samples:
        passed_s = sample.time_s - samples[0].time_s
        others_s = others_cpus * passed_s
        blocked_elsewhere_s = machine.blocked_elsewhere_share * (passed_s - sample.blocked_s)
        # Pages of others are being written as often as others use the disks.
        are_writing = generator.random() < machine.neighbour_share
        others_bytes = machine.neighbour_share * machine.disks_bytes_per_s * passed_s
        row = {
            "time_ns": _ns(sample.time_s),
            "dirty_bytes": sample.dirty_bytes,
            "writeback_bytes": sample.writeback_bytes + (24 * MIB if are_writing else 0),
            # Either of the two may be blocked at any moment, independently.
            "psi_io_some_us": 1e6 * (sample.blocked_s + blocked_elsewhere_s),
            "psi_cpu_some_us": 1e6 * sample.waiting_s,
            "cpu_user_ms": 1e3 * (sample.user_s + others_s),
            "cpu_system_ms": 1e3 * sample.kernel_s,
            "cpu_steal_ms": 1e3 * (sample.stolen_s + others_s * stolen_per_cpu),
            "own_user_ms": 1e3 * sample.user_s,
            "own_system_ms": 1e3 * sample.kernel_s,
            **dict.fromkeys(
                ("psi_memory_some_us", "cpu_nice_ms", "cpu_irq_ms", "cpu_softirq_ms"), 0
            ),
        }
        for name, value in row.items():
            columns[name].append(round(value))
        devices["read_bytes"].append(round(sample.read_bytes / len(names)))
        devices["written_bytes"].append(round((sample.written_bytes + others_bytes) / len(names)))
        devices["busy_ms"].append(round(1e3 * sample.busy_s))
    return {"interval_s": 0.5, "columns": columns, "devices": dict.fromkeys(names, devices)}
