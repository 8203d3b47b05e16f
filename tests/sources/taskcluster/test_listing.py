# SPDX-License-Identifier: MPL-2.0
"""The tasks that addresses lead to, on the loopback."""

import asyncio

import pytest
from loopback import Fault, Loopback, first
from loopback_deployment import AMD_16, GROUP, INTEL, NO_WORKER, recorded

from io_benchmark.sources.taskcluster.addresses import parse
from io_benchmark.sources.taskcluster.listing import TaskListing, connect


def listed(loopback, policy, *texts):
    """Return the listing, and its tasks as (number of the address, id, run)."""
    environment = {"TASKCLUSTER_ROOT_URL": loopback.url}
    remote = {at: meaning for at, text in enumerate(texts) if (meaning := parse(text, environment))}

    async def main():
        async with connect(remote, environment, policy) as deployments:
            listing = TaskListing(deployments)
            tasks = await listing.tasks(remote)
            return listing, [(at, task.task_id, run_id) for at, _, task, run_id in tasks]

    return asyncio.run(main())


def test_each_task_once(policy):
    """The first address counts; a named run differs from its task."""
    with Loopback(recorded()) as loopback:
        listing, tasks = listed(
            loopback, policy, f"task:{INTEL}", f"task:{AMD_16}.0", f"task:{INTEL}", f"task:{AMD_16}"
        )
    assert tasks == [(0, INTEL, None), (1, AMD_16, 0), (3, AMD_16, None)]
    assert (listing.log.problems, listing.lost) == ([], [])


def test_the_benchmarks_tasks_of_a_group(policy):
    """All states count, other kinds do not."""
    deployment = recorded()
    deployment.definitions[AMD_16]["tags"]["kind"] = "build"
    with Loopback(deployment) as loopback:
        listing, tasks = listed(loopback, policy, f"group:{GROUP}")
    found = {task_id for _, task_id, _ in tasks}
    assert found == set(deployment.groups[GROUP]) - {AMD_16}
    assert NO_WORKER in found
    assert listing.lost == []


@pytest.mark.parametrize(
    ("text", "status", "lost"),
    [
        pytest.param(f"group:{AMD_16}", 404, 0, id="group that is not there"),
        pytest.param(f"group:{GROUP}", 502, 1, id="group that is not answered"),
        pytest.param(f"task:{AMD_16}", 502, 1, id="task that is not answered"),
        pytest.param("index:a.b", 502, 1, id="route that is not answered"),
        pytest.param(f"group:{GROUP}", 403, 0, id="group that is private"),
    ],
)
def test_what_may_come_back_and_what_not(policy, text, status, lost):
    """Each is a problem; only a missing answer may be there later."""
    with Loopback(recorded(), faults=first(999, Fault(status=status))) as loopback:
        listing, tasks = listed(loopback, policy, text)
    assert tasks == []
    assert len(listing.log.problems) == 1
    assert len(listing.lost) == lost
