# SPDX-License-Identifier: MPL-2.0
"""What a worker's timeline and counters show meanwhile, and the file system of its place."""

from typing import Any

import pytest
import seed_workers

from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.reading import disk_rates
from io_benchmark.analysis.reading.counters import busiest_share, io_wait_share
from io_benchmark.analysis.reading.disk_rates import busy_read_rate, busy_write_rate
from io_benchmark.analysis.reading.machines import dirty_room
from io_benchmark.analysis.reading.mounts import mount_options, mount_table_options
from io_benchmark.analysis.reading.windows import Window

SECOND_NS = 1_000_000_000
SAMPLES = {
    "file_index": [0, 0, 0],
    "start_ns": [10 * SECOND_NS, 12 * SECOND_NS, 14 * SECOND_NS],
    "lookup_ns": [0, 0, 0],
    "copy_ns": [SECOND_NS, SECOND_NS, SECOND_NS],
}
# The retrieves begin at 10 s and end at 15 s, so the samples at 11 s and 15 s are used.
TIMES_S, BUSY_MS = (9, 11, 15, 16), (0, 100, 2100, 9999)
PLACE = "storage.places.0."
MOUNT = {"filesystem": "ext4", "options": "rw,relatime", "super_options": "rw,data=writeback"}


def view(change: dict[str, Any]) -> Run:
    (worker,) = seed_workers.workers(pools=("intel",), change={"intel": change})
    return worker.run_of(seed_workers.SUBJECT)


def timeline(times_s: tuple[float, ...], **devices: tuple[int | None, ...]) -> dict[str, Any]:
    column = [int(time_s * SECOND_NS) for time_s in times_s]
    tables = {name: {"busy_ms": list(busy)} for name, busy in devices.items()}
    return {"interval_s": 1.0, "columns": {"time_ns": column}, "devices": tables}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        pytest.param(
            # 2 s of the 4 s between the first and the last sample within the retrieves.
            timeline(TIMES_S, calm=(0, 0, 400, 400), busy=BUSY_MS, unread=(0, None, 9, 9)),
            0.5,
            id="the busiest disk",
        ),
        pytest.param(None, None, id="no-timeline"),
        pytest.param(timeline((9, 11, 16, 17), vda=BUSY_MS), None, id="one-sample-within"),
        pytest.param(timeline((1, 2, 3, 4), vda=BUSY_MS), None, id="no-sample-within"),
        pytest.param(timeline(TIMES_S), None, id="no-devices"),
        pytest.param(timeline(TIMES_S, vda=(0, None, None, 0)), None, id="nothing-read"),
    ],
)
def test_the_busiest_disk(recorded: dict[str, Any] | None, expected: float | None) -> None:
    """A timeline that does not show a share makes it unknown, and nothing fails."""
    worker = view({"workloads.0.samples": SAMPLES, "timeline": recorded})
    assert (busiest_share(worker), io_wait_share(worker)) == (expected, None)


def on(mount: dict[str, Any] | None = MOUNT, **filesystem: Any) -> Run:
    """A worker whose place is mounted in this way."""
    change = {
        f"{PLACE}mount": lambda recorded: None if mount is None else {**recorded, **mount},
        f"{PLACE}filesystem": lambda recorded: recorded | filesystem if filesystem else None,
    }
    return view(change)


def test_mount_options() -> None:
    """The mount's options, the super block's, and those that ext4 itself lists."""
    table = {"rw": "", "relatime": "", "data": "writeback"}
    worker = on(ext4_options=["rw", "", "auto_da_alloc", "commit=60"])
    assert mount_table_options(worker) == table
    assert mount_options(worker) == table | {"auto_da_alloc": "", "commit": "60"}
    assert mount_options(on()) == table
    assert (mount_table_options(on(None)), mount_options(on(None))) == ({}, {})


MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("vm", "limits_mib", "room_mib"),
    [
        pytest.param({}, [], 150.0, id="usual"),
        pytest.param({"dirty_ratio": 40, "dirty_background_ratio": 10}, [], 250.0, id="ratios"),
        # A background limit that is not below the other is half of that.
        pytest.param({"dirty_bytes": 80 * MIB}, [], 60.0, id="bytes"),
        pytest.param({}, [500, 800], 75.0, id="a-group's-memory"),
    ],
)
def test_room_for_dirty_bytes(vm: dict[str, int], limits_mib: list[int], room_mib: float) -> None:
    """Half way between the two limits of the memory that is available."""
    groups = [{"group": "/", "file": "memory.max", "bytes": mib * MIB} for mib in limits_mib]
    change = {"host.memory_available_bytes": 1000 * MIB, "host.vm": vm, "limits.memory": groups}
    assert dirty_room(view(change).worker) == pytest.approx(room_mib * MIB)


def test_a_mirror_writes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its disks write while copies wait is twice what goes into files."""
    worker = view({f"{PLACE}devices.0.raid_level": "raid1"})
    busy = Window(1.0, 30.0, 400.0, 1.0)
    monkeypatch.setattr(disk_rates, "windows_of", lambda _run: (busy,) * 4)
    for waits, expected in ((True, (30.0, 200.0)), (False, (None, None))):
        monkeypatch.setattr(disk_rates, "waits_for_disks", lambda _run, waits=waits: waits)
        assert (busy_read_rate(worker), busy_write_rate(worker)) == expected
