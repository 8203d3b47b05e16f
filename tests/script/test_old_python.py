# SPDX-License-Identifier: MPL-2.0
"""The script on the oldest Python that a worker's image has had."""

import shutil
import subprocess
from pathlib import Path

import pytest
from profiled import Profiled
from worker import SCRIPT, Worker


def old_python() -> str:
    """A Python 3.8 that starts, wherever this machine has one."""
    candidates = [*map(str, Path.home().glob(".pyenv/versions/3.8.*/bin/python3"))]
    for candidate in [shutil.which("python3.8") or "python3.8", *candidates]:
        if shutil.which(candidate) is None:
            continue
        asked = subprocess.run([candidate, "-V"], capture_output=True, text=True, check=False)
        if asked.stdout.startswith("Python 3.8."):
            return candidate
    pytest.skip("needs Python 3.8")


def test_every_workload_runs_on_python_3_8(worker: Worker) -> None:
    """A quick run of each gives a file that reads."""
    worker.python = old_python()
    names = (path.stem.replace("_", "-") for path in (SCRIPT / "workloads").glob("*.py"))
    worker.workloads = tuple(sorted(names))
    code, output = worker.run("--profile", "quick", "--retrieves", "20")
    assert code == 0, output
    assert [
        entry.outcome.reason
        for entry in worker.result().workloads
        if entry.outcome.state != "completed"
    ] == []


def test_a_command_is_profiled_on_python_3_8(tmp_path: Path) -> None:
    """The profile reads, and the code is the command's."""
    profiled = Profiled(tmp_path / "task-profile.json", python=old_python())
    done = profiled.run("sh", "-c", "sleep 0.2; exit 3")
    assert (done.returncode, done.stderr) == (3, b"")
    assert profiled.profile().ending.code == 3
