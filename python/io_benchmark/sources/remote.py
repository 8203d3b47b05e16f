# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From addresses in Taskcluster to results: which tasks, which runs, and their files."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.results.size import MAXIMUM_BYTES
from io_benchmark.sources.address import RemoteAddress, task_run_url, task_url
from io_benchmark.sources.budget import LARGE_AT_ONCE, SMALL_BYTES, Budget, weight_bytes
from io_benchmark.sources.found import LAST, Account, Found, Position
from io_benchmark.sources.http import Http, TooLargeError
from io_benchmark.sources.layout import Measured
from io_benchmark.sources.listing import Chosen, Listing, asked
from io_benchmark.sources.progress import Progress
from io_benchmark.sources.queue import Deployment, NoArtifactError
from io_benchmark.sources.retrying import Policy
from io_benchmark.sources.running import in_turn
from io_benchmark.sources.runs import Wanted, choose, how_it_ended, passed_over, title
from io_benchmark.sources.tasks import Task, record
from io_benchmark.sources.wire import Run


class Collection:
    """One reading of some addresses."""

    def __init__(
        self,
        http: Http,
        deployments: Mapping[str, Deployment],
        accept: Callable[[Found], Awaitable[None]],
        have: Callable[[str, int], bool],
        progress: Callable[[Progress], None],
        budget: Budget | None = None,
    ) -> None:
        self._budget = budget or Budget()
        self._listing = Listing(deployments, progress)
        self.account = self._listing.account
        self._http = http
        self._accept = accept
        self._have = have
        self._progress = progress
        self._total = 0
        # By position: what is still to be read, and what is read last because it is large.
        self._unread: dict[Position, str] = {}
        self._large: list[tuple[int, Deployment, Wanted]] = []
        self._seen: set[tuple[str, int]] = set()

    async def collect(self, addresses: Sequence[tuple[int, RemoteAddress]]) -> None:
        """What the addresses lead to; what is not read in time is named."""
        try:
            async with asyncio.timeout(self._budget.left_s()):
                await self.read(await self._listing.tasks(addresses))
        except TimeoutError:
            if not self._total:
                self._unread = {(at, "", "", 0): str(one) for at, one in addresses}
            for position, source in self._unread.items():
                self.account.problem(position, f"{source}: was not read in time; read it again")
        self.account.requests = self._http.requests
        self.name_left_out()

    def name_left_out(self) -> None:
        for line in self._budget.take_left_out():
            self.account.problem(LAST, line)

    async def read(self, tasks: Sequence[Chosen]) -> None:
        """The results of tasks that are known already; large ones last."""
        wanted = [
            (at, deployment, one)
            for at, deployment, task, run_id in tasks
            for one in self._chosen(at, deployment, task, run_id)
        ]
        self._total = len(wanted)
        self._unread = {_position(at, one): title(one.task, one.runs[0]) for at, _, one in wanted}
        self._progress(Progress("reading results", 0, self._total))
        reading = [self._result(*one, SMALL_BYTES) for one in wanted]
        await in_turn(reading, self._http.policy.connections)
        large = [self._result(*one, MAXIMUM_BYTES) for one in self._large]
        await in_turn(large, LARGE_AT_ONCE)
        self.account.requests = self._http.requests

    def _chosen(
        self, at: int, deployment: Deployment, task: Task, run_id: int | None
    ) -> list[Wanted]:
        """What to read of a task, each run once however many addresses lead to it."""
        choice = choose(task, run_id)
        position = (at, task.label, task.task_id, 0)
        for problem in choice.problems:
            self.account.problem(position, problem, _where(deployment, task))
        for remark in choice.remarks:
            self.account.remark(position, remark)
        wanted = []
        for one in choice.wanted:
            keys = {(task.task_id, run.run_id) for run in one.runs}
            if not keys & self._seen:
                wanted.append(one)
            self._seen |= keys
        return wanted

    async def _result(
        self, at: int, deployment: Deployment, wanted: Wanted, maximum_bytes: int
    ) -> None:
        # What was too large for the first reading is larger than that.
        least_bytes = SMALL_BYTES if maximum_bytes > SMALL_BYTES else 0
        if self._budget.allows_reading(title(wanted.task, wanted.runs[0]), least_bytes):
            try:
                await self._first_result(at, deployment, wanted, maximum_bytes)
            except TooLargeError:
                self._large.append((at, deployment, wanted))
                return
        self._unread.pop(_position(at, wanted), None)
        done = self._total - len(self._unread)
        self._progress(Progress("reading results", done, self._total))

    async def _first_result(
        self, at: int, deployment: Deployment, wanted: Wanted, maximum_bytes: int
    ) -> None:
        """The first run that has a result; a run without one gives way to an older one."""
        task = wanted.task
        problem = ""
        for run in wanted.runs:
            position = (at, task.label, task.task_id, run.run_id)
            state = "" if run.state == "completed" else f"{how_it_ended(run)} and "
            try:
                if self._have(task.task_id, run.run_id):
                    return
                data = await deployment.result(task, run.run_id, maximum_bytes)
                self._budget.spend(len(data))
                result = results.parse(data, title(task, run))
            except TooLargeError as error:
                self._budget.spend(maximum_bytes)
                if maximum_bytes < MAXIMUM_BYTES:
                    raise
                self.account.problem(
                    position, f"{title(task, run)}: {error}", _where(deployment, task, run)
                )
                return
            except NoArtifactError as error:
                problem = problem or f"{title(task, run)}: {state}{error}"
                continue
            except ResultError as error:
                text = str(error)
                shown = text if text.startswith(title(task, run)) else f"{title(task, run)}: {text}"
                self.account.problem(position, shown, _where(deployment, task, run))
                return
            if wanted.stands_in:
                self._stands_in(at, wanted, run)
            found = record(task, run, task.pool or result.task.pool)
            source = task_run_url(deployment.access.root_url, task.task_id, run.run_id)
            weight = weight_bytes(result, data)
            measured = Measured(result, found, source, len(data), weight)
            await self._accept(Found(position, found, measured, data))
            return
        newest = wanted.runs[0]
        position = (at, task.label, task.task_id, newest.run_id)
        self.account.problem(position, problem, _where(deployment, task, newest))

    def _stands_in(self, at: int, wanted: Wanted, chosen: Run) -> None:
        task = wanted.task
        for run in wanted.runs:
            text = passed_over(task, run)
            if run is chosen:
                text = (
                    f"{title(task, run)} {how_it_ended(run)} and is used, because no run completed"
                )
            self.account.remark((at, task.label, task.task_id, run.run_id), text)


def _position(at: int, wanted: Wanted) -> Position:
    return at, wanted.task.label, wanted.task.task_id, wanted.runs[0].run_id


def _where(deployment: Deployment, task: Task, run: Run | None = None) -> str:
    """Where a browser shows it."""
    root_url = deployment.access.root_url
    if run is None:
        return task_url(root_url, task.task_id)
    return task_run_url(root_url, task.task_id, run.run_id)


async def collect(
    addresses: Sequence[tuple[int, RemoteAddress]],
    environment: Mapping[str, str],
    policy: Policy,
    *,
    accept: Callable[[Found], Awaitable[None]],
    progress: Callable[[Progress], None],
    have: Callable[[str, int], bool] = lambda _task_id, _run_id: False,
    budget: Budget | None = None,
) -> Account:
    """Reads what the addresses lead to; `accept` gets each result as it arrives."""
    async with asked(addresses, environment, policy) as (http, deployments):
        collection = Collection(http, deployments, accept, have, progress, budget)
        await collection.collect(addresses)
    return collection.account
