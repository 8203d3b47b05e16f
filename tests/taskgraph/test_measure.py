# SPDX-License-Identifier: MPL-2.0
"""Tasks of any kind that are profiled by one line."""

import json
import shutil
import subprocess
from copy import deepcopy
from typing import Any

import pytest
from checkout import SIZES
from taskgraph.util.templates import merge
from user_mistakes import mistake

from io_benchmark_taskgraph.transforms.measure import transforms
from io_benchmark_taskgraph.worker_program import WorkerProgram

TASK: dict[str, Any] = {
    "name": "build",
    "worker-type": "b-linux",
    "worker": {"docker-image": {"in-tree": "build"}, "max-run-time": 600},
    "run": {"using": "run-task", "command": "make -j"},
}
NATIVE = {
    "provisioner": "test-provisioner",
    "implementation": "generic-worker",
    "os": "linux",
    "worker-type": "linux",
}
WINDOWS = {**NATIVE, "os": "windows", "worker-type": "win"}
PYTHON = "C:/mozilla-build/python3/python3.exe"
FOLDER = {"benchmark": {"measure": "/builds/worker/workspace"}}
ARTIFACT = {
    "type": "directory",
    "name": "public/io-benchmark",
    "path": "/builds/worker/artifacts/io-benchmark",
}


@pytest.fixture
def wrap(run_transform, make_transform_config):
    """Run the transforms on a task with these changes."""

    def make(mounting=("io_benchmark_taskgraph.transforms.command:mounts",), **changes):
        task = merge(deepcopy(TASK), changes)
        if task.get("worker-type") == "without-image":
            task["worker-type"] = "b-linux"
            del task["worker"]["docker-image"]
        config = make_transform_config()
        config.graph_config["workers"]["aliases"] |= {"native": NATIVE, "windows": WINDOWS}
        config.config["transforms"] = list(mounting)
        (made,) = run_transform(transforms, [task], config=config)
        return made

    return make


def run(command, folder, **environment):
    """Run a command as run-task would, but for the folders."""
    usual = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(folder)}
    environment = {**usual, "IO_BENCHMARK_ARTIFACTS": str(folder / "artifacts"), **environment}
    return subprocess.run(command, env=environment, check=False, capture_output=True, text=True)


REFERENCE = {"task-reference": "fetch <build>"}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("make -j", ["bash", "-cx", "make -j"]),
        (REFERENCE, ["bash", "-cx", REFERENCE]),
    ],
)
def test_a_profiled_task(wrap, command, words):
    """Its command is at the end, by a shell where one was, and the profile is an artifact."""
    task = {**TASK, "run": {"using": "run-task", "command": command}}
    assert wrap(run={"command": command}) == task
    made = wrap(**FOLDER, run={"command": command})
    wrapped = made["run"].pop("command")
    assert wrapped[:2] == ["bash", "-c"]
    assert wrapped[-len(words) :] == words
    assert sum(map(len, wrapped[: -len(words)])) <= SIZES["bytes-of-a-profile-in-a-command"]
    worker = {**TASK["worker"], "artifacts": [ARTIFACT]}
    assert made == {**task, "worker": worker, "run": {"using": "run-task"}}


def test_it_runs(wrap, tmp_path):
    """The command's code and output, and a profile next to them that names the worker type."""
    text = "cat; echo problem >&2; exit 3"
    command = wrap(**FOLDER, run={"command": text})["run"]["command"]
    done = run(command, tmp_path)
    trace = "+ cat\n+ echo problem\nproblem\n+ exit 3\n"
    assert (done.returncode, done.stdout, done.stderr) == (3, "", trace)
    profile = json.loads((tmp_path / "artifacts/io-benchmark/task-profile.json").read_text())
    assert profile["ending"]["code"] == 3
    assert profile["task"]["pool"] == "linux"
    assert profile["command"]["label"] == "test-build"
    assert [place["path"] for place in profile["storage"]["places"]] == ["/builds/worker/workspace"]


def test_a_native_worker(wrap, tmp_path):
    """Its paths are below the task's folder, wherever the command starts."""
    made = wrap(
        **{"worker-type": "native", "benchmark": {"measure": "/builds/worker"}},
        run={"command": "echo done; exit 3"},
    )
    assert made["worker"]["artifacts"] == [{**ARTIFACT, "path": "artifacts/io-benchmark"}]
    task = tmp_path / "a task"
    task.mkdir()
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TASK_WORKDIR": str(task)}
    command = made["run"]["command"]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "done\n")
    profile = json.loads((task / "artifacts/io-benchmark/task-profile.json").read_text())
    assert [place["path"] for place in profile["storage"]["places"]] == [str(task)]
    assert len(list(task.iterdir())) == 2  # with the script's folder


ON_WINDOWS: dict[str, Any] = {"worker-type": "windows", "benchmark": {"measure": "D:/x"}}


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"command": "make 'a b' && ls"}, ["bash", "-cx", "\"make 'a b' && ls\""]),
        (
            {"command": "dir", "exec-with": "powershell"},
            ["powershell.exe", "-ExecutionPolicy", "Bypass", '"dir"'],
        ),
        ({"command": ["cmd", "/c", "dir"], "exec-with": "bash"}, ["cmd", "/c", "dir"]),
    ],
)
def test_windows(wrap, run, words):
    """run-task joins the words to a line, whose end is what it is without a profile."""
    made = wrap(**ON_WINDOWS, run=run, label='a "ü" %x%')
    content = made["extra"]["io-benchmark"]["mount"]
    program = WorkerProgram.read().embedded("measure", (), "windows")
    assert content == program.starting("measure")
    command = f'{PYTHON} -X utf8 -u -B "%TASK_WORKDIR%/io-benchmark.py" {program.sha256} measure '
    command += '--pool win --place "workspace=D:/x" --label "a ___ %%x%%" -- '
    assert made["run"]["using"] == "run-task"
    assert " ".join(made["run"]["command"]) == command + " ".join(words)
    assert made["worker"]["artifacts"] == [{**ARTIFACT, "path": "artifacts/io-benchmark"}]


def test_a_folder_of_windows(wrap):
    """One below the home of docker images is below the task's folder."""
    made = wrap(**{**ON_WINDOWS, "benchmark": {"measure": "/builds/worker/checkouts"}})
    assert '"workspace=%TASK_WORKDIR%/checkouts"' in made["run"]["command"]


def broken(damage, folder):
    """Return the variables of a machine that lacks something."""
    tools = folder / "bin"
    tools.mkdir()
    if damage == "no python":
        for tool in ("bash", "mkdir", "mktemp", "sha256sum"):
            (tools / tool).symlink_to(str(shutil.which(tool)))
        return {"PATH": str(tools)}
    if damage == "no artifacts":
        (folder / "artifacts").touch()
    return {"TMPDIR": "/missing"} if damage == "no folder" else {}


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        ("no script", "the command has no profile\n"),
        ("no folder", "the command has no profile\n"),
        ("no python", "python3: command not found"),
        ("no artifacts", "io-benchmark: the command has no profile: "),
    ],
)
def test_broken_machines(wrap, tmp_path, damage, text):
    """The command runs all the same, with its own code, and a line says what is missing."""
    command = wrap(**FOLDER, run={"command": "echo done; exit 3"})["run"]["command"]
    command[0] = str(shutil.which("bash"))
    if damage == "no script":
        command[4] = command[4][:1000]
    done = run(command, tmp_path, **broken(damage, tmp_path))
    assert (done.returncode, done.stdout) == (3, "done\n")
    assert text in done.stderr


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"benchmark": {"measure": "here"}}, "'here' is not a folder; write the absolute path"),
        ({"benchmark": {}}, "is missing; add it to the task or to task-defaults"),
        (
            {**FOLDER, "run": {"using": "mach"}},
            "wraps commands of run-task; this task uses mach",
        ),
        (
            {**FOLDER, "worker-type": "without-image"},
            "needs worker.docker-image on this worker type; name an image",
        ),
        ({**FOLDER, "run": {"exec-with": "powershell"}}, "needs bash; remove exec-with"),
        ({**ON_WINDOWS, "run": {"exec-with": "zsh"}}, "needs bash; remove exec-with"),
        (
            {**ON_WINDOWS, "benchmark": {"measure": "/mnt/x"}},
            "/mnt/x is a path of Linux, and this pool runs Windows; write one such as D:/x, or one",
        ),
        (
            {"benchmark": {"measure": "D:/x"}},
            "D:/x is a path of Windows, and this pool runs Linux; write one such as /mnt/x",
        ),
    ],
)
def test_mistakes(wrap, changes, text):
    """One line that names the key."""
    assert f"task build: benchmark.measure: {text}" in mistake(wrap, **changes)


@pytest.mark.parametrize("command", [REFERENCE, ["make", REFERENCE]])
def test_a_reference_on_windows(wrap, command):
    """taskgraph cannot join it."""
    assert "task build: run.command: a reference to a task is not possible on Windows; use" in (
        mistake(wrap, **ON_WINDOWS, run={"command": command})
    )


def test_windows_without_mounts(wrap):
    """The kind adds the mounts after taskgraph's own transforms."""
    text = "needs the program as a mount; add io_benchmark_taskgraph.transforms.command:mounts"
    assert f"worker-type: 'windows' {text}" in mistake(wrap, mounting=(), **ON_WINDOWS)
