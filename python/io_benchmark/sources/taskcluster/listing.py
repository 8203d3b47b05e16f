# SPDX-License-Identifier: MPL-2.0
"""List the tasks that addresses lead to: those of the benchmark, or all."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

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
from io_benchmark.sources.taskcluster.api_answers import QueueRun
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

    def position(self, run: QueueRun | None = None) -> Position:
        """Return the position of messages about the task, or about a run."""
        run_id = 0 if run is None else run.run_id
        return Position(self.number, self.task.label, self.task.task_id, run_id)

    def url(self, run: QueueRun | None = None) -> str:
        """Return the address at which a browser shows the task, or a run."""
        run_id = None if run is None else run.run_id
        return TaskAddress(self.deployment.access.root_url, self.task.task_id, run_id).url


class _ListedGroup(NamedTuple):
    number: int
    deployment: Deployment
    group_id: str


class TaskListing:
    """One listing of the tasks that some addresses lead to."""

    def __init__(
        self,
        deployments: Mapping[str, Deployment],
        progress: Callable[[ReadProgress], None] = lambda _progress: None,
        *,
        every_kind: bool = False,
    ) -> None:
        self.log = ReadLog()
        # Requests that a deployment does not answer at the moment; another listing may succeed.
        self.lost: list[GaveUpError] = []
        # The decision and action tasks of the groups, and pushes whose decision task is not in the index
        # yet. A decision task is added to the index when it has completed.
        self.creators: list[ListedTask] = []
        self.not_indexed: list[IndexAddress] = []
        self._deployments = deployments
        self._progress = progress
        self._every_kind = every_kind
        self._listed = 0

    async def tasks(self, addresses: Mapping[int, TaskclusterAddress]) -> list[ListedTask]:
        """List each task once, by the number of its address, then by label."""
        self._progress(ReadProgress("listing tasks", 0, None))
        named = await run_all(self._named(*address) for address in addresses.items())
        tasks: list[ListedTask] = []
        groups: dict[tuple[Deployment, str], _ListedGroup] = {}
        # A group may be named twice, a task by itself and with its group: the first address counts.
        for listed in (listed for listing in named for listed in listing):
            if isinstance(listed, ListedTask):
                tasks.append(listed)
            else:
                groups.setdefault((listed.deployment, listed.group_id), listed)
        for members in await run_all(map(self._members, groups.values()), _GROUPS_AT_ONCE):
            tasks += members
        first: dict[tuple[str, int | None], ListedTask] = {}
        for task in sorted(tasks, key=lambda task: task.order):
            first.setdefault((task.task.task_id, task.run_id), task)
        return list(first.values())

    async def _named(
        self, number: int, address: TaskclusterAddress
    ) -> Sequence[ListedTask | _ListedGroup]:
        """Return the tasks that an address names, or the groups that these mean."""
        deployment = self._deployments[address.root_url]
        if isinstance(address, GroupAddress):
            return [_ListedGroup(number, deployment, address.group_id)]
        listed: list[ListedTask | _ListedGroup] = []
        run_id, takes_any = None, True
        try:
            if isinstance(address, TaskAddress):
                task_ids, run_id = [address.task_id], address.run_id
            else:
                task_ids, takes_any = await self._indexed(number, deployment, address)
            if not task_ids:
                return []
            tasks = await deployment.tasks(task_ids)
        except ResultError as error:
            self._failed(Position(number), f"{address}: {error}", error)
            return []
        for task in tasks.values():
            if task.adds_tasks or (task.means_its_group and not self._every_kind):
                listed.append(_ListedGroup(number, deployment, task.status.task_group_id))
            elif takes_any or self._wants(task):
                listed.append(ListedTask(number, deployment, task, run_id))
        if len(tasks) < len(task_ids):
            text = f"{address}: {address.root_url} has no such task; it may have expired, or belong to "
            self.log.problem(Position(number), f"{text}another deployment")
        elif not listed:
            kinds = " or ".join(KINDS)
            text = f"{address}: none of the tasks there is of kind {kinds}"
            self.log.problem(Position(number), text)
        return listed

    async def _indexed(
        self, number: int, deployment: Deployment, address: IndexAddress
    ) -> tuple[list[str], bool]:
        """Return the task at the route, which may be of any kind, or those in its namespace."""
        task_id = await deployment.find(address.route)
        if task_id is not None:
            return [task_id], True
        is_decision = address.route.endswith(DECISION)
        task_ids = [] if is_decision else list((await deployment.indexed(address.route)).values())
        if not task_ids:
            hint = "it may have expired"
            if is_decision:
                self.not_indexed.append(address)
                hint = (
                    "it is added when the decision task has completed (compare --wait MINUTES "
                    f"waits for it); or it has expired, or {TRUST_DOMAIN_VARIABLE} must name "
                    "another trust domain"
                )
            text = f"{address}: {address.root_url} has no such route; {hint}"
            self.log.problem(Position(number), text)
        return task_ids, False

    async def _members(self, group: _ListedGroup) -> list[ListedTask]:
        """Return the wanted tasks of a group, duplicates and retriggers included."""
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
            text = f"group:{group_id}: does not exist at {root_url}, or has expired"
            self.log.problem(position, text)
            return []
        except ResultError as error:
            self._failed(position, f"group:{group_id}: {error}", error)
            return []
        listed = [ListedTask(number, deployment, task) for task in members]
        self.creators += [member for member in listed if member.task.adds_tasks]
        wanted = [member for member in listed if self._wants(member.task)]
        problems = GroupProblems(root_url, members)
        if not wanted:
            self.log.problem(position, f"group:{group_id}: {problems.no_benchmark(group_id)}")
        for remark in problems.incomplete() if wanted and not self._every_kind else ():
            self.log.remark(position, f"group:{group_id}: {remark}")
        return wanted

    def _wants(self, task: QueueTask) -> bool:
        return self._every_kind or task.is_benchmark

    def _failed(self, position: Position, text: str, error: ResultError) -> None:
        self.log.problem(position, text)
        if isinstance(error, GaveUpError):
            self.lost.append(error)


@asynccontextmanager
async def connect(
    addresses: Mapping[int, TaskclusterAddress],
    environment: Mapping[str, str],
    policy: RequestPolicy | None,
) -> AsyncIterator[dict[str, Deployment]]:
    """Yield the deployments that the addresses name, by root URL."""
    # Mistakes in the environment are reported before the first request.
    root_urls = dict.fromkeys(address.root_url for address in addresses.values())
    accesses = [Access.of(root_url, environment) for root_url in root_urls]
    async with WebClient(policy or RequestPolicy()) as client:
        yield {access.root_url: Deployment(access, client) for access in accesses}
