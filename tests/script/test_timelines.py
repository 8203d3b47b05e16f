# SPDX-License-Identifier: MPL-2.0
"""The timeline of a run, once a second by a separate process."""

import os
from collections.abc import Callable

from observe import timelines

Record = Callable[..., None]


def test_a_row_has_a_value_for_each_column(recorded: Record) -> None:
    """Recorded figures of every source arrive under their names, with their units."""
    recorded(
        {
            "/proc/meminfo": "Dirty: 10 kB\nWriteback: 4 kB\nMemAvailable: 100 kB\n",
            "/proc/pressure/io": "some avg10=0.00 total=11\nfull avg10=0.00 total=7\n",
            "/proc/pressure/memory": "some avg10=0.00 total=5\n",
            "/proc/stat": "cpu  100 0 200 300 400 0 0 50 0 0\ncpu0 1\n",
            "/proc/9/stat": "9 (a) b) S 1 1 1 0 -1 0 0 0 0 0 3 4 1 2 20 0 1 0 5\n",
            "/proc/diskstats": "259 0 nvme0n1 1 0 16 1 1 0 32 1 0 77 1 0 0 0 0 0 0\n",
        }
    )
    disks = ["nvme0n1", "gone"]
    row = dict(zip(timelines._column_names(disks), timelines._sample(9, disks), strict=True))
    tick_ms = 1000 // os.sysconf("SC_CLK_TCK")
    ticks = {"user": 100, "nice": 0, "system": 200, "idle": 300, "iowait": 400, "steal": 50}
    row.pop("time_ns")
    assert row == {
        "dirty_bytes": 10240,
        "writeback_bytes": 4096,
        "memory_available_bytes": 102400,
        "psi_io_some_us": 11,
        "psi_io_full_us": 7,
        "psi_memory_some_us": 5,
        "psi_cpu_some_us": None,
        **{f"cpu_{name}_ms": ticks.get(name, 0) * tick_ms for name in timelines.CPU_TICKS},
        "own_user_ms": 4 * tick_ms,
        "own_system_ms": 6 * tick_ms,
        "nvme0n1:read_bytes": 8192,
        "nvme0n1:written_bytes": 16384,
        "nvme0n1:busy_ms": 77,
        **dict.fromkeys(("gone:read_bytes", "gone:written_bytes", "gone:busy_ms")),
    }
