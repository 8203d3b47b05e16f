# SPDX-License-Identifier: MPL-2.0
"""What Taskcluster and Treeherder accept, in our own words, for every task that is generated.

Nothing on the way to a worker checks most of these earlier than the worker itself.
"""

import json
import re

import pytest

from io_benchmark_taskgraph.task_command import MAX_COMMAND_BYTES
from io_benchmark_taskgraph.worker_program import MAX_ARGUMENT_BYTES

from .whole_graph import SELECTED, SELECTING, graph

# Far below what Linux takes, since the public log has it twice.
COMFORTABLE_COMMAND_BYTES = 160_000
MAX_TASK_BYTES = 10 * 1024 * 1024
IDENTIFIER = r"[a-zA-Z0-9_-]{1,38}"
INDEX_PATH = r"([a-zA-Z0-9_!~*'()%-]+\.)*[a-zA-Z0-9_!~*'()%-]+"

GRAPHS = [("full", params) for params in sorted(SELECTED)]
GRAPHS += [("morphed", params) for params in SELECTING]
every_graph = pytest.mark.parametrize(
    ("stage", "params"), [pytest.param(*one, id="-".join(one)) for one in GRAPHS]
)


def tasks(stage, params):
    return [node["task"] for node in graph(stage, params).values()]


def arguments(task):
    return task["payload"].get("command", [])


@every_graph
def test_an_argument_fits(stage, params):
    """The kernel takes 131,071 bytes in one argument."""
    sizes = [len(part.encode()) for task in tasks(stage, params) for part in arguments(task)]
    assert max(sizes) <= MAX_ARGUMENT_BYTES == 131_071


@every_graph
def test_a_command_fits_comfortably(stage, params):
    """The kernel takes about 2 MiB in all arguments, and people read the log that shows them."""
    sizes = [sum(len(part.encode()) + 1 for part in arguments(t)) for t in tasks(stage, params)]
    assert max(sizes) <= COMFORTABLE_COMMAND_BYTES < MAX_COMMAND_BYTES


@every_graph
def test_a_task_fits(stage, params):
    """The queue takes a body of 10 MiB."""
    assert max(len(json.dumps(task)) for task in tasks(stage, params)) < MAX_TASK_BYTES


@every_graph
def test_identifiers(stage, params):
    """The queue's names of a worker pool, and its priorities."""
    for task in tasks(stage, params):
        assert re.fullmatch(IDENTIFIER, task["provisionerId"])
        assert re.fullmatch(IDENTIFIER, task["workerType"])
        assert task["priority"] in ("very-low", "low", "lowest")


@every_graph
def test_metadata(stage, params):
    """What the queue wants to know of a task, in the lengths that it takes."""
    for task in tasks(stage, params):
        metadata = task["metadata"]
        assert sorted(metadata) == ["description", "name", "owner", "source"]
        assert 0 < len(metadata["name"]) <= 255
        assert 0 < len(metadata["description"]) <= 32_768
        assert re.fullmatch(r"[^@\s]+@[^@\s]+", metadata["owner"])
        assert len(metadata["owner"]) <= 255
        assert re.match(
            r"https://github\.com/[\w-]+/io-benchmark/blob/[0-9a-f]{40}/taskcluster/kinds/",
            metadata["source"],
        )


@every_graph
def test_treeherder(stage, params):
    """Treeherder's symbols, groups and platforms, each combination once."""
    seen = []
    for task in tasks(stage, params):
        treeherder = task["extra"]["treeherder"]
        [collection] = treeherder["collection"]
        platform = f"{treeherder['machine']['platform']}/{collection}"
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,50}/[A-Za-z0-9_-]{1,50}", platform)
        assert 1 <= len(treeherder["symbol"]) <= 25
        assert 1 <= len(treeherder["groupSymbol"]) <= 25
        assert treeherder["tier"] in (1, 2, 3)
        seen.append((platform, treeherder["groupSymbol"], treeherder["symbol"]))
    assert len(set(seen)) == len(seen)


@every_graph
def test_artifacts(stage, params):
    """Names of printable ASCII that anyone may read, from absolute paths, none within another."""
    for task in tasks(stage, params):
        artifacts = task["payload"]["artifacts"]
        for name, artifact in artifacts.items():
            assert re.fullmatch(r"public/[\x21-\x7e]+", name)
            assert len(name) <= 1024
            assert artifact["type"] in ("file", "directory")
            assert artifact["path"].startswith("/")
            assert not [other for other in artifacts if other.startswith(f"{name}/")]


@every_graph
def test_routes(stage, params):
    """Routes are short, each once, and an index path holds what the index takes."""
    for task in tasks(stage, params):
        routes = task["routes"]
        assert len(routes) == len(set(routes)) <= 64
        for route in routes:
            assert 1 <= len(route) <= 249
            if route.startswith("index."):
                assert re.fullmatch(INDEX_PATH, route.removeprefix("index."))


@every_graph
def test_environment_and_times(stage, params):
    """The environment is text, a task's time is seconds above none."""
    for task in tasks(stage, params):
        payload = task["payload"]
        for value in payload["env"].values():
            assert isinstance(value, str) or list(value) == ["task-reference"]
        assert 0 < payload["maxRunTime"] <= 86_400
        assert all(isinstance(value, str) for value in task["tags"].values())


def test_perfherder_artifact():
    """Treeherder takes a result from an artifact of such a name alone."""
    for label, node in graph("full", "push").items():
        names = list(node["task"]["payload"]["artifacts"])
        taken = [name for name in names if "perfherder-data" in name and name.endswith(".json")]
        measures = label.startswith("io-benchmark-") and label != "io-benchmark-report"
        assert len(taken) == measures
