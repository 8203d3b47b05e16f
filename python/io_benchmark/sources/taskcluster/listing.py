# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""List the tasks that addresses lead to, and choose those of the benchmark."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from msgspec import Struct

from io_benchmark.errors import GaveUpError, MissingError, ResultError
from io_benchmark.sources.event_loop import run_all
from io_benchmark.sources.protocol import Position, ReadLog, ReadProgress
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import (
    DECISION,
    TRUST_DOMAIN_VARIABLE,
    GroupAddress,
    IndexAddress,
    TaskAddress,
    TaskclusterAddress,
)
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.group_problems import GroupProblems
from io_benchmark.sources.taskcluster.tasks import KINDS, QueueTask
from io_benchmark.sources.web.retrying import RequestPolicy
from io_benchmark.sources.web.web_client import WebClient

# A page of a large group has 100 MB: groups that wait for their turn must not wait for long.
_GROUPS_AT_ONCE = 16


class ListedTask(NamedTuple):
    """A task to read, and the address that it was listed for."""

    number: int
    deployment: Deployment
    task: QueueTask
    run_id: int | None = None  # None: all runs that count

    @property
    def order(self) -> tuple[int, str, str, int]:
        """By address, then by label."""
        run_id = -1 if self.run_id is None else self.run_id
        return self.number, self.task.label, self.task.task_id, run_id


class _ListedGroup(NamedTuple):
    number: int
    deployment: Deployment
    group_id: str


class _Reference(Struct, frozen=True):
    """A task that an address names."""

    number: int
    deployment: Deployment
    task_id: str
    run_id: int | None = None
    shown: str = ""
    # Listed in a namespace: tasks of other kinds are ignored there.
    listed: bool = False


class TaskListing:
    """One listing of the tasks that some addresses lead to."""

    def __init__(
        self,
        deployments: Mapping[str, Deployment],
        progress: Callable[[ReadProgress], None] = lambda _progress: None,
    ) -> None:
        self.log = ReadLog()
        # Requests that a deployment does not answer at the moment; another listing may succeed.
        self.lost: list[GaveUpError] = []
        # The decision and action tasks of the groups, and pushes whose decision task is not in the index
        # yet. A decision task is added to the index when it has completed.
        self.creators: list[tuple[Deployment, QueueTask]] = []
        self.not_indexed: list[IndexAddress] = []
        self._deployments = deployments
        self._progress = progress
        self._listed = 0

    async def tasks(self, addresses: Mapping[int, TaskclusterAddress]) -> list[ListedTask]:
        """List each task once, by the number of its address, then by label."""
        self._progress(ReadProgress("listing tasks", 0, None))
        tasks, groups = await self._tasks(await self._references(addresses))
        groups += [
            _ListedGroup(number, self._deployments[address.root_url], address.group_id)
            for number, address in addresses.items()
            if isinstance(address, GroupAddress)
        ]
        # A group may be named twice, a task by itself and with its group.
        listings = [self._members(group) for group in _first_of_each_group(groups)]
        for members in await run_all(listings, _GROUPS_AT_ONCE):
            tasks += members
        return _first_of_each_task(tasks)

    async def _references(self, addresses: Mapping[int, TaskclusterAddress]) -> list[_Reference]:
        """Return the tasks that are named, the index's included."""
        named = [
            _Reference(
                number,
                self._deployments[address.root_url],
                address.task_id,
                address.run_id,
                str(address),
            )
            for number, address in addresses.items()
            if isinstance(address, TaskAddress)
        ]
        indexed = await run_all(
            self._indexed(number, address)
            for number, address in addresses.items()
            if isinstance(address, IndexAddress)
        )
        return named + [reference for references in indexed for reference in references]

    async def _indexed(self, number: int, address: IndexAddress) -> list[_Reference]:
        """Return the task at the route, or else those in the namespace of that name."""
        deployment = self._deployments[address.root_url]
        try:
            task_id = await deployment.find(address.route)
            if task_id is not None:
                return [_Reference(number, deployment, task_id, None, str(address))]
            task_ids = [] if address.route.endswith(DECISION) else await self._namespace(address)
        except ResultError as error:
            self._failed(Position(number), f"{address}: {error}", error)
            return []
        if not task_ids:
            hint = "it may have expired"
            if address.route.endswith(DECISION):
                self.not_indexed.append(address)
                hint = (
                    "it is added when the decision task has completed (compare --wait MINUTES "
                    f"waits for it); or it has expired, or {TRUST_DOMAIN_VARIABLE} must name "
                    "another trust domain"
                )
            text = f"{address}: {address.root_url} has no such route; {hint}"
            self.log.problem(Position(number), text)
        return [
            _Reference(number, deployment, task_id, None, str(address), listed=True)
            for task_id in task_ids
        ]

    async def _namespace(self, address: IndexAddress) -> list[str]:
        try:
            indexed = await self._deployments[address.root_url].indexed(address.route)
        except MissingError:
            return []
        return list(indexed.values())

    async def _tasks(
        self, references: Sequence[_Reference]
    ) -> tuple[list[ListedTask], list[_ListedGroup]]:
        """Return the tasks themselves, and the groups that some of them mean."""
        tasks: list[ListedTask] = []
        groups: list[_ListedGroup] = []
        for deployment in dict.fromkeys(reference.deployment for reference in references):
            here = [reference for reference in references if reference.deployment is deployment]
            try:
                known = await deployment.tasks(
                    list(dict.fromkeys(address.task_id for address in here))
                )
            except ResultError as error:
                for reference in here:
                    position = Position(reference.number, "", reference.task_id)
                    self._failed(position, f"{reference.shown}: {error}", error)
                continue
            for reference in here:
                number, task = reference.number, known.get(reference.task_id)
                if task is None:
                    position = Position(number, "", reference.task_id)
                    self.log.problem(position, _no_task(reference))
                elif task.means_its_group:
                    groups.append(_ListedGroup(number, deployment, task.status.task_group_id))
                elif task.is_benchmark or not reference.listed:
                    tasks.append(ListedTask(number, deployment, task, reference.run_id))
        used = {task.number for task in tasks} | {group.number for group in groups}
        self._check_namespaces(references, used)
        return tasks, groups

    def _check_namespaces(self, references: Sequence[_Reference], used: set[int]) -> None:
        """Report each namespace that has none of the benchmark's tasks."""
        listed = {reference.number: reference.shown for reference in references if reference.listed}
        for number, shown in listed.items():
            if number not in used:
                kinds = " or ".join(KINDS)
                text = f"{shown}: none of the tasks there is of kind {kinds}"
                self.log.problem(Position(number), text)

    async def _members(self, group: _ListedGroup) -> list[ListedTask]:
        """Return the benchmark's tasks of a group, duplicates and retriggers included."""
        counted = 0

        def count(tasks: int) -> None:
            nonlocal counted
            self._listed += tasks - counted
            counted = tasks
            self._progress(ReadProgress("listing tasks", self._listed, None))

        number, deployment, group_id = group
        position = Position(number, "", group_id)
        root_url = deployment.access.root_url
        try:
            members = await deployment.group(group_id, count)
        except MissingError:
            problem = f"does not exist at {root_url}, or has expired"
        except ResultError as error:
            self._failed(position, f"group:{group_id}: {error}", error)
            return []
        else:
            self.creators += [(deployment, task) for task in members if task.adds_tasks]
            benchmark = [task for task in members if task.is_benchmark]
            problems = GroupProblems(root_url, members)
            if benchmark:
                for remark in problems.incomplete():
                    self.log.remark(position, f"group:{group_id}: {remark}")
                return [ListedTask(number, deployment, task) for task in benchmark]
            problem = problems.no_benchmark(group_id)
        self.log.problem(position, f"group:{group_id}: {problem}")
        return []

    def _failed(self, position: Position, text: str, error: ResultError) -> None:
        self.log.problem(position, text)
        if isinstance(error, GaveUpError):
            self.lost.append(error)


@asynccontextmanager
async def connect(
    addresses: Mapping[int, TaskclusterAddress],
    environment: Mapping[str, str],
    policy: RequestPolicy | None,
) -> AsyncIterator[tuple[WebClient, dict[str, Deployment]]]:
    """Yield a web client, and by root URL the deployments that the addresses name."""
    # Mistakes in the environment are reported before the first request.
    root_urls = dict.fromkeys(address.root_url for address in addresses.values())
    accesses = [Access.of(root_url, environment) for root_url in root_urls]
    async with WebClient(policy or RequestPolicy()) as client:
        yield client, {access.root_url: Deployment(access, client) for access in accesses}


def _first_of_each_group(groups: Sequence[_ListedGroup]) -> list[_ListedGroup]:
    first: dict[tuple[Deployment, str], _ListedGroup] = {}
    for group in sorted(groups, key=lambda group: group.number):
        first.setdefault((group.deployment, group.group_id), group)
    return list(first.values())


def _first_of_each_task(tasks: Sequence[ListedTask]) -> list[ListedTask]:
    first: dict[tuple[str, int | None], ListedTask] = {}
    for listed in sorted(tasks, key=lambda listed: listed.order):
        first.setdefault((listed.task.task_id, listed.run_id), listed)
    return list(first.values())


def _no_task(reference: _Reference) -> str:
    root_url = reference.deployment.access.root_url
    return (
        f"{reference.shown}: {root_url} has no such task; it may have expired, or belong to another "
        "deployment"
    )
