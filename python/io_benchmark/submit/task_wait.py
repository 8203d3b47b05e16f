# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Waits for the tasks that were created here, and for no others of their group."""

from collections.abc import Callable, Sequence

from io_benchmark.sources.queue import Deployment
from io_benchmark.sources.tasks import Task
from io_benchmark.sources.waiting import Clock, Standing, Watched, until_resolved, watched
from io_benchmark.submit.definitions import GroupMember


async def wait(
    deployment: Deployment,
    group_id: str,
    tasks: Sequence[GroupMember],
    every_s: float,
    timeout_s: float | None,
    tell: Callable[[str], None],
    clock: Clock | None = None,
) -> Standing:
    """Wait until all are resolved, at most for `timeout_s`."""

    async def look() -> list[Watched]:
        members = {
            one.task_id: one for one in await deployment.group(group_id, lambda _count: None)
        }
        return [_watched(one, members.get(one.task_id)) for one in tasks]

    before = Standing(total=len(tasks))
    return await until_resolved(
        look, tell, every_s=every_s, limit_s=timeout_s, before=before, clock=clock
    )


def _watched(wanted: GroupMember, task: Task | None) -> Watched:
    title = f"{wanted.label} ({wanted.task_id})"
    if task is None:  # the queue may take a moment
        return Watched(title, "unlisted", is_resolved=False, how="unlisted")
    return watched(title, task)
