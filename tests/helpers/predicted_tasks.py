# SPDX-License-Identifier: MPL-2.0
"""Profiles of tasks, and the results of the pools that they are predicted on."""

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import seed_case
import workload_entries
from seed_facts import operations_limit
from seed_workers import worker
from tried_workers import trials

from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.results.format import TaskProfile
from io_benchmark.results.reader import parse_profile
from io_benchmark.sources.run_results import RunProfile

MIB = 1024 * 1024
DISK = "nvme0n1"
HALF_SECOND_NS = 500_000_000
S = 1e9
# Half seconds of computing, and of writing at the ceiling of the faster pool.
MIXED = (0, 50, 50, 0)
_NUMBER = {"storage.places.0.devices.0.number": "259:0"}
# A cgroup allows 250 write requests per second.
LIMITED_REQUESTS: dict[str, Any] = {"change": operations_limit(250, name=DISK) | _NUMBER}
# Retrieves take three times as long from the 1,000th on.
SLOWING_DOWN = {
    "change": {
        "workloads.0.samples.copy_ns": lambda column: [
            copy_ns * (1 if at < 1000 else 3) for at, copy_ns in enumerate(column)
        ]
    }
}


def profile_document(
    written_mib: Sequence[float] = (0, 0, 0, 0),
    *,
    pool: str | None = "intel",
    command: str = "0",
    read_mib: float = 0,
    cpu_s: float = 0,
    kernel_s: float = 0,
    syncs: Mapping[str, int | None] | None = None,
    dirty_mib: float = 0,
    waiting: float | None = None,
    busy_cpus: Sequence[float] = (),
    merged: int = 0,
    change: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a profile of half seconds, in each of which so much was written to one disk.

    Requests have 64 KiB, and so many others were merged into each. Where the share of the time is
    given that something waited for I/O, the kernel shows it and the busy CPUs.
    """
    document = seed_case.documents(pools=[pool or "intel"])[0]
    rows = len(written_mib) + 1
    written = [round(MIB * each) for each in itertools.accumulate((0, *written_mib))]
    idle = dict.fromkeys(
        ("cpu_nice_ms", "cpu_system_ms", "cpu_irq_ms", "cpu_softirq_ms"), [0] * rows
    )
    busy_ms = [round(500 * each) for each in busy_cpus or (0,) * len(written_mib)]
    pressure = {
        "psi_io_some_us": [round(500_000 * (waiting or 0)) * row for row in range(rows)],
        "cpu_user_ms": list(itertools.accumulate((0, *busy_ms))),
        **idle,
    }
    if waiting is None:
        pressure = {}  # the worker's kernel does not record it
    place = document["storage"]["places"][0]
    place["devices"] = [
        {**place["devices"][0], "name": DISK, "number": "259:0", "below": [], "raid_level": None}
    ]
    kept = ("script", "started", "ended", "host", "limits")
    return {
        **{name: document[name] for name in kept},
        "version": 1,
        "task": {**document["task"], "pool": pool},
        "command": {"program": "tar", "arguments": 2, "sha256": command * 64},
        "ending": {"code": 0, "signal": None, "error": None},
        "wall_ns": HALF_SECOND_NS * len(written_mib),
        "usage": {
            "user_ns": round((cpu_s - kernel_s) * 1e9),
            "kernel_ns": round(kernel_s * 1e9),
        },
        "other_cpu_ms": 0,
        "syncs": {"workspace": syncs or {"flushes": 0, "commits": 0}},
        "storage": {"places": [place]},
        "timeline": {
            "interval_s": 0.5,
            "columns": {
                "time_ns": [HALF_SECOND_NS * row for row in range(rows)],
                "dirty_bytes": [MIB] * (rows - 1) + [round((dirty_mib + 1) * MIB)],
                "writeback_bytes": [0] * rows,
                **pressure,
            },
            "devices": {
                DISK: {
                    "written_bytes": written,
                    "read_bytes": [0] * (rows - 1) + [round(read_mib * MIB)],
                    "writes": [total // (64 * 1024) for total in written],
                    "merged_writes": [total // (64 * 1024) * merged for total in written],
                    "flushes": [0] * rows,
                }
            },
        },
        "unknown": {},
        **(change or {}),
    }


def profile(*arguments: Any, **keywords: Any) -> TaskProfile:
    """Return the same by the format's own reader."""
    return parse_profile(json.dumps(profile_document(*arguments, **keywords)).encode(), "profile")


def run_of(made: TaskProfile) -> RunProfile:
    """Return the run that a source would give for a profile's file."""
    return RunProfile(made, "profile", "profile", made.task.pool)


def result_documents(
    pool: str,
    ceilings: Sequence[float] = (100,),
    *,
    second_file: float = 1,
    between: float = 0,
    slower: Mapping[str, float] | None = None,
    only: Sequence[str] = ("sync-write/append-fsync", "spawn"),
    change: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return a result per ceiling, in MiB/s, each from another worker.

    A ceiling is measured by two files, the second one so many times as fast.
    """
    documents = seed_case.documents(
        len(ceilings), between=between, pools=[pool], change={pool: change} if change else None
    )
    for document, ceiling in zip(documents, ceilings, strict=True):
        retrieves = document["workloads"][0]
        retrieves["trials"] = trials({}, ceilings=[ceiling, ceiling * second_file])
        document["workloads"] += workload_entries.entries(slower, only=only)
    return documents


def pool_workers(*arguments: Any, **keywords: Any) -> list[Worker]:
    return [worker(document) for document in result_documents(*arguments, **keywords)]


def sync_ns() -> float:
    """Return how long a sync takes by these results."""
    entries = pool_workers("intel")[0].runs
    return next(each.mean_ns for each in entries if each.subject.variant == "append-fsync")


def write_profile(path: Path, document: Mapping[str, Any]) -> Path:
    path.write_text(json.dumps(document))
    return path


def write_results(folder: Path, *pools: Sequence[dict[str, Any]]) -> Path:
    """Write the results of pools."""
    return seed_case.store(folder, itertools.chain(*pools))


def predicted(*profiles: Any, ceilings: tuple[float, ...] = (50, 50), **target: Any) -> Any:
    """Return the prediction on a pool that writes 50 MiB/s, from one that writes 100."""
    workers = [*pool_workers("intel", (100,) * 3), *pool_workers("amd-16", ceilings, **target)]
    (task,) = predict(map(run_of, profiles), workers)
    assert task.pool == "intel"
    (pool,) = task.pools
    assert pool.reason is None
    return pool


def both_pools() -> list[Any]:
    """Return workers of a pool that writes 100 MiB/s, and of one that writes 50."""
    return [*pool_workers("intel"), *pool_workers("amd-16", (50,))]


def slower_syncs(factor: float) -> dict[str, Any]:
    """Return what makes each synchronous write of a pool take this many times as long."""
    return {"slower": {"sync-write/append-fsync": factor}}


def half_width(pool: Any) -> float:
    """Return half of ln of the ratio between both ends of an interval."""
    return math.log(pool.high_ns / pool.low_ns) / 2
