# SPDX-License-Identifier: MPL-2.0
"""The result files that the workers of simulated machines would have written.

Facts, times and counters come from one machine, so a fact never differs without its effect, and a
time never without its cause. What the machine does not decide is as in seed 000's result files.
"""

import base64
import hashlib
import itertools
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import seed_case
import simulated_trials
from numpy.typing import NDArray
from seed_facts import cpu_limit, fixed_work, io_limit, memory_limit
from simulated_machine import MIB, PARTS, TOUCH_NS_PER_MIB, Disk, Machine, Run, S, run

SIZES_BYTES = tuple(size * MIB for size in seed_case.SIZES_MIB)
RETRIEVES = 400
TRIED_FILES = 16
SECOND_NS = 1_000_000_000
Amounts = NDArray[np.float64]


@dataclass(frozen=True)
class Pool:
    """Some workers of one kind; `exceptions` are other machines among them, by number."""

    name: str
    machine: Machine
    workers: int = 3
    exceptions: Mapping[int, Machine] | None = None


@dataclass(frozen=True)
class Measured:
    """A worker's run and the document that it leaves."""

    run: Run
    document: dict[str, Any]


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

    Its trials follow, with `pace` where there is a rate for it.
    """
    generator = random.Random(f"{seed}/{pool.name}/{number}")
    sequence = seed_case.sequence()[:retrieves]
    machine = (pool.exceptions or {}).get(number, pool.machine)
    varied = _vary(machine, between, generator)
    done = run(varied, sequence, SIZES_BYTES, destination=destination, generator=generator)
    document = document_of(pool, number, machine, done, destination, generator)
    if pace_bytes_per_s is not None:
        document["config"]["pace_bytes_per_s"] = pace_bytes_per_s
    if trials or pace_bytes_per_s is not None:
        (entry,) = document["workloads"]
        entry["trials"] = simulated_trials.of_machine(
            varied,
            sequence[:TRIED_FILES],
            SIZES_BYTES,
            pace_bytes_per_s=pace_bytes_per_s,
            generator=generator,
        )
    return Measured(done, document)


def _vary(machine: Machine, between: float, generator: random.Random) -> Machine:
    """Equal machines are not quite equal: each has its own disks and CPU."""
    faster, speed = (math.exp(between * generator.gauss(0, 1)) for _ in range(2))
    disks = tuple(
        replace(
            disk,
            write_mib_per_s=disk.write_mib_per_s * faster,
            read_mib_per_s=disk.read_mib_per_s * faster,
        )
        for disk in machine.storage.disks
    )
    cpu = replace(machine.cpu, speed=machine.cpu.speed * speed)
    return replace(machine, cpu=cpu, storage=replace(machine.storage, disks=disks))


# --- the document ---


def document_of(
    pool: Pool,
    number: int,
    machine: Machine,
    done: Run,
    destination: str,
    generator: random.Random,
) -> dict[str, Any]:
    (document,) = seed_case.documents(1, pools=["intel"])
    begin_ns = 20 * SECOND_NS
    (entry,) = document["workloads"]
    _set_entry(entry, machine, done, destination, begin_ns)
    ended_ns = begin_ns + entry["run_ns"] + entry["final_sync_ns"]
    identity = f"{pool.name}/{number}"
    digest = hashlib.sha256(identity.encode()).digest()
    document["task"] |= {
        "pool": pool.name,
        "task_id": base64.urlsafe_b64encode(digest).decode()[:22],
        "instance_type": None,
    }
    document["config"]["environment"] = {"IO_BENCHMARK_REPLICATES": str(pool.workers)}
    document["config"] |= {
        "retrieves": len(done.file_index),
        "destinations": [destination],
    }
    document["duration_ns"] = ended_ns
    document["host"] |= _host(machine, document["host"], generator)
    document["storage"] = {"places": [_place(machine, document["storage"]["places"][0])]}
    document["limits"] |= _limits(machine)
    document["timeline"] = _timeline(machine, done, begin_ns, ended_ns, generator)
    return document


def _set_entry(
    entry: dict[str, Any], machine: Machine, done: Run, destination: str, begin_ns: int
) -> None:
    columns = {part: [round(value) for value in values] for part, values in done.parts.items()}
    # The scheduler does not see what the hypervisor takes, so schedstat does not count it.
    seen = machine.waiting_per_cpu_ns / (
        machine.waiting_per_cpu_ns + machine.stolen_per_cpu_ns or 1
    )
    phases = {
        phase: [
            sum(values)
            for values in zip(
                *(columns[part] for part in PARTS if part.startswith(phase)), strict=True
            )
        ]
        for phase in ("lookup", "copy")
    }
    totals = [sum(both) for both in zip(*phases.values(), strict=True)]
    starts = [begin_ns, *itertools.accumulate(totals, initial=begin_ns)][1:-1]
    names = [*_disks(machine)]
    amplification = machine.storage.amplification
    synced_bytes = done.final_sync_bytes * amplification
    written_bytes = sum(done.written_bytes) + synced_bytes
    foreign_bytes = machine.neighbours.same_disk_write_mib_per_s * MIB * sum(totals) / S
    entry |= {
        "destination": destination,
        "retrieves_planned": len(totals),
        "sequence_sha256": hashlib.sha256(str(done.file_index).encode()).hexdigest(),
        "fresh_ring_bytes": 64 * 1024 * MIB if destination == "fresh" else None,
        "run_ns": sum(totals),
        "shares_extents": False,
        "final_sync_ns": round(done.final_sync_ns),
        "dirty_before_sync_bytes": round(done.final_sync_bytes),
        "cache_state": {
            "drop_caches": "refused: Read-only file system",
            "cache_bytes": sum(SIZES_BYTES),
            "resident_bytes": round(sum(SIZES_BYTES) * machine.resident_share),
        },
        "final_sync_device_bytes": {
            name: {"read": 0, "written": round(synced_bytes / len(names))} for name in names
        },
        "device_bytes": {
            name: {
                "read": round(sum(done.read_bytes) / len(names)),
                "written": round((written_bytes + foreign_bytes) / len(names)),
            }
            for name in names
        },
        "samples": {
            "file_index": done.file_index,
            "start_ns": starts,
            "lookup_ns": phases["lookup"],
            "copy_ns": phases["copy"],
            **{
                f"{phase}_{kind}_ns": columns[f"{phase}_{kind}"]
                for phase in phases
                for kind in ("user", "kernel")
            },
            **{
                f"{phase}_waiting_ns": [round(seen * ns) for ns in columns[f"{phase}_waiting"]]
                for phase in phases
            },
        },
    }


def _host(machine: Machine, usual: Mapping[str, Any], generator: random.Random) -> dict[str, Any]:
    touch_ns = TOUCH_NS_PER_MIB + machine.first_touch_ns_per_mib
    grep = {"path": "/usr/bin/grep", "version": f"grep (GNU grep) {machine.image.grep_version}"}
    memory_bytes = machine.memory_gib * 1024 * MIB
    works = 1.0, machine.kernel_factor * machine.copy_factor, machine.kernel_factor
    return {
        "kernel": machine.kernel,
        "cpu_model": machine.cpu.model,
        "cpu_count": machine.cpu.count,
        "cpu_online_count": machine.cpu.count,
        "memory_bytes": memory_bytes,
        "memory_available_bytes": round(0.97 * memory_bytes),
        "vm": {**usual["vm"], "dirty_ratio": machine.dirty_ratio},
        "first_touch_ns_per_mib": [
            round(touch_ns * generator.uniform(0.97, 1.03)) for _ in range(8)
        ],
        "tools": {**usual["tools"], "grep": grep},
        "fixed_work": fixed_work(*(factor / machine.cpu.speed for factor in works))[
            "host.fixed_work"
        ],
    }


def _disks(machine: Machine) -> dict[str, Disk]:
    return {
        "sda" if disk.is_boot_disk else f"nvme{at}n1": disk
        for at, disk in enumerate(machine.storage.disks)
    }


def _place(machine: Machine, usual: dict[str, Any]) -> dict[str, Any]:
    storage = machine.storage
    options = [*storage.harmless_options]
    if storage.journals_data:
        options.append("data=journal")
    if storage.synchronous:
        options.append("sync")
    if storage.filesystem == "ext4" and not storage.flushes_rewritten_files:
        options.append("noauto_da_alloc")
    mount = {
        **usual["mount"],
        "filesystem": storage.filesystem,
        "super_options": ",".join(["rw", *options]),
    }
    flag = "auto_da_alloc" if storage.flushes_rewritten_files else "noauto_da_alloc"
    ext4 = sorted(["rw", "barrier", "delalloc", flag, *options])
    filesystem = {
        "type": storage.filesystem,
        "ext4_options": ext4 if storage.filesystem == "ext4" else None,
        "btrfs_data_profiles": None,
    }
    *_, recorded = usual["devices"]
    disks = [
        {
            **recorded,
            "name": name,
            "number": "8:1" if disk.is_boot_disk else f"259:{at}",
            "model": "PersistentDisk" if disk.is_boot_disk else disk.model,
            "scheduler": disk.scheduler,
        }
        for at, (name, disk) in enumerate(_disks(machine).items())
    ]
    is_striped = len(disks) > 1 and storage.striped
    size_bytes = seed_case.DISK_BYTES * len(disks)
    volume = seed_case.volume([*_disks(machine)], size_bytes, striped=is_striped)
    if storage.mirrored:
        mount["device"] = "9:0"
        volume |= {"name": "md0", "number": "9:0", "kind": "raid", "raid_level": "raid1"}
        volume |= {"size_bytes": seed_case.DISK_BYTES, "mapper_name": None}
    return {
        **usual,
        "kind": "volume",
        "mount": mount,
        "filesystem": filesystem,
        "reflink": False,
        "probe": None,
        "devices": disks if storage.disks[0].is_boot_disk else [volume, *disks],
    }


def _limits(machine: Machine) -> dict[str, Any]:
    limits, disks = machine.limits, _disks(machine)
    shares = len(disks) if machine.storage.striped else 1
    kinds = {
        "write_bytes_per_s": limits.write_bytes_per_s,
        "write_operations_per_s": limits.write_iops,
        "read_bytes_per_s": limits.read_bytes_per_s,
    }
    facts = [
        io_limit(value / shares, f"259:{at}", name, kind)
        for at, name in enumerate(disks)
        for kind, value in kinds.items()
        if value is not None
    ]
    memory = {} if limits.memory_bytes is None else memory_limit(limits.memory_bytes / MIB)
    cpu = {} if limits.cpus is None else cpu_limit(limits.cpus)
    return {
        "io": [limit for fact in facts for limit in fact["limits.io"]],
        "memory": memory.get("limits.memory", []),
        "cpu": cpu.get("limits.cpu", []),
    }


def _timeline(
    machine: Machine, done: Run, begin_ns: int, ended_ns: int, generator: random.Random
) -> dict[str, Any]:
    """One sample per half second; the counters follow what the retrieves did until then."""
    times_ns = np.arange(begin_ns, ended_ns + SECOND_NS // 2, SECOND_NS // 2)
    ends_ns = begin_ns + np.cumsum([0.0, *done.total_ns, done.final_sync_ns])

    def in_windows(in_retrieves: Sequence[float], in_final_sync: float = 0.0) -> Amounts:
        """Return how much of this was in each window, spread evenly over each retrieve."""
        total = np.cumsum([0.0, *in_retrieves, in_final_sync])
        return np.diff(np.interp(times_ns, ends_ns, total), prepend=0.0)

    def of_parts(kind: str) -> list[float]:
        both = zip(done.parts[f"lookup_{kind}"], done.parts[f"copy_{kind}"], strict=True)
        return [sum(each) / S for each in both]

    neighbours, names = machine.neighbours, [*_disks(machine)]
    stolen_s = [each / S for each in done.stolen_ns]
    waiting_s = in_windows(np.subtract(of_parts("waiting"), stolen_s).tolist())
    blocked_s = in_windows(of_parts("blocked"), done.final_sync_ns / S)
    user_s, kernel_s = in_windows(of_parts("user")), in_windows(of_parts("kernel"))
    lasted_s = np.diff(times_ns, prepend=begin_ns) / S
    # Either of the two may be blocked at any moment, independently.
    other_blocked = neighbours.other_disk_blocked_share
    some_s = blocked_s + other_blocked * (lasted_s - blocked_s)
    neighbour_cpu_s = lasted_s * min(1.0, neighbours.runnable_per_cpu) * machine.cpu.count
    busy_s = user_s + kernel_s + neighbour_cpu_s
    amplification = machine.storage.amplification
    written = in_windows(done.written_bytes, done.final_sync_bytes * amplification)
    written_share = written / (amplification * machine.write_bytes_per_s)
    neighbours_share = neighbours.same_disk_write_mib_per_s * MIB / machine.write_bytes_per_s
    written = written + neighbours.same_disk_write_mib_per_s * MIB * lasted_s
    read = in_windows(done.read_bytes)
    # Pages are being written at the end of a window as often as the disks were writing in it.
    shares = written_share + neighbours_share * lasted_s
    writing = [generator.uniform(0, s) < share for s, share in zip(lasted_s, shares, strict=True)]
    columns = {
        "time_ns": times_ns.tolist(),
        "dirty_bytes": [round(70 * MIB * generator.uniform(0.9, 1.1)) for _ in times_ns],
        "writeback_bytes": [24 * MIB if is_writing else 0 for is_writing in writing],
        "psi_io_some_us": _counter(some_s * 1e6),
        "psi_memory_some_us": _counter(0 * lasted_s),
        "psi_cpu_some_us": _counter(waiting_s * 1e6),
        "cpu_user_ms": _counter((user_s + neighbour_cpu_s) * 1e3),
        "cpu_nice_ms": _counter(0 * lasted_s),
        "cpu_system_ms": _counter(kernel_s * 1e3),
        "cpu_irq_ms": _counter(0 * lasted_s),
        "cpu_softirq_ms": _counter(0 * lasted_s),
        "cpu_steal_ms": _counter(busy_s * machine.stolen_per_cpu_ns * 1e3),
        "own_user_ms": _counter(user_s * 1e3),
        "own_system_ms": _counter(kernel_s * 1e3),
    }
    busy = np.minimum(lasted_s, written_share + read / machine.read_bytes_per_s)
    devices = {
        name: {
            "read_bytes": _counter(read / len(names)),
            "written_bytes": _counter(written / len(names)),
            "busy_ms": _counter(busy * 1e3),
        }
        for name in names
    }
    return {"interval_s": 0.5, "columns": columns, "devices": devices}


def _counter(in_windows: Amounts, base: int = 1000) -> list[int]:
    return [base + round(value) for value in np.cumsum(in_windows).tolist()]
