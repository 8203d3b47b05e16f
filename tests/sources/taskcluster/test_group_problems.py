# SPDX-License-Identifier: MPL-2.0
"""Groups with none of the benchmark's tasks, or not yet all of them."""

import pytest

from io_benchmark.sources.taskcluster.api_answers import QueueRun, TaskStatus
from io_benchmark.sources.taskcluster.group_problems import GroupProblems
from io_benchmark.sources.taskcluster.tasks import QueueTask

URL = "https://tc.example"
ID = "Prp_WjpGRx26VH-wA8fjTA"
HERE = f"({URL}/tasks/{ID})"
KINDS = "io-benchmark or io-benchmark-all"
LABELS = {
    "decision-task": "Decision Task",
    "cron-task": "Cron",
    "action-callback": "Action: Add",
}


def task(kind, state="completed", reason=None):
    runs = [QueueRun(run_id=0, state=state, reason_resolved=reason or state)]
    status = TaskStatus(task_id=ID, task_group_id=ID, state=state, runs=runs)
    return QueueTask(status, LABELS.get(kind, "x"), kind, None, None)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        pytest.param(
            [task("decision-task", "running")],
            f"has no task of kind {KINDS} yet: Decision Task is still running and creates the "
            "group's tasks; read the group again later, or wait with compare --wait MINUTES "
            + HERE,
            id="decision task runs",
        ),
        pytest.param(
            [task("cron-task", "pending"), task("docker-image")],
            f"has no task of kind {KINDS} yet: Cron is still pending and creates the group's tasks; "
            "read the group again later, or wait with compare --wait MINUTES " + HERE,
            id="cron task waits",
        ),
        pytest.param(
            [task("decision-task"), task("action-callback", "running")],
            f"has no task of kind {KINDS} yet: Action: Add is still running and may add tasks; "
            "read the group again later, or wait with compare --wait MINUTES " + HERE,
            id="action runs",
        ),
        pytest.param(
            [task("decision-task", "failed")],
            f"has no task of kind {KINDS}: its decision task failed; look at it {HERE}",
            id="decision task failed",
        ),
        pytest.param(
            [task("decision-task", "exception", "malformed-payload")],
            f"has no task of kind {KINDS}: its decision task was refused by its worker "
            f"(malformed-payload); look at it {HERE}",
            id="decision task was refused",
        ),
        pytest.param(
            [task("decision-task", "exception", "malformed-payload"), task("cron-task", "failed")],
            f"has no task of kind {KINDS}: its decision task failed; look at it {HERE}",
            id="the last of several that failed",
        ),
        pytest.param(
            [task("decision-task"), task("build"), task("action-callback", "failed")],
            f"none of its 3 tasks is of kind {KINDS}, and its decision task has completed: the push "
            "did not select the benchmark; push again and select it, or add its tasks with the "
            f"action add-new-jobs ({URL}/tasks/groups/{ID})",
            id="not selected",
        ),
        pytest.param(
            [task("build")],
            f"its only task is not of kind {KINDS}, and it has no decision task: check the id "
            f"({URL}/tasks/groups/{ID})",
            id="no decision task",
        ),
    ],
)
def test_without_the_benchmark(members, expected):
    """The line says why, where to look and what to do."""
    assert GroupProblems(URL, members).no_benchmark(ID) == expected


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        pytest.param([], [], id="by submit"),
        pytest.param([task("decision-task"), task("action-callback", "failed")], [], id="whole"),
        pytest.param(
            [task("decision-task", "failed")],
            [f"its decision task failed; look at it {HERE}; tasks may be missing"],
            id="decision task failed",
        ),
        pytest.param(
            [task("decision-task"), task("action-callback", "pending")],
            [
                (
                    "Action: Add is still pending and may add tasks; read the group again later, or wait "
                    f"with compare --wait MINUTES {HERE}"
                )
            ],
            id="action waits",
        ),
    ],
)
def test_what_may_be_missing(members, expected):
    """The group has some of the benchmark's tasks."""
    assert GroupProblems(URL, [*members, task("io-benchmark")]).incomplete() == expected
