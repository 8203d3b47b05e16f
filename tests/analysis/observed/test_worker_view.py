# SPDX-License-Identifier: MPL-2.0
"""What a worker's timeline shows during the retrieves."""

from typing import Any

import pytest
import seed_case
from seed_workers import SUBJECT, workers_of

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


def view(timeline: dict[str, Any] | None) -> View:
    document = seed_case.documents(1, pools=("intel",))[0]
    document["workloads"][0]["samples"] = SAMPLES
    document["timeline"] = timeline
    return View(workers_of([document])["intel"][0], SUBJECT)


def timeline(times_s: tuple[float, ...], **devices: tuple[int | None, ...]) -> dict[str, Any]:
    column = [int(time_s * SECOND_NS) for time_s in times_s]
    tables = {name: {"busy_ms": list(busy)} for name, busy in devices.items()}
    return {"interval_s": 1.0, "columns": {"time_ns": column}, "devices": tables}


def test_the_busiest_disk() -> None:
    """2 s of the 4 s between the first and the last sample within the retrieves."""
    tables = timeline(TIMES_S, calm=(0, 0, 400, 400), busy=BUSY_MS, unread=(0, None, 9, 9))
    assert view(tables).busiest_share == 0.5


@pytest.mark.parametrize(
    "timeline",
    [
        pytest.param(None, id="no-timeline"),
        pytest.param(timeline((9, 11, 16, 17), vda=BUSY_MS), id="one-sample-within"),
        pytest.param(timeline((1, 2, 3, 4), vda=BUSY_MS), id="no-sample-within"),
        pytest.param(timeline(TIMES_S), id="no-devices"),
        pytest.param(timeline(TIMES_S, vda=(0, None, None, 0)), id="nothing-read"),
    ],
)
def test_a_timeline_that_does_not_show_it(timeline: dict[str, Any] | None) -> None:
    """The share is not known, and nothing fails."""
    assert view(timeline).busiest_share is None
    assert view(timeline).io_wait_share is None


def test_disks_that_only_read_have_rates() -> None:
    """Nothing written is a rate of zero, and says nothing against what was read."""
    document = seed_case.documents(1, pools=("intel",))[0]
    (entry,) = document["workloads"]
    entry["device_bytes"] = {"nvme0n1": {"read": 3_000_000_000, "written": 0}}
    entry["run_ns"], entry["final_sync_ns"] = 2 * SECOND_NS, SECOND_NS
    seen = View(workers_of([document])["intel"][0], SUBJECT)
    assert seen.moved_bytes_per_s == (1e9, 0.0)
    assert seen.written_bytes_per_s == 0
