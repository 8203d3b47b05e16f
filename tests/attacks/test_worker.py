# SPDX-License-Identifier: MPL-2.0
"""The worker's script under attack: killed at any moment, and with little memory.

Whatever comes, it ends in time with a code of its own, its result is read, and neither files nor
processes are left.
"""

import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from process_groups import assert_gone
from worker import WORKLOADS, Worker


@pytest.fixture
def long(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--long"))


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    (tmp_path / "workspace").mkdir()
    return Worker(tmp_path / "workspace", tmp_path / "artifacts")


def test_sigkill_at_random_moments(worker: Worker, long: bool) -> None:
    """The result is whole or absent, and no child outlives the run."""
    chooser = random.Random(6)
    for _ in range(200 if long else 4):
        worker.workloads = (chooser.choice(WORKLOADS),)
        process = worker.start("--profile", "quick")
        time.sleep(chooser.uniform(0, 1.5))
        process.kill()
        process.communicate(timeout=120)
        if worker.result_path.exists():
            worker.result()
        assert_gone(process.pid, worker.workspace)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_little_memory(worker: Worker, workload: str, long: bool) -> None:
    """Down to what Python itself needs: a result, or one line that says what failed."""
    sizes = range(30, 120, 5) if long else (60,)
    worker.workloads = (workload,)
    for mebibytes in sizes:
        limit = f'ulimit -v {mebibytes * 1024}; exec "$@"'
        command = ["bash", "-c", limit, "bash", *worker.command("--profile", "quick")]
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            # Whose line for Treeherder names the failure.
            env={**os.environ, "TASK_ID": "Prp_WjpGRx26VH-wA8fjTA"},
        )
        failures = [line for line in done.stdout.splitlines() if line.startswith("TEST-UNEXP")]
        assert done.returncode in (0, 1), done.stdout
        assert len(failures) == done.returncode, done.stdout
        assert "Traceback" not in done.stdout + done.stderr, done.stdout
        worker.result()
        assert list(worker.workspace.iterdir()) == []
