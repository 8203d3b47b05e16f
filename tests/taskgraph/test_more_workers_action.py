# SPDX-License-Identifier: MPL-2.0
"""The action "Measure more workers", run by taskgraph's own command on the loopback deployment."""

import json

import pytest
import seed_case
from loopback_deployment import Artifact

from io_benchmark.submit.submission import repeated_task
from io_benchmark_taskgraph import actions
from io_benchmark_taskgraph.group_tasks import REPORT as REPORT_FILE
from io_benchmark_taskgraph.repeating import derived_id

from .test_confirm_action import (
    ACTION,
    GROUP,
    add_action,
    add_report,
    by_label,
    check_as_submitted,
    complete,
    confirm,
    push,
)
from .whole_graph import EVERY_POOL, REPORT

NEW = [f"{label}-{number}" for label in EVERY_POOL[1:] for number in (2, 3)]


def measure(deployment, *, expected=0, workers=None):
    given = None if workers is None else {"workers": workers}
    return confirm(deployment, expected=expected, name=actions.MORE_WORKERS, given=given)


def add_wishes(deployment, **to_add):
    """Add a report; the pools' wishes are set, because they decide here."""
    rows = [
        {"side": pool, "standing": "open" if count else "decided", "workers_to_add": count or None}
        for pool in seed_case.POOLS
        for count in [to_add.get(pool.replace("-", "_"), 0)]
    ]
    add_report(deployment, replication=rows)


@pytest.fixture
def deployment():
    """A push whose report asks for two more workers of two pools, and the action's task."""
    made = push()
    add_action(made)
    add_wishes(made, amd_30=2, intel=2)
    return made


def new_labels(deployment):
    return sorted(
        label
        for label in by_label(deployment)
        if label.startswith("io-benchmark-") and label[-2:] in ("-2", "-3", "-4", "-5")
    )


def test_what_the_report_asks_for(deployment):
    """Two more tasks of each open pool, as submit would make them, and a report after them."""
    log = measure(deployment)
    assert "amd-30: 2 more workers" in log
    assert new_labels(deployment) == NEW
    tasks = by_label(deployment)
    ((task_id, made),) = tasks["io-benchmark-intel-3"]
    assert task_id == derived_id(GROUP, "io-benchmark-intel-3")
    ((_, model),) = tasks[EVERY_POOL[2]]
    check_as_submitted(
        made, repeated_task(model, EVERY_POOL[2], "intel", [*EVERY_POOL, "io-benchmark-intel-2"])
    )
    assert made["payload"]["env"] == model["payload"]["env"]
    assert made["extra"]["treeherder"]["symbol"] == "intel-3"
    (_, first), (_, second) = tasks[REPORT]
    waited_for = [tasks[label][0][0] for label in NEW]
    assert second["dependencies"] == [*first["dependencies"], ACTION, *waited_for]


def test_again(deployment):
    """A second click creates nothing until the next report; lost tasks are made up for."""
    measure(deployment)
    before = list(deployment.definitions)
    measure(deployment)
    assert list(deployment.definitions) == before
    tasks = by_label(deployment)
    for label in NEW[1:]:
        complete(deployment, tasks[label][0][0])
    deployment.change_runs(tasks[NEW[0]][0][0], "failed")
    measure(deployment)
    assert new_labels(deployment) == sorted([*NEW, f"{EVERY_POOL[1]}-4"])
    assert len(by_label(deployment)[REPORT]) == 3


def test_decided(deployment):
    """Nothing is created where the newest report is satisfied."""
    add_wishes(deployment)
    assert "the report calls no comparison inconclusive" in measure(deployment)
    assert new_labels(deployment) == []


def test_number(deployment):
    """With a number, each undecided pool and its baseline get that many; here one is undecided."""
    report_id = by_label(deployment)[REPORT][0][0]
    report = json.loads(deployment.artifacts[report_id, 0, REPORT_FILE].body)
    for part in report["subjects"]:
        for comparison in part["comparisons"]:
            is_open = comparison["candidate"] == "amd-30"
            comparison["verdict"] = "inconclusive" if is_open else "slower"
    artifact = Artifact(json.dumps(report).encode())
    deployment.artifacts[report_id, 0, REPORT_FILE] = artifact
    measure(deployment, workers=1)
    assert new_labels(deployment) == ["io-benchmark-amd-30-2", "io-benchmark-intel-2"]


def test_without_a_report(deployment):
    """The action fails, and its last line says what to do."""
    report_id = by_label(deployment)[REPORT][0][0]
    del deployment.artifacts[report_id, 0, REPORT_FILE]
    log = measure(deployment, expected=1)
    assert "Traceback" not in log
    assert log.splitlines()[-1] == (
        f"error: group {GROUP}: has no report that this action can read; wait for it, or compare with: "
        f"io-benchmark compare group:{GROUP}"
    )
