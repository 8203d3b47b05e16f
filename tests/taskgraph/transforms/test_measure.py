# SPDX-License-Identifier: MPL-2.0
"""Tasks of any kind that are profiled by one line."""

import json
import shutil
import subprocess
from copy import deepcopy
from typing import Any

import pytest
from checkout import ROOT
from taskgraph.util.templates import merge

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.transforms.measure import transforms

TASK: dict[str, Any] = {
    "name": "build",
    "worker-type": "b-linux",
    "worker": {"docker-image": {"in-tree": "build"}, "max-run-time": 600},
    "run": {"using": "run-task", "command": "make -j"},
}
FOLDER = {"benchmark": {"measure": "/builds/worker/workspace"}}
ARTIFACT = {
    "type": "directory",
    "name": "public/io-benchmark",
    "path": "/builds/worker/artifacts/io-benchmark",
}


@pytest.fixture
def wrap(run_transform, make_transform_config, datadir):
    """Run the transforms on a task with these changes, in a tree with the real script."""
    shutil.copytree(ROOT / "scripts/io-benchmark", datadir / "scripts/io-benchmark")

    def make(**changes):
        task = merge(deepcopy(TASK), changes)
        (made,) = run_transform(transforms, [task], config=make_transform_config())
        return made

    return make


def run(command, folder, **environment):
    """Run a command as run-task would, but for the folders."""
    folders = {"TMPDIR": str(folder), "IO_BENCHMARK_ARTIFACTS": str(folder / "artifacts")}
    return subprocess.run(
        command,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **folders, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_task_without_the_line(wrap):
    """Is what it was."""
    assert wrap() == TASK


def test_a_task_with_the_line(wrap):
    """Its own command is at the end, and the profile is one more artifact."""
    made = wrap(**FOLDER)
    command = made["run"].pop("command")
    assert command[:2] == ["bash", "-c"]
    assert command[-3:] == ["bash", "-cx", "make -j"]
    assert made == {
        "name": "build",
        "worker-type": "b-linux",
        "worker": {**TASK["worker"], "artifacts": [ARTIFACT]},
        "run": {"using": "run-task"},
    }


@pytest.mark.parametrize(
    ("command", "words"),
    [
        pytest.param(["make", "a b"], ["make", "a b"], id="words"),
        pytest.param(
            {"task-reference": "fetch <build>"},
            ["bash", "-cx", {"task-reference": "fetch <build>"}],
            id="reference",
        ),
    ],
)
def test_other_commands(wrap, command, words):
    """Run by a shell only where they would be."""
    made = wrap(**{**FOLDER, "run": {"command": command}})
    assert made["run"]["command"][-len(words) :] == words


def test_it_runs(wrap, tmp_path):
    """The command's code and output, and a profile next to them that names the worker type."""
    text = "cat; echo problem >&2; exit 3"
    command = wrap(**FOLDER, run={"command": text})["run"]["command"]
    done = run(command, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (
        3,
        "",
        "+ cat\n+ echo problem\nproblem\n+ exit 3\n",
    )
    profile = json.loads((tmp_path / "artifacts/io-benchmark/task-profile.json").read_text())
    assert profile["ending"]["code"] == 3
    assert profile["task"]["pool"] == "linux"
    assert [place["path"] for place in profile["storage"]["places"]] == ["/builds/worker/workspace"]


@pytest.mark.parametrize("environment", [{}, {"TMPDIR": "/missing"}])
def test_a_script_that_cannot_be_unpacked(wrap, tmp_path, environment):
    """The command runs without a profile, and a line says so."""
    command = wrap(**FOLDER, run={"command": "echo done; exit 3"})["run"]["command"]
    command[4] = command[4][:1000]
    done = run(command, tmp_path, **environment)
    assert (done.returncode, done.stdout) == (3, "done\n")
    assert "the command has no profile\n" in done.stderr


def test_an_image_without_python(wrap, tmp_path):
    """The same, as for any other tool that is missing."""
    (tmp_path / "bin").mkdir()
    for tool in ("bash", "mkdir", "mktemp", "base64", "gzip", "sha256sum"):
        (tmp_path / "bin" / tool).symlink_to(str(shutil.which(tool)))
    command = wrap(**FOLDER, run={"command": "echo done; exit 3"})["run"]["command"]
    command[0] = str(tmp_path / "bin/bash")
    done = run(command, tmp_path, PATH=str(tmp_path / "bin"))
    assert (done.returncode, done.stdout) == (3, "done\n")
    assert "python3: command not found" in done.stderr
    assert "the command has no profile\n" in done.stderr


def test_a_python_that_is_too_old(wrap, tmp_path):
    """It cannot start the script, and the command runs all the same."""
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin/python3"
    python.write_text("#!/bin/sh\necho SyntaxError >&2\nexit 1\n")
    python.chmod(0o755)
    command = wrap(**FOLDER, run={"command": "echo done; exit 3"})["run"]["command"]
    done = run(command, tmp_path, PATH=f"{tmp_path}/bin:/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (3, "done\n")
    assert "the command has no profile\n" in done.stderr


def test_a_place_for_nothing(wrap, tmp_path):
    """Artifacts that cannot be written: the command's own code."""
    (tmp_path / "artifacts").touch()
    command = wrap(**FOLDER, run={"command": "exit 3"})["run"]["command"]
    done = run(command, tmp_path)
    assert done.returncode == 3
    assert "io-benchmark: the command has no profile: " in done.stderr


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param(
            {"benchmark": {"measure": "here"}},
            "benchmark.measure: 'here' is not a folder; write the absolute path where the task works",
            id="relative",
        ),
        pytest.param({"benchmark": {}}, "benchmark.measure: is missing", id="missing"),
        pytest.param(
            {**FOLDER, "run": {"using": "mach"}},
            "wraps commands of run-task in a docker image; this task uses mach",
            id="mach",
        ),
        pytest.param(
            {**FOLDER, "run": {"exec-with": "powershell"}},
            "needs bash; remove exec-with",
            id="powershell",
        ),
        pytest.param(
            {"benchmark": {"measure": "/a", "script": "nowhere"}},
            "benchmark.script: there is no folder nowhere",
            id="script",
        ),
    ],
)
def test_mistakes(wrap, changes, message):
    """One line with the task and the key."""
    with pytest.raises(UserMistake) as raised:
        wrap(**changes)
    assert "task build: benchmark" in str(raised.value)
    assert message in str(raised.value)


def test_no_docker_image(run_transform, make_transform_config):
    """Other workers have other paths and shells."""
    task = {**deepcopy(TASK), **FOLDER, "worker": {"os": "windows"}}
    with pytest.raises(UserMistake, match="this task uses run-task without one"):
        run_transform(transforms, [task], config=make_transform_config())
