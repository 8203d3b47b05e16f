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
INDEX_PATH = r"index\.([a-zA-Z0-9_!~*'()%-]+\.)*[a-zA-Z0-9_!~*'()%-]+"
SOURCE = r"https://github\.com/[\w-]+/io-benchmark/blob/[0-9a-f]{40}/taskcluster/kinds/.*"
PLATFORM = r"[A-Za-z0-9_-]{1,50}/[A-Za-z0-9_-]{1,50}"
GRAPHS = [*(("full", params) for params in sorted(SELECTED)), *(("morphed", p) for p in SELECTING)]


def check_queue(task):
    assert len(json.dumps(task)) < MAX_TASK_BYTES
    assert re.fullmatch(IDENTIFIER, task["provisionerId"])
    assert re.fullmatch(IDENTIFIER, task["workerType"])
    assert task["priority"] in ("very-low", "low", "lowest")
    metadata = task["metadata"]
    assert sorted(metadata) == ["description", "name", "owner", "source"]
    assert 0 < len(metadata["name"]) <= 255
    assert 0 < len(metadata["description"]) <= 32_768
    assert re.fullmatch(r"(?=.{1,255}\Z)[^@\s]+@[^@\s]+", metadata["owner"])
    assert re.fullmatch(SOURCE, metadata["source"])
    assert all(isinstance(value, str) for value in task["tags"].values())
    routes = task["routes"]
    assert len(routes) == len(set(routes)) <= 64
    for route in routes:
        assert 1 <= len(route) <= 249
        assert not route.startswith("index.") or re.fullmatch(INDEX_PATH, route)


def check_payload(payload):
    sizes = [len(part.encode()) for part in payload.get("command", [])]
    assert max(sizes, default=0) <= MAX_ARGUMENT_BYTES == 131_071
    assert sum(sizes) + len(sizes) <= COMFORTABLE_COMMAND_BYTES < MAX_COMMAND_BYTES
    for value in payload["env"].values():
        assert isinstance(value, str) or list(value) == ["task-reference"]
    assert 0 < payload["maxRunTime"] <= 86_400
    artifacts = payload["artifacts"]
    for name, artifact in artifacts.items():
        assert re.fullmatch(r"(?=.{1,1024}\Z)public/[\x21-\x7e]+", name)
        assert artifact["type"] in ("file", "directory")
        assert artifact["path"].startswith("/")
        assert not [inner for inner in artifacts if inner.startswith(f"{name}/")]


@pytest.mark.parametrize(("stage", "params"), GRAPHS)
def test_every_task(stage, params):
    """The queue's, docker-worker's and Treeherder's limits; each symbol is used once."""
    symbols = []
    for node in graph(stage, params).values():
        task = node["task"]
        check_queue(task)
        check_payload(task["payload"])
        treeherder = task["extra"]["treeherder"]
        [collection] = treeherder["collection"]
        platform = f"{treeherder['machine']['platform']}/{collection}"
        assert re.fullmatch(PLATFORM, platform)
        assert 1 <= len(treeherder["symbol"]) <= 25
        assert 1 <= len(treeherder["groupSymbol"]) <= 25
        assert treeherder["tier"] in (1, 2, 3)
        symbols.append((platform, treeherder["groupSymbol"], treeherder["symbol"]))
    assert len(set(symbols)) == len(symbols)


def test_perfherder_artifact():
    """Treeherder takes a result from an artifact of such a name alone."""
    for label, node in graph("full", "push").items():
        names = [
            name
            for name in node["task"]["payload"]["artifacts"]
            if "perfherder-data" in name and name.endswith(".json")
        ]
        measures = label.startswith("io-benchmark-") and label != "io-benchmark-report"
        assert len(names) == measures
