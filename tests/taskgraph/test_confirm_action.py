# SPDX-License-Identifier: MPL-2.0
"""The action "Confirm the cause", run by taskgraph's own command on the loopback deployment."""

import copy
import json
import os
import subprocess
import sys
from typing import Any

import program
import pytest
import seed_case
import tried_workers
import yaml
from loopback import Client, Loopback
from loopback_deployment import ARTIFACT as RESULT_FILE
from loopback_deployment import Artifact, Deployment
from taskgraph.actions import registry
from taskgraph.parameters import Parameters
from taskgraph.util.parameterization import resolve_timestamps
from taskgraph.util.time import current_json_time

from io_benchmark.submit.submission import repeated_task
from io_benchmark_taskgraph import actions
from io_benchmark_taskgraph.group_tasks import REPORT as REPORT_FILE
from io_benchmark_taskgraph.repeating import PACE_VARIABLE, derived_id

from .conftest import REPOSITORY
from .test_deploying import ROLE, granted
from .whole_graph import EVERY_POOL, PARAMS, REPORT, graph

GROUP, ACTION = "O0wOvbnEQF6h8ptHBA6jbg", "Prp_WjpGRx26VH-wA8fjTA"
PACE = 391 * 1024**2
CONFIRM = "io-benchmark-intel-confirm"
RUN = "import sys; from taskgraph.main import main; sys.exit(main())"


def result_of(pool, task_id, paced_at=None, *, with_trials=True):
    (document,) = seed_case.documents(1, pools=[pool])
    document["task"] |= {"task_id": task_id, "run_id": 0}
    if with_trials:
        tried_workers.add_trials(document, paced_at)
    return Artifact(json.dumps(document).encode())


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
    return deployment


def complete(deployment, task_id, *, with_trials=True):
    definition = deployment.definitions[task_id]
    deployment.change_runs(task_id, "completed")
    label = definition["metadata"]["name"]
    for pool in seed_case.POOLS:
        if label.startswith(f"io-benchmark-{pool}"):
            pace = definition["payload"]["env"].get(PACE_VARIABLE)
            paced_at = None if pace is None else int(pace)
            artifact = result_of(pool, task_id, paced_at, with_trials=with_trials)
            deployment.set_result(task_id, 0, artifact)


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


def confirm(deployment, *, expected=0, missing=None, name=actions.CONFIRM, given=None):
    """Run an action with the scopes that docs/deploying.md gives to it; return its log."""
    scopes = [f"assume:{ROLE}pr-action:generic", *granted("pr-action:generic")]
    client = Client("me", "secret-token", tuple(one for one in scopes if one != missing))
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
                "ACTION_INPUT": json.dumps(given),
                "ACTION_CALLBACK": name,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == expected, done.stderr
    return done.stderr


def add_action(deployment):
    deployment.create(ACTION, {**deployment.definitions[GROUP], "metadata": {"name": "Action"}})
    deployment.change_runs(ACTION, "running")


@pytest.fixture
def deployment():
    """A push that is measured with trials, amd-16 slower than intel, and the action's task."""
    made = push()
    add_action(made)
    add_report(made)
    return made


def test_confirm(deployment):
    """intel once more at the ceiling of amd-16, as submit makes it, and a report that waits for it."""
    assert "intel once more, at the ceiling of amd-16" in confirm(deployment)
    tasks = by_label(deployment)
    ((task_id, made),) = tasks[CONFIRM]
    assert task_id == derived_id(GROUP, CONFIRM)
    assert made["payload"]["env"][PACE_VARIABLE] == str(PACE)
    assert made["extra"]["treeherder"]["symbol"] == "intel-confirm"
    ((_, model),) = tasks[EVERY_POOL[2]]
    check_as_submitted(made, repeated_task(model, EVERY_POOL[2], "intel", [], PACE))
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
    confirm(deployment)
    before = list(deployment.definitions)
    confirm(deployment)
    assert list(deployment.definitions) == before
    complete(deployment, derived_id(GROUP, CONFIRM))
    confirm(deployment)
    assert list(deployment.definitions) == before
    add_report(deployment)
    reason = "nothing to confirm: intel was limited to the ceiling of amd-16 already."
    assert reason in confirm(deployment)
    assert list(deployment.definitions) == before


def test_stopped_before_the_report(deployment):
    """An action that runs again creates the report that the first run did not."""
    confirm(deployment)
    (_, (report_id, _)) = by_label(deployment)[REPORT]
    del deployment.definitions[report_id], deployment.statuses[report_id]
    deployment.groups[GROUP].remove(report_id)
    confirm(deployment)
    assert [task_id for task_id, _ in by_label(deployment)[REPORT]][1:] == [report_id]
    assert len(by_label(deployment)[CONFIRM]) == 1


def test_after_a_failure(deployment):
    """A confirming task without a result is followed by a second one."""
    confirm(deployment)
    deployment.change_runs(derived_id(GROUP, CONFIRM), "failed")
    confirm(deployment)
    (_, second) = by_label(deployment)[f"{CONFIRM}-2"][0]
    assert second["extra"]["treeherder"]["symbol"] == "intel-confirm-2"
    assert len(by_label(deployment)[REPORT]) == 3


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (None, "No result has trials: measure again"),
        ("they need 5.0 s", "can write was not measured: they need 5.0 s."),
    ],
)
def test_without_trials(reason, expected):
    """The log has the reason of the results, and no task is created."""
    deployment = push(with_trials=False)
    for (_, _, name), artifact in deployment.artifacts.items():
        if reason is not None and name == RESULT_FILE:
            document = json.loads(artifact.body)
            record = tried_workers.trials({})
            (entry,) = document["workloads"]
            entry["trials"] = record | {"state": "not-run", "reason": reason}
            artifact.body = json.dumps(document).encode()
            artifact.__post_init__()
    add_report(deployment)
    log = confirm(deployment)
    assert expected in log
    assert CONFIRM not in by_label(deployment)


def test_results_that_cannot_be_read(deployment):
    """They change nothing for the others; a confirming task without a result is followed by a second one."""
    ((amd_30, _),) = by_label(deployment)[EVERY_POOL[1]]
    document = json.loads(deployment.artifacts[amd_30, 0, RESULT_FILE].body)
    document["workloads"][0]["trials"]["pace_bytes_per_s"] = 0
    deployment.set_result(amd_30, 0, Artifact(json.dumps(document).encode()))
    add_report(deployment)
    confirm(deployment)
    assert CONFIRM in by_label(deployment)
    deployment.change_runs(derived_id(GROUP, CONFIRM), "completed")
    add_report(deployment)
    confirm(deployment)
    assert f"{CONFIRM}-2" in by_label(deployment)


def test_scopes(deployment):
    """Without the right to create tasks nothing is created."""
    confirm(deployment, expected=1, missing="queue:create-task:low:releng-1/*")
    assert CONFIRM not in by_label(deployment)


@pytest.mark.parametrize("file", sorted(PARAMS.glob("*.yml")), ids=lambda path: path.stem)
def test_actions_json(file):
    """Both actions are offered by the generic hook; the one about workers on reports alone."""
    config = registry.load_graph_config(str(REPOSITORY / "taskcluster"))
    config.register()
    parameters = Parameters(strict=False, **yaml.safe_load(file.read_text()))
    rendered = registry.render_actions_json(parameters, config, GROUP)["actions"]
    by_name = {action["name"]: action for action in rendered}
    report = {"kind": "io-benchmark-report"}
    for name, title, context in (
        (actions.CONFIRM, "Confirm the cause", [{"kind": "io-benchmark"}, report]),
        (actions.MORE_WORKERS, "Measure more workers", [report]),
    ):
        action = by_name[name]
        assert (action["kind"], action["title"], action["context"]) == ("hook", title, context)
        assert "generic" in action["hookId"]
        assert action["extra"] == {"actionPerm": "generic"}
        assert action["hookPayload"]["decision"]["action"]["cb_name"] == name
    assert "schema" not in by_name[actions.CONFIRM]
    assert set(by_name[actions.MORE_WORKERS]["schema"]["properties"]) == {"workers"}
