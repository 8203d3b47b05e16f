# SPDX-License-Identifier: MPL-2.0
"""Predictions held against what a command really takes on a slower disk."""

import sys
from pathlib import Path

import pytest
from predicted_tasks import pool_workers, run_of
from profiled import Profiled
from storage_lab import MIB, Lab, needs_write_caps, number_of

from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.results.format import TaskProfile

pytestmark = [pytest.mark.serial, pytest.mark.root]

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
    """From a profile on the faster one: two seconds more, and the measured time is in the interval."""
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
