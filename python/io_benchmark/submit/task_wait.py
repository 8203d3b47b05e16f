# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Waits for the tasks that were created here, and for no others of their group."""

from collections.abc import Callable, Sequence

from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.task_watch import (
    TaskCounts,
    WaitClock,
    WatchedTask,
    until_resolved,
    watch_task,
)
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.submit.definitions import GroupMember


async def wait(
    deployment: Deployment,
    group_id: str,
    tasks: Sequence[GroupMember],
    every_s: float,
    timeout_s: float | None,
    tell: Callable[[str], None],
    clock: WaitClock | None = None,
) -> TaskCounts:
    """Wait until all tasks are resolved, at most `timeout_s`."""

    async def look() -> list[WatchedTask]:
        members = {
            one.task_id: one for one in await deployment.group(group_id, lambda _count: None)
        }
        return [_watched(one, members.get(one.task_id)) for one in tasks]

    before = TaskCounts(total=len(tasks))
    return await until_resolved(
        look, tell, every_s=every_s, limit_s=timeout_s, before=before, clock=clock
    )


def _watched(wanted: GroupMember, task: QueueTask | None) -> WatchedTask:
    title = f"{wanted.label} ({wanted.task_id})"
    if task is None:  # the queue may take a moment
        return WatchedTask(title, "unlisted", is_resolved=False, reason="unlisted")
    return watch_task(title, task)
