# SPDX-License-Identifier: MPL-2.0
"""The tasks of pools whose workers run no docker images, in a project that has both."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from checkout import ROOT
from native_project import project

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.generate import generate
from io_benchmark_taskgraph.worker_program import WorkerProgram

SCHEMA = ROOT.parent / "shared/schemas/generic-worker-multiuser_posix.json"


def payloads(root):
    return {task.label: dict(task.definition["payload"]) for task in generate(root, [])}


def test_payload(tmp_path):
    """It has no image, relative paths, and the program and run-task as files of its folder."""
    made = payloads(project(tmp_path))
    payload = made["io-benchmark-wayland"]
    chmod, (*words, text) = payload.pop("command")
    run_task, program = payload.pop("mounts")
    assert payload == {
        "env": {"MOZ_AUTOMATION": "1", "MOZ_SCM_LEVEL": "1", "SCCACHE_DISABLE": "1"},
        "maxRunTime": 3600,
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
    assert chmod == ["chmod", "+x", "run-task"]
    assert words == ["./run-task", "--", "bash", "-ec"]
    assert 'python3 -I "$TASK_WORKDIR"/io-benchmark.py > "$application"' in text
    assert '--place workspace="${IO_BENCHMARK_WORKSPACE:-$TASK_WORKDIR/workspace}"' in text
    assert run_task["file"] == "./run-task"
    assert program["file"] == "io-benchmark.py"
    assert program["content"].keys() == {"raw"}
    assert len(program["content"]["raw"]) <= 65_536
    # The pool with docker has an image, and its paths; so has the report.
    docker = made["io-benchmark-container"]
    assert docker["image"] == "debian:12"
    assert "mounts" not in docker
    assert docker["artifacts"]["public/io-benchmark"]["path"] == (
        "/builds/worker/artifacts/io-benchmark"
    )
    assert made["io-benchmark-report"]["image"].startswith("ghcr.io/")


def test_extra(tmp_path):
    """What transforms carry for each other is not in the definition."""
    (task,) = generate(project(tmp_path), ["wayland"])
    assert set(task.definition["extra"]) == {"parent", "index"}


@pytest.mark.skipif(not SCHEMA.exists(), reason="has no schema of a worker next to the checkout")
def test_worker_schema(tmp_path):
    """The worker accepts the payload of all workloads, by its own schema."""
    # They are added to the default ones.
    workloads = sorted({*WorkerProgram.read().workload_names()} - {"cache-retrieve"})
    defaults = {
        "benchmark": {"workloads": workloads, "retrieves": 100},
        "worker": {"docker-image": "debian:12", "max-run-time": 5400},
    }
    schema = json.loads(SCHEMA.read_text())
    del schema["$schema"]  # of a draft that it names by a path
    payload = payloads(project(tmp_path, changes={"task-defaults": defaults}))[
        "io-benchmark-wayland"
    ]
    jsonschema.Draft6Validator(schema).validate(payload)


KIND = "taskcluster/kinds/io-benchmark/kind.yml"
IMAGES = (
    "task report: worker-type: 't-linux-wayland' runs no docker images, and this task needs one; "
    "name an alias of docker-worker, as report: {worker-type: ALIAS}; there are: b-linux"
)


@pytest.mark.parametrize(
    ("pools", "kind", "problem"),
    [
        pytest.param(
            {"docker": "b-linux", "mac": "t-mac"},
            {},
            "task mac: worker-type: 't-mac' is generic-worker on macosx, where the benchmark "
            "does not run; name an alias of one of: docker-worker on linux, generic-worker on "
            "linux, generic-worker on windows",
            id="another operating system",
        ),
        pytest.param({"wayland": "t-linux-wayland"}, {}, IMAGES, id="nowhere to report"),
        pytest.param(
            {"docker": "b-linux", "wayland": "t-linux-wayland"},
            {"report": {"worker-type": "t-linux-wayland"}},
            IMAGES,
            id="a report without docker",
        ),
        pytest.param(
            {"wayland": "t-linux-wayland"},
            {
                "transforms": [
                    "io_benchmark_taskgraph.transforms.benchmark:transforms",
                    "io_benchmark_taskgraph.transforms.command:transforms",
                    "taskgraph.transforms.run:transforms",
                    "taskgraph.transforms.task:transforms",
                ]
            },
            "task wayland: worker-type: 't-linux-wayland' needs the program as a mount; add "
            "io_benchmark_taskgraph.transforms.command:mounts after "
            "taskgraph.transforms.task:transforms to the kind's transforms",
            id="no mounts",
        ),
    ],
)
def test_mistakes(tmp_path, pools, kind, problem):
    """Each is one line that names the file, the task, its alias, and what to do."""
    with pytest.raises(IoBenchmarkError) as caught:
        generate(project(tmp_path, pools, kind), [])
    assert str(caught.value) == f"{KIND}: {problem}"


def test_a_gate(tmp_path):
    """Its native pools have the program, too; what compares them has docker."""
    root = project(tmp_path)
    kind = root.path / KIND.replace("io-benchmark", "io-benchmark-gate")
    kind.parent.mkdir()
    gate = {
        "loader": "taskgraph.loader.transform:loader",
        "transforms": ["io_benchmark_taskgraph.transforms.gate:transforms"],
        "gate": {"pairs": {"t-linux-alpha": "t-linux-wayland"}, "replicates": 2},
        "report": {"worker-type": "b-linux"},
    }
    kind.write_text(yaml.safe_dump(gate))
    tasks = generate(root, ["io-benchmark-gate"])
    mounts = {task.label: len(task.definition["payload"].get("mounts", ())) for task in tasks}
    measuring = [f"t-linux-{name}-{number}" for name in ("alpha", "wayland") for number in (1, 2)]
    expected = {f"io-benchmark-gate-{name}": 2 for name in measuring}
    assert mounts == expected | {"io-benchmark-gate-report": 0}


@pytest.mark.parametrize(
    "artifacts",
    [5, ["x"], [{"type": "file", "name": "x"}], [{"type": "file", "name": "x", "path": 5}]],
)
def test_artifacts_that_taskgraph_refuses(tmp_path, artifacts):
    """They are left to its schema, whose message names them."""
    own = {"description": "x", "worker-type": "t-linux-wayland", "worker": {"artifacts": artifacts}}
    with pytest.raises(IoBenchmarkError, match="artifacts"):
        generate(project(tmp_path, changes={"tasks": {"wayland": own}}), [])


@pytest.mark.parametrize("pools", ["docker second", "docker named"])
def test_where_the_report_runs(tmp_path: Path, pools: str) -> None:
    """By default on the first pool with docker; anywhere that the kind names."""
    aliases = {"a": "t-linux-wayland"} | ({"b": "b-linux"} if pools == "docker second" else {})
    kind = {} if pools == "docker second" else {"report": {"worker-type": "b-linux"}}
    tasks = generate(project(tmp_path, aliases, kind), [])
    queues = [task.definition["workerType"] for task in tasks if not task.pool]
    assert queues == ["b-linux"]
