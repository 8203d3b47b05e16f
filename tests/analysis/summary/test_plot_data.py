# SPDX-License-Identifier: MPL-2.0
"""What the plots draw: raw times, and the rates of one run per side."""

from typing import Any

import pytest
import seed_workers
import workload_entries

from io_benchmark.analysis.summary.plot_data import rate_timelines, sample_series

SECOND_NS, MIB = 1_000_000_000, 1024 * 1024


def timeline(**columns: list[int | None]) -> dict[str, Any]:
    """Return three rows, a second and two seconds apart; one disk counts what others do not."""
    times_ns = [4 * SECOND_NS, 5 * SECOND_NS, 7 * SECOND_NS]
    devices = {
        "a": {"written_bytes": [0, MIB, 5 * MIB]},
        "b": {"written_bytes": [0, 2 * MIB, 0]},
        "c": {"written_bytes": [0, None, MIB]},
    }
    return {"interval_s": 1.0, "columns": {"time_ns": times_ns, **columns}, "devices": devices}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (
            timeline(psi_io_some_us=[0, 500_000, 9_000_000], dirty_bytes=[1, 2, 3]),
            ([5, 7], [3 * MIB, MIB], [2, 3], [0.5, 1]),
        ),
        (timeline(psi_io_some_us=[9, 0, 0]), ([5, 7], [3 * MIB, MIB], [0, 0], [0, 0])),
        (timeline(psi_io_some_us=[9, None, 0]), ([5, 7], [3 * MIB, MIB], [0, 0], [0, 0])),
        # A hostile or broken file: nothing can be drawn.
        (timeline(time_ns=[5, 5, 7]), None),
        (timeline(time_ns=[5, None, 7]), None),
        (None, None),
    ],
)
def test_rates(recorded: dict[str, Any] | None, expected: Any) -> None:
    """Bytes per second of all disks that count, and shares of the time between 0 and 1."""
    runs = seed_workers.workers(pools=("intel",), change={"intel": {"timeline": recorded}})
    assert [
        tuple(
            map(list, (run.time_s, run.written_bytes_per_s, run.dirty_bytes, run.pressure_io_ratio))
        )
        for run in rate_timelines(runs)
    ] == ([expected] if expected else [])


def test_the_typical_worker_is_drawn() -> None:
    """The one in the middle, else the first whose timeline can be drawn."""
    runs = seed_workers.workers(3, between=0.1, pools=("intel",))
    means = {run.entries[0].mean_ns: run.worker_id for run in runs}
    (drawn,) = rate_timelines(runs)
    assert drawn.worker == means[sorted(means)[1]]
    for index in range(3):
        change = {f"intel/{number}": {"timeline": None} for number in range(3) if number != index}
        runs = seed_workers.workers(3, between=0.1, pools=("intel",), change=change)
        assert [line.worker for line in rate_timelines(runs)] == [runs[index].worker_id]


def test_samples() -> None:
    """A retrieve is drawn as it is, a batch as what one of its operations took."""
    (entry,) = workload_entries.entries(only=("spawn",))
    entry["samples"] = {"start_ns": [0, 9], "duration_ns": [100, 90], "operations": [10, 3]}
    change = {"intel": {"workloads": lambda entries: [*entries, entry]}}
    (run,) = seed_workers.workers(pools=("intel",), change=change)
    retrieves, batches = sample_series([run])
    assert retrieves.total_ns == run.entries[0].total_ns
    assert list(batches.total_ns) == [10, 30]
