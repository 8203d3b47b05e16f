# SPDX-License-Identifier: MPL-2.0
"""The timeline: taken once a second by a separate process."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from observe import timelines
from worker import Worker


def test_a_row_has_a_value_for_each_column(recorded: Callable[..., None]) -> None:
    """Recorded figures of every source arrive under their names, with their units."""
    recorded(
        {
            "/proc/meminfo": "Dirty: 10 kB\nWriteback: 4 kB\nMemAvailable: 100 kB\n",
            "/proc/pressure/io": "some avg10=0.00 total=11\nfull avg10=0.00 total=7\n",
            "/proc/pressure/memory": "some avg10=0.00 total=5\n",
            "/proc/stat": "cpu  100 0 200 300 400 0 0 50 0 0\ncpu0 1\n",
            "/proc/9/io": "read_bytes: 4096\nwrite_bytes: 8192\n",
            "/proc/9/stat": "9 (a) b) S 1 1 1 0 -1 0 0 0 0 0 3 4 1 2 20 0 1 0 5\n",
            "/proc/diskstats": "259 0 nvme0n1 1 0 16 1 1 0 32 1 0 77 1 0 0 0 0 0 0\n",
        }
    )
    disks = ["nvme0n1", "gone"]
    row = dict(zip(timelines.column_names(disks), timelines.sample(9, disks), strict=True))
    tick_ms = 1000 // os.sysconf("SC_CLK_TCK")
    row.pop("time_ns")
    assert row == {
        "dirty_bytes": 10240,
        "writeback_bytes": 4096,
        "memory_available_bytes": 102400,
        "psi_io_some_us": 11,
        "psi_io_full_us": 7,
        "psi_memory_some_us": 5,
        "psi_cpu_some_us": None,
        "cpu_user_ms": 100 * tick_ms,
        "cpu_nice_ms": 0,
        "cpu_system_ms": 200 * tick_ms,
        "cpu_idle_ms": 300 * tick_ms,
        "cpu_iowait_ms": 400 * tick_ms,
        "cpu_irq_ms": 0,
        "cpu_softirq_ms": 0,
        "cpu_steal_ms": 50 * tick_ms,
        "own_read_bytes": 4096,
        "own_written_bytes": 8192,
        "own_user_ms": 4 * tick_ms,
        "own_system_ms": 6 * tick_ms,
        "nvme0n1:read_bytes": 8192,
        "nvme0n1:written_bytes": 16384,
        "nvme0n1:busy_ms": 77,
        "gone:read_bytes": None,
        "gone:written_bytes": None,
        "gone:busy_ms": None,
    }


def test_it_samples_until_it_is_stopped() -> None:
    """A first and a last row at least; stopping waits for the process and is no early end."""
    taking = timelines.Sampler([], time.monotonic_ns())
    time.sleep(1.3)
    taking.take()
    ((_, process, _),) = taking._crew._members.values()
    taking.stop()
    assert taking.ended_early is None
    times = taking.as_timeline()["columns"]["time_ns"]
    assert len(times) >= 3
    assert times == sorted(times)
    assert not Path(f"/proc/{process}").exists()


def test_the_timeline_shows_the_copies(worker: Worker) -> None:
    """A run's own writes are in the timeline, in bytes, with columns of one length."""
    code, output = worker.run("--retrieves", "300", "--sizes", "10x2")
    assert code == 0, output
    timeline = worker.result().timeline
    assert timeline is not None
    written = [value for value in timeline.columns["own_written_bytes"] if value is not None]
    assert written[-1] - written[0] >= 300 * 2 * 1024 * 1024
