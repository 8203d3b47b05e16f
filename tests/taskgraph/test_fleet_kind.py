# SPDX-License-Identifier: MPL-2.0
"""The two tasks of the fleet, as taskgraph makes them, for every file of parameters."""

import pytest
import yaml
from checkout import ROOT

from io_benchmark_taskgraph.transforms.report import LATEST_S, RESOLVING_S

from .test_kinds import FILES, check_payload, check_shown, end_s, every_params, level
from .whole_graph import EVERY_ALL, EVERY_POOL, FLEET, PARAMS, REPORT_IMAGE, graph, tasks_by_name

TABLE, ALERT = FLEET
REVISION = "7f3a9c1e5b2d4f6081a3c5e7092b4d6f8a0c2e41"


def routes_of(label, params):
    routes = graph("full", params)[label]["task"]["routes"]
    return [route for route in routes if route.startswith("index.")]


@every_params
def test_table(params):
    """It is shown as the report is, comes after all pools, and needs no scope."""
    tasks = graph("full", params)
    node = tasks[TABLE]
    task = node["task"]
    check_shown(node, "fleet", TABLE)
    assert task["provisionerId"] == f"releng-{level(params)}"
    assert (task["workerType"], task["scopes"]) == ("b-linux", [])
    assert node["soft_dependencies"] == sorted([*EVERY_POOL, *EVERY_ALL])
    assert task["requires"] == "all-resolved"
    assert node["dependencies"] == {"docker-image": REPORT_IMAGE}
    (*start, command), _ = check_payload(task["payload"], params, 60, FILES[:1])
    assert start == ["/usr/local/bin/run-task", "--", "bash", "-cx"]
    # A graph that may not write to the index reads that of its project.
    project = yaml.safe_load((PARAMS / f"{params}.yml").read_text())["project"]
    if params in ("comment", "pull-request", "try"):
        project = "io-benchmark-pr"
    assert f"index:releng.v2.{project}.date.io-benchmark}}" in command
    last_s = max(end_s(tasks[label]) for label in (*EVERY_POOL, *EVERY_ALL))
    assert end_s(node) - last_s - RESOLVING_S >= task["payload"]["maxRunTime"]


@every_params
def test_routes(params):
    """The table is in the index as a pool's result is, ranked by the push; its alert is not."""
    assert routes_of(ALERT, params) == []
    routes = routes_of(TABLE, params)
    if params == "pull-request-untrusted":
        assert routes == []
        return
    of_pool = routes_of("io-benchmark-amd-16", params)
    assert routes == [
        route.replace(".io-benchmark.amd-16", ".io-benchmark-fleet") for route in of_pool
    ]
    index = graph("full", params)[TABLE]["task"]["extra"]["index"]
    assert index["rank"] == 1795248000


@every_params
def test_alert(params):
    """It runs once the table is complete, reads that task, and publishes GitHub's check alone."""
    tasks = graph("full", params)
    node, table = tasks[ALERT], tasks[TABLE]
    task = node["task"]
    check_shown(node, "alert", TABLE)
    assert node["dependencies"] == {"docker-image": REPORT_IMAGE, "fleet": TABLE}
    assert (node["soft_dependencies"], task.get("requires")) == ([], None)
    *_, environment = check_payload(task["payload"], params, 60, ["github"])
    assert environment["IO_BENCHMARK_FLEET"] == {"task-reference": "<fleet>"}
    assert task["scopes"] == []
    assert end_s(node) - end_s(table) >= RESOLVING_S + task["payload"]["maxRunTime"]
    assert end_s(node) <= LATEST_S
    assert end_s(table, "expires") >= end_s(node)
    assert not any(route.startswith("notify.") for route in task["routes"])


def test_ids_of_tasks():
    """What taskgraph would create names the table's task in the alert's environment."""
    tasks = tasks_by_name("morphed", "cron")
    environment = tasks[ALERT]["task"]["payload"]["env"]
    assert environment["IO_BENCHMARK_FLEET"] == tasks[TABLE]["task_id"]


@pytest.mark.parametrize("label", FLEET)
def test_the_image(label):
    """Both run in the image that has the program."""
    dockerfile = ROOT / "taskcluster/docker/io-benchmark-report/Dockerfile"
    assert "/opt/io-benchmark/bin/python3 -m io_benchmark.cli" in dockerfile.read_text()
    command = graph("full", "cron")[label]["task"]["payload"]["command"][-1]
    assert "/opt/io-benchmark/bin/python3}" in command
