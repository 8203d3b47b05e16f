# SPDX-License-Identifier: MPL-2.0
"""The report's task in the project's own graphs, and in those that actions make later."""

import json
import re
from contextlib import chdir
from datetime import datetime

import pytest
import yaml
from taskgraph import create
from taskgraph.actions.util import create_tasks
from taskgraph.optimize import base
from taskgraph.parameters import Parameters
from taskgraph.taskgraph import TaskGraph
from taskgraph.util.time import json_time_from_now, value_of

from io_benchmark_taskgraph import deadlines

from .test_kinds import LEVELS, every_params
from .whole_graph import (
    EVERY_POOL,
    IMAGE,
    PARAMS,
    REPORT,
    REPORT_IMAGE,
    SELECTED,
    SELECTING,
    graph,
    taskgraph,
    tasks_by_name,
)

WITH_REPORT = [name for name in SELECTING if REPORT in SELECTED[name]]


@every_params
def test_what_it_is(params):
    """As the pools' tasks: chosen with them, shown next to them, retriggered like them; no pool."""
    node = graph("full", params)[REPORT]
    assert node["attributes"] == {
        "always_target": False,
        "job_try_name": ["io-benchmark", "io-benchmark-all"],
        "kind": REPORT,
        "retrigger": True,
        "run_on_projects": [],
        "run_on_tasks_for": [],
        "shipping_phase": None,
    }
    assert node["task"]["tags"]["retrigger"] == "true"
    assert (node["task"]["provisionerId"], node["task"]["workerType"]) == (
        f"releng-{LEVELS[params]}",
        "b-linux",
    )
    assert node["task"]["extra"]["treeherder"] == {
        "machine": {"platform": "linux64"},
        "collection": {"opt": True},
        "groupSymbol": "IOB",
        "groupName": "I/O benchmark",
        "symbol": "report",
        "jobKind": "test",
        "tier": 3,
    }


@every_params
def test_how_it_runs(params):
    """run-task without a checkout in the report's image, an hour, a folder and a file."""
    payload = dict(graph("full", params)[REPORT]["task"]["payload"])
    expires = {"relative-datestamp": "28 days" if LEVELS[params] == "1" else "1 year"}
    *start, command = payload.pop("command")
    payload.pop("env")
    assert start == ["/usr/local/bin/run-task", "--", "bash", "-cx"]
    assert '"${IO_BENCHMARK_REPORT_OF:-group:$TASK_GROUP_ID}"' in command
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
        },
    }


@every_params
def test_it_asks_for_nothing(params):
    """No scope, and no route but those to Treeherder: a pull request from outside may create it."""
    task = graph("full", params)[REPORT]["task"]
    assert task["scopes"] == []
    route, checks = task["routes"]
    assert route.startswith("tc-treeherder.v2.io-benchmark")
    assert checks == "checks"
    assert "features" not in task["payload"]


def end_s(node, key="deadline"):
    return value_of(node["task"][key]["relative-datestamp"]).total_seconds()


def time_left_s(tasks):
    """What the report has from the moment at which the queue resolves the last task it waits for."""
    waited_for = [node for node in tasks.values() if "io_benchmark_pool" in node["attributes"]]
    assert waited_for
    last_s = max(end_s(node) for node in waited_for) + deadlines.RESOLVING_S
    return end_s(tasks[REPORT]) - last_s


@every_params
def test_it_has_time_after_the_last_pool(params):
    """A pool without workers ends at its deadline; the report then still has all its time."""
    tasks = graph("full", params)
    report = tasks[REPORT]["task"]
    (minutes,) = re.findall(r"--wait (\d+)", report["payload"]["command"][-1])
    waiting_s = 60 * int(minutes)
    assert time_left_s(tasks) >= report["payload"]["maxRunTime"] > waiting_s
    # What the queue asks for: at most five days, and nothing it depends on expires before it.
    assert end_s(tasks[REPORT]) <= deadlines.LATEST_S
    for label in [REPORT, *report_dependencies(tasks)]:
        assert end_s(tasks[label], "expires") >= end_s(tasks[REPORT])


def report_dependencies(tasks):
    return sorted({*tasks[REPORT]["dependencies"].values(), *tasks[REPORT]["soft_dependencies"]})


@pytest.mark.parametrize("params", WITH_REPORT)
def test_it_comes_after_the_selected_pools(params):
    """Every selected pool's task is a dependency, and it runs however these are resolved."""
    tasks = tasks_by_name("morphed", params)
    needed = [REPORT_IMAGE, *(label for label in SELECTED[params] if label != REPORT)]
    assert sorted(tasks[REPORT]["task"]["dependencies"]) == sorted(
        tasks[label]["task_id"] for label in needed
    )
    assert tasks[REPORT]["task"]["requires"] == "all-resolved"


@pytest.mark.parametrize(
    ("jobs", "pools"),
    [
        pytest.param([REPORT, "amd-16"], ["io-benchmark-amd-16"], id="with one pool"),
        pytest.param([REPORT], [], id="alone"),
    ],
)
def test_no_pool_is_pulled_in(tmp_path, jobs, pools):
    """What was not selected does not come with the report; alone it reads what its group has."""
    parameters = yaml.safe_load((PARAMS / "try.yml").read_text())
    parameters["io_benchmark_jobs"] = jobs
    # No image that is not needed: what may not be optimized away would come.
    parameters["do_not_optimize"] = [REPORT_IMAGE, *([IMAGE] if pools else [])]
    file = tmp_path / "parameters.yml"
    file.write_text(yaml.safe_dump(parameters))
    done = taskgraph("morphed", "-J", "-p", str(file))
    assert done.returncode == 0, done.stderr
    tasks = {node["label"]: node for node in json.loads(done.stdout).values()}
    assert sorted(tasks) == sorted([REPORT, *pools, *parameters["do_not_optimize"]])
    assert sorted(tasks[REPORT]["task"]["dependencies"]) == sorted(
        tasks[label]["task_id"] for label in [REPORT_IMAGE, *pools]
    )


@pytest.mark.parametrize(
    ("to_run", "already", "expected"),
    [
        pytest.param([REPORT], [*EVERY_POOL, REPORT, IMAGE, REPORT_IMAGE], [], id="retriggered"),
        pytest.param(
            [REPORT, "io-benchmark-intel"],
            [*EVERY_POOL, IMAGE, REPORT_IMAGE],
            ["io-benchmark-intel"],
            id="added with a pool",
        ),
    ],
)
def test_actions(tmp_path, monkeypatch, to_run, already, expected):
    """It comes after the pools' tasks made with it, and after none of before: it reads these."""
    monkeypatch.setattr(create, "testing", True)
    # The images are there already; the index is asked for them all the same.
    monkeypatch.setattr(base, "find_task_id_batched", lambda _routes: {})
    monkeypatch.setattr(base, "status_task_batched", lambda _task_ids: {})
    monkeypatch.setenv("TASK_ID", "Yx4AjHXCRfyptBUIPTPtEg")
    full = graph("full", "try")
    _, full_graph = TaskGraph.from_json(full)
    task_ids = {label: f"{'A' * 8}Q{'A' * 12}{number}" for number, label in enumerate(already)}
    values = yaml.safe_load((PARAMS / "try.yml").read_text())
    with chdir(tmp_path):
        create_tasks(
            {"trust-domain": "releng"},
            to_run,
            full_graph,
            task_ids,
            Parameters(strict=False, **values),
            decision_task_id="Prp_WjpGRx26VH-wA8fjTA",
        )
    made = {
        node["label"]: node
        for node in json.loads((tmp_path / "artifacts/task-graph.json").read_text()).values()
    }
    assert sorted(made) == sorted(to_run)
    # The action's own task is the parent of all that it makes.
    assert set(made[REPORT]["task"]["dependencies"]) - {"Yx4AjHXCRfyptBUIPTPtEg"} == {
        task_ids[REPORT_IMAGE],
        *(made[label]["task_id"] for label in expected),
    }
    assert made[REPORT]["task"]["requires"] == "all-resolved"
    for label in expected:
        left = instant(made[REPORT], "deadline") - instant(made[label], "deadline")
        assert left.total_seconds() >= deadlines.RESOLVING_S + 3600


def instant(node, key):
    """A task that an action created has its own times, counted from then."""
    moment = node["task"][key]
    if isinstance(moment, dict):
        moment = json_time_from_now(moment["relative-datestamp"])
    return datetime.fromisoformat(moment)


def test_its_image_has_the_program():
    """The index finds it by its content, this project's code and its lock included."""
    [route] = graph("full", "push")[REPORT_IMAGE]["optimization"]["index-search"]
    assert route.startswith("releng.cache.level-3.docker-images.v2.io-benchmark-report.hash.")
    assert graph("full", "push")[REPORT_IMAGE]["attributes"]["always_target"] is False
