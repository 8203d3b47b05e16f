# SPDX-License-Identifier: MPL-2.0
"""What goes wrong on real workers, each made to happen: the file stays valid and says why."""

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest
from worker import outcome_of, wait_for

ATTEMPTS = 20
# exec's program is x86-64's; random-io would measure memory through the page cache; upload needs
# curl.
UNSUITABLE = """
import shutil
from system.linux import host
host.program_format = lambda: "aarch64"
shutil.which = lambda *_: None
from workloads import random_io
def refuse(*_): raise OSError(22, "Invalid argument")
random_io.write_probe = refuse
"""
REASONS = {
    "exec": "needs Linux on x86_64, this is aarch64",
    "random-io": "O_DIRECT is refused here: Invalid argument",
    "upload": "curl is not on PATH",
}


def take_all_space(folder: Path) -> None:
    with (folder / "greedy").open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def test_what_is_skipped_by_name(worker):
    """A workload that this machine cannot run is a warning, and the others are measured."""
    worker.workloads = (*REASONS, "sync-write")
    worker.complete("--profile", "quick", prelude=UNSUITABLE)
    result = worker.result()
    assert outcome_of(result) == ("completed", None)
    assert [(warning.name, warning.message) for warning in result.warnings] == [
        ("skipped", f"{worker.where}{name}: {reason}") for name, reason in REASONS.items()
    ]
    ends = {(entry["name"], *entry["outcome"].values()) for entry in worker.document()["workloads"]}
    skipped = {(name, "skipped", reason) for name, reason in REASONS.items()}
    assert ends == {*skipped, ("sync-write", "completed", None)}


def test_a_missing_tool_is_named(worker, tmp_path):
    """The workload's tools are looked for before anything is written."""
    worker.limit_path(tmp_path / "tools", "bash", "sed", "cp")
    code, output = worker.run("--retrieves", "10")
    assert (code, "Populating" in output) == (1, False)
    result = worker.result()
    reason = f"{worker.where}not on PATH: grep; install what is missing"
    ended = ("failed", reason)
    assert [outcome_of(part) for part in (result, *result.workloads)] == [ended, ended]
    assert json.loads((worker.artifacts / "perfherder-data-io-benchmark.json").read_text())
    assert result.host.tools["grep"] is None


def test_what_is_recorded_where_no_cache_can_be_dropped(worker):
    """The kernel's reason, and how much was in memory; durations never ask for the time of day."""
    prelude = (
        "from system.linux import page_cache\n"
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
    process = worker.start("--retrieves", "300")
    wait_for(process, "drop_caches")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    samplers = [pid for pid in children if b"grep" not in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(int(samplers[0]), signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    (warning,) = worker.result().warnings
    message = "the timeline ends early: a process of the run ended with status 0x0009"
    assert (warning.name, warning.message) == ("sampler-ended", message)
    (entry,) = worker.retrieves()
    assert (outcome_of(entry), len(entry.samples.copy_ns)) == (("completed", None), 300)


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
