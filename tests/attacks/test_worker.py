# SPDX-License-Identifier: MPL-2.0
"""The worker's script under attack: killed at any moment, nowhere to log to, hostile environments.

Whatever comes, it ends in time with a code of its own, its result is read, and neither files nor
processes are left.
"""

import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from process_groups import processes_of
from worker import Worker

WORKLOADS = ("cache-retrieve", "upload", "metadata", "random-io", "sync-write", "exec", "spawn")


@pytest.fixture
def long(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--long"))


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    (tmp_path / "workspace").mkdir()
    return Worker(tmp_path / "workspace", tmp_path / "artifacts")


def wait_until_gone(group: int, workspace: Path) -> None:
    deadline_s = time.monotonic() + 60
    while processes_of(group, workspace) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert processes_of(group, workspace) == []


def test_sigkill_at_random_moments(worker: Worker, long: bool) -> None:
    """The result is whole or absent, and no child outlives the run."""
    chooser = random.Random(6)
    for _ in range(200 if long else 4):
        worker.workloads = (chooser.choice(WORKLOADS),)
        process = worker.start("--profile", "quick")
        time.sleep(chooser.uniform(0, 3))
        process.kill()
        process.communicate(timeout=120)
        if worker.result_path.exists():
            worker.result()
        wait_until_gone(process.pid, worker.workspace)


HOSTILE = ("", "\x01", "\u202e", "x" * 50_000, os.fsdecode(b"\xff\xfe"), "[" * 50_000, "{}", "%s")


def test_hostile_arguments(worker: Worker, long: bool) -> None:
    """A readable result, or one line that names the argument."""
    options = ("--pool", "--place", "--retrieves", "--sizes", "--seed")
    numbers, places = ("0", "-1", "1e400", "9" * 5000), ("p=/", "p=/dev/null", "p=/proc")
    values = (*HOSTILE, *numbers, *places, "\u0663x\u0663")
    pairs = [(option, value) for option in options for value in values]
    for option, value in pairs if long else random.Random(9).sample(pairs, 8):
        code, output = worker.run("--retrieves", "5", f"{option}={value}")
        assert "Traceback" not in output, (option, value)
        assert code in (0, 1, 2), output
        if code == 2:
            errors = [line for line in output.splitlines() if line.startswith("error: ")]
            assert len(errors) == 1
            assert option in errors[0]
        else:
            worker.result()


@pytest.mark.parametrize("workload", WORKLOADS)
def test_little_memory(worker: Worker, workload: str, long: bool) -> None:
    """Down to what Python itself needs: a result, or one line that says what failed."""
    sizes = range(30, 120, 5) if long else (60,)
    worker.workloads = (workload,)
    for mebibytes in sizes:
        limit = f'ulimit -v {mebibytes * 1024}; exec "$@"'
        done = subprocess.run(
            ["bash", "-c", limit, "bash", *worker.command("--profile", "quick")],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
        failures = [line for line in done.stdout.splitlines() if line.startswith("TEST-UNEXP")]
        assert done.returncode in (0, 1), done.stdout
        assert len(failures) == done.returncode, done.stdout
        assert "Traceback" not in done.stdout, done.stdout
        assert "Traceback" not in done.stderr, done.stderr
        worker.result()
        assert list(worker.workspace.iterdir()) == []
