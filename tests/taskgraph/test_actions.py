# SPDX-License-Identifier: MPL-2.0
"""Both actions, run by taskgraph's own command on the loopback deployment."""

import copy
import functools
import json
import os
import subprocess
import sys
from typing import Any

import program
import pytest
import submitted_tasks
from checkout import ROOT
from loopback import Loopback
from loopback_auth import ANONYMOUS
from loopback_deployment import Artifact, Deployment
from taskgraph.util.parameterization import resolve_timestamps
from taskgraph.util.time import current_json_time

from io_benchmark_taskgraph import actions
from io_benchmark_taskgraph.actions import REPORT as REPORT_FILE
from io_benchmark_taskgraph.repeating import PACE_VARIABLE, derived_id

from .test_deploying import ROLE, granted
from .whole_graph import EVERY_POOL, PARAMS, REPORT, graph

NEW = [f"{label}-{number}" for label in EVERY_POOL[1:] for number in (2, 3)]
GROUP, ACTION = "O0wOvbnEQF6h8ptHBA6jbg", "Prp_WjpGRx26VH-wA8fjTA"
PACE = 391 * 1024**2
CONFIRM = "io-benchmark-intel-confirm"
RUN = "import sys; from taskgraph.main import main; sys.exit(main())"


@functools.cache
def push():
    """The tasks of a push as its decision task creates them, resolved, and the decision's own.

    Its pools are measured with trials, and amd-16 is slower than intel.
    """
    deployment = Deployment()
    parameters = (PARAMS / "comment.yml").read_bytes()
    decision = {"provisionerId": "releng-1", "workerType": "decision", "tags": {}, "metadata": {}}
    own = {**decision, "schedulerId": "releng-level-1", "taskGroupId": GROUP}
    deployment.create(GROUP, {**own, "metadata": {"name": "Decision Task"}})
    deployment.change_runs(GROUP, "completed")
    deployment.artifacts[GROUP, 0, "public/parameters.yml"] = Artifact(parameters)
    now = current_json_time(datetime_format=True)
    nodes = graph("morphed", "comment").values()
    # Images first, the report last: a task is created after those that it depends on.
    for node in sorted(nodes, key=lambda node: len(node["task"].get("dependencies", []))):
        definition = resolve_timestamps(now, copy.deepcopy(node["task"]))
        own = {"schedulerId": "releng-level-1", "taskGroupId": GROUP}
        deployment.create(node["task_id"], {**definition, **own})
        complete(deployment, node["task_id"])
    deployment.create(ACTION, {**deployment.definitions[GROUP], "metadata": {"name": "Action"}})
    deployment.change_runs(ACTION, "running")
    add_report(deployment)
    return deployment


def complete(deployment, task_id):
    if deployment.definitions[task_id]["tags"]["kind"] == "io-benchmark":
        submitted_tasks.complete(deployment, task_id, with_trials=True)
    else:
        deployment.change_runs(task_id, "completed")


def add_report(deployment, **changes):
    """Compare the group as the newest IOB(report) does."""
    with Loopback(deployment) as loopback:
        done = program.run(
            "compare",
            f"group:{GROUP}",
            "--partial",
            "--json",
            environment={"TASKCLUSTER_ROOT_URL": loopback.url},
            expected=None,
        )
    report_id = by_label(deployment)[REPORT][-1][0]
    deployment.leave(report_id, json.loads(done.stdout) | changes, REPORT_FILE)
    deployment.change_runs(report_id, "completed")


def by_label(deployment):
    tasks: dict[str, list[tuple[str, Any]]] = {}
    for task_id, definition in deployment.definitions.items():
        tasks.setdefault(definition["metadata"]["name"], []).append((task_id, definition))
    return tasks


def act(deployment, name=actions.CONFIRM, *, expected=0):
    """Run an action as a task whose proxy adds the scopes that docs/deploying.md gives to it.

    Return its log, and the labels of the tasks that it created.
    """
    before = len(deployment.definitions)
    scopes = (f"assume:{ROLE}pr-action:generic", *granted("pr-action:generic"))
    with Loopback(deployment, clients=[], anonymous=(*ANONYMOUS, *scopes)) as loopback:
        done = subprocess.run(
            [sys.executable, "-c", RUN, "action-callback"],
            cwd=ROOT,
            env={
                **os.environ,
                "TASKCLUSTER_ROOT_URL": loopback.url,
                "TASKCLUSTER_PROXY_URL": loopback.url,
                # taskgraph before 15 creates tasks at http://taskcluster, the proxy's name.
                "http_proxy": loopback.url,
                "no_proxy": "127.0.0.1",
                "TASK_ID": ACTION,
                "ACTION_TASK_GROUP_ID": GROUP,
                "ACTION_TASK_ID": json.dumps(by_label(deployment)[REPORT][0][0]),
                "ACTION_INPUT": "null",
                "ACTION_CALLBACK": name,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == expected, done.stderr
    return done.stderr, submitted_tasks.labels(deployment)[before:]


@pytest.fixture
def deployment():
    return copy.deepcopy(push())


def test_confirm(deployment):
    """intel once more at the ceiling of amd-16, and a report that waits for it."""
    log, labels = act(deployment)
    assert "intel once more, at the ceiling of amd-16" in log
    assert labels == [CONFIRM, REPORT]
    tasks = by_label(deployment)
    ((task_id, made),) = tasks[CONFIRM]
    assert task_id == derived_id(GROUP, CONFIRM)
    assert made["payload"]["env"][PACE_VARIABLE] == str(PACE)
    assert made["extra"]["treeherder"]["symbol"] == "intel-confirm"
    assert made["extra"]["parent"] == made["dependencies"][-1] == ACTION
    # Treeherder's routes are of this push; no other task's result in the index is replaced.
    assert {route.partition(".")[0] for route in made["routes"]} == {"tc-treeherder", "checks"}
    (_, first), (_, second) = tasks[REPORT]
    assert second["dependencies"] == [*first["dependencies"], ACTION, task_id]
    assert second["requires"] == "all-resolved"
    assert second["payload"]["command"] == first["payload"]["command"]
    assert {task["taskGroupId"] for task in (made, second)} == {GROUP}
    assert second["deadline"] > made["deadline"]


def test_twice(deployment):
    """While the confirming task runs, and after it, a second click creates nothing."""
    act(deployment)
    assert act(deployment)[1] == []
    complete(deployment, derived_id(GROUP, CONFIRM))
    assert act(deployment)[1] == []
    add_report(deployment)
    log, labels = act(deployment)
    assert labels == []
    assert "nothing to confirm: intel was limited to the ceiling of amd-16 already." in log


@pytest.mark.parametrize("state", ["failed", "completed"])
def test_a_lost_result(deployment, state):
    """A task that failed, or for which the newest report waited in vain, has a successor."""
    act(deployment)
    deployment.change_runs(derived_id(GROUP, CONFIRM), state)
    if state == "completed":
        add_report(deployment)
    assert act(deployment)[1] == [f"{CONFIRM}-2", REPORT]


def wishes(**to_add):
    """The rows of a report about the workers of pools; those of amd-16 decide nothing."""
    rows = [
        {"side": pool.replace("_", "-"), "standing": "open", "workers_to_add": count}
        for pool, count in to_add.items()
    ]
    return [{"side": "amd-16", "standing": "not by repetition", "workers_to_add": None}, *rows]


@pytest.fixture
def undecided(deployment):
    """A push whose report asks for two more workers of two pools."""
    add_report(deployment, replication=wishes(amd_30=2, intel=2))
    return deployment


def test_workers_that_the_report_asks_for(undecided):
    """Two more tasks of each open pool, and a report after them."""
    log, labels = act(undecided, actions.MORE_WORKERS)
    assert "amd-16: more workers will not decide this, says the report" in log
    assert "amd-30: 2 more workers" in log
    assert labels == [*NEW, REPORT]
    tasks = by_label(undecided)
    ((task_id, made),) = tasks["io-benchmark-intel-3"]
    assert task_id == derived_id(GROUP, "io-benchmark-intel-3")
    ((_, model),) = tasks[EVERY_POOL[2]]
    assert made["payload"]["command"] == model["payload"]["command"]
    assert made["payload"]["env"] == model["payload"]["env"]
    assert made["extra"]["treeherder"]["symbol"] == "intel-3"
    (_, first), (_, second) = tasks[REPORT]
    waited_for = [ACTION, *(tasks[label][0][0] for label in NEW)]
    assert sorted(second["dependencies"]) == sorted([*first["dependencies"], *waited_for])


def test_workers_that_gates_ask_for(deployment):
    """A gate that is not decided gets the workers that it needs."""
    comparison = {"confirming": with_paces(), "replication": []}
    gate = {
        "candidate": "amd-30",
        "baseline": "intel",
        "answer": "not decided",
        "workers": [1, 1],
        "workers_needed": 3,
    }
    report_id = by_label(deployment)[REPORT][-1][0]
    own = json.loads(deployment.artifacts[report_id, 0, REPORT_FILE].body)
    gates = [{**gate, "comparison": {**own, **comparison}}]
    deployment.leave(report_id, {"version": 1, "gates": gates}, REPORT_FILE)
    _, labels = act(deployment, actions.MORE_WORKERS)
    assert labels == [*NEW, REPORT]


def test_measuring_again(undecided):
    """A second click creates nothing until the next report; lost tasks are made up for."""
    act(undecided, actions.MORE_WORKERS)
    assert act(undecided, actions.MORE_WORKERS)[1] == []
    tasks = by_label(undecided)
    for label in NEW[1:]:
        complete(undecided, tasks[label][0][0])
    undecided.change_runs(tasks[NEW[0]][0][0], "failed")
    assert act(undecided, actions.MORE_WORKERS)[1] == [f"{EVERY_POOL[1]}-4", REPORT]


def test_at_most_24_workers_at_once(undecided):
    """A report that asks for more gets the others after the next one.

    Nothing where it asks for none.
    """
    add_report(undecided, replication=wishes())
    log, labels = act(undecided, actions.MORE_WORKERS)
    assert "the report calls no comparison inconclusive" in log
    assert labels == []
    add_report(undecided, replication=wishes(amd_30=25, intel=24))
    _, labels = act(undecided, actions.MORE_WORKERS)
    assert [sum(pool in label for label in labels) for pool in EVERY_POOL] == [0, 24, 24]


def with_paces(*paces):
    """The part of a report about the runs that are missing."""
    return {
        "paces": [
            dict(zip(("pool", "bytes_per_s", "against"), pace, strict=True)) for pace in paces
        ],
        "reasons": [],
    }


@pytest.mark.parametrize(("wanted", "created"), [(6, 6), (7, 6), (1001, 6)])
def test_at_most_six_paces_at_once(deployment, wanted, created):
    """Any task may have written the report: a click creates a handful of tasks, and says so."""
    paces = (("intel", 10**8 * (at % 9 + 1), "amd-16") for at in range(wanted))
    add_report(deployment, confirming=with_paces(*paces))
    log, labels = act(deployment)
    assert [label.startswith(CONFIRM) for label in labels] == [True] * created + [False]
    warning = f"the first 6 of {wanted} missing runs; ask again after the next report"
    assert (warning in log) == (wanted > 6)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"confirming": with_paces(("intel", 10**12 + 1, "a"))}, "confirming.paces.0.bytes_per_s"),
        ({"confirming": with_paces(("intel", 0, "a"))}, "confirming.paces.0.bytes_per_s"),
        ({"confirming": with_paces(("intel", "x; rm", "a"))}, "confirming.paces.0.bytes_per_s"),
        ({"confirming": with_paces(("intel", 1, "a\n| b"))}, "confirming.paces.0.against"),
        ({"replication": wishes(intel="24")}, "replication.1.workers_to_add"),
        ({"workers": None}, "workers"),
    ],
)
def test_a_forged_report(deployment, changes, where):
    """One line says what is not as the program writes it, and nothing is created."""
    add_report(deployment, **changes)
    log, labels = act(deployment, expected=1)
    assert labels == []
    assert "Traceback" not in log
    report_id = by_label(deployment)[REPORT][0][0]
    assert log.splitlines()[-1].startswith(f"error: task {report_id}: {REPORT_FILE}: {where}: ")


def test_without_a_report(undecided):
    """The action fails where the report is of another version, or missing.

    Its last line says what to do.
    """
    add_report(undecided, version=3)
    log, _ = act(undecided, actions.MORE_WORKERS, expected=1)
    del undecided.artifacts[by_label(undecided)[REPORT][0][0], 0, REPORT_FILE]
    for text in (log, act(undecided, actions.MORE_WORKERS, expected=1)[0]):
        assert "Traceback" not in text
        assert text.splitlines()[-1] == (
            f"error: group {GROUP}: has no report that this action can read; wait for it, or "
            f"compare with: io-benchmark compare group:{GROUP}"
        )
