# SPDX-License-Identifier: MPL-2.0
"""A group in which causes are confirmed: its id, and the confirming tasks that it has already."""

from msgspec import Struct

from io_benchmark.errors import MissingError, ResultError
from io_benchmark.sources.taskcluster.addresses import (
    GroupAddress,
    TaskAddress,
    TaskclusterAddress,
)
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.submit.definitions import GroupMember
from io_benchmark_taskgraph.repeating import CONFIRMING, pace


class _Underway(Struct, frozen=True):
    """A confirming task that is not resolved."""

    member: GroupMember
    pool: str | None
    bytes_per_s: int


class ConfirmingGroup(Struct, frozen=True):
    """The confirming tasks of a group."""

    group_id: str
    labels: tuple[str, ...]  # of all confirming tasks
    underway: tuple[_Underway, ...]

    @classmethod
    async def read(cls, deployment: Deployment, address: TaskclusterAddress) -> "ConfirmingGroup":
        """Read the group that an address leads to, or whose task it names."""
        group_id = await _group_id(deployment, address)
        try:
            members = await deployment.group(group_id)
        except MissingError:
            raise _no_such(deployment, f"group:{group_id}") from None
        known = [task for task in members if task.is_benchmark and CONFIRMING in task.label]
        underway = []
        for task in known:
            if task.status.is_resolved:
                continue
            bytes_per_s = pace(await deployment.definition(task.task_id))
            if bytes_per_s:
                member = GroupMember(task.task_id, task.label)
                underway.append(_Underway(member, task.pool, bytes_per_s))
        return cls(group_id, tuple(task.label for task in known), tuple(underway))

    @property
    def members(self) -> list[GroupMember]:
        return [each.member for each in self.underway]


async def _group_id(deployment: Deployment, address: TaskclusterAddress) -> str:
    if isinstance(address, GroupAddress):
        return address.group_id
    task_id: str | None
    if isinstance(address, TaskAddress):
        task_id = address.task_id
    else:
        task_id = await deployment.find(address.route)
    tasks = await deployment.tasks([task_id]) if task_id is not None else {}
    if not tasks:
        raise _no_such(deployment, str(address))
    (task,) = tasks.values()
    return task.status.task_group_id


def _no_such(deployment: Deployment, shown: str) -> ResultError:
    return ResultError(
        f"{shown}: does not exist at {deployment.access.root_url}; check the address and the root URL"
    )
