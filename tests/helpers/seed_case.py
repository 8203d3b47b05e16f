# SPDX-License-Identifier: MPL-2.0
"""Seed 000's investigation, rebuilt as result documents.

Intel with two striped disks, AMD-30 with two striped disks, AMD-16 with one. The figures are the
seed's: each pool's times have its average and, by its own definition sorted[n * p // 100], its
percentiles. Two of its totals hold as well (151.9 s, 291.4 s); amd-30's does not, because the 1.01×
that the seed prints is the ratio of rounded averages, and its totals alone would give 1.02×.

What no test is about is that of a recorded result. Deterministic: the same arguments give the same
documents.
"""

import base64
import copy
import hashlib
import itertools
import json
import math
import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from checkout import ROOT

from io_benchmark.sources.run_files import RunStore
from io_benchmark.sources.run_results import TaskRecord

MIB = 1024 * 1024
MS = 1_000_000
S = 1_000_000_000
SIZES_MIB = (80,) * 40 + (60,) * 40 + (5,) * 20
RETRIEVES = 2000
PAUSE_MS = 0.02  # between two retrieves
SEQUENCE_SEED = 1
# What a retrieve takes of a CPU in the kernel, and with a tenth of it in user mode.
SYSTEM_MS = 19
CPU_MS = 1.1 * SYSTEM_MS
# The CPUs do this much besides.
OTHER_CPU_MS_PER_S = {"user": 20, "system": 20, "softirq": 4}
# The disks are busy for this share of the time that they have work.
BUSY_SHARE = 0.99
DISK_BYTES = 375 * 1024**3
STARTED = "2026-03-24T10:00:00Z"
RECORDED = ROOT / "tests/fixtures/result-v2.json"


def outcome(state: str = "completed", reason: str | None = None) -> dict[str, str | None]:
    """How a run or an entry ended."""
    return {"state": state, "reason": reason}


@dataclass(frozen=True)
class Pool:
    """One of the seed's pools, by what differs between them; times in ms."""

    name: str
    worker_type: str
    machine: str
    task_id: str
    cpu_model: str
    cpu_count: int
    disks: tuple[str, ...]
    disk_models: tuple[str, ...]
    average: float
    slow: tuple[float, float, float, float]  # median, P95, P99 and maximum
    smallest: tuple[float, float]  # 5 MiB files: fastest and slowest of them

    @property
    def memory_gib(self) -> int:
        return 4 * self.cpu_count


INTEL = Pool(
    name="intel",
    worker_type="b-linux",
    machine="c2-standard-16",
    task_id="O0wOvbnEQF6h8ptHBA6jbg",
    cpu_model="Intel(R) Xeon(R) CPU @ 3.10GHz",
    cpu_count=16,
    disks=("nvme0n1", "nvme0n2"),
    disk_models=("nvme_card", "nvme_card"),
    average=75.96,
    slow=(80, 109, 118, 171),
    smallest=(6.1, 9.4),
)
AMD_30 = Pool(
    name="amd-30",
    worker_type="b-linux-docker-large-amd",
    machine="c3d-standard-30-lssd",
    task_id="Yx4AjHXCRfyptBUIPTPtEg",
    cpu_model="AMD EPYC 9B14",
    cpu_count=30,
    disks=("nvme1n1", "nvme2n1"),
    disk_models=("nvme_card0", "nvme_card1"),
    average=77.0,
    slow=(82, 115, 149, 188),
    smallest=(6.0, 9.2),
)
AMD_16 = Pool(
    name="amd-16",
    worker_type="b-linux-docker-amd",
    machine="c3d-standard-16-lssd",
    task_id="WTIaalknRCmmcyO78GGIAg",
    cpu_model="AMD EPYC 9B14",
    cpu_count=16,
    disks=("nvme1n1",),
    disk_models=("nvme_card0",),
    average=145.7,
    slow=(157, 205, 237, 312),
    smallest=(10.2, 16.8),
)
POOLS = {pool.name: pool for pool in (INTEL, AMD_30, AMD_16)}

# pool -> dotted path in the document -> its new value: a value, or a function of the old
Change = Mapping[str, Mapping[str, Any]]


def documents(
    workers: int = 1,
    seed: int = 0,
    between: float = 0.0,
    *,
    pools: Sequence[str] = tuple(POOLS),
    change: Change | None = None,
) -> list[dict[str, Any]]:
    """Return `workers` results per pool, pool by pool.

    `seed` varies everything that is random, `between` is the standard deviation of the workers'
    log means around the seed's figures; at 0.0 every worker has these figures exactly.
    `change={"amd-16": {"storage.places.0.filesystem.type": "xfs"}}` changes facts of a pool, on
    all of its workers; "amd-16/1" names one of them.
    """
    made = []
    for name, worker in itertools.product(pools, range(workers)):
        document = pickle.loads(_pickled(POOLS[name], worker, seed, between))  # noqa: S301
        for key in (name, f"{name}/{worker}"):
            for path, value in (change or {}).get(key, {}).items():
                _replace(document, path, value)
        made.append(document)
    return made


def write(folder: Path, *arguments: Any, **keywords: Any) -> None:
    """Write such documents as `fetch` and `rehearse` do, into folders TASKID.RUNID."""
    store(folder, documents(*arguments, **keywords))


def store(
    folder: Path,
    made: Iterable[Mapping[str, Any]],
    record_of: Callable[[Mapping[str, Any]], TaskRecord] | None = None,
) -> Path:
    """Write these documents, each with the queue's record of its run."""
    for document in made:
        task = (record_of or record)(document)
        RunStore(folder)._write(task, json.dumps(document).encode())
    return folder


def record(document: Mapping[str, Any]) -> TaskRecord:
    """Return what the queue would report about this document's run."""
    task = document["task"]
    pool = POOLS[task["pool"]]
    number = int.from_bytes(hashlib.sha256(task["task_id"].encode()).digest()[:6], "big")
    return TaskRecord(
        task_id=task["task_id"],
        run_id=task["run_id"],
        label=f"io-benchmark-{pool.name}",
        pool=pool.name,
        task_queue=f"gecko-t/{pool.worker_type}",
        worker_group="us-central1-f",
        worker_id=str(number),
        state="completed",
        image="update-verify",
        started=document["started"],
        resolved=document["ended"],
    )


def shortened(entry: Mapping[str, Any], retrieves: int) -> dict[str, Any]:
    """Return an entry with only its first retrieves."""
    samples = {name: column[:retrieves] for name, column in entry["samples"].items()}
    return {**entry, "retrieves_planned": retrieves, "samples": samples}


def _replace(document: Any, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for name in parents:
        document = document[int(name) if isinstance(document, list) else name]
    key = int(last) if isinstance(document, list) else last
    document[key] = value(document[key]) if callable(value) else copy.deepcopy(value)


# --- times ---


@cache
def sequence() -> tuple[int, ...]:
    """Return the sequence of files that the worker's script draws."""
    generator = random.Random(SEQUENCE_SEED)
    return tuple(int(generator.random() * len(SIZES_MIB)) for _ in range(RETRIEVES))


@cache
def sorted_times_ns(pool: Pool) -> tuple[int, ...]:
    """Return 2,000 times with the pool's average and percentiles, fastest first.

    Three groups as the files have three sizes, straight lines within them. What is left free, how
    near the slow groups' fast ends are to their slow ends, is found by bisection on the average.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if sum(_quantiles_ms(pool, middle)) / RETRIEVES < pool.average:
            low = middle
        else:
            high = middle
    return tuple(round(time_ms * MS) for time_ms in _quantiles_ms(pool, low))


def _quantiles_ms(pool: Pool, nearness: float) -> list[float]:
    sizes = [SIZES_MIB[index] for index in sequence()]
    first_60, first_80 = sizes.count(5), sizes.count(5) + sizes.count(60)
    at_p50, at_p95, at_p99 = (RETRIEVES * percent // 100 for percent in (50, 95, 99))
    p50, p95, p99, slowest = pool.slow
    # The slowest copy of 60 MiB is as slow as the middle between the median and P95.
    boundary = (p50 + p95) / 2
    knots = [
        (0, pool.smallest[0]),
        (first_60 - 1, pool.smallest[1]),
        (first_60, p50 * (0.75 + 0.25 * nearness)),
        (at_p50, p50),
        (first_80 - 1, p50 + (boundary - p50) * nearness),
        (first_80, boundary + (p95 - boundary) * nearness),
        (at_p95, p95),
        (at_p99, p99),
        (RETRIEVES - 1, slowest),
    ]
    times = [knots[0][1]]
    for (start, from_ms), (end, to_ms) in itertools.pairwise(knots):
        times += [
            from_ms + (to_ms - from_ms) * (at - start) / (end - start)
            for at in range(start + 1, end + 1)
        ]
    return times


def _order(generator: random.Random) -> list[int]:
    """Order retrieves from the fastest to the slowest, by size and by a load that lasts a while."""
    load, keys = 0.0, []
    for index in sequence():
        load = 0.9 * load + math.sqrt(1 - 0.9**2) * generator.gauss(0, 1)
        keys.append(SIZES_MIB[index] + 5 * load + 2 * generator.gauss(0, 1))
    return sorted(range(RETRIEVES), key=keys.__getitem__)


def _samples(pool: Pool, generator: random.Random, factor: float, begin_ns: int) -> dict[str, Any]:
    total_ns = [0] * RETRIEVES
    for at, time_ns in zip(_order(generator), sorted_times_ns(pool), strict=True):
        total_ns[at] = round(time_ns * factor)
    lookup_ns = [round(1.35 * MS * math.exp(generator.gauss(0, 0.08))) for _ in total_ns]
    overhead_ns = round(PAUSE_MS * MS)
    starts = itertools.accumulate((time + overhead_ns for time in total_ns), initial=begin_ns)
    return {
        "file_index": list(sequence()),
        "start_ns": list(starts)[:-1],
        "lookup_ns": lookup_ns,
        "copy_ns": [total - lookup for total, lookup in zip(total_ns, lookup_ns, strict=True)],
    }


# --- documents ---


@lru_cache(maxsize=256)
def _pickled(pool: Pool, worker: int, seed: int, between: float) -> bytes:
    """Return a document to copy: many tests use the same ones, and to draw one takes long."""
    return pickle.dumps(_document(pool, worker, seed, between))


def _document(pool: Pool, worker: int, seed: int, between: float) -> dict[str, Any]:
    generator = random.Random(f"{seed}/{pool.name}/{worker}")
    factor = math.exp(between * generator.gauss(0, 1)) if between else 1.0
    # One disk's written bytes a second during the run, and so while the cache is populated.
    run_ns = round(sum(sorted_times_ns(pool)) * factor) + RETRIEVES * round(PAUSE_MS * MS)
    retrieved_bytes = sum(SIZES_MIB[index] for index in sequence()) * MIB
    rate = retrieved_bytes / run_ns * S
    cache_bytes = sum(SIZES_MIB) * MIB
    populate_ns = round(cache_bytes / rate * S)
    begin_ns = populate_ns + 2 * S
    samples = _samples(pool, generator, factor, begin_ns)
    final_sync_ns = 240 * MS
    ended_ns = begin_ns + run_ns + final_sync_ns
    recorded = json.loads(RECORDED.read_bytes())
    limits = {"cgroup_versions": ["v2"], "groups": {"unified": "/sys/fs/cgroup"}}
    return {
        **recorded,
        "script": {"version": "1.0.0", "sha256": hashlib.sha256(b"seed case").hexdigest()},
        "started": STARTED,
        "ended": f"2026-03-24T10:{ended_ns // S // 60:02d}:{ended_ns // S % 60:02d}Z",
        "duration_ns": ended_ns,
        "task": _task(pool, worker),
        "config": {**recorded["config"], "profile": "full", "retrieves": RETRIEVES},
        "host": _host(pool, recorded["host"], generator),
        "storage": {"places": [_place(pool, recorded["storage"]["places"][0])]},
        "limits": {**recorded["limits"], **limits},
        "workloads": [
            {
                **recorded["workloads"][0],
                "retrieves_planned": RETRIEVES,
                "file_sizes_bytes": [size * MIB for size in SIZES_MIB],
                "sequence_sha256": hashlib.sha256(str(list(sequence())).encode()).hexdigest(),
                "populate_ns": populate_ns,
                "cache_state": {
                    "drop_caches": "refused: Read-only file system",
                    "cache_bytes": cache_bytes,
                    "resident_bytes": 0,
                },
                "run_ns": run_ns,
                "final_sync_ns": final_sync_ns,
                "dirty_before_sync_bytes": 80 * MIB,
                "device_bytes": {
                    disk: {
                        "read": cache_bytes // len(pool.disks),
                        "written": retrieved_bytes // len(pool.disks),
                    }
                    for disk in pool.disks
                },
                "samples": samples,
            }
        ],
        "timeline": _timeline(pool, generator, rate, (populate_ns, begin_ns, ended_ns)),
    }


def task_id_of(pool: str, worker: int) -> str:
    """Return the id of a worker's task that the seed does not have."""
    digest = hashlib.sha256(f"{pool}/{worker}".encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:22]


def _task(pool: Pool, worker: int) -> dict[str, Any]:
    return {
        "pool": pool.name,
        "task_id": task_id_of(pool.name, worker) if worker else pool.task_id,
        "task_group_id": "fQ7Jb3o0S5m1XyqkYV2c9A",
        "root_url": "https://firefox-ci-tc.services.mozilla.com",
        "instance_type": pool.machine,
        "run_id": 0,
        "location": {"cloud": "google", "region": "us-central1", "zone": "us-central1-f"},
    }


def _host(pool: Pool, recorded: Mapping[str, Any], generator: random.Random) -> dict[str, Any]:
    return {
        **recorded,
        "kernel": "6.8.0-1024-gcp",
        "cpu_model": pool.cpu_model,
        "cpu_count": pool.cpu_count,
        "cpu_online_count": pool.cpu_count,
        "memory_bytes": pool.memory_gib * 1024 * MIB,
        "memory_available_bytes": pool.memory_gib * 1000 * MIB,
        "container": {"engine": "docker", "root_filesystem": "overlay"},
        "first_touch_ns_per_mib": [
            round(160_000 * generator.uniform(0.97, 1.03)) for _ in range(8)
        ],
    }


def _place(pool: Pool, recorded: Mapping[str, Any]) -> dict[str, Any]:
    striped = len(pool.disks) > 1
    stripe_option = ["stripe=32"] if striped else []
    options = ["rw", "nobarrier", *stripe_option, "data=writeback", "commit=60"]
    size_bytes = len(pool.disks) * (DISK_BYTES - 1024**3)
    (disk,) = recorded["devices"]
    return {
        **recorded,
        "kind": "volume",
        "mount": {
            **recorded["mount"],
            "device": "253:0",
            "root": "/docker/volumes/workspace/_data",
            "point": "/builds/worker/workspace",
            "source": "/dev/mapper/instance_storage-lv_instance_storage",
            "super_options": ",".join(options),
        },
        "filesystem": {**recorded["filesystem"], "ext4_options": sorted(options)},
        "size_bytes": size_bytes,
        "free_bytes": size_bytes * 9 // 10,
        "reflink": False,
        "devices": [volume(pool.disks, size_bytes, striped=striped), *_disks(pool, disk)],
    }


def volume(disks: Sequence[str], size_bytes: int, *, striped: bool) -> dict[str, Any]:
    """Return a logical volume over these disks, as the worker sees it."""
    return {
        "name": "dm-0",
        "number": "253:0",
        "kind": "lvm",
        "below": list(disks),
        "size_bytes": size_bytes,
        "stripe_count": len(disks) if striped else None,
        "minimum_io_bytes": 65536 if striped else 4096,
        "optimal_io_bytes": 65536 * len(disks) if striped else 0,
        "mapper_name": "instance_storage-lv_instance_storage",
        "raid_level": None,
    }


def _disks(pool: Pool, recorded: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for at, (name, model) in enumerate(zip(pool.disks, pool.disk_models, strict=True)):
        yield {
            **recorded,
            "name": name,
            "number": f"259:{at}",
            "size_bytes": DISK_BYTES,
            "model": model,
            "scheduler": "none",
            "queue": {**recorded["queue"], "rotational": 0},
        }


def _timeline(
    pool: Pool, generator: random.Random, rate: float, phases_ns: tuple[int, int, int]
) -> dict[str, Any]:
    """Return a timeline with a sample per second: disks write at their cap while they have work."""
    populate_ns, begin_ns, ended_ns = phases_ns
    times_ns = [*range(S // 2, ended_ns, S), ended_ns]
    columns: dict[str, list[int | None]] = {"time_ns": list(times_ns)}
    busy_ns = [min(at, populate_ns) + max(0, at - begin_ns) for at in times_ns]

    def counter(per_busy_s: float, base: int = 0) -> list[int | None]:
        return [base + round(per_busy_s * busy / S) for busy in busy_ns]

    def gauge(middle: float) -> list[int | None]:
        return [round(middle * generator.uniform(0.9, 1.1)) for _ in times_ns]

    columns["dirty_bytes"] = gauge(70 * MIB)
    columns["writeback_bytes"] = gauge(24 * MIB)
    columns["memory_available_bytes"] = gauge(0.85 * pool.memory_gib * 1024 * MIB)
    columns["psi_io_some_us"] = counter(480_000, 52_000_000)
    columns["psi_memory_some_us"] = counter(0)
    columns["psi_cpu_some_us"] = counter(900, 12_000_000)
    # The CPU works for the bytes copied, not for the seconds that the copies wait.
    system = SYSTEM_MS * generator.uniform(0.98, 1.02) * RETRIEVES / ((ended_ns - begin_ns) / S)
    user = system / 10
    columns["cpu_user_ms"] = counter(user + OTHER_CPU_MS_PER_S["user"], 400_000)
    columns["cpu_nice_ms"] = counter(0)
    columns["cpu_system_ms"] = counter(system + OTHER_CPU_MS_PER_S["system"], 300_000)
    columns["cpu_irq_ms"] = counter(0)
    columns["cpu_softirq_ms"] = counter(OTHER_CPU_MS_PER_S["softirq"], 3_000)
    columns["cpu_steal_ms"] = counter(0.4, 900)
    columns["own_user_ms"] = counter(user)
    columns["own_system_ms"] = counter(system)
    share = 1 / len(pool.disks)
    devices = {
        disk: {
            "read_bytes": counter(0, 40 * MIB),
            "written_bytes": counter(rate * share, 900 * MIB),
            "busy_ms": counter(1000 * BUSY_SHARE),
        }
        for disk in pool.disks
    }
    return {"interval_s": 1.0, "columns": columns, "devices": devices}
