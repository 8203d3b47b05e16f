# SPDX-License-Identifier: MPL-2.0
"""The kind's transforms, to run on a task."""

from copy import deepcopy

import pytest
from checkout import KIND
from taskgraph.util.python_path import find_object
from taskgraph.util.templates import merge
from taskgraph.util.yaml import load_yaml

# What a pool of the kind is before the first transform, with the defaults merged in.
TASK = {
    "name": "amd-16",
    "description": "I/O benchmark",
    "worker-type": "b-linux",
    "task-from": "kind.yml",
    "attributes": {"job_try_name": "io-benchmark"},
    "benchmark": {
        "workloads": ["cache-retrieve"],
        "retrieves": 2000,
    },
    "treeherder": {"platform": "linux64/opt", "symbol": "IOB(amd16)"},
    "worker": {"max-run-time": 3600},
    "run": {"using": "run-task"},
}


@pytest.fixture
def datadir(tmp_path):
    """Where pytest-taskgraph's `graph_config` has its `taskcluster/`."""
    return tmp_path


@pytest.fixture
def make_pool():
    def make(**changes):
        return merge(deepcopy(TASK), changes)

    return make


@pytest.fixture
def run_kind(run_transform, make_transform_config):
    """Run some of the kind's own transforms, by name.

    By default all of them in kind.yml's order.
    """

    def run(tasks, *names, **config):
        paths = load_yaml(str(KIND), "kind.yml")["transforms"]
        for path in paths:
            name = path.partition(":")[0].rpartition(".")[2]
            is_own = path.startswith("io_benchmark_taskgraph.") and path.endswith(":transforms")
            if is_own and (not names or name in names):
                tasks = run_transform(
                    find_object(path), tasks, config=make_transform_config(**config)
                )
        return tasks

    return run
