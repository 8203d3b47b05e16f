# SPDX-License-Identifier: MPL-2.0
"""List the tasks that addresses lead to: those of the benchmark, or all.

The decision task and actions (retrigger, add new jobs) add tasks to a group. Both are tasks of the
group themselves. A group that `submit` created has neither.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from io_benchmark.errors import GaveUpError, MissingError, ResultError
from io_benchmark.sources.protocol import Position, Reading
from io_benchmark.sources.requests import run_all
from io_benchmark.sources.silence import in_progress
from io_benchmark.sources.taskcluster.addresses import (
    DECISION,
    DEFAULT_HINT,
    TRUST_DOMAIN_VARIABLE,
    GroupAddress,
    IndexAddress,
    LandingAddress,
    TaskAddress,
    TaskclusterAddress,
)
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.tasks import KINDS, REPORT_KIND, QueueTask
from io_benchmark.text import clean_name

_KINDS = f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
_GROUPS_AT_ONCE = 4  # a page of a large group has 100 MB


class ListedTask(NamedTuple):
    """A task to read, and the address that it was listed for."""

    number: int
    deployment: Deployment
    task: QueueTask
    run_id: int | None = None  # None: all runs that count

    def position(self, run: QueueRun | None = None) -> Position:
        return Position(self.number, self.task.label, self.task.task_id, run.run_id if run else 0)

    def url(self, run: QueueRun | None = None) -> str:
        run_id = None if run is None else run.run_id
        return TaskAddress(self.deployment.access.root_url, self.task.task_id, run_id).url


_Group = tuple[Deployment, str]


class TaskListing(Struct):
    deployments: Mapping[str, Deployment]
    reading: Reading
    every_kind: bool = False
    alone: bool = False  # the address of a decision task means that task, and not its group
    # Requests that a deployment does not answer at the moment; another listing may succeed.
    lost: list[GaveUpError] = []
    # The decision and action tasks of the groups, and pushes whose decision task is not known yet,
    # with the reason.
    creators: list[ListedTask] = []
    not_indexed: list[tuple[IndexAddress | LandingAddress, str]] = []
    _count: int = 0  # of tasks on the pages of groups

    async def tasks(self, addresses: Mapping[int, TaskclusterAddress]) -> list[ListedTask]:
        """List each task once, by the number of its address, then by label."""
        self.reading.progress("listing tasks", 0, None)
        named = await run_all(self._named(*address) for address in addresses.items())
        tasks = [task for listed, _ in named for task in listed]
        # A group may be named twice, a task by itself and with its group: the first address counts.
        groups: dict[_Group, int] = {}
        for number, (_, meant) in zip(addresses, named, strict=True):
            for group in meant:
                groups.setdefault(group, number)
        members = (self._members(number, *group) for group, number in groups.items())
        tasks += [task for listed in await run_all(members, _GROUPS_AT_ONCE) for task in listed]
        first: dict[tuple[str, int | None], ListedTask] = {}
        for task in sorted(tasks, key=ListedTask.position):
            first.setdefault((task.task.task_id, task.run_id), task)
        return list(first.values())

    async def _named(
        self, number: int, address: TaskclusterAddress
    ) -> tuple[list[ListedTask], list[_Group]]:
        """Return the tasks that an address names, and the groups that it means."""
        deployment = self.deployments[address.root_url]
        if isinstance(address, GroupAddress):
            return [], [(deployment, address.group_id)]
        position, listed, groups = Position(number), list[ListedTask](), list[_Group]()
        run_id, takes_any = None, True
        try:
            if isinstance(address, TaskAddress):
                task_ids, run_id = [address.task_id], address.run_id
            else:
                task_ids, takes_any = await self._indexed(position, deployment, address)
            tasks = await deployment.tasks(task_ids)
        except ResultError as error:
            self._fail(position, address, error)
            return [], []
        for task in tasks.values():
            is_meant = self.alone and isinstance(address, TaskAddress)
            means_group = task.adds_tasks or (task.kind == REPORT_KIND and not self.every_kind)
            if means_group and not is_meant:
                groups.append((deployment, task.status.task_group_id))
            elif takes_any or self.every_kind or task.is_benchmark:
                listed.append(ListedTask(number, deployment, task, run_id))
        if len(tasks) < len(task_ids):
            problem = "has no such task; it may have expired, or belong to another deployment"
            self._fail(position, address, f"{address.root_url} {problem}")
        elif task_ids and not listed and not groups:
            self._fail(position, address, f"none of the tasks there is of kind {_KINDS}")
        return listed, groups

    async def _indexed(
        self, position: Position, deployment: Deployment, address: IndexAddress | LandingAddress
    ) -> tuple[list[str], bool]:
        """Return the task at the route, which may be of any kind, or those in its namespace."""
        if isinstance(address, LandingAddress):
            push = await deployment.landed(address)
            if push is None:
                self.not_indexed.append((address, "has not landed"))
                problem = "Lando has not landed it yet; compare waits for that with --wait MINUTES"
                self._fail(position, address, problem)
                return [], False
            address = push
        task_id = await deployment.find(address.route)
        if task_id is not None:
            return [task_id], True
        hint = "it may have expired"
        if address.route.endswith(DECISION):
            task_ids = []
            self.not_indexed.append((address, "is not in the index before it has completed"))
            hint = (
                "it is added when the decision task has completed (compare waits for it with "
                f"--wait MINUTES); or it has expired, or {TRUST_DOMAIN_VARIABLE} must name "
                "another trust domain"
            )
        else:
            task_ids = list((await deployment.indexed(address.route)).values())
        if not task_ids:
            self._fail(position, address, f"{address.root_url} has no such route; {hint}")
        return task_ids, False

    async def _members(
        self, number: int, deployment: Deployment, group_id: str
    ) -> list[ListedTask]:
        """Return the wanted tasks of a group, duplicates and retriggers included."""

        def count(tasks: int) -> None:
            self._count += tasks
            self.reading.progress("listing tasks", self._count, None)

        position = Position(number, "", group_id)
        group = GroupAddress(deployment.access.root_url, group_id)
        try:
            members = await deployment.group(group_id, count)
        except MissingError:
            self._fail(position, group, f"does not exist at {group.root_url}, or has expired")
            return []
        except ResultError as error:
            self._fail(position, group, error)
            return []
        listed = [ListedTask(number, deployment, task) for task in members]
        self.creators += [member for member in listed if member.task.adds_tasks]
        wanted = [member for member in listed if self.every_kind or member.task.is_benchmark]
        if not wanted:
            self._fail(position, group, _explain_no_benchmark(group, members))
        elif not self.every_kind:
            for remark in _incomplete_group(group.root_url, members):
                self.reading.remark(position, f"{group}: {remark}")
        return wanted

    def _fail(
        self, position: Position, address: TaskclusterAddress, problem: str | ResultError
    ) -> None:
        hint = DEFAULT_HINT if position.address in self.reading.on_default else ""
        self.reading.problem(position, f"{address}: {problem}{hint}")
        if isinstance(problem, GaveUpError):
            self.lost.append(problem)


def _explain_no_benchmark(group: GroupAddress, members: Sequence[QueueTask]) -> str:
    """Explain why no member is the benchmark's, and what to do."""
    unfinished = _unfinished(group.root_url, members)
    if unfinished:
        return f"has no task of kind {_KINDS} yet: {unfinished[0]}"
    failed = _failed_decision(group.root_url, members)
    if failed:
        return f"has no task of kind {_KINDS}: {failed}"
    tasks = "its only task is not" if len(members) == 1 else f"none of its {len(members)} tasks is"
    why = "it has no decision task: check the id"
    if any(task.is_decision for task in members):
        why = (
            "its decision task has completed: the push did not select the benchmark; push again "
            "and select it, or add its tasks with the action add-new-jobs"
        )
    return f"{tasks} of kind {_KINDS}, and {why} ({group.url})"


def _incomplete_group(root_url: str, members: Sequence[QueueTask]) -> list[str]:
    """Name members that may still add tasks, and a decision task that may have added too few."""
    failed = _failed_decision(root_url, members)
    return _unfinished(root_url, members) + ([f"{failed}; tasks may be missing"] if failed else [])


def _unfinished(root_url: str, members: Sequence[QueueTask]) -> list[str]:
    lines = []
    for task in members:
        if task.adds_tasks and not task.status.is_resolved:
            effect = "creates the group's tasks" if task.is_decision else "may add tasks"
            lines.append(
                f"{task.label} is still {clean_name(task.status.state)} and {effect}; read the "
                "group again later, or compare it with --wait MINUTES "
                f"({TaskAddress(root_url, task.task_id).url})"
            )
    return lines


def _failed_decision(root_url: str, members: Sequence[QueueTask]) -> str | None:
    """Describe the last decision task that ended, if none has completed."""
    ended = [task for task in members if task.is_decision and task.status.is_resolved]
    if not ended or any(task.status.state == "completed" for task in ended):
        return None
    where = TaskAddress(root_url, ended[-1].task_id).url
    return f"its decision task {ended[-1].ending}; look at it ({where})"


def read_listed(
    addresses: Mapping[int, TaskclusterAddress],
    reading: Reading,
    read: Callable[[list[ListedTask]], Awaitable[None]],
    *,
    every_kind: bool = False,
    alone: bool = False,
) -> None:
    """List the tasks at the addresses and read them; raise a TimeoutError at the budget's end."""

    async def list_and_read(deployments: Mapping[str, Deployment]) -> None:
        listing = TaskListing(deployments, reading, every_kind, alone)
        await read(await listing.tasks(addresses))

    root_urls = (address.root_url for address in addresses.values())
    notice = in_progress(reading.progress)
    Deployment.run(root_urls, reading.environment, list_and_read, reading.budget.left_s(), notice)
