# SPDX-License-Identifier: MPL-2.0
"""The tasks that addresses lead to, and groups without all tasks of the benchmark."""

import pytest
from loopback import Loopback
from loopback_deployment import AMD_16, GROUP, INTEL, recorded

from io_benchmark.sources.protocol import Reading
from io_benchmark.sources.taskcluster.addresses import GroupAddress, parse
from io_benchmark.sources.taskcluster.api_answers import QueueRun, TaskStatus
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.listing import (
    TaskListing,
    _explain_no_benchmark,
    _incomplete_group,
)
from io_benchmark.sources.taskcluster.tasks import QueueTask

URL = "https://tc.example"
HERE = f"({URL}/tasks/{AMD_16})"
GROUP_URL = f"({URL}/tasks/groups/{AMD_16})"
KINDS = "io-benchmark, io-benchmark-all or io-benchmark-gate"
AGAIN = "read the group again later, or compare it with --wait MINUTES"


def listed(loopback, *addresses):
    """Return the listing, and its tasks as (number of the address, id, run)."""
    here = loopback.environment
    parsed = [meaning for address in addresses if (meaning := parse(address, here))]
    remote = dict(enumerate(parsed))

    async def list_tasks(deployments):
        listing = TaskListing(deployments, Reading(here))
        return listing, await listing.tasks(remote)

    listing, tasks = Deployment.run([loopback.url], here, list_tasks)
    return listing, [(number, task.task_id, run_id) for number, _, task, run_id in tasks]


def test_each_task_once():
    """The first address counts; a named run differs from its task."""
    texts = (f"task:{INTEL}", f"task:{AMD_16}.0", f"task:{INTEL}", f"task:{AMD_16}")
    with Loopback(recorded()) as loopback:
        listing, tasks = listed(loopback, *texts)
        _, again = listed(loopback, f"task:{INTEL}", f"group:{GROUP}", f"group:{GROUP}")
    assert tasks == [(0, INTEL, None), (1, AMD_16, 0), (3, AMD_16, None)]
    assert (listing.reading.problems, listing.lost) == ([], [])
    assert [number for number, _, _ in again] == [0] + [1] * 9


def test_a_group_that_may_still_grow():
    """Its tasks are read, and a remark says what may be missing."""
    deployment = recorded()
    deployment.definitions[INTEL]["tags"]["kind"] = "decision-task"
    deployment.change_runs(INTEL, "running")
    with Loopback(deployment) as loopback:
        listing, tasks = listed(loopback, f"group:{GROUP}")
    ((_, remark),) = listing.reading.remarks
    assert remark.startswith(f"group:{GROUP}: io-benchmark-intel is still running and creates")
    assert AMD_16 in [task_id for _, task_id, _ in tasks]


def task(kind, state="completed", reason=None):
    runs = [QueueRun(run_id=0, state=state, reason_resolved=reason or state)]
    status = TaskStatus(task_id=AMD_16, task_group_id=AMD_16, state=state, runs=runs)
    label = {"decision-task": "Decision", "cron-task": "Cron", "action-callback": "Action"}
    return QueueTask(status, label.get(kind, "x"), kind, None, None)


DECIDED, FAILED = task("decision-task"), task("decision-task", "failed")
RUNNING, CRON = task("decision-task", "running"), task("cron-task", "failed")
MALFORMED = task("decision-task", "exception", "malformed-payload")
STILL = f"Decision is still running and creates the group's tasks; {AGAIN} {HERE}"
ACTION = f"Action is still pending and may add tasks; {AGAIN} {HERE}"
WHY_FAILED = f"its decision task failed; look at it {HERE}"
NONE = f"has no task of kind {KINDS}"
NOT_SELECTED = (
    f"none of its 3 tasks is of kind {KINDS}, and its decision task has completed: the push did "
    "not select the benchmark; push again and select it, or add its tasks with the action "
    f"add-new-jobs {GROUP_URL}"
)
NO_DECISION = (
    f"its only task is not of kind {KINDS}, and it has no decision task: check the id {GROUP_URL}"
)


@pytest.mark.parametrize(
    ("members", "problem", "remarks"),
    [
        ([RUNNING], f"{NONE} yet: {STILL}", [STILL]),
        ([DECIDED, task("action-callback", "pending")], f"{NONE} yet: {ACTION}", [ACTION]),
        ([MALFORMED, CRON], f"{NONE}: {WHY_FAILED}", [f"{WHY_FAILED}; tasks may be missing"]),
        ([DECIDED, FAILED, task("action-callback", "failed")], NOT_SELECTED, []),
        ([task("build")], NO_DECISION, []),
    ],
)
def test_a_group_without_the_benchmark_or_a_part_of_it(members, problem, remarks):
    """The line says why, where to look and what to do; the remarks, what may be missing."""
    assert _explain_no_benchmark(GroupAddress(URL, AMD_16), members) == problem
    assert _incomplete_group(URL, [*members, task("io-benchmark")]) == remarks
