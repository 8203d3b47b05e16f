# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From addresses in Taskcluster to results: which tasks, which runs, and their files."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.sources.access import access_for
from io_benchmark.sources.address import (
    DECISION,
    TRUST_DOMAIN_VARIABLE,
    GroupAddress,
    IndexAddress,
    RemoteAddress,
    TaskAddress,
    task_run_url,
)
from io_benchmark.sources.found import Account, Found
from io_benchmark.sources.http import Http
from io_benchmark.sources.progress import Progress
from io_benchmark.sources.queue import Deployment, MissingError, NoArtifactError
from io_benchmark.sources.retrying import Policy
from io_benchmark.sources.running import all_of, in_turn
from io_benchmark.sources.runs import Wanted, choose, title
from io_benchmark.sources.tasks import KINDS, Task, record
from io_benchmark.sources.text import one_line


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


class Collection:
    """One reading of some addresses."""

    def __init__(
        self,
        http: Http,
        deployments: Mapping[str, Deployment],
        accept: Callable[[Found], Awaitable[None]],
        have: Callable[[str, int], bool],
        progress: Callable[[Progress], None],
    ) -> None:
        self.account = Account()
        self._http = http
        self._deployments = deployments
        self._accept = accept
        self._have = have
        self._progress = progress
        self._listed = 0
        self._read = 0
        self._seen: set[tuple[str, int]] = set()

    async def collect(self, addresses: Sequence[tuple[int, RemoteAddress]]) -> None:
        self._progress(Progress("listing tasks", 0, None))
        tasks, groups = await self._tasks(await self._references(addresses))
        groups += [
            (at, self._deployments[one.root_url], one.group_id)
            for at, one in addresses
            if isinstance(one, GroupAddress)
        ]
        # One group may be named twice, one task by itself and with its group.
        for members in await all_of(self._members(*one) for one in _first_of_each(groups)):
            tasks += members
        wanted = [
            (at, deployment, one)
            for at, deployment, task, run_id in _first_of_each_task(tasks)
            for one in self._chosen(at, task, run_id)
        ]
        self._progress(Progress("reading results", 0, len(wanted)))
        reading = [self._result(*one, len(wanted)) for one in wanted]
        await in_turn(reading, self._http.policy.connections)
        self.account.requests = self._http.requests

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
            self.account.problem((at, "", "", 0), f"{address}: {error}")
            return []
        if not listed:
            hint = "it may have expired"
            if address.route.endswith(DECISION):
                hint += f", or {TRUST_DOMAIN_VARIABLE} is to name another trust domain"
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
        """The tasks themselves; a decision task stands for its group."""
        found: list[Chosen] = []
        groups: list[tuple[int, Deployment, str]] = []
        for deployment in {one.deployment: None for one in references}:
            here = [one for one in references if one.deployment is deployment]
            try:
                tasks = await deployment.tasks(list(dict.fromkeys(one.task_id for one in here)))
            except ResultError as error:
                for one in here:
                    self.account.problem((one.at, "", one.task_id, 0), f"{one.shown}: {error}")
                continue
            for one in here:
                task = tasks.get(one.task_id)
                if task is None:
                    self.account.problem((one.at, "", one.task_id, 0), _no_task(one))
                elif task.is_decision:
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
            problem = str(error)
        else:
            chosen = [task for task in members if task.is_benchmark]
            if chosen:
                return [(at, deployment, task, None) for task in chosen]
            kinds = " or ".join(KINDS)
            problem = f"none of its {len(members)} tasks is of kind {kinds}; was it asked for?"
        self.account.problem((at, "", group_id, 0), f"group:{group_id}: {problem}")
        return []

    def _chosen(self, at: int, task: Task, run_id: int | None) -> list[Wanted]:
        """What to read of a task, each run once however many addresses lead to it."""
        choice = choose(task, run_id)
        position = (at, task.label, task.task_id, 0)
        for problem in choice.problems:
            self.account.problem(position, problem)
        for remark in choice.remarks:
            self.account.remark(position, remark)
        wanted = []
        for one in choice.wanted:
            keys = {(task.task_id, run.run_id) for run in one.runs}
            if not keys & self._seen:
                wanted.append(one)
            self._seen |= keys
        return wanted

    async def _result(self, at: int, deployment: Deployment, wanted: Wanted, total: int) -> None:
        await self._first_result(at, deployment, wanted)
        self._read += 1
        self._progress(Progress("reading results", self._read, total))

    async def _first_result(self, at: int, deployment: Deployment, wanted: Wanted) -> None:
        """The first run that has a result; a run without one gives way to an older one."""
        task = wanted.task
        problem = ""
        for run in wanted.runs:
            position = (at, task.label, task.task_id, run.run_id)
            state = "" if run.state == "completed" else f"is {one_line(run.shown_state, 100)} and "
            try:
                if self._have(task.task_id, run.run_id):
                    return
                data = await deployment.result(task, run.run_id)
                result = results.parse(data, title(task, run))
            except NoArtifactError as error:
                problem = problem or f"{title(task, run)}: {state}{error}"
                continue
            except ResultError as error:
                text = str(error)
                shown = text if text.startswith(title(task, run)) else f"{title(task, run)}: {text}"
                self.account.problem(position, shown)
                return
            if wanted.stands_in:
                shown_state = one_line(run.shown_state, 100)
                self.account.remark(
                    position, f"{title(task, run)} is {shown_state}: no run of it completed"
                )
            await self._accept(
                Found(
                    position=position,
                    record=record(task, run, task.pool or result.task.pool),
                    result=result,
                    data=data,
                    source=task_run_url(deployment.access.root_url, task.task_id, run.run_id),
                )
            )
            return
        self.account.problem((at, task.label, task.task_id, wanted.runs[0].run_id), problem)


async def collect(
    addresses: Sequence[tuple[int, RemoteAddress]],
    environment: Mapping[str, str],
    policy: Policy,
    *,
    accept: Callable[[Found], Awaitable[None]],
    progress: Callable[[Progress], None],
    have: Callable[[str, int], bool] = lambda _task_id, _run_id: False,
) -> Account:
    """Reads what the addresses lead to; `accept` gets each result as it arrives."""
    # Mistakes in the environment are found before anything is asked.
    accesses = {one.root_url: access_for(one.root_url, environment) for _, one in addresses}
    async with Http(policy) as http:
        deployments = {root_url: Deployment(one, http) for root_url, one in accesses.items()}
        collection = Collection(http, deployments, accept, have, progress)
        await collection.collect(addresses)
    return collection.account


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
