# SPDX-License-Identifier: MPL-2.0
"""The commands of generated tasks, as cmd.exe and taskgraph's own run-task take them.

A program that prints its arguments stands for the worker's, except where that profiles a command;
tests/lab/windows runs the worker's.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from native_project import project
from windows_task import WindowsTask

from io_benchmark.graph.generate import generate
from io_benchmark_taskgraph.worker_program import WorkerProgram

pytestmark = pytest.mark.windows

URL = "https://host.example/a%20b?c=d&e=%PATH%|f>g<h^i('j')\"k"
MAIN = """\
import json, os, sys
SCRIPT_VERSION = "1.2"
print("ARGUMENTS", json.dumps(sys.argv), os.environ.get("IO_BENCHMARK_PACE"), flush=True)
os._exit(7)
"""
PROFILED = "io-benchmark-build"


def payload_of(root: Any, name: str) -> dict[str, Any]:
    (task,) = generate(root, [name])
    payload: dict[str, Any] = json.loads(json.dumps(task.definition["payload"]))
    return payload


def with_stand_in(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload with a program that prints its arguments, in the same line and file."""
    program = WorkerProgram({"__main__.py": MAIN}).embedded("bench")
    (line,) = payload["command"]
    line, changes = re.subn("[0-9a-f]{64}", program.sha256, line)
    assert changes == 1
    run_task, _ = payload["mounts"]
    mount = {"file": "io-benchmark.py", "content": {"raw": program.starting("run")}}
    return {**payload, "command": [line], "mounts": [run_task, mount]}


def project_with(folder: Path, benchmark: dict[str, Any]) -> Any:
    task = {
        "description": "x",
        "worker-type": "t-win",
        "worker": {"max-run-time": 12_000},
        "benchmark": benchmark,
    }
    folder.mkdir()
    return project(folder, {}, {"tasks": {"win": task}, "report": {"worker-type": "b-linux"}})


@pytest.fixture
def drive_d(windows, tmp_path):
    """The folder of the drive on which a worker has its tasks."""
    disk = tmp_path / "disk"
    disk.mkdir()
    with windows.drive("d", disk):
        yield disk


def test_arguments(windows, drive_d, tmp_path):
    """Each arrives as the kind has it, and the exit code returns; variables are the program's."""
    benchmark = {
        "workloads": ["upload"],
        "upload-url": URL,
        "places": [{"name": "d", "path": "D:/x"}],
    }
    payload = payload_of(project_with(tmp_path / "project", benchmark), "win")
    task = WindowsTask(windows, with_stand_in(payload), drive_d)
    code, log = task.run({"IO_BENCHMARK_PACE": "5"})
    (printed,) = re.findall(r"ARGUMENTS (\[.*\]) (.*)", log)
    program, *arguments = json.loads(printed[0])
    assert (code, printed[1]) == (7, "5"), log
    assert program == rf"{task.workdir}\io-benchmark.pyz"
    expected = "run --pool win --workload cache-retrieve --workload upload --retrieves 100 --seed 1"
    expected += " --destination overwrite --upload-url URL --time-budget 11700"
    expected += " --place workspace=${IO_BENCHMARK_WORKSPACE:-workspace}"
    expected += " --place d=${IO_BENCHMARK_PLACE_D:-D:/x}"
    expected += " --output ${IO_BENCHMARK_ARTIFACTS:-artifacts}"
    expected += " --profile ${IO_BENCHMARK_PROFILE:-full}"
    expected += " --perfherder ${IO_BENCHMARK_PERFHERDER:-pool}"
    expected += " --trials ${IO_BENCHMARK_TRIALS:-auto} --pace=${IO_BENCHMARK_PACE:-}"
    url = URL.replace('"', "%22")
    assert arguments == [url if word == "URL" else word for word in expected.split()]


def test_a_damaged_program(windows, drive_d, tmp_path):
    """Nothing is started, and the log has a line for Treeherder."""
    payload = with_stand_in(payload_of(project_with(tmp_path / "project", {}), "win"))
    mount = payload["mounts"][1]["content"]
    mount["raw"] = mount["raw"].replace(MAIN_ARGUMENT, MAIN_ARGUMENT[:-50])
    code, log = WindowsTask(windows, payload, drive_d).run()
    assert (code, "ARGUMENTS" in log) == (1, False)
    assert "TEST-UNEXPECTED-FAIL | win | cannot unpack D:\\" in log


MAIN_ARGUMENT = WorkerProgram({"__main__.py": MAIN}).embedded("bench").argument


def profiled(folder: Path, run: dict[str, Any]) -> Any:
    """Return a project that also has a kind of other tasks, which are profiled."""
    root = project_with(folder, {})
    kind = {
        "loader": "taskgraph.loader.transform:loader",
        "transforms": [
            "io_benchmark_taskgraph.transforms.measure:transforms",
            "taskgraph.transforms.run:transforms",
            "taskgraph.transforms.task:transforms",
            "io_benchmark_taskgraph.transforms.command:mounts",
        ],
        "tasks": {
            "a": {
                "description": "x",
                "worker-type": "t-win",
                "worker": {"max-run-time": 600},
                "benchmark": {"measure": "/builds/worker/checkouts"},
                "run": {"using": "run-task", "checkout": False, "use-caches": False, **run},
            }
        },
    }
    file = root.path / f"taskcluster/kinds/{PROFILED}/kind.yml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(kind))
    return root


def test_a_profile(windows, drive_d, tmp_path):
    """A task in a folder of its own has its exit code, and a profile next to its artifacts."""
    run = {"cwd": "checkouts", "command": ["cmd", "/c", '"cd & exit 9"']}
    payload = payload_of(profiled(tmp_path / "project", run), f"{PROFILED}-a")
    task = WindowsTask(windows, payload, drive_d)
    (task.folder / "checkouts").mkdir()
    code, log = task.run()
    assert code == 9, log
    assert rf"{task.workdir}\checkouts" in log
    profile = json.loads((task.artifact("public/io-benchmark") / "task-profile.json").read_text())
    assert profile["ending"]["code"] == 9
    assert profile["command"]["label"] == f"{PROFILED}-a"
    assert profile["task"]["pool"] == "t-win"
    (place,) = profile["storage"]["places"]
    assert place["path"].replace("/", "\\") == rf"{task.workdir}\checkouts"
