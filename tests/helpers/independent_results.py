# SPDX-License-Identifier: MPL-2.0
"""The result files that workers on independent machines write: their own samples and trials.

Facts and counters are written as those of the other model's machines. What the machine does not decide is
as in seed 000's result files.
"""

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import seed_case
import simulated_machine as facts
from independent_machine import GIB, MB, MIB, SYNC_S, Clock, Counters, Machine
from simulated_push import Pool, document_of

SIZES_BYTES = [size * MIB for size in seed_case.SIZES_MIB]
TRIED_FILES = 16
TICK_S = 0.004
Row = tuple[int, Counters, Counters]  # a file, its lookup and its copy


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
    rows = [
        (file, clock.lookup(), clock.copy(file, SIZES_BYTES[file]))
        for file in seed_case.sequence()[:retrieves]
    ]
    run = _run_of(rows, varied, generator)
    run.final_sync_bytes = clock.dirty_bytes + clock.writeback_bytes
    run.final_sync_ns = clock.sync() * 1e9
    pool, number, _ = identity
    seen = _seen(varied)
    document = document_of(Pool(pool, seen), number, seen, run, destination, generator)
    (entry,) = document["workloads"]
    entry["trials"] = _trials(clock, varied)
    document["host"]["vm"] |= {
        "swappiness": machine.swappiness,
        "dirty_background_ratio": machine.dirty_ratio // 2,
    }
    document["host"]["tools"]["cp"]["version"] = f"cp (GNU coreutils) {machine.cp_version}"
    document["task"]["location"] |= {"region": machine.zone[:-2], "zone": machine.zone}
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


def _run_of(rows: Sequence[Row], machine: Machine, generator: random.Random) -> facts.Run:
    """Return what the retrieves did; what a hypervisor took, or somebody held, is the rest of their time."""
    run = facts.Run([file for file, *_ in rows], {part: [] for part in facts.PARTS})
    copies = len(machine.disks) if machine.layout == "mirror" else 1
    for _, lookup, copy in rows:
        stolen_s = 0.0
        for name, phase in (("lookup", lookup), ("copy", copy)):
            user_s = _user_by_ticks(phase, generator)
            worked_s = phase.user_s + phase.kernel_s
            rest_s = phase.time_s - worked_s - phase.waiting_s - phase.blocked_s
            taken_s = rest_s if machine.stolen_share else 0.0
            stolen_s += taken_s
            spent_s = {
                "user": user_s,
                "kernel": worked_s - user_s,
                "waiting": phase.waiting_s + taken_s,
                "blocked": phase.blocked_s,
                "blocked-elsewhere": max(0.0, rest_s - taken_s),
            }
            for kind, seconds in spent_s.items():
                run.parts[f"{name}_{kind}"].append(seconds * 1e9)
        run.stolen_ns.append(stolen_s * 1e9)
        run.read_bytes.append(lookup.read_bytes + copy.read_bytes)
        run.written_bytes.append(copies * (lookup.written_bytes + copy.written_bytes))
    return run


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


def _seen(machine: Machine) -> facts.Machine:
    """Return the machine as the other model's facts describe it."""
    disks = tuple(
        facts.Disk(
            write_mib_per_s=disk.write_mb_per_s * MB / MIB,
            read_mib_per_s=disk.read_mb_per_s * MB / MIB,
            model=machine.disk_model,
            scheduler=machine.scheduler,
            is_boot_disk=machine.is_boot_disk,
        )
        for disk in machine.disks
    )
    is_striped = machine.layout == "striped"
    limited = MB * (len(disks) if is_striped else 1)
    return facts.Machine(
        cpu=facts.Cpu(
            machine.cpu_model, machine.cpus, 1 / machine.user_factor, machine.stolen_share
        ),
        storage=facts.Storage(
            disks,
            striped=is_striped,
            mirrored=machine.layout == "mirror",
            flushes_rewritten_files=machine.flushes_rewritten_files,
            journals_data=machine.journals_data,
            synchronous=machine.synchronous,
            harmless_options=machine.harmless_options,
        ),
        limits=facts.Limits(
            write_bytes_per_s=machine.write_limit_mb_per_s * limited or None,
            read_bytes_per_s=machine.read_limit_mb_per_s * limited or None,
            memory_bytes=machine.memory_limit_gib * GIB or None,
            cpus=machine.quota_cpus or None,
        ),
        image=facts.Image(machine.grep_version),
        neighbours=facts.Neighbours(
            machine.competitors_per_cpu, machine.neighbour_mb_per_s * MB / MIB
        ),
        kernel=machine.kernel,
        kernel_factor=machine.kernel_factor / machine.user_factor,
        copy_factor=machine.copy_factor,
        memory_gib=machine.memory_gib,
        dirty_ratio=machine.dirty_ratio,
        first_touch_ns_per_mib=machine.touch_ns_per_mib * machine.kernel_factor
        - facts.TOUCH_NS_PER_MIB,
    )
