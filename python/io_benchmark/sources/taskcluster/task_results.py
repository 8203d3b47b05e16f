# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Read the results of tasks: which runs count, and their files.

Every completed run is a replicate. Where none completed, the newest resolved run that has the
artifact is used instead, and its state marks it. Artifacts of a failed or preempted run stay
readable. A remark names every other run.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark import results
from io_benchmark.errors import NoArtifactError, ResultError, TooLargeError
from io_benchmark.results.reader import MAXIMUM_BYTES
from io_benchmark.sources.budget import LARGE_AT_ONCE, SMALL_BYTES, weight_bytes
from io_benchmark.sources.event_loop import run_all
from io_benchmark.sources.protocol import (
    Position,
    ReadLog,
    ReadProgress,
    ReadRequest,
    RunResult,
    TaskRecord,
)
from io_benchmark.sources.taskcluster.addresses import TaskAddress, TaskclusterAddress
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.listing import ListedTask, TaskListing, connect
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.sources.web.web_client import WebClient
from io_benchmark.text import clean_name


class _RunChoice(NamedTuple):
    """Which results of a task to read, and messages. Each is that of the first of some runs."""

    wanted: tuple[tuple[QueueRun, ...], ...]
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    are_substitutes: bool = False  # for a completed run, because none completed


def _choose_runs(task: QueueTask, run_id: int | None) -> _RunChoice:
    """Choose the runs to read, or explain why there are none."""
    if run_id is not None:
        return _named(task, run_id)
    runs = sorted(task.status.runs, key=lambda run: run.run_id)
    completed = [run for run in runs if run.state == "completed"]
    resolved = [run for run in runs if run.is_resolved]
    unfinished = [run for run in runs if not run.is_resolved]
    remarks = tuple(
        f"{task.title(run)} is still {clean_name(run.state)} and not counted; read it again later"
        for run in unfinished
        if resolved
    )
    if completed:
        others = tuple(
            f"{task.title(run)} {run.ending} and is not counted"
            for run in resolved
            if run.state != "completed"
        )
        return _RunChoice(tuple((run,) for run in completed), remarks=others + remarks)
    if resolved:
        newest_first = tuple(reversed(resolved))
        return _RunChoice((newest_first,), remarks=remarks, are_substitutes=True)
    if unfinished:
        return _RunChoice((), (_unfinished(task, unfinished[-1]),))
    return _RunChoice((), (_without_runs(task),))


def _named(task: QueueTask, run_id: int) -> _RunChoice:
    run = task.find_run(run_id)
    if run is None:
        numbers = ", ".join(str(run.run_id) for run in task.status.runs) or "none"
        problem = f"{task.title()}: has no run {run_id}; its runs are {numbers}"
        return _RunChoice((), (problem,))
    if not run.is_resolved:
        return _RunChoice((), (_unfinished(task, run),))
    return _RunChoice(((run,),))


def _unfinished(task: QueueTask, run: QueueRun) -> str:
    return f"{task.title(run)}: is still {clean_name(run.state)}; read it again when it has ended"


def _without_runs(task: QueueTask) -> str:
    state = clean_name(task.status.state)
    why = "waits for other tasks" if state == "unscheduled" else "was never started"
    return f"{task.title()}: has no runs, it is {state} and {why}; look at its group"


class _Download(NamedTuple):
    """A result to read: that of the first of these runs that has one."""

    number: int
    deployment: Deployment
    task: QueueTask
    runs: tuple[QueueRun, ...]
    is_substitute: bool  # for a completed run, because none completed

    @property
    def position(self) -> Position:
        return self.position_of(self.runs[0])

    @property
    def title(self) -> str:
        return self.task.title(self.runs[0])

    def position_of(self, run: QueueRun) -> Position:
        return Position(self.number, self.task.label, self.task.task_id, run.run_id)

    def url_of(self, run: QueueRun) -> str:
        """Return the address at which a browser shows the run."""
        return TaskAddress(self.deployment.access.root_url, self.task.task_id, run.run_id).url


class ResultReader:
    """One reading of some addresses."""

    def __init__(
        self, client: WebClient, deployments: Mapping[str, Deployment], request: ReadRequest
    ) -> None:
        self._listing = TaskListing(deployments, request.progress)
        self.log = self._listing.log
        self._client = client
        self._request = request
        self._budget = request.budget
        self._total = 0
        # By position: what is still to be read, and what is read last because it is large.
        self._unread: dict[Position, str] = {}
        self._large: list[_Download] = []
        self._seen: set[tuple[str, int]] = set()
        # Tasks that will never have a result, and each pool's runs that have one and confirm nothing.
        self._without_result: list[tuple[QueueTask, TaskRecord]] = []
        self._runs: dict[str, list[QueueRun]] = {}

    async def read_addresses(self, addresses: Mapping[int, TaskclusterAddress]) -> None:
        """Read the results at the addresses; name those that were not read in time."""
        try:
            async with asyncio.timeout(self._budget.left_s()):
                await self.read(await self._listing.tasks(addresses))
        except TimeoutError:
            if not self._total:
                self._unread = {
                    Position(number): str(address) for number, address in addresses.items()
                }
            for position, title in self._unread.items():
                self.log.problem(position, f"{title}: was not read in time; read it again")
        self.log.requests = self._client.requests

    async def read(self, tasks: Sequence[ListedTask]) -> None:
        """Read the results of listed tasks, large ones last."""
        downloads = [download for listed in tasks for download in self._downloads(listed)]
        self._total = len(downloads)
        self._unread = {download.position: download.title for download in downloads}
        self._request.progress(ReadProgress("reading results", 0, self._total))
        small = [self._result(download, SMALL_BYTES) for download in downloads]
        await run_all(small, self._client.policy.connections)
        large = [self._result(download, MAXIMUM_BYTES) for download in self._large]
        await run_all(large, LARGE_AT_ONCE)
        self.log.without_result += self._ended_without_result()
        self.log.requests = self._client.requests

    def _downloads(self, listed: ListedTask) -> list[_Download]:
        """Choose what to read of a task, each run once however many addresses lead to it."""
        number, deployment, task, run_id = listed
        choice = _choose_runs(task, run_id)
        position = Position(number, task.label, task.task_id)
        for problem in choice.problems:
            url = TaskAddress(deployment.access.root_url, task.task_id).url
            line = self.log.problem(position, problem, url, task.pool)
            if run_id is None and task.status.is_resolved:
                self._add_without_result(task, QueueRun(0, task.status.state), line)
        for remark in choice.remarks:
            self.log.remark(position, remark)
        downloads = []
        for runs in choice.wanted:
            keys = {(task.task_id, run.run_id) for run in runs}
            if not keys & self._seen:
                download = _Download(number, deployment, task, runs, choice.are_substitutes)
                downloads.append(download)
            self._seen |= keys
        return downloads

    async def _result(self, download: _Download, maximum_bytes: int) -> None:
        # What was too large for the first reading is larger than that.
        least_bytes = SMALL_BYTES if maximum_bytes > SMALL_BYTES else 0
        if self._budget.allows_reading(download.title, least_bytes):
            try:
                await self._first_result(download, maximum_bytes)
            except TooLargeError:
                self._large.append(download)
                return
        self._unread.pop(download.position, None)
        done = self._total - len(self._unread)
        self._request.progress(ReadProgress("reading results", done, self._total))

    async def _first_result(self, download: _Download, maximum_bytes: int) -> None:
        """Read the first run that has a result; where a run has none, an older one may."""
        task = download.task
        problem = ""
        for run in download.runs:
            title = task.title(run)
            state = "" if run.state == "completed" else f"{run.ending} and "
            try:
                if self._request.has_run(task.task_id, run.run_id):
                    return
                data = await download.deployment.result(task, run.run_id, maximum_bytes)
                self._budget.spend(len(data))
                result = results.parse(data, title)
            except TooLargeError as error:
                self._budget.spend(maximum_bytes)
                if maximum_bytes < MAXIMUM_BYTES:
                    raise
                self._problem(download, run, f"{title}: {error}")
                return
            except NoArtifactError as error:
                problem = problem or f"{title}: {state}{error}"
                continue
            except ResultError as error:
                text = str(error)
                self._problem(download, run, text if text.startswith(title) else f"{title}: {text}")
                return
            if download.is_substitute:
                self._remark_on_substitute(download, run)
            await self._accept(download, run, result, data)
            return
        line = self._problem(download, download.runs[0], problem)
        if task.status.is_resolved:
            self._add_without_result(task, download.runs[0], line)

    def _add_without_result(self, task: QueueTask, run: QueueRun, problem: str) -> None:
        record = replace(task.record(run, task.pool or ""), problem=problem)
        self._without_result.append((task, record))

    def _ended_without_result(self) -> list[TaskRecord]:
        """Return a record of each task that ended without a result.

        A task that was created after the pool's other tasks had started was not planned with them. It
        was to add a worker, or to confirm a cause.
        """
        return [
            replace(
                record,
                is_lost=task.pool is not None
                and not task.was_created_after(self._runs.get(task.pool, [])),
            )
            for task, record in self._without_result
        ]

    async def _accept(
        self, download: _Download, run: QueueRun, result: results.Result, data: bytes
    ) -> None:
        pool = download.task.pool or result.task.pool
        record = download.task.record(run, pool)
        if result.config.pace_bytes_per_s is None:
            self._runs.setdefault(pool, []).append(run)
        weight = weight_bytes(result, data)
        run_result = RunResult(result, record, download.url_of(run), len(data), weight)
        position = download.position_of(run)
        if self._request.accept_blocks:
            # A slow disk must not delay other downloads. Ctrl-C does not cut a thread short either,
            # so that what it writes becomes whole.
            await asyncio.to_thread(self._request.accept, position, run_result, data)
        else:
            self._request.accept(position, run_result, data)

    def _problem(self, download: _Download, run: QueueRun, text: str) -> str:
        url, pool = download.url_of(run), download.task.pool
        return self.log.problem(download.position_of(run), text, url, pool)

    def _remark_on_substitute(self, download: _Download, chosen: QueueRun) -> None:
        for run in download.runs:
            use = "is used, because no run completed" if run is chosen else "is not counted"
            text = f"{download.task.title(run)} {run.ending} and {use}"
            self.log.remark(download.position_of(run), text)


async def read_results(
    addresses: Mapping[int, TaskclusterAddress], request: ReadRequest
) -> ReadLog:
    """Read the results at the addresses."""
    async with connect(addresses, request.environment, request.policy) as (client, deployments):
        reader = ResultReader(client, deployments, request)
        await reader.read_addresses(addresses)
    return reader.log
