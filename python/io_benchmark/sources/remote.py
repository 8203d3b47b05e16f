# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From addresses in Taskcluster to results: which tasks, which runs, and their files."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.sources.address import RemoteAddress, task_run_url, task_url
from io_benchmark.sources.found import Account, Found
from io_benchmark.sources.http import Http
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
    ) -> None:
        self._listing = Listing(deployments, progress)
        self.account = self._listing.account
        self._http = http
        self._accept = accept
        self._have = have
        self._progress = progress
        self._read = 0
        self._seen: set[tuple[str, int]] = set()

    async def collect(self, addresses: Sequence[tuple[int, RemoteAddress]]) -> None:
        await self.read(await self._listing.tasks(addresses))

    async def read(self, tasks: Sequence[Chosen]) -> None:
        """The results of tasks that are known already."""
        wanted = [
            (at, deployment, one)
            for at, deployment, task, run_id in tasks
            for one in self._chosen(at, deployment, task, run_id)
        ]
        self._progress(Progress("reading results", 0, len(wanted)))
        reading = [self._result(*one, len(wanted)) for one in wanted]
        await in_turn(reading, self._http.policy.connections)
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
            state = "" if run.state == "completed" else f"{how_it_ended(run)} and "
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
                self.account.problem(position, shown, _where(deployment, task, run))
                return
            if wanted.stands_in:
                self._stands_in(at, wanted, run)
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
) -> Account:
    """Reads what the addresses lead to; `accept` gets each result as it arrives."""
    async with asked(addresses, environment, policy) as (http, deployments):
        collection = Collection(http, deployments, accept, have, progress)
        await collection.collect(addresses)
    return collection.account
