# SPDX-License-Identifier: MPL-2.0
"""Both actions, run by taskgraph's own command on the loopback deployment."""

import copy
import json
import os
import subprocess
import sys
from typing import Any

import program
import pytest
import seed_case
import submitted_tasks
import yaml
from loopback import Client, Loopback
from loopback_deployment import Artifact, Deployment
from taskgraph.actions import registry
from taskgraph.parameters import Parameters
from taskgraph.util.parameterization import resolve_timestamps
from taskgraph.util.time import current_json_time

from io_benchmark.submit.task_creation import _repeated_task
from io_benchmark_taskgraph import actions
from io_benchmark_taskgraph.actions import REPORT as REPORT_FILE
from io_benchmark_taskgraph.repeating import PACE_VARIABLE, derived_id

from .conftest import REPOSITORY
from .test_deploying import ROLE, granted
from .whole_graph import EVERY_POOL, PARAMS, REPORT, graph

NEW = [f"{label}-{number}" for label in EVERY_POOL[1:] for number in (2, 3)]
GROUP, ACTION = "O0wOvbnEQF6h8ptHBA6jbg", "Prp_WjpGRx26VH-wA8fjTA"
PACE = 391 * 1024**2
CONFIRM = "io-benchmark-intel-confirm"
RUN = "import sys; from taskgraph.main import main; sys.exit(main())"


def push(*, with_trials=True):
    """The tasks of a push as its decision task creates them, resolved, and the decision's own."""
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
        complete(deployment, node["task_id"], with_trials=with_trials)
    deployment.create(ACTION, {**deployment.definitions[GROUP], "metadata": {"name": "Action"}})
    deployment.change_runs(ACTION, "running")
    return deployment


def complete(deployment, task_id, *, with_trials=True):
    if deployment.definitions[task_id]["tags"]["kind"] == "io-benchmark":
        submitted_tasks.complete(deployment, task_id, with_trials=with_trials)
    else:
        deployment.change_runs(task_id, "completed")


def add_report(deployment, **changes):
    """Compare the group as the newest IOB(report) does."""
    with Loopback(deployment) as loopback:
        done = program.run(
            *("compare", f"group:{GROUP}", "--partial", "--json"),
            environment={"TASKCLUSTER_ROOT_URL": loopback.url},
            expected=None,
        )
    report_id = by_label(deployment)[REPORT][-1][0]
    artifact = Artifact(json.dumps(json.loads(done.stdout) | changes).encode())
    deployment.artifacts[report_id, 0, REPORT_FILE] = artifact
    deployment.change_runs(report_id, "completed")


def by_label(deployment):
    tasks: dict[str, list[tuple[str, Any]]] = {}
    for task_id, definition in deployment.definitions.items():
        tasks.setdefault(definition["metadata"]["name"], []).append((task_id, definition))
    return tasks


def act(deployment, name=actions.CONFIRM, *, expected=0):
    """Run an action with the scopes that docs/deploying.md gives to it; return its log."""
    scopes = (f"assume:{ROLE}pr-action:generic", *granted("pr-action:generic"))
    client = Client("me", "secret-token", scopes)
    with Loopback(deployment, clients=[client]) as loopback:
        done = subprocess.run(
            [sys.executable, "-c", RUN, "action-callback"],
            cwd=REPOSITORY,
            env={
                **os.environ,
                **client.environment,
                "TASKCLUSTER_ROOT_URL": loopback.url,
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
    return done.stderr


@pytest.fixture
def deployment():
    """A push that is measured with trials, amd-16 slower than intel."""
    deployment = push()
    add_report(deployment)
    return deployment


def test_confirm(deployment):
    """intel once more at the ceiling of amd-16, as submit makes it, and a report that waits for it."""
    assert "intel once more, at the ceiling of amd-16" in act(deployment)
    tasks = by_label(deployment)
    ((task_id, made),) = tasks[CONFIRM]
    assert task_id == derived_id(GROUP, CONFIRM)
    assert made["payload"]["env"][PACE_VARIABLE] == str(PACE)
    assert made["extra"]["treeherder"]["symbol"] == "intel-confirm"
    ((_, model),) = tasks[EVERY_POOL[2]]
    check_as_submitted(made, _repeated_task(model, "intel", [], PACE))
    (_, first), (_, second) = tasks[REPORT]
    assert second["dependencies"] == [*first["dependencies"], ACTION, task_id]
    assert second["requires"] == "all-resolved"
    assert second["payload"]["command"] == first["payload"]["command"]
    assert {task["taskGroupId"] for task in (made, second)} == {GROUP}
    assert second["deadline"] > made["deadline"]


def check_as_submitted(made, submitted):
    """Compare with the task of `submit`, but for Treeherder's routes and the action's task."""
    expected = submitted.definition
    for key in ("tags", "scopes", "metadata", "priority", "workerType"):
        assert made[key] == expected[key], key
    assert made["metadata"]["name"] == submitted.label
    payloads = ({**task["payload"], "artifacts": None} for task in (made, expected))
    assert next(payloads) == next(payloads)
    assert made["extra"] == {**expected["extra"], "parent": ACTION}
    assert made["dependencies"] == [*expected["dependencies"], ACTION]
    assert {route.partition(".")[0] for route in made["routes"]} == {"tc-treeherder", "checks"}


def test_twice(deployment):
    """While the confirming task runs, and after it, a second click creates nothing."""
    act(deployment)
    before = list(deployment.definitions)
    act(deployment)
    assert list(deployment.definitions) == before
    complete(deployment, derived_id(GROUP, CONFIRM))
    act(deployment)
    assert list(deployment.definitions) == before
    add_report(deployment)
    reason = "nothing to confirm: intel was limited to the ceiling of amd-16 already."
    assert reason in act(deployment)
    assert list(deployment.definitions) == before


@pytest.mark.parametrize("state", ["failed", "completed"])
def test_a_lost_result(deployment, state):
    """A task that failed, or that the newest report waited for in vain, is followed by another one."""
    act(deployment)
    deployment.change_runs(derived_id(GROUP, CONFIRM), state)
    if state == "completed":
        add_report(deployment)
    act(deployment)
    (_, second) = by_label(deployment)[f"{CONFIRM}-2"][0]
    assert second["extra"]["treeherder"]["symbol"] == "intel-confirm-2"
    assert len(by_label(deployment)[REPORT]) == 3


def test_without_trials():
    """The log has the reason, and no task is created."""
    deployment = push(with_trials=False)
    add_report(deployment)
    assert "No result has trials: measure again" in act(deployment)
    assert CONFIRM not in by_label(deployment)


def add_wishes(deployment, **to_add):
    """Add a report; the pools' wishes are set, because they decide here."""
    rows = [
        {"side": pool, "standing": "open" if count else "decided", "workers_to_add": count or None}
        for pool in seed_case.POOLS
        for count in [to_add.get(pool.replace("-", "_"), 0)]
    ]
    add_report(deployment, replication=rows)


@pytest.fixture
def undecided():
    """A push whose report asks for two more workers of two pools."""
    deployment = push()
    add_wishes(deployment, amd_30=2, intel=2)
    return deployment


def new_labels(deployment):
    return sorted(
        label
        for label in by_label(deployment)
        if label.startswith("io-benchmark-") and label[-2:] in ("-2", "-3", "-4", "-5")
    )


def test_workers_that_the_report_asks_for(undecided):
    """Two more tasks of each open pool, as submit would make them, and a report after them."""
    log = act(undecided, actions.MORE_WORKERS)
    assert "amd-30: 2 more workers" in log
    assert new_labels(undecided) == NEW
    tasks = by_label(undecided)
    ((task_id, made),) = tasks["io-benchmark-intel-3"]
    assert task_id == derived_id(GROUP, "io-benchmark-intel-3")
    ((_, model),) = tasks[EVERY_POOL[2]]
    check_as_submitted(made, _repeated_task(model, "intel", [*EVERY_POOL, "io-benchmark-intel-2"]))
    assert made["payload"]["env"] == model["payload"]["env"]
    assert made["extra"]["treeherder"]["symbol"] == "intel-3"
    (_, first), (_, second) = tasks[REPORT]
    waited_for = [ACTION, *(tasks[label][0][0] for label in NEW)]
    assert sorted(second["dependencies"]) == sorted([*first["dependencies"], *waited_for])


def test_measuring_again(undecided):
    """A second click creates nothing until the next report; lost tasks are made up for."""
    act(undecided, actions.MORE_WORKERS)
    before = list(undecided.definitions)
    act(undecided, actions.MORE_WORKERS)
    assert list(undecided.definitions) == before
    tasks = by_label(undecided)
    for label in NEW[1:]:
        complete(undecided, tasks[label][0][0])
    undecided.change_runs(tasks[NEW[0]][0][0], "failed")
    act(undecided, actions.MORE_WORKERS)
    assert new_labels(undecided) == sorted([*NEW, f"{EVERY_POOL[1]}-4"])
    assert len(by_label(undecided)[REPORT]) == 3


def test_at_most_24_workers_at_once(undecided):
    """A report that asks for more gets the others after the next one; nothing where it asks for none."""
    add_wishes(undecided)
    assert "the report calls no comparison inconclusive" in act(undecided, actions.MORE_WORKERS)
    assert new_labels(undecided) == []
    add_wishes(undecided, amd_30=25, intel=24)
    act(undecided, actions.MORE_WORKERS)
    tasks = by_label(undecided)
    for label in EVERY_POOL[1:]:
        assert len([name for name in tasks if name.startswith(f"{label}-")]) == 24


def test_without_a_report(undecided):
    """The action fails where the report is of another version, or missing; its last line says what to do."""
    add_report(undecided, version=3)
    log = act(undecided, actions.MORE_WORKERS, expected=1)
    del undecided.artifacts[by_label(undecided)[REPORT][0][0], 0, REPORT_FILE]
    for text in (log, act(undecided, actions.MORE_WORKERS, expected=1)):
        assert "Traceback" not in text
        assert text.splitlines()[-1] == (
            f"error: group {GROUP}: has no report that this action can read; wait for it, or "
            f"compare with: io-benchmark compare group:{GROUP}"
        )


def test_actions_json():
    """Both actions are offered by the generic hook; the one about workers on reports alone."""
    config = registry.load_graph_config(str(REPOSITORY / "taskcluster"))
    config.register()
    parameters = Parameters(strict=False, **yaml.safe_load((PARAMS / "comment.yml").read_text()))
    rendered = registry.render_actions_json(parameters, config, GROUP)["actions"]
    by_name = {action["name"]: action for action in rendered}
    keys = ("title", "context", "extra")
    generic, report = {"actionPerm": "generic"}, {"kind": "io-benchmark-report"}
    confirm, more = (
        tuple(map(by_name[name].get, keys)) for name in (actions.CONFIRM, actions.MORE_WORKERS)
    )
    assert confirm == ("Confirm the cause", [{"kind": "io-benchmark"}, report], generic)
    assert more == ("Measure more workers", [report], generic)
