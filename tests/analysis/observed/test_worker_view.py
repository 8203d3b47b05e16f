# SPDX-License-Identifier: MPL-2.0
"""What a worker's timeline and counters show during the retrieves, and the file system of its place."""

from typing import Any

import pytest
import seed_workers

from io_benchmark.analysis.observed.worker_view import View

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


def view(change: dict[str, Any]) -> View:
    (worker,) = seed_workers.workers(pools=("intel",), change={"intel": change})
    return View(worker, seed_workers.SUBJECT)


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
    assert (worker.busiest_share, worker.io_wait_share) == (expected, None)


def test_disks_that_only_read_have_rates() -> None:
    """Nothing written is a rate of zero; the time of the final sync counts."""
    worker = view(
        {
            "workloads.0.device_bytes": {"nvme0n1": {"read": 3_000_000_000, "written": 0}},
            "workloads.0.run_ns": 2 * SECOND_NS,
            "workloads.0.final_sync_ns": SECOND_NS,
        }
    )
    assert (worker.moved_bytes_per_s, worker.written_bytes_per_s) == ((1e9, 0.0), 0)


def on(mount: dict[str, Any] | None = MOUNT, **filesystem: Any) -> View:
    """A worker whose place is mounted in this way."""
    change = {
        f"{PLACE}mount": lambda recorded: None if mount is None else {**recorded, **mount},
        f"{PLACE}filesystem": lambda recorded: recorded | filesystem if filesystem else None,
    }
    return view(change)


def test_the_file_system() -> None:
    """From the file system itself, else from the mount table."""
    workers = (on(), on(type="xfs"), on(None, type="xfs"), on(None))
    assert [worker.filesystem_type for worker in workers] == ["ext4", "xfs", "xfs", None]


def test_mount_options() -> None:
    """The mount's options, the super block's, and those that ext4 itself lists."""
    table = {"rw": "", "relatime": "", "data": "writeback"}
    worker = on(ext4_options=["rw", "", "auto_da_alloc", "commit=60"])
    assert worker.mount_table_options == table
    assert worker.mount_options == table | {"auto_da_alloc": "", "commit": "60"}
    assert on().mount_options == table
    assert (on(None).mount_table_options, on(None).mount_options) == ({}, {})


def test_barriers_by_either_name() -> None:
    """Kernels write barrier=0 or nobarrier for the same thing."""
    options = ("barrier=0", "barrier=1", "barrier=9", "nobarrier")
    mounts = [MOUNT | {"options": "", "super_options": option} for option in options]
    assert [on(mount).mount_options for mount in mounts] == [
        *({"nobarrier": ""}, {"barrier": ""}, {"barrier": "9"}, {"nobarrier": ""})
    ]
