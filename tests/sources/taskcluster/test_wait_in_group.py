# SPDX-License-Identifier: MPL-2.0
"""Waiting for some tasks of a group, on the loopback, with a clock that a test controls."""

import asyncio

import pytest
from loopback import Fault, Loopback, first
from loopback_deployment import Deployment, add_group
from turned_clock import Turned

from io_benchmark.errors import ResultError
from io_benchmark.sources.taskcluster.addresses import GroupAddress
from io_benchmark.sources.taskcluster.listing import connect
from io_benchmark.sources.taskcluster.task_watch import TaskCounts, wait_in_group


@pytest.fixture
def deployment():
    return Deployment()


@pytest.fixture
def group(deployment):
    group_id = add_group(deployment, 3)
    for task_id in deployment.groups[group_id]:
        deployment.change_runs(task_id, "pending")
    return group_id


def waited(loopback, group_id, policy, turned, timeout_s=None):
    told: list[str] = []
    labels = {
        task_id: f"label-{number}"
        for number, task_id in enumerate(loopback.deployment.groups.get(group_id, ["x"]))
    }
    environment = {"TASKCLUSTER_ROOT_URL": loopback.url}
    address = GroupAddress(loopback.url, group_id)

    async def main():
        async with connect({0: address}, environment, policy) as deployments:
            return await wait_in_group(
                deployments[loopback.url],
                group_id,
                labels,
                told.append,
                every_s=10,
                limit_s=timeout_s,
                clock=turned.clock,
            )

    standing = asyncio.run(main())
    return standing, told


def test_until_all_are_resolved(deployment, group, policy):
    """Each change is reported once, a failure by name; pauses grow while nothing happens."""
    ids = deployment.groups[group]

    def change(number, *states):
        return lambda: deployment.change_runs(ids[number], *states)

    turned = Turned(
        change(0, "running"),
        lambda: None,
        lambda: None,
        lambda: None,
        lambda: None,
        change(0, "exception"),
        change(0, "exception", "completed"),
        lambda: (change(1, "completed")(), change(2, "failed")()),
    )
    with Loopback(deployment) as loopback:
        standing, told = waited(loopback, group, policy, turned)
    assert standing == TaskCounts(3, 3)
    assert told == [
        "[0/3] 3 pending after 0 min",
        "[0/3] 1 running, 2 pending after 0 min",
        "[1/3] 1 exception, 2 pending after 2 min",
        f"label-0 ({ids[0]}): exception (worker-shutdown)",
        "[1/3] 1 completed, 2 pending after 2 min",
        "[3/3] 2 completed, 1 failed after 3 min",
        f"label-2 ({ids[2]}): failed",
    ]
    assert turned.slept == [10, 10, 15, 22.5, 33.75, 40, 10, 10]


def test_no_longer_than_asked(deployment, group, policy):
    """The last look is at the end of the time, not after it."""
    turned = Turned()
    with Loopback(deployment) as loopback:
        standing, _ = waited(loopback, group, policy, turned, timeout_s=25)
    assert (standing.resolved, standing.total) == (0, 3)
    assert turned.slept == [10, 15]


def test_lost_for_a_while(deployment, group, policy):
    """A listing that fails is reported, and repeated later."""
    for task_id in deployment.groups[group]:
        deployment.change_runs(task_id, "completed")
    turned = Turned()
    with Loopback(deployment, faults=first(20, Fault(status=502))) as loopback:
        standing, told = waited(loopback, group, policy, turned)
    assert standing.resolved == 3
    assert [line.partition(":")[0] for line in told] == [
        "the tasks could not be listed",
        "the tasks could not be listed",
        "[3/3] 3 completed after 0 min",
    ]


def test_lost_for_good(deployment, group, policy):
    """In the end it is an error."""
    with (
        Loopback(deployment, faults=first(999, Fault(status=502))) as loopback,
        pytest.raises(ResultError, match="answers 502"),
    ):
        waited(loopback, group, policy, Turned())
