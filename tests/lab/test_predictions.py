# SPDX-License-Identifier: MPL-2.0
"""Predictions held against what a command really takes on a slower disk."""

import json
import os
import sys
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from predicted_tasks import pool_workers, run_of
from profiled import Profiled
from storage_lab import BLKIO, MIB, WRITES_CAP, Lab, needs_write_caps, number_of, run
from worker import script

from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.prediction_model import PoolPrediction
from io_benchmark.analysis.reading.intake import worker_of
from io_benchmark.report.content import text_of
from io_benchmark.results.format import TaskProfile
from io_benchmark.sources.run_files import read_run

pytestmark = [pytest.mark.serial, pytest.mark.root, pytest.mark.lab]

FAST_MIB, SLOW_MIB = 60, 30
# Computes for a second, writes for a second at the faster disk's ceiling, twice.
JOB = f"""
import time
for number in range(2):
    time.sleep(1)
    with open(f"file-{{number}}", "wb") as file:
        for _ in range({FAST_MIB}):
            file.write(bytes({MIB}))
"""


def profile_of(lab: Lab, pool: str, mib_per_s: int, folder: Path) -> TaskProfile:
    """The command on a disk whose writers wait for it soon."""
    place = lab.disk(pool, size_mib=400)
    device = lab.devices[pool]
    lab.cap(device, mib_per_s)
    lab.little_dirty(Path(f"/sys/class/bdi/{number_of(device)}"), dirty_mib=4)
    options = ["--place", f"workspace={place}", "--pool", pool]
    profiled = Profiled(folder / f"{pool}.json", options)
    return profiled.measure(sys.executable, "-c", JOB, cwd=place)


def test_a_slower_disk(lab: Lab, tmp_path: Path) -> None:
    """From a profile on the faster one: two seconds more, and the measured time inside."""
    needs_write_caps()
    profiles = [
        profile_of(lab, "intel", FAST_MIB, tmp_path),
        profile_of(lab, "amd-16", SLOW_MIB, tmp_path),
    ]
    # Both pools have the CPUs of this machine, where other work may need some of them.
    cpus = profiles[0].host.cpu_count
    machine = {"host.cpu_count": cpus, "host.cpu_online_count": cpus}
    workers = [
        worker
        for pool, ceiling in (("intel", FAST_MIB), ("amd-16", SLOW_MIB))
        for worker in pool_workers(pool, (ceiling,), change=machine)
    ]
    (task,) = predict(map(run_of, profiles), workers)
    (pool,) = task.pools
    (measured_ns,) = pool.measured_ns
    assert pool.reason is None
    assert pool.low_ns is not None
    assert pool.high_ns is not None
    assert pool.low_ns <= measured_ns <= pool.high_ns
    assert pool.time_ns == pytest.approx(measured_ns, rel=0.15)


REQUESTS_PER_S = {"intel": 2000, "amd-16": 500}
# Waits for four requests or so per line.
LOG = """
import os
file = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for _ in range(1000):
    os.write(file, bytes(100))
    os.fsync(file)
"""


def capacities_of(pool: str, place: Path, folder: Path) -> Path:
    """Measure, as if a provider had the limit, which no file of the kernel shows."""
    given = ("--pool", pool, "--place", f"workspace={place}", "--output", folder / pool)
    run(*script("run", *map(str, given), "--capacities"))
    path = folder / pool / "io-benchmark" / "io-benchmark.json"
    change(path, lambda document: document["host"].update(boot_id=str(uuid.uuid4())))
    change(path, lambda document: document["limits"].update(io=[]))
    return path


def change(result: Path, make: Callable[[Any], Any]) -> None:
    document = json.loads(result.read_text())
    make(document)
    result.write_text(json.dumps(document))


def without_random_io(document: Any) -> None:
    document["workloads"] = [
        entry for entry in document["workloads"] if entry["name"] != "random-io"
    ]


def on_amd_16(profiles: Sequence[TaskProfile], results: Sequence[Path]) -> PoolPrediction:
    runs = map(read_run, results)
    (task,) = predict(map(run_of, profiles), [worker_of(run, run.result.task.pool) for run in runs])
    (pool,) = task.pools
    return pool


def test_fewer_requests(lab: Lab, tmp_path: Path) -> None:
    """A limit lets bursts pass, so the usual sync shows none.

    Random-io does, and without it is no prediction.
    """
    needs_write_caps()
    results, profiles = [], []
    for pool, per_s in REQUESTS_PER_S.items():
        place = lab.disk(pool, size_mib=400)
        lab.limit(BLKIO / WRITES_CAP, lab.devices[pool], per_s)
        results.append(capacities_of(pool, place, tmp_path))
        options = ["--place", f"workspace={place}", "--pool", pool]
        profiled = Profiled(tmp_path / f"{pool}.json", options)
        profiles.append(profiled.measure(sys.executable, "-c", LOG, cwd=place))
    for profile in profiles:
        profile.limits.io.clear()
    predicted = on_amd_16(profiles, results)
    (measured_ns,) = predicted.measured_ns
    assert measured_ns > 3 * profiles[0].wall_ns
    assert predicted.low_ns is not None
    assert predicted.high_ns is not None
    assert predicted.low_ns <= measured_ns <= predicted.high_ns
    for result in results:
        change(result, without_random_io)
    refused = on_amd_16(profiles, results)
    assert refused.reason is not None
    assert text_of(refused.reason).startswith("intel has no random-io at workspace (requests per")


# Two processes that compute at once, then one alone.
TWO_AND_ONE = """
from multiprocessing import Process

def compute(number):
    sum(index * index for index in range(number))

if __name__ == "__main__":
    both = [Process(target=compute, args=(15_000_000,)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    compute(8_000_000)
"""


def test_twice_the_cpus(tmp_path: Path) -> None:
    """From one CPU, threads that wait show what a second one saves."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        pytest.skip("needs two CPUs")
    profiles = []
    for number in (1, 2):
        options = ["--place", f"workspace={tmp_path}", "--pool", f"cpus-{number}"]
        profiled = Profiled(tmp_path / f"{number}.json", options)
        profiles.append(
            profiled.measure(
                sys.executable,
                "-c",
                TWO_AND_ONE,
                cwd=tmp_path,
                preexec_fn=partial(os.sched_setaffinity, 0, usable[:number]),
            )
        )
    one_cpu, two_cpus = profiles
    (task,) = predict([run_of(one_cpu)], [], cpus=[2])
    (pool,) = task.pools
    # With other work on the machine there is a range alone.
    assert pool.at_least_ns is not None
    assert pool.at_most_ns is not None
    assert pool.at_least_ns <= two_cpus.wall_ns <= pool.at_most_ns
    assert two_cpus.wall_ns < 0.8 * one_cpu.wall_ns
