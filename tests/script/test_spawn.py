# SPDX-License-Identifier: MPL-2.0
"""The workload spawn, run as a worker runs it."""

import platform
import re
import shutil
from pathlib import Path

import pytest
from worker import Worker, outcome_of, take_process_times


@pytest.fixture
def spawning(worker: Worker) -> Worker:
    worker.workloads = ("spawn",)
    return worker


def test_one_entry_whatever_the_places(spawning: Worker, tmp_path: Path) -> None:
    """It depends on no place, so it is measured once, in the first one's name."""
    (tmp_path / "second").mkdir()
    places = ("--place", f"first={spawning.workspace}", "--place", f"second={tmp_path}/second")
    [entry] = spawning.measure(*places)
    samples = entry.pop("samples")
    take_process_times(entry)
    program = str(Path(str(shutil.which("true"))).resolve())
    assert {
        key: value for key, value in entry.items() if key not in ("run_ns", "device_bytes")
    } == {
        "name": "spawn",
        "place": "first",
        "variant": "posix-spawn",
        "threads": None,
        "parameters": {"samples_planned": 300, "warm_up": 20, "time_limit_s": 1.0},
        "observed": {
            "program": program,
            "method": "os.posix_spawn, os.waitpid",
            "python": platform.python_version(),
        },
        "stopped_early": None,
        "precision_reached_ratio": None,
        "outcome": {"state": "completed", "reason": None},
    }
    count = len(samples["start_ns"])
    assert 0 < count <= 300
    assert samples["operations"] == [1] * count
    assert samples["start_ns"] == sorted(samples["start_ns"])
    assert entry["run_ns"] >= sum(samples["duration_ns"])


def test_the_log_shows_microseconds(spawning: Worker) -> None:
    """The figures of the seed's summary, in the workload's unit, with a histogram."""
    code, output = spawning.run("--profile", "quick")
    assert code == 0, output
    figures, histogram, *rest = output.partition("=== RESULTS ===\n")[2].splitlines()
    spawned = len(spawning.document()["workloads"][0]["samples"]["duration_ns"])
    number = r"[0-9.]+"
    assert re.fullmatch(
        rf"spawn, place workspace, posix-spawn: {spawned} in {number} s, Avg {number}, Min {number}, "
        rf"Max {number}, P50 {number}, P95 {number}, P99 {number} µs",
        figures,
    )
    assert histogram == "  Histogram, µs:"
    counts = [re.fullmatch(rf" +{number} #+ \(([0-9]+)\)", line) for line in rest]
    assert sum(int(count.group(1)) for count in counts if count) == spawned


def test_without_the_program(spawning: Worker, tmp_path: Path) -> None:
    """What cannot be measured is named."""
    spawning.limit_path(tmp_path / "tools", "bash")
    code, output = spawning.run("--profile", "quick")
    assert code == 1
    assert "Traceback" not in output
    reason = f"place workspace ({spawning.workspace}): not on PATH: true; install what is missing"
    assert spawning.result().outcome.reason == reason


def test_precision_stops_it(spawning: Worker) -> None:
    """Known well enough, it ends, and says after how many."""
    code, output = spawning.run("--precision", "99%")
    assert code == 0, output
    [entry] = spawning.document()["workloads"]
    count = len(entry["samples"]["start_ns"])
    assert count < 5000
    assert entry["stopped_early"].endswith(f"after {count} of 5000 samples")
    assert 0 <= entry["precision_reached_ratio"] <= 0.99


def test_the_time_budget_ends_it(spawning: Worker) -> None:
    """What was measured until then stays and decides."""
    slowly = (
        "import os, time\nfrom workloads import spawn\n"
        "spawn.WARM_UP = 0\nposix_spawn = os.posix_spawn\n"
        "def slow(*args, **named):\n    time.sleep(0.001)\n"
        "    return posix_spawn(*args, **named)\nos.posix_spawn = slow\n"
    )
    code, output = spawning.run("--time-budget", "4", prelude=slowly)
    assert code == 0, output
    result = spawning.result()
    assert outcome_of(result) == ("time-budget", "the time budget of 4 s is used up")
    [entry] = spawning.document()["workloads"]
    assert entry["outcome"] == {
        "state": "time-budget",
        "reason": "the time budget of 4 s is used up",
    }
    assert 20 <= len(entry["samples"]["start_ns"]) < 5000
