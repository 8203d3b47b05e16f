# SPDX-License-Identifier: MPL-2.0
"""The workload spawn, run as a worker runs it."""

import platform
import shutil
from pathlib import Path

import pytest
from worker import Worker, planned_and_observed


@pytest.fixture
def spawning(worker: Worker) -> Worker:
    worker.workloads = ("spawn",)
    return worker


def test_one_entry_whatever_the_places(spawning: Worker, tmp_path: Path) -> None:
    """It depends on no place, so it is measured once, in the first one's name."""
    (tmp_path / "second").mkdir()
    places = ("--place", f"workspace={spawning.workspace}", "--place", f"second={tmp_path}/second")
    [entry] = spawning.measure(*places)
    assert set(entry["samples"]["operations"]) == {1}
    assert planned_and_observed(entry) == (
        "posix-spawn",
        None,
        {"samples_planned": 300, "warm_up": 20, "time_limit_s": 1.0},
        {
            "program": str(Path(str(shutil.which("true"))).resolve()),
            "method": "os.posix_spawn, os.waitpid",
            "python": platform.python_version(),
        },
    )


def test_precision_stops_it(spawning: Worker) -> None:
    """Known well enough, it ends, and says after how many."""
    code, output = spawning.run("--precision", "99%")
    assert code == 0, output
    [entry] = spawning.document()["workloads"]
    count = len(entry["samples"]["start_ns"])
    assert count < 5000
    assert entry["stopped_early"].endswith(f"after {count} of 5000 samples")
    assert 0 <= entry["precision_reached_ratio"] <= 0.99
