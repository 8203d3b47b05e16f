# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From addresses in Taskcluster to tasks: which of them there are, and which are the benchmark's."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from io_benchmark.errors import ResultError
from io_benchmark.sources.access import access_for
from io_benchmark.sources.address import (
    DECISION,
    TRUST_DOMAIN_VARIABLE,
    GroupAddress,
    IndexAddress,
    RemoteAddress,
    TaskAddress,
)
from io_benchmark.sources.found import Account, Position
from io_benchmark.sources.groups import perhaps_incomplete, without_benchmark
from io_benchmark.sources.http import Http
from io_benchmark.sources.progress import Progress
from io_benchmark.sources.queue import Deployment, MissingError
from io_benchmark.sources.retrying import GaveUpError, Policy
from io_benchmark.sources.running import all_of
from io_benchmark.sources.tasks import KINDS, Task

# A page of a large group has 100 MB: those that wait for their turn must not wait for long.
GROUPS_AT_ONCE = 16


@dataclass(frozen=True)
class Reference:
    """A task that an address leads to."""

    at: int
    deployment: Deployment
    task_id: str
    run_id: int | None = None
    shown: str = ""
    # Found by listing a namespace: what is no benchmark there is passed over.
    listed: bool = False


# The number of the address, who has the task, the task, and the run where one is named.
Chosen = tuple[int, Deployment, Task, int | None]


class Listing:
    """One listing of what some addresses lead to."""

    def __init__(
        self,
        deployments: Mapping[str, Deployment],
        progress: Callable[[Progress], None] = lambda _progress: None,
    ) -> None:
        self.account = Account()
        # What a deployment did not answer, for now: another listing may have it.
        self.lost: list[GaveUpError] = []
        # The decision and action tasks of the groups, and pushes whose decision task is not in the
        # index yet: it comes there when it has completed.
        self.creators: list[tuple[Deployment, Task]] = []
        self.not_indexed: list[IndexAddress] = []
        self._deployments = deployments
        self._progress = progress
        self._listed = 0

    async def tasks(self, addresses: Sequence[tuple[int, RemoteAddress]]) -> list[Chosen]:
        """Each task once, in the order of the addresses, then by label."""
        self._progress(Progress("listing tasks", 0, None))
        tasks, groups = await self._tasks(await self._references(addresses))
        groups += [
            (at, self._deployments[one.root_url], one.group_id)
            for at, one in addresses
            if isinstance(one, GroupAddress)
        ]
        # One group may be named twice, one task by itself and with its group.
        listing = [self._members(*one) for one in _first_of_each(groups)]
        for members in await all_of(listing, GROUPS_AT_ONCE):
            tasks += members
        return _first_of_each_task(tasks)

    async def _references(self, addresses: Sequence[tuple[int, RemoteAddress]]) -> list[Reference]:
        """The tasks that are named, the index's included."""
        named = [
            Reference(at, self._deployments[one.root_url], one.task_id, one.run_id, str(one))
            for at, one in addresses
            if isinstance(one, TaskAddress)
        ]
        indexed = await all_of(
            self._indexed(at, one) for at, one in addresses if isinstance(one, IndexAddress)
        )
        return named + [one for some in indexed for one in some]

    async def _indexed(self, at: int, address: IndexAddress) -> list[Reference]:
        """The task at the route, or else those in the namespace of that name."""
        deployment = self._deployments[address.root_url]
        try:
            task_id = await deployment.find(address.route)
            if task_id is not None:
                return [Reference(at, deployment, task_id, None, str(address))]
            listed = [] if address.route.endswith(DECISION) else await self._namespace(address)
        except ResultError as error:
            self._failed((at, "", "", 0), f"{address}: {error}", error)
            return []
        if not listed:
            hint = "it may have expired"
            if address.route.endswith(DECISION):
                self.not_indexed.append(address)
                hint = (
                    "it comes there when the decision task has completed (compare --wait MINUTES "
                    f"waits for it); or it has expired, or {TRUST_DOMAIN_VARIABLE} must name "
                    "another trust domain"
                )
            where = address.root_url
            self.account.problem((at, "", "", 0), f"{address}: {where} has no such route; {hint}")
        return [Reference(at, deployment, one, None, str(address), listed=True) for one in listed]

    async def _namespace(self, address: IndexAddress) -> list[str]:
        try:
            return await self._deployments[address.root_url].in_namespace(address.route)
        except MissingError:
            return []

    async def _tasks(
        self, references: Sequence[Reference]
    ) -> tuple[list[Chosen], list[tuple[int, Deployment, str]]]:
        """The tasks themselves; a task may stand for its group."""
        found: list[Chosen] = []
        groups: list[tuple[int, Deployment, str]] = []
        for deployment in {one.deployment: None for one in references}:
            here = [one for one in references if one.deployment is deployment]
            try:
                tasks = await deployment.tasks(list(dict.fromkeys(one.task_id for one in here)))
            except ResultError as error:
                for one in here:
                    self._failed((one.at, "", one.task_id, 0), f"{one.shown}: {error}", error)
                continue
            for one in here:
                task = tasks.get(one.task_id)
                if task is None:
                    self.account.problem((one.at, "", one.task_id, 0), _no_task(one))
                elif task.stands_for_its_group:
                    groups.append((one.at, deployment, task.status.task_group_id))
                elif task.is_benchmark or not one.listed:
                    found.append((one.at, deployment, task, one.run_id))
        used = {at for at, *_ in (*found, *groups)}
        for at, shown in {one.at: one.shown for one in references if one.listed}.items():
            if at not in used:
                kinds = " or ".join(KINDS)
                self.account.problem(
                    (at, "", "", 0), f"{shown}: none of the tasks there is of kind {kinds}"
                )
        return found, groups

    async def _members(self, at: int, deployment: Deployment, group_id: str) -> list[Chosen]:
        """The benchmark's tasks of a group, duplicates and retriggers included."""
        counted = 0

        def count(tasks: int) -> None:
            nonlocal counted
            self._listed += tasks - counted
            counted = tasks
            self._progress(Progress("listing tasks", self._listed, None))

        try:
            members = await deployment.group(group_id, count)
        except MissingError:
            problem = f"does not exist at {deployment.access.root_url}, or has expired"
        except ResultError as error:
            self._failed((at, "", group_id, 0), f"group:{group_id}: {error}", error)
            return []
        else:
            root_url = deployment.access.root_url
            self.creators += [(deployment, task) for task in members if task.adds_tasks]
            chosen = [task for task in members if task.is_benchmark]
            if chosen:
                for remark in perhaps_incomplete(root_url, members):
                    self.account.remark((at, "", group_id, 0), f"group:{group_id}: {remark}")
                return [(at, deployment, task, None) for task in chosen]
            problem = without_benchmark(root_url, group_id, members)
        self.account.problem((at, "", group_id, 0), f"group:{group_id}: {problem}")
        return []

    def _failed(self, position: Position, text: str, error: ResultError) -> None:
        self.account.problem(position, text)
        if isinstance(error, GaveUpError):
            self.lost.append(error)


@asynccontextmanager
async def asked(
    addresses: Sequence[tuple[int, RemoteAddress]],
    environment: Mapping[str, str],
    policy: Policy,
) -> AsyncIterator[tuple[Http, dict[str, Deployment]]]:
    """The deployments that the addresses name, by root URL, and the connections to them."""
    # Mistakes in the environment are found before anything is asked.
    accesses = {one.root_url: access_for(one.root_url, environment) for _, one in addresses}
    async with Http(policy) as http:
        yield http, {root_url: Deployment(one, http) for root_url, one in accesses.items()}


def _first_of_each(
    groups: Sequence[tuple[int, Deployment, str]],
) -> list[tuple[int, Deployment, str]]:
    first: dict[tuple[Deployment, str], tuple[int, Deployment, str]] = {}
    for one in sorted(groups, key=lambda group: group[0]):
        first.setdefault(one[1:], one)
    return list(first.values())


def _first_of_each_task(tasks: Sequence[Chosen]) -> list[Chosen]:
    """In the order of their addresses, then by label."""
    first: dict[tuple[str, int | None], Chosen] = {}
    for one in sorted(tasks, key=_order):
        _, _, task, run_id = one
        first.setdefault((task.task_id, run_id), one)
    return list(first.values())


def _order(one: Chosen) -> tuple[int, str, str, int]:
    at, _, task, run_id = one
    return at, task.label, task.task_id, -1 if run_id is None else run_id


def _no_task(reference: Reference) -> str:
    where = reference.deployment.access.root_url
    return f"{reference.shown}: {where} has no such task; it may have expired, or be elsewhere"
