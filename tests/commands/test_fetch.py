# SPDX-License-Identifier: MPL-2.0
"""The command fetch, run as a user runs it, against a deployment on the loopback."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import program
import pytest
from loopback import Fault, Loopback, first
from loopback_deployment import AMD_16, AMD_30, ARTIFACT, INTEL, Deployment, add_group

from io_benchmark.results.format import PLAN_VARIABLE
from io_benchmark.sources import run_files

ALL_THREE = sorted(f"{task_id}.0" for task_id in (AMD_16, AMD_30, INTEL))


@pytest.fixture
def loopback():
    with Loopback() as running:
        yield running


def fetch(loopback, folder, *arguments, expected=0):
    here = loopback.environment
    return program.run("fetch", *arguments, folder=folder, expected=expected, environment=here)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_three_tasks(loopback, tmp_path):
    """The layout that compare reads, in a new folder, whose name is all that stdout gets."""
    tasks = [f"task:{task_id}" for task_id in (AMD_16, AMD_30, INTEL)]
    done = fetch(loopback, tmp_path, *tasks)
    (folder,) = (tmp_path / "io-benchmark-results").iterdir()
    assert done.stdout == f"io-benchmark-results/{folder.name}\n"
    assert done.stderr == "3 runs fetched\n"
    assert folder.name.startswith("fetch-2")
    assert names(folder) == ALL_THREE
    for run in folder.iterdir():
        assert names(run) == ["io-benchmark.json", "task.json"]
        measured = run_files.read_run(run)
        assert measured.task is not None
        assert f"{measured.task.task_id}.{measured.task.run_id}" == run.name
        stored = loopback.deployment.artifacts[measured.task.task_id, 0, ARTIFACT].body
        assert (run / run_files.RESULT_NAME).read_bytes() == stored


def test_what_is_there_already_stays(loopback, tmp_path):
    """A whole run is not asked for again."""
    fetch(loopback, tmp_path, f"task:{AMD_16}", "--output", "out")
    both = (f"task:{AMD_16}", f"task:{INTEL}", "--output", "out")
    assert fetch(loopback, tmp_path, *both).stderr == "1 run fetched, 1 skipped\n"
    assert len(loopback.asked("storage")) == 2


@pytest.mark.parametrize("name", [run_files.RESULT_NAME, run_files.TASK_NAME])
def test_what_is_there_and_cannot_be_read(loopback, tmp_path, name):
    """It is named, and stays; the others are fetched."""
    fetch(loopback, tmp_path, f"task:{AMD_16}", "--output", "out")
    file = tmp_path / "out" / f"{AMD_16}.0" / name
    file.write_text("x")
    both = (f"task:{AMD_16}", f"task:{INTEL}", "--output", "out")
    error, last = fetch(loopback, tmp_path, *both, expected=1).stderr.splitlines()
    assert f"out/{AMD_16}.0: exists and is not a complete run; remove it (out/" in error
    assert "JSON is malformed" in error
    assert last == "1 run fetched, 1 could not be fetched"
    assert file.read_text() == "x"


def test_stopped_in_the_middle(tmp_path):
    """Only whole runs are left, without a trace of half ones.

    The same command then completes it.
    """
    deployment = Deployment()
    group = add_group(deployment, 40)
    members = deployment.groups[group]
    late = first(99, Fault(delay_s=60), part=members[-1])
    with Loopback(deployment, faults=late) as loopback:
        process = subprocess.Popen(
            [*program.PROGRAM, "fetch", f"group:{group}", "--output", "out"],
            cwd=tmp_path,
            env=os.environ | loopback.environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        out = tmp_path / "out"
        end = time.monotonic() + 60
        while time.monotonic() < end and not (out.exists() and len(whole(out)) >= 10):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert (process.returncode, errors.splitlines()[-1]) == (130, "stopped")
        assert "Traceback" not in errors
        assert "never retrieved" not in errors
        assert len(names(out)) == len(whole(out))
        loopback.faults = lambda _request, _number: None
        fetch(loopback, tmp_path, f"group:{group}", "--output", "out")
        assert len(whole(out)) == 40


def test_several_at_once(tmp_path):
    """Each is a success: what another one has just written counts as fetched before."""
    deployment = Deployment()
    group, count = add_group(deployment, 40), 4
    with Loopback(deployment) as loopback:
        started = [
            subprocess.Popen(
                [*program.PROGRAM, "fetch", f"group:{group}", "--output", "out"],
                cwd=tmp_path,
                env=os.environ | loopback.environment,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(count)
        ]
        endings = [process.communicate(timeout=60)[1].splitlines() for process in started]
    assert [process.returncode for process in started] == [0] * count, endings
    counts = [[int(number) for number in re.findall("[0-9]+", line)] for (line,) in endings]
    assert [sum(numbers) for numbers in counts] == [40] * count
    assert sum(fetched for fetched, *_ in counts) == 40
    assert len(names(tmp_path / "out")) == len(whole(tmp_path / "out")) == 40


def whole(folder: Path) -> list[Path]:
    """The runs there, each of which can be read."""
    runs = [path for path in folder.iterdir() if run_files.FOLDER.fullmatch(path.name)]
    for path in runs:
        run_files.read_run(path)
    return runs


def compare(loopback, folder, address):
    """Return what a comparison prints, without where each result was read, and its error lines."""
    command, here = ("compare", address, "--details"), loopback.environment
    done = program.run(*command, folder=folder, expected=1, environment=here)
    text = re.sub(r"Read\s+from:\s+\S+|task\s+group\s+\S+|http\S+|[.·]", "", done.stdout)
    return " ".join(text.split()), done.stderr


def test_a_folder_is_compared_as_its_address_is(tmp_path):
    """A task that left no result is recorded: it counts as lost, and its line has the reason."""
    deployment = Deployment()
    group = add_group(deployment, 6, pools=("amd-16", "intel"))
    for task_id in deployment.groups[group]:
        deployment.definitions[task_id]["payload"]["env"] = {PLAN_VARIABLE: "3"}
        artifact = json.loads(deployment.artifacts[task_id, 0, ARTIFACT].body)
        artifact["config"]["environment"][PLAN_VARIABLE] = "3"
        deployment.leave(task_id, artifact)
    deployment.change_runs(task_id, "failed")  # the last one
    del deployment.artifacts[task_id, 0, ARTIFACT]
    with Loopback(deployment) as loopback:
        fetch(loopback, tmp_path, f"group:{group}", "--output", "out", expected=1)
        expected = compare(loopback, tmp_path, f"group:{group}")
        assert compare(loopback, tmp_path, "out") == expected
    assert f"task {task_id} run 0 (io-benchmark-intel-3): failed and left no" in expected[1]
    assert names(tmp_path / "out" / f"{task_id}.0") == [run_files.TASK_NAME]
