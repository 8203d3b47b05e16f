# SPDX-License-Identifier: MPL-2.0
"""Entries of the workloads besides cache-retrieve, as a worker writes them, with given speeds.

The figures are near what machines like the seeds' do; a test makes some slower by a factor.
"""

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkout import ROOT
from seed_case import outcome

from io_benchmark.results.workloads import IN_BATCHES

US, MS = 1_000, 1_000_000
Entry = dict[str, Any]
# What a worker measured; only what it unpacks was not recorded.
RECORDED = {
    (entry["name"], entry.get("variant")): entry
    for entry in json.loads((ROOT / "tests/fixtures/result-v2-all.json").read_bytes())["workloads"]
}


@dataclass(frozen=True)
class Kind:
    """One entry: what an operation of it takes, how many are in a sample, and how many samples.

    Parameters and what was observed are those of a recorded entry, apart from those given here.
    """

    workload: str
    variant: str
    threads: int | None
    operation_ns: float
    operations: int
    samples: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    observed: Mapping[str, Any] = field(default_factory=dict)
    blocked: float | None = None  # the share of the time; None: not recorded what processes did

    @property
    def keys(self) -> tuple[str, ...]:
        """From the widest to the narrowest name of it."""
        wide = (self.workload, f"{self.workload}/{self.variant}")
        return wide if self.threads is None else (*wide, f"{wide[1]}/{self.threads}")

    def recorded(self, name: str, changes: Mapping[str, Any]) -> Entry:
        """Return the parameters, or what was observed."""
        return {**RECORDED.get((self.workload, self.variant), {}).get(name, {}), **changes}


WINDOW, BINARY = {"window_ns": 200 * MS}, {"blob_bytes": 20 * 1024 * 1024}


def _random_io(variant: str, operation_ns: float) -> Kind:
    latency = {"mean": 90 * US, "p50": 85 * US, "p95": 140 * US, "p99": 210 * US, "max": MS}
    observed = {"method": "python-o-direct", "latency_ns": latency}
    operations = int(200 * MS / operation_ns)
    return Kind("random-io", variant, None, operation_ns, operations, 60, WINDOW, observed)


def _unpack(variant: str, operation_ns: float) -> Kind:
    files, files_bytes, samples = 2406, 70 * 1024 * 1024, 24
    parameters = {"files": files, "files_bytes": files_bytes, "sizes_sha256": "5" * 64}
    parameters |= {"warm_up": 1, "samples_planned": samples, "time_limit_s": 32.0}
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
        "unpack", variant, None, operation_ns, files, samples, parameters, observed, blocked
    )


def download_steps(downloads: int, rates: Mapping[str, float | None] | None = None) -> Entry:
    """Return the steps of so many downloads of 16 MiB, by ns of each step; each alike."""
    usual: dict[str, float | None] = {
        "resolve_ns": 1 * MS,
        "connect_ns": 2 * MS,
        "tls_ns": 5 * MS,
        "redirect_ns": 30 * MS,
    }
    usual |= {"first_byte_ns": 25 * MS, "body_ns": 150 * MS, "second_half_ns": 70 * MS}
    steps = {**usual, "sync_ns": None, **(rates or {})}
    return {
        name: [None if time_ns is None else round(time_ns)] * downloads
        for name, time_ns in steps.items()
    }


def _download(variant: str, threads: int, operation_ns: float) -> Kind:
    piece, samples = 16, 20
    piece_bytes = piece * 1024 * 1024
    sync_ns = 10 * MS if variant == "to-place" else None
    downloads = samples * threads
    parameters: Entry = {"piece_bytes": piece_bytes, "target": "https://tc.example"}
    parameters |= {"samples_planned": samples, "time_limit_s": 15.0}
    host = {"host": "storage.example", "server": "UploadServer"}
    observed = {
        "method": "http.client",
        "python": "3.11.2",
        "written_bytes": downloads * piece_bytes if sync_ns else None,
        "sync_ns": downloads * sync_ns if sync_ns else None,
        "retries": 0,
        "steps": download_steps(downloads, {"sync_ns": sync_ns}),
        "address_family": "IPv4",
        "answered_by": host,
        "http_version": "1.1",
        "object_bytes": 500_000_000,
        "redirects": 1,
        "tls_version": "TLSv1.3",
    }
    operations = piece * threads
    return Kind(
        "download", variant, threads, operation_ns, operations, samples, parameters, observed, 0.7
    )


def _metadata(variant: str, threads: int, operation_ns: float) -> Kind:
    operations = int(200 * MS / operation_ns)
    return Kind("metadata", variant, threads, operation_ns, operations, 40, WINDOW)


_KINDS: Sequence[Kind] = (
    _random_io("read-depth-1", 90 * US),
    _random_io("write-depth-1", 30 * US),
    _random_io("read-depth-32", 1e9 / 170_000),
    _random_io("write-depth-32", 1e9 / 90_000),
    Kind("spawn", "posix-spawn", None, 512 * US, 1, 500, {"samples_planned": 500}),
    Kind("sync-write", "dsync-overwrite", None, 150 * US, 1, 200),
    Kind("sync-write", "dsync-append", None, 180 * US, 1, 200),
    Kind("sync-write", "append-fsync", None, 200 * US, 1, 200),
    Kind("sync-write", "dsync-append-first", None, 185 * US, 30, 50, {"samples_planned": 50}),
    *(
        _metadata(variant, threads, operation_ns / threads**0.95)
        for variant, operation_ns in (
            ("stat", 1 * US),
            ("stat-missing", 1.2 * US),
            ("create-rename-unlink", 50 * US),
        )
        for threads in (1, 2, 4)
    ),
    Kind("metadata", "lookup-missing", 1, 3 * US, int(200 * MS / (3 * US)), 40),
    Kind("metadata", "visibility", 2, 60 * US, 1, 200),
    Kind("exec", "hardlinked", 4, 30 * MS, 1, 80, BINARY, {"cpu_ns": 80 * 29 * MS}),
    Kind("exec", "copies", 4, 33 * MS, 1, 80, BINARY, {"cpu_ns": 80 * 29 * MS}),
    Kind("upload", "connection-each", None, 7 * MS, 1, 50),
    Kind("upload", "keep-alive", None, 6 * MS, 1, 50),
    Kind("upload", "concurrent", None, 0.5 * MS, 16, 50, {"objects_at_once": 16}),
    _unpack("cold", 60 * US),
    _unpack("cold-sync", 85 * US),
    _unpack("warm", 35 * US),
    _unpack("warm-sync", 60 * US),
    _download("to-memory", 1, 14 * MS),
    _download("to-memory", 4, 5 * MS),
    _download("to-place", 1, 15 * MS),
    _download("to-place", 4, 5.5 * MS),
)
# A workload without a row above has these.
_PLAIN = {"samples_planned": 100, "time_limit_s": 10.0}
KINDS = [
    *_KINDS,
    *(
        Kind(name, "plain", None, MS, 1, 100, _PLAIN)
        for name in sorted(IN_BATCHES - {kind.workload for kind in _KINDS})
    ),
]


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
        seen = kind.recorded("observed", kind.observed)
        chosen = kind.recorded("parameters", kind.parameters)
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
    """What could not be done at all on a worker, of any workload."""
    nothing: Entry = {"run_ns": None, "samples": {name: [] for name in entry["samples"]}}
    if "observed" in entry:
        nothing["observed"] = dict.fromkeys(entry["observed"])
    else:
        nothing["cache_state"] = None
    return {**entry, **nothing, "outcome": outcome("skipped", reason)}
