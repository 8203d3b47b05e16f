# SPDX-License-Identifier: MPL-2.0
"""Entries of the workloads besides cache-retrieve, as a worker writes them, with given speeds.

The figures are near what machines like the seeds' do; a test makes some slower by a factor.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seed_case import outcome

US, MS = 1_000, 1_000_000
Entry = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One entry: what an operation of it takes, how many are in a sample, and how many samples."""

    workload: str
    variant: str
    threads: int | None
    operation_ns: float
    operations: int
    samples: int
    parameters: Mapping[str, Any]
    observed: Mapping[str, Any]
    blocked: float | None = None  # the share of the time; None: not recorded what processes did

    @property
    def keys(self) -> tuple[str, ...]:
        """From the widest to the narrowest name of it."""
        wide = (self.workload, f"{self.workload}/{self.variant}")
        return wide if self.threads is None else (*wide, f"{wide[1]}/{self.threads}")


def _random_io(variant: str, operation_ns: float) -> Kind:
    operation, _, depth = variant.split("-")
    parameters = {
        "operation": operation,
        "block_bytes": 4096,
        "depth": int(depth),
        "file_bytes": 1024 * 1024 * 1024,
        "window_ns": 200 * MS,
        "samples_planned": 60,
        "time_limit_s": 20.0,
    }
    observed = {
        "method": "python-o-direct",
        "processes": 1,
        "latency_ns": {
            "mean": 90 * US,
            "p50": 85 * US,
            "p95": 140 * US,
            "p99": 210 * US,
            "max": MS,
        },
    }
    operations = int(200 * MS / operation_ns)
    return Kind("random-io", variant, None, operation_ns, operations, 60, parameters, observed)


def _unpack(variant: str, operation_ns: float) -> Kind:
    files, files_bytes, samples = 2406, 70 * 1024 * 1024, 24
    parameters = {
        "files": files,
        "files_bytes": files_bytes,
        "sizes_sha256": "5" * 64,
        "warm_up": 1,
        "samples_planned": samples,
        "time_limit_s": 32.0,
    }
    is_synced = variant.endswith("-sync")
    observed = {
        "method": "own tar reader, syncfs" if is_synced else "own tar reader",
        "python": "3.11.2",
        "resident_bytes": 0 if variant.startswith("cold") else files_bytes,
        "unpacked_bytes": samples * files_bytes,
        "sync_ns": round(samples * files * operation_ns / 2) if is_synced else None,
    }
    blocked = 0.6 if is_synced else 0.1
    return Kind(
        *("unpack", variant, None, operation_ns, files, samples, parameters, observed), blocked
    )


def _sync_write(variant: str, operation_ns: float, writes_a_process: int | None = None) -> Kind:
    samples = 200 if writes_a_process is None else 50
    parameters = {
        "write_bytes": 512,
        "samples_planned": samples,
        "warm_up": 20 if writes_a_process is None else 0,
        "writes_a_process": writes_a_process,
        "time_limit_s": 30.0,
    }
    observed = {"process": "fresh", "python": "3.11.2"}
    operations = writes_a_process or 1
    return Kind(
        "sync-write", variant, None, operation_ns, operations, samples, parameters, observed
    )


def _metadata(variant: str, threads: int, operation_ns: float) -> Kind:
    visible = variant == "visibility"
    alone = variant == "lookup-missing"
    parameters = {
        "concurrency": "threads" if visible else "processes",
        "files": 1000,
        "samples_planned": 200 if visible else 40,
        "window_ns": None if visible or alone else 200 * MS,
        "time_limit_s": 8.0,
    }
    observed = {
        "cpus": 16,
        "checks": 200 if visible else None,
        "not_visible": 0 if visible else None,
        "longest_invisible_ns": 0 if visible else None,
    }
    operations = 1 if visible else int(200 * MS / operation_ns)
    samples = 200 if visible else 40
    return Kind(
        "metadata", variant, threads, operation_ns, operations, samples, parameters, observed
    )


def _exec(variant: str, operation_ns: float) -> Kind:
    parameters = {
        "blob_bytes": 20 * 1024 * 1024,
        "passes": 50,
        "samples_planned": 80,
        "time_limit_s": 30.0,
    }
    observed = {"architecture": "x86_64", "cpus": [0, 1, 2, 3], "cpu_ns": 80 * 29 * MS}
    return Kind("exec", variant, 4, operation_ns, 1, 80, parameters, observed)


def _upload(variant: str, operation_ns: float, operations: int = 1) -> Kind:
    parameters = {
        "target": "loopback",
        "object_bytes": 4096,
        "objects_planned": 50 * operations,
        "objects_at_once": operations,
        "samples_planned": 50,
        "delay_ns": 5 * MS,
        "time_limit_s": 30.0,
    }
    observed = {
        "method": "curl-7.88.1",
        "http_version": "1.1",
        "connections": {"connection-each": 50, "keep-alive": 1}.get(variant, 16),
        "without_expect_ns": [6 * MS, 6 * MS],
        "expect_100_stalls": 0,
    }
    return Kind("upload", variant, None, operation_ns, operations, 50, parameters, observed)


KINDS: Sequence[Kind] = (
    _random_io("read-depth-1", 90 * US),
    _random_io("write-depth-1", 30 * US),
    _random_io("read-depth-32", 1e9 / 170_000),
    _random_io("write-depth-32", 1e9 / 90_000),
    Kind(
        *("spawn", "posix-spawn", None, 512 * US, 1, 500),
        {"samples_planned": 500, "warm_up": 20, "time_limit_s": 30.0},
        {
            "program": "/usr/bin/true",
            "method": "os.posix_spawn, os.waitpid",
            "python": "3.11.2",
        },
    ),
    _sync_write("dsync-overwrite", 150 * US),
    _sync_write("dsync-append", 180 * US),
    _sync_write("append-fsync", 200 * US),
    _sync_write("dsync-append-first", 185 * US, 30),
    *(
        _metadata(variant, threads, operation_ns / threads**0.95)
        for variant, operation_ns in (
            ("stat", 1 * US),
            ("stat-missing", 1.2 * US),
            ("create-rename-unlink", 50 * US),
        )
        for threads in (1, 2, 4)
    ),
    _metadata("lookup-missing", 1, 3 * US),
    _metadata("visibility", 2, 60 * US),
    _exec("hardlinked", 30 * MS),
    _exec("copies", 33 * MS),
    _upload("connection-each", 7 * MS),
    _upload("keep-alive", 6 * MS),
    _upload("concurrent", 0.5 * MS, 16),
    _unpack("cold", 60 * US),
    _unpack("cold-sync", 85 * US),
    _unpack("warm", 35 * US),
    _unpack("warm-sync", 60 * US),
)


def entries(
    slower: Mapping[str, float] | None = None,
    *,
    only: Sequence[str] = (),
    observed: Mapping[str, Mapping[str, Any]] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 1,
    place: str = "workspace",
) -> list[Entry]:
    """All of them, or those of `only`; factors and facts by 'workload', '/variant', '/threads'."""
    found = []
    for kind in KINDS:
        if only and not set(kind.keys) & set(only):
            continue
        factor = math.prod((slower or {}).get(key, 1.0) for key in kind.keys)
        seen, chosen = dict(kind.observed), dict(kind.parameters)
        for key in kind.keys:
            seen |= (observed or {}).get(key, {})
            chosen |= (parameters or {}).get(key, {})
        # Its own, so that one more entry changes none of the others.
        generator = random.Random(f"{seed} {kind.keys[-1]}")
        found.append(_entry(kind, factor, place, chosen, seen, generator))
    return found


def _entry(
    kind: Kind,
    factor: float,
    place: str,
    parameters: Entry,
    observed: Entry,
    generator: random.Random,
) -> Entry:
    starts, durations, operations = [], [], []
    now_ns = 40_000 * MS
    for _ in range(kind.samples):
        # A window is as long as it is, and holds what was done in it.
        noise = 1 + 0.02 * (generator.random() - generator.random())
        done = kind.operations
        took_ns = kind.operation_ns * factor * noise * done
        if done > 1 and parameters.get("window_ns"):
            done = max(1, round(parameters["window_ns"] / (kind.operation_ns * factor * noise)))
            took_ns = parameters["window_ns"]
        starts.append(now_ns)
        durations.append(max(1, round(took_ns)))
        operations.append(done)
        now_ns += durations[-1] + 1000
    return {
        "name": kind.workload,
        "place": place,
        "variant": kind.variant,
        "threads": kind.threads,
        "parameters": parameters,
        "observed": observed,
        "run_ns": now_ns - 40_000 * MS,
        "device_bytes": None,
        "process_times": _process_times(sum(durations), kind.blocked),
        "samples": {"start_ns": starts, "duration_ns": durations, "operations": operations},
        "outcome": outcome(),
    }


def _process_times(wall_ns: int, blocked: float | None) -> Entry | None:
    if blocked is None:
        return None
    cpu_ns = round((1 - blocked) * wall_ns / 2)
    return {"wall_ns": wall_ns, "user_ns": cpu_ns, "kernel_ns": cpu_ns, "waiting_ns": 0}


def skipped(entry: Entry, reason: str) -> Entry:
    """What could not be done at all on a worker."""
    nothing: dict[str, list[int]] = {"start_ns": [], "duration_ns": [], "operations": []}
    return {
        **entry,
        "observed": dict.fromkeys(entry["observed"]),
        "run_ns": None,
        "samples": nothing,
        "outcome": outcome("skipped", reason),
    }
