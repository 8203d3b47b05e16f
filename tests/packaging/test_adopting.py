# SPDX-License-Identifier: MPL-2.0
"""A project that adopts the kind with the built wheels, as docs/first-project.md says."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import ROOT
from documentation import blocks

from .environments import run

# What the page tells a project to run, once io-benchmark is installed.
[COMMANDS] = blocks(ROOT / "taskcluster/docs/first-project.md", "sh skip")
INIT, REHEARSE = (line.split() for line in COMMANDS.text.splitlines())
KIND = "taskcluster/kinds/io-benchmark/kind.yml"
# Beside the kind's file.
LINES = 3
# What `taskgraph init` writes: no symbols, aliases that are worker types, one image.
CONFIG: dict[str, Any] = {
    "trust-domain": "mozilla",
    "task-priority": "low",
    "taskgraph": {
        "cached-task-prefix": "mozilla.v2.my-proj",
        "repositories": {"my_proj": {"name": "my-proj"}},
    },
    "workers": {
        "aliases": {
            alias: {
                "provisioner": "{trust-domain}-{level}",
                "implementation": "docker-worker",
                "os": "linux",
                "worker-type": "{alias}",
            }
            for alias in ("b-small", "b-large", "images")
        }
    },
}
IMAGES = {
    "loader": "taskgraph.loader.transform:loader",
    "transforms": [
        f"taskgraph.transforms.{name}:transforms"
        for name in ("docker_image", "cached_tasks", "task")
    ],
    "tasks": {"linux": {}},
}
FILES = {
    "config.yml": yaml.safe_dump(CONFIG),
    "kinds/docker-image/kind.yml": yaml.safe_dump(IMAGES),
    "docker/linux/Dockerfile": (
        "FROM alpine:latest\nRUN apk add bash coreutils python3\n# %include-run-task\n"
    ),
}


@pytest.fixture
def project(environment, tmp_path):
    """A project that `taskgraph init` wrote, and then `io-benchmark init`."""
    folder = tmp_path / "my-proj"
    for name, content in FILES.items():
        path = folder / "taskcluster" / name
        path.parent.mkdir(parents=True)
        path.write_text(content)
    pools = ("--pool", "small=b-small", "--pool", "large=b-large")
    result = run(environment / "bin" / INIT[0], folder, *INIT[1:], *pools)
    assert result.returncode == 0, result.stderr
    changed = [line[1:] for line in result.stdout.splitlines() if re.match(r"\+[^+]", line)]
    assert len(changed) - len((folder / KIND).read_text().splitlines()) <= LINES
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(folder))
    for command in (
        ("init", "--quiet"),
        ("remote", "add", "origin", "https://github.com/me/my-proj"),
        ("add", "."),
        ("commit", "--quiet", "--message", "Measure the pools"),
    ):
        subprocess.run([*git, *command], check=True)
    return folder


def full_graph(environment: Path, folder: Path) -> dict[str, Any]:
    """What a decision task makes; the environment has the transforms and taskgraph alone."""
    program = "from taskgraph.main import main; main()"
    result = run(environment / "bin/python", folder, "-c", program, "full", "--json")
    assert result.returncode == 0, result.stderr
    graph: dict[str, Any] = json.loads(result.stdout)
    return graph


def test_first_report(environment, project):
    """A rehearsal runs both pools' tasks."""
    result = run(environment / "bin" / REHEARSE[0], project, *REHEARSE[1:])
    assert result.returncode == 0, result.stderr
    answer = (
        r"- large took \S+ as long as small on cache-retrieve, overwrite: noise of this machine\."
    )
    assert re.search(answer, " ".join(result.stdout.split()))


def test_decision_task(decision_environment, project):
    """Its tasks have all that this project's have, but symbols, which the project does not use."""
    graph = full_graph(decision_environment, project)
    pools = {"io-benchmark-small": "b-small", "io-benchmark-large": "b-large"}
    assert set(graph) == {*pools, "io-benchmark-report", "docker-image-linux"}
    for label, worker_type in pools.items():
        task = graph[label]["task"]
        assert task["workerType"] == worker_type
        assert graph[label]["dependencies"] == {"docker-image": "docker-image-linux"}
        assert any(".latest.io-benchmark." in route for route in task["routes"])
        assert "treeherder" not in task["extra"]
        assert not [route for route in task["routes"] if "treeherder" in route]
    report = graph["io-benchmark-report"]
    assert sorted(report["soft_dependencies"]) == sorted(pools)
    assert report["task"]["requires"] == "all-resolved"
    assert report["task"]["workerType"] == "b-small"
    assert report["task"]["tags"]["kind"] == "io-benchmark-report"


def test_defaults():
    """A project gets what this project's kinds say, but for the image and the baseline."""
    for kind in ("io-benchmark", "io-benchmark-report"):
        own = yaml.safe_load((ROOT / f"taskcluster/kinds/{kind}/kind.yml").read_text())
        defaults = own.get("task-defaults") or own["tasks"]["report"]
        file = ROOT / f"python/io_benchmark_taskgraph/defaults/{kind}.yml"
        given = yaml.safe_load(file.read_text())
        for values in (defaults, given):
            values["worker"].pop("docker-image", None)
            values.pop("worker-type", None)
            values.get("benchmark", {}).pop("baseline", None)
        assert given == defaults
