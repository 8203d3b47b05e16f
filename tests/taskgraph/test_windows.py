# SPDX-License-Identifier: MPL-2.0
"""The tasks of pools whose workers run Windows, in a project that also has docker images."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from checkout import ROOT
from native_project import project

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.generate import generate
from io_benchmark_taskgraph.stanza import NOT_ON_WINDOWS
from io_benchmark_taskgraph.transforms.windows_line import LONGEST
from io_benchmark_taskgraph.worker_program import WorkerProgram

SCHEMA = ROOT.parent / "shared/schemas/generic-worker-multiuser_windows.json"
POOLS = {"container": "b-linux", "win-2022": "t-win"}
PYTHON = "C:/mozilla-build/python3/python3.exe"
KIND = "taskcluster/kinds/io-benchmark/kind.yml"
URL = "https://host.example/a%20b?c=d&e='f'\"g"


def payloads(folder: Path, **kind: Any) -> dict[str, Any]:
    tasks = generate(project(folder, POOLS, kind), [])
    return {task.label: dict(task.definition["payload"]) for task in tasks}


def of_pool(benchmark: dict[str, Any], pool: str = "win-2022") -> dict[str, Any]:
    """Return the kind's tasks, one of which measures something else."""
    tasks = {
        name: {"description": f"I/O of {alias}", "worker-type": alias}
        for name, alias in POOLS.items()
    }
    return {**tasks, pool: {**tasks[pool], "benchmark": benchmark}}


def test_payload(tmp_path):
    """It starts the mounted file by one line without a shell; a missing artifact is a failure."""
    made = payloads(tmp_path)
    payload = made["io-benchmark-win-2022"]
    ((run_task, program), (line,)) = payload.pop("mounts"), payload.pop("command")
    retry = [0x40010004, 0xC000013A]
    assert payload == {
        "env": {"MOZ_AUTOMATION": "1", "MOZ_SCM_LEVEL": "1", "SCCACHE_DISABLE": "1"},
        "maxRunTime": 3600,
        "onExitStatus": {"retry": retry},
        "artifacts": [
            {
                "type": "directory",
                "name": "public/io-benchmark",
                "path": "artifacts/io-benchmark",
            },
            {
                "type": "file",
                "name": "public/perfherder-data-io-benchmark.json",
                "path": "artifacts/perfherder-data-io-benchmark.json",
            },
        ],
    }
    assert run_task["file"] == "./run-task"
    assert (program["file"], set(program["content"])) == ("io-benchmark.py", {"raw"})
    sha256 = WorkerProgram.read().embedded("bench", ["cache-retrieve"], "windows").sha256
    assert line == (
        f"{PYTHON} run-task -- {PYTHON} -X utf8 -u -B io-benchmark.py {sha256} run "
        "--pool win-2022 --workload cache-retrieve --retrieves 100 --seed 1 "
        "--destination overwrite --time-budget 3300 "
        "--place workspace=${IO_BENCHMARK_WORKSPACE:-workspace} "
        "--output ${IO_BENCHMARK_ARTIFACTS:-artifacts} "
        "--profile ${IO_BENCHMARK_PROFILE:-full} "
        "--perfherder ${IO_BENCHMARK_PERFHERDER:-pool} "
        "--trials ${IO_BENCHMARK_TRIALS:-auto} --pace=${IO_BENCHMARK_PACE:-}"
    )
    assert made["io-benchmark-container"]["image"] == "debian:12"
    # The report needs docker, which the first pool has.
    assert made["io-benchmark-report"]["image"].startswith("ghcr.io/")


def test_all_workloads(tmp_path):
    """A worker's own schema takes their payload; each system has its own half of the program."""
    workloads = sorted({*WorkerProgram.read().workload_names()} - {"cache-retrieve", "exec"})
    benchmark = {"workloads": workloads, "places": [{"name": "big", "path": "D:/io-benchmark"}]}
    made = payloads(
        tmp_path,
        **{
            "task-defaults": {
                "benchmark": {"retrieves": 100},
                "worker": {"docker-image": "debian:12", "max-run-time": 9000},
            }
        },
        tasks=of_pool(benchmark),
    )
    payload = made["io-benchmark-win-2022"]
    (line,) = payload["command"]
    assert "--place big=${IO_BENCHMARK_PLACE_BIG:-D:/io-benchmark}" in line
    assert line.isascii()
    assert len(line) < LONGEST
    assert all(len(mount["content"].get("raw", "")) <= 65_536 for mount in payload["mounts"])
    program = WorkerProgram.read()
    for system, missing in (("linux", "system/windows/"), ("windows", "system/linux/")):
        names = program.embedded("bench", workloads, system).data
        assert missing.encode() not in names
    if not SCHEMA.exists():
        pytest.skip("has no schema of a worker next to the checkout")
    schema = json.loads(SCHEMA.read_text())
    del schema["$schema"]  # of a draft that it names by a path
    jsonschema.Draft6Validator(schema).validate(payload)


def test_what_cmd_reads(tmp_path):
    """A URL is in quotes, its percent signs are doubled, and a quote in it is an escape."""
    benchmark = {"workloads": ["upload"], "upload-url": URL, "trials": "never"}
    payload = payloads(tmp_path, tasks=of_pool(benchmark))["io-benchmark-win-2022"]
    (line,) = payload["command"]
    assert " --upload-url \"https://host.example/a%%20b?c=d&e='f'%%22g\" " in line
    assert line.endswith(" --trials never")


def test_replicates_and_capacities(tmp_path):
    """They are tasks by their numbers; capacities are what predictions use, in little time."""
    root = project(tmp_path, POOLS, {"tasks": of_pool({"replicates": 2, "capacities": True})})
    first, second = generate(root, ["win-2022"])
    assert [first.label, second.label] == ["io-benchmark-win-2022-1", "io-benchmark-win-2022-2"]
    assert first.definition["payload"]["env"]["IO_BENCHMARK_REPLICATES"] == "2"
    (line,) = first.definition["payload"]["command"]
    assert " --time-budget 300 --place workspace=" in line
    assert line.endswith(" --capacities --perfherder ${IO_BENCHMARK_PERFHERDER:-pool}")


ON_LINUX = "is a path of Linux, and this pool runs Windows; write one such as D:/x, or one below"
ON_WINDOWS = "is a path of Windows, and this pool runs Linux; write one such as /mnt/x"


@pytest.mark.parametrize(
    ("pool", "benchmark", "problem"),
    [
        pytest.param(
            "win-2022",
            {"workloads": ["exec"]},
            "benchmark.workloads: exec does not exist on Windows, and this pool runs Windows; name "
            "it for each other pool, and not in task-defaults",
            id="a workload of Linux",
        ),
        pytest.param(
            "win-2022",
            {"places": [{"name": "a", "path": "/mnt/x"}]},
            f"benchmark.places: /mnt/x {ON_LINUX} /builds/worker, which is the task's folder there",
            id="a path of Linux",
        ),
        pytest.param(
            "container",
            {"places": [{"name": "a", "path": "D:/x"}]},
            f"benchmark.places: D:/x {ON_WINDOWS}",
            id="a path of Windows",
        ),
        pytest.param(
            "win-2022",
            {"workloads": ["upload"], "upload-url": f"https://host/{'x' * 8_000}"},
            "run.command: the command has 8,5",
            id="a line that cmd refuses",
        ),
    ],
)
def test_mistakes(tmp_path, pool, benchmark, problem):
    """Each is one line that names the file, the task, its key, and what to do."""
    with pytest.raises(IoBenchmarkError) as caught:
        payloads(tmp_path, tasks=of_pool(benchmark, pool))
    (line,) = str(caught.value).splitlines()
    place, task, key = line.split(": ", 2)
    assert (place, key.startswith(problem)) == (KIND, True), line
    assert task in (f"task {pool}", f"task io-benchmark-{pool}")


@pytest.mark.parametrize("path", ["D:", "D:/", "D:x", "D:/x/", "D:\\x", "\\\\server\\x", "D:/x."])
def test_other_paths(tmp_path, path):
    """A path that begins with a drive has a folder, and slashes as elsewhere."""
    places = [{"name": "a", "path": path}]
    with pytest.raises(IoBenchmarkError, match=r"is not a place's path; .* on Windows as D:/place"):
        payloads(tmp_path, tasks=of_pool({"places": places}))


def write_kind(root, name, kind):
    file = root.path / KIND.replace("/io-benchmark/", f"/{name}/")
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(kind))


def test_a_kind_with_the_pools_of_another(tmp_path):
    """It has the same stanza for all; each pool measures what its system has."""
    root = project(tmp_path, POOLS)
    transforms = ("benchmark", "command")
    places = ["workspace", {"name": "d", "path": "D:/x"}, {"name": "m", "path": "/dev/shm/x"}]
    write_kind(
        root,
        "io-benchmark-all",
        {
            "loader": "io_benchmark_taskgraph.loader:loader",
            "pools-from": "io-benchmark",
            "transforms": [
                *(f"io_benchmark_taskgraph.transforms.{name}:transforms" for name in transforms),
                "taskgraph.transforms.run:transforms",
                "taskgraph.transforms.task:transforms",
                "io_benchmark_taskgraph.transforms.command:mounts",
            ],
            "task-defaults": {
                "benchmark": {
                    "workloads": ["spawn", *NOT_ON_WINDOWS],
                    "retrieves": 1,
                    "places": places,
                },
                "attributes": {"job_try_name": "io-benchmark-all"},
                "worker": {"docker-image": "debian:12", "max-run-time": 3600},
                "run": {"using": "run-task", "checkout": False, "use-caches": False},
            },
        },
    )
    made = {task.pool: task for task in generate(root, ["io-benchmark-all"]) if task.pool}
    container, windows = (made[pool].definition["payload"]["command"] for pool in POOLS)
    (line,), text = windows, container[-3]
    assert "--workload spawn --workload exec" in text
    assert "/dev/shm/x" in text
    assert "D:/x" not in text
    assert "--workload spawn --retrieves" in line
    assert line.count("--place ") == 2
    assert "D:/x" in line


def test_a_gate(tmp_path):
    """A new image of Windows is compared with the old one, by a report that has docker."""
    root = project(tmp_path)
    gate = {
        "loader": "taskgraph.loader.transform:loader",
        "transforms": ["io_benchmark_taskgraph.transforms.gate:transforms"],
        "gate": {"pairs": {"t-win-alpha": "t-win"}, "replicates": 2},
        "report": {"worker-type": "b-linux"},
    }
    write_kind(root, "io-benchmark-gate", gate)
    tasks = generate(root, ["io-benchmark-gate"])
    pools = sorted(task.pool for task in tasks)
    assert pools == ["", "t-win", "t-win", "t-win-alpha", "t-win-alpha"]
    for task in tasks:
        if not task.pool:
            assert "image" in task.definition["payload"]
            continue
        (line,) = task.definition["payload"]["command"]
        assert f" run --pool {task.pool} " in line
