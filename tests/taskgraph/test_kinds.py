# SPDX-License-Identifier: MPL-2.0
"""The tasks themselves, for every file of parameters."""

import pytest
from embedding import shell_text

from .conftest import KIND
from .whole_graph import (
    EVERY_ALL,
    EVERY_POOL,
    EVERYTHING,
    IMAGE,
    PARAMS,
    REPORT_IMAGE,
    SELECTED,
    SELECTING,
    created,
    graph,
    tasks_by_name,
)

LEVELS = {
    "comment": "1",
    "cron": "3",
    "pull-request": "1",
    "pull-request-untrusted": "1",
    "push": "3",
    "try": "1",
    "try-all": "3",
    "try-two-pools": "3",
}
every_params = pytest.mark.parametrize("params", sorted(SELECTED))
every_pool = pytest.mark.parametrize(
    ("label", "worker_type", "symbol"),
    [
        pytest.param("io-benchmark-amd-16", "b-linux-docker-amd", "amd16", id="amd-16"),
        pytest.param("io-benchmark-amd-30", "b-linux-docker-large-amd", "amd30", id="amd-30"),
        pytest.param("io-benchmark-intel", "b-linux", "intel", id="intel"),
    ],
)


def test_every_params_file_is_tested():
    """A file of parameters that no test knows is a mistake."""
    assert sorted(path.stem for path in PARAMS.glob("*.yml")) == sorted(SELECTED)


@every_params
def test_all_tasks(params):
    """The images, two tasks for each pool, and the report, for whatever reason the graph is made."""
    assert sorted(graph("full", params)) == [REPORT_IMAGE, IMAGE, *EVERY_ALL, *EVERYTHING]


@every_params
def test_selected_tasks(params):
    """Nothing runs without a request."""
    assert sorted(graph("target", params)) == SELECTED[params]


@pytest.mark.parametrize("params", SELECTING)
def test_created_tasks(params):
    """What a decision task would create: the selected ones and their images, without a network."""
    assert sorted(tasks_by_name("morphed", params)) == created(SELECTED[params])


@every_pool
@every_params
def test_where_it_runs(params, label, worker_type, symbol):
    """Worker pool by level, and what Treeherder shows."""
    task = graph("full", params)[label]["task"]
    assert (task["provisionerId"], task["workerType"]) == (f"releng-{LEVELS[params]}", worker_type)
    assert task["extra"]["treeherder"] == {
        "machine": {"platform": "linux64"},
        "collection": {"opt": True},
        "groupSymbol": "IOB",
        "groupName": "I/O benchmark",
        "symbol": symbol,
        "jobKind": "test",
        "tier": 3,
    }


@every_pool
@every_params
def test_how_it_runs(params, label, worker_type, symbol):  # noqa: ARG001 - one list of pools
    """run-task without a checkout, a shell command, an hour, two artifacts, no cache."""
    payload = dict(graph("full", params)[label]["task"]["payload"])
    expires = {"relative-datestamp": "28 days" if LEVELS[params] == "1" else "1 year"}
    start = payload.pop("command")
    command = shell_text(start)
    environment = payload.pop("env")
    assert start[:4] == ["/usr/local/bin/run-task", "--", "bash", "-ec"]
    assert f"--pool {label.removeprefix('io-benchmark-')} " in command
    assert " --time-budget 3300 " in command
    assert "/builds/worker/workspace" in environment["TASKCLUSTER_VOLUMES"].split(";")
    assert payload == {
        "image": {
            "path": "public/image.tar.zst",
            "taskId": {"task-reference": "<docker-image>"},
            "type": "task-image",
        },
        "maxRunTime": 3600,
        "onExitStatus": {"retry": [72], "purgeCaches": [72]},
        "artifacts": {
            "public/io-benchmark": {
                "type": "directory",
                "path": "/builds/worker/artifacts/io-benchmark",
                "expires": expires,
            },
            "public/perfherder-data-io-benchmark.json": {
                "type": "file",
                "path": "/builds/worker/artifacts/perfherder-data-io-benchmark.json",
                "expires": expires,
            },
        },
    }


@every_pool
@every_params
def test_attributes(params, label, worker_type, symbol):  # noqa: ARG001 - one list of pools
    """By what it is chosen, and that nothing chooses it by default; its image comes with it."""
    node = graph("full", params)[label]
    assert node["attributes"] == {
        "always_target": False,
        "io_benchmark_pool": label.removeprefix("io-benchmark-"),
        "job_try_name": "io-benchmark",
        "kind": "io-benchmark",
        "retrigger": True,
        "run_on_projects": [],
        "run_on_tasks_for": [],
        "shipping_phase": None,
    }
    assert node["dependencies"] == {"docker-image": IMAGE}
    # taskgraph offers "Retrigger" by this tag.
    assert node["task"]["tags"]["retrigger"] == "true"


@every_params
def test_routes(params):
    """A pull request's tasks, and a comment's, may use routes for `-pr` alone, a stranger's none."""
    task = graph("full", params)["io-benchmark-intel"]["task"]
    pull_request = params.startswith(("pull-request", "comment")) or params == "try"
    project = "io-benchmark-pr" if pull_request else "io-benchmark"
    *indexed, route, checks = task["routes"]
    revision = route.split(".")[3]
    index = f"index.releng.v2.{project}"
    assert indexed == (
        []
        if params == "pull-request-untrusted"
        else [
            f"{index}.latest.io-benchmark.intel",
            f"{index}.revision.{revision}.io-benchmark.intel",
            f"{index}.date.io-benchmark.intel.20261121080000",
        ]
    )
    assert route == f"tc-treeherder.v2.{project}.{revision}.0"
    assert checks == "checks"
    # The date of the push: a retriggered task of an older push is not the latest.
    assert task["extra"]["index"]["rank"] == 1795248000
    assert f"repo={project}&revision={revision}" in task["metadata"]["description"]


def test_every_task_has_the_same_work():
    """The pools' commands differ in the pool's name alone."""
    commands = {
        tuple(
            part.replace(f" {label.removeprefix('io-benchmark-')} ", " POOL ")
            for part in graph("full", "try")[label]["task"]["payload"]["command"]
        )
        for label in EVERY_POOL
    }
    assert len(commands) == 1


def test_image_is_cached_and_shown():
    """The image's task: its symbol, and that the index is searched for it."""
    node = graph("full", "push")[IMAGE]
    assert node["task"]["extra"]["treeherder"]["symbol"] == "update-verify"
    assert node["task"]["extra"]["treeherder"]["groupName"] == "Docker images"
    [route] = node["optimization"]["index-search"]
    assert route.startswith("releng.cache.level-3.docker-images.v2.update-verify.hash.")


def test_a_pool_is_four_lines():
    """Each pool of kind.yml is its name, its description, its worker type and its symbol."""
    pools = (KIND / "kind.yml").read_text().partition("\ntasks:\n")[2].strip("\n").split("\n\n")
    keys = [[line.split(":")[0].strip() for line in pool.splitlines()] for pool in pools]
    assert keys == [
        [name, "description", "worker-type", "treeherder"] for name in ("amd-16", "amd-30", "intel")
    ]
