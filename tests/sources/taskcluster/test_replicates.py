# SPDX-License-Identifier: MPL-2.0
"""Every way by which a push comes to more tasks of a pool: a group's reading counts them all.

The tasks have the recorded ones' shape, and what taskgraph changes in it: a duplicate is the same
definition under another id, an action's task has the action for its parent.
"""

import copy
import random

import pytest
from loopback import Loopback
from loopback_deployment import (
    AMD_16,
    ARTIFACT,
    GROUP,
    INTEL,
    Artifact,
    Deployment,
    recorded,
    result,
    slug,
)
from loopback_runs import run

from io_benchmark.sources.gather import gather

ACTION = "KqGm3hLHQ2iDy0bBOZpGsA"
LABEL = "io-benchmark-amd-16"


def runs(gathered):
    return [(one.pool, one.task.task_id, one.task.run_id) for one in gathered.results]


class Push:
    """A group that begins with a decision task and one task of amd-16."""

    def __init__(self):
        self.model = recorded()
        self.deployment = Deployment()
        self.dice = random.Random(4)
        for task_id, kind in ((GROUP, "decision-task"), (ACTION, "action-callback")):
            self.deployment.add(
                {"tags": {"kind": kind}, "metadata": {"name": kind}, "payload": {}},
                {"taskId": task_id, "taskGroupId": GROUP, "state": "completed", "runs": []},
            )
        self.first = self.add("amd-16", AMD_16)

    def add(self, pool, model, *, task_id=None, parent=GROUP, label=None, states=("completed",)):
        task_id = task_id or slug(self.dice)
        definition = copy.deepcopy(self.model.definitions[model])
        status = copy.deepcopy(self.model.statuses[model])
        definition.setdefault("extra", {})["parent"] = parent
        if label is not None:
            definition["tags"]["label"] = definition["metadata"]["name"] = label
        status |= {"taskId": task_id, "state": states[-1]}
        status["runs"] = [run(number, state) for number, state in enumerate(states)]
        for one in status["runs"]:
            one["workerId"] = f"worker-{task_id}-{one['runId']}"
        results = {
            one["runId"]: Artifact(result(pool, task_id, one["runId"])) for one in status["runs"]
        }
        return self.deployment.add(definition, status, results)

    def read(self, policy):
        """Return pool, task and run of each result, and the messages."""
        with Loopback(self.deployment) as loopback:
            here = {"TASKCLUSTER_ROOT_URL": loopback.url}
            gathered = gather(
                [f"group:{GROUP}"], here, lambda _progress: None, lambda result: result, policy
            )
        assert gathered.unreadable == ()
        return sorted(runs(gathered)), gathered.remarks


@pytest.fixture
def push():
    return Push()


def test_retrigger(push, policy):
    """Same label, another id, created by an action in the same group: one worker more."""
    again = push.add("amd-16", AMD_16, parent=ACTION)
    assert push.read(policy) == (sorted([("amd-16", push.first, 0), ("amd-16", again, 0)]), ())


def test_rebuild(push, policy):
    """`--rebuild 4`, or the attribute task_duplicates: the same definition under four ids."""
    others = [push.add("amd-16", AMD_16) for _ in range(3)]
    expected = sorted(("amd-16", one, 0) for one in (push.first, *others))
    assert push.read(policy) == (expected, ())


def test_rerun(push, policy):
    """Both runs of the one task completed, on two workers."""
    again = push.add("intel", INTEL, states=("completed", "completed"))
    expected = [("amd-16", push.first, 0), ("intel", again, 0), ("intel", again, 1)]
    assert push.read(policy) == (expected, ())


def test_automatic_retry_of_a_preempted_run(push, policy):
    """The queue runs the task again: one worker counts, the other run is named."""
    again = push.add("intel", INTEL, states=("exception", "completed"))
    expected = [("amd-16", push.first, 0), ("intel", again, 1)]
    title = f"task {again} run 0 (io-benchmark-intel)"
    assert push.read(policy) == (
        expected,
        (f"{title} was preempted (worker-shutdown) and is not counted",),
    )


def test_add_new_jobs(push, policy):
    """A pool that the push had not selected, created twice by the action."""
    new = [push.add("intel", INTEL, parent=ACTION) for _ in range(2)]
    expected = sorted([("amd-16", push.first, 0), *(("intel", one, 0) for one in new)])
    assert push.read(policy) == (expected, ())


def test_numbered_replicates(push, policy):
    """`replicates: 2` numbers the labels; the pool is the one that the command names."""
    push.model.definitions[AMD_16]["payload"]["command"][-1] = "exec python3 --pool amd-16 -x"
    numbered = [push.add("amd-16", AMD_16, label=f"{LABEL}-{number}") for number in (1, 2)]
    expected = sorted(("amd-16", one, 0) for one in (push.first, *numbered))
    assert push.read(policy) == (expected, ())


def test_a_duplicate_without_a_result_hides_no_other(push, policy):
    """The line is about one task; the pool's other tasks count."""
    lacking = push.add("amd-16", AMD_16)
    del push.deployment.artifacts[lacking, 0, ARTIFACT]
    with Loopback(push.deployment) as loopback:
        here = {"TASKCLUSTER_ROOT_URL": loopback.url}
        gathered = gather(
            [f"group:{GROUP}"], here, lambda _progress: None, lambda result: result, policy
        )
    assert runs(gathered) == [("amd-16", push.first, 0)]
    assert gathered.lost == gathered.missing == ("amd-16",)
    assert [line.partition(": ")[0] for line in gathered.unreadable] == [
        f"task {lacking} run 0 ({LABEL})"
    ]


@pytest.mark.parametrize(
    ("created", "lost"),
    [
        pytest.param("2026-11-21T08:38:20.000Z", ("amd-16",), id="planned"),
        pytest.param("2026-11-21T09:30:00.000Z", (), id="added-later"),
    ],
)
def test_only_planned_tasks_are_lost(push, policy, created, lost):
    """A failed attempt to add a worker takes nothing from a plan."""
    lacking = push.add("amd-16", AMD_16)
    push.deployment.definitions[lacking]["created"] = created
    del push.deployment.artifacts[lacking, 0, ARTIFACT]
    with Loopback(push.deployment) as loopback:
        here = {"TASKCLUSTER_ROOT_URL": loopback.url}
        gathered = gather(
            [f"group:{GROUP}"], here, lambda _progress: None, lambda result: result, policy
        )
    assert gathered.lost == lost
