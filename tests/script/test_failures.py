# SPDX-License-Identifier: MPL-2.0
"""What goes wrong on real workers, each made to happen: the file stays valid and says why."""

import contextlib
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from worker import Worker, outcome_of, retrieves_of, wait_for

ATTEMPTS = 20
REFUSING = """
from workloads import random_io
def refuse(*_): raise OSError(22, "Invalid argument")
random_io.storage.write_probe = refuse
"""


def take_all_space(folder: Path) -> None:
    with (folder / "greedy").open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def assert_incomplete(worker: Worker, reason: str, entry_state: str = "failed") -> None:
    """The file reads, says the reason at the top and in its entry, and nothing is left behind."""
    result = worker.result()
    assert result.outcome.state == "failed"
    assert reason in str(result.outcome.reason)
    assert result.workloads[0].outcome.state == entry_state
    assert reason in str(result.workloads[0].outcome.reason)
    left = [path for path in worker.workspace.iterdir() if path.name.startswith("io-benchmark")]
    assert left == []
    assert json.loads((worker.artifacts / "perfherder-data-io-benchmark.json").read_text())


@pytest.mark.parametrize(
    ("name", "prelude", "reason"),
    [
        # The program is x86-64's; elsewhere there is nothing to run.
        (
            *("exec", "import platform; platform.machine = lambda: 'aarch64'"),
            "needs x86_64, this is aarch64",
        ),
        # Through the page cache it would measure memory.
        (
            "random-io",
            REFUSING,
            "O_DIRECT is refused here: Invalid argument",
        ),
        ("upload", "import shutil; shutil.which = lambda *_: None", "curl is not on PATH"),
    ],
)
def test_what_is_skipped_by_name(worker, name, prelude, reason):
    """A workload that this machine cannot run is a warning, and the others are measured."""
    worker.workloads = (name, "sync-write")
    worker.complete("--profile", "quick", prelude=prelude)
    document = worker.document()
    message = f"place workspace ({worker.workspace}): {name}: {reason}"
    assert document["outcome"]["state"] == "completed"
    assert document["warnings"] == [{"name": "skipped", "message": message}]
    outcomes: dict[str, list[Any]] = {}
    for entry in document["workloads"]:
        outcomes.setdefault(entry["name"], []).append(tuple(entry["outcome"].values()))
    assert {name: set(ends) for name, ends in outcomes.items()} == {
        name: {("skipped", reason)},
        "sync-write": {("completed", None)},
    }


@pytest.mark.root
def test_a_place_too_small_is_skipped_by_name(worker, mount):
    """Beside a place that is measured it is a warning, and its entry says why it has nothing."""
    small, reason = mount("size=20m"), "no space: needs 38 MiB, 20 MiB are free"
    places = ("--place", f"workspace={worker.workspace}", "--place", f"memory={small}")
    worker.complete("--retrieves", "10", "--sizes", "10x2", *places)
    result = worker.result()
    outcomes = [outcome_of(entry) for entry in result.workloads]
    assert outcomes == [("completed", None), ("skipped", reason)]
    assert [(warning.name, warning.message) for warning in result.warnings] == [
        ("skipped", f"place memory ({small}): cache-retrieve: {reason}")
    ]


@pytest.mark.root
def test_a_disk_that_fills_up_midway_ends_the_run_tidily(worker, mount):
    """Somebody else takes the space: what was measured is kept, the place is cleaned."""
    worker.workspace = mount("size=60m")
    process = worker.start("--retrieves", "100000", "--sizes", "10x2")
    wait_for(process, "drop_caches")
    while process.poll() is None:
        take_all_space(worker.workspace)  # again and again: each truncation frees a little
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1, output
    assert_incomplete(worker, f"place workspace ({worker.workspace}): No space left on device")
    assert "Traceback" not in output
    assert [path.name for path in worker.workspace.iterdir()] == ["greedy"]


@pytest.mark.parametrize(
    ("missing", "fidelity"), [(("grep",), "seed"), (("sed", "cp"), "real")], ids=["seed", "real"]
)
def test_a_missing_tool_is_named(worker, tmp_path, missing, fidelity):
    """The workload's tools are looked for before anything is written."""
    worker.limit_path(tmp_path / "tools", *({"bash", "grep", "sed", "cp"} - set(missing)))
    code, output = worker.run("--retrieves", "10", "--fidelity", fidelity)
    assert (code, "Populating" in output) == (1, False)
    assert_incomplete(worker, f"not on PATH: {', '.join(missing)}; install what is missing")
    host = worker.result().host
    assert host is not None
    assert {name for name in missing if host.tools[name] is None} == set(missing)


def test_what_is_recorded_where_no_cache_can_be_dropped(worker):
    """The kernel's reason, and how much was in memory; durations never ask for the time of day."""
    prelude = (
        "from observe import page_cache\n"
        "page_cache.DROP_CACHES = '/proc/version'\n"
        "page_cache.evict = lambda path: None\n"
        "import time; time.time = None"
    )
    for _ in range(ATTEMPTS):
        output = worker.complete("--retrieves", "10", prelude=prelude)
        state = worker.document()["workloads"][0]["cache_state"]
        assert state["drop_caches"].startswith("refused: ")
        assert f"drop_caches: {state['drop_caches']}" in output
        # Other tests drop the caches of the whole machine.
        if state["resident_bytes"] == state["cache_bytes"]:
            break


def test_a_killed_sampler_is_a_warning(worker):
    """The measurement goes on; the timeline ends, and the file says so."""
    process = worker.start("--retrieves", "600")
    wait_for(process, "drop_caches")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    samplers = [pid for pid in children if b"grep" not in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(int(samplers[0]), signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    result = worker.result()
    assert result.outcome.state == "completed"
    (warning,) = result.warnings
    message = "the timeline ends early: a process of the run ended with status 0x0009"
    assert (warning.name, warning.message) == ("sampler-ended", message)
    assert len(retrieves_of(result)[0].samples.copy_ns) == 600


GROW_OFTEN = "from result import files\nfiles.GROW_EVERY_NS = 20_000_000"


@pytest.mark.root
def test_a_full_artifacts_disk_does_not_stop_the_measurement(worker, mount):
    """The last written file is kept and valid; the log has the failure of each kind of write."""
    worker.artifacts = mount("size=256k") / "artifacts"
    process = worker.start("--retrieves", "500", prelude=GROW_OFTEN)
    wait_for(process, "drop_caches")
    os.kill(process.pid, signal.SIGSTOP)
    take_all_space(worker.artifacts.parent)
    os.kill(process.pid, signal.SIGCONT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "[500/500]" in output
    assert "warning: result-not-written: an interim result: No space left on device" in output
    assert "error: the result cannot be written:" in output
    assert "Traceback" not in output
    assert outcome_of(worker.result()) == ("running", None)
