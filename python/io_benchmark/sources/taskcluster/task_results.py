# SPDX-License-Identifier: MPL-2.0
"""Read the results of tasks: which runs count, and their files.

Every completed run is a replicate. Where none completed, the newest resolved run that has the
artifact is used instead, and its state marks it. Artifacts of a failed or preempted run stay
readable. A remark names every other run.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.errors import NoArtifactError, ResultError, TooLargeError
from io_benchmark.results.reader import MAXIMUM_BYTES
from io_benchmark.sources.budget import LARGE_AT_ONCE, SMALL_BYTES
from io_benchmark.sources.protocol import IndexPlace, Position, ReadLog, ReadProgress, ReadRequest
from io_benchmark.sources.requests import CONNECTIONS, run_all, run_coroutine
from io_benchmark.sources.run_results import RunResult, TaskRecord
from io_benchmark.sources.taskcluster.addresses import TaskclusterAddress
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.listing import ListedTask, TaskListing, connect
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.text import clean_name

_Runs = tuple[QueueRun, ...]


def choose_runs(task: QueueTask, run_id: int | None, remark: Callable[[str], None]) -> list[_Runs]:
    """Choose the results to read: each is that of the first of some runs that has one.

    Raise a NoArtifactError that explains why there are none.
    """
    runs = sorted(task.status.runs, key=lambda run: run.run_id)
    if run_id is not None:
        numbers = ", ".join(str(run.run_id) for run in runs) or "none"
        runs = [run for run in runs if run.run_id == run_id]
        if not runs:
            raise NoArtifactError(f"{task.title()}: has no run {run_id}; its runs are {numbers}")
    if not runs:
        state = clean_name(task.status.state)
        why = "waits for other tasks" if state == "unscheduled" else "was never started"
        raise NoArtifactError(
            f"{task.title()}: has no runs, it is {state} and {why}; look at its group"
        )
    resolved = [run for run in runs if run.is_resolved]
    if not resolved:
        state = clean_name(runs[-1].state)
        raise NoArtifactError(
            f"{task.title(runs[-1])}: is still {state}; read it again when it has ended"
        )
    completed: list[_Runs] = [(run,) for run in runs if run.state == "completed"]
    for run in resolved if completed else ():
        if run.state != "completed":
            remark(f"{task.title(run)} {run.ending} and is not counted")
    for run in runs:
        if not run.is_resolved:
            state = clean_name(run.state)
            remark(f"{task.title(run)} is still {state} and not counted; read it again later")
    return completed or [tuple(reversed(resolved))]


class _Download(NamedTuple):
    """A result to read: that of the first of these runs that has one."""

    listed: ListedTask
    runs: _Runs

    @property
    def position(self) -> Position:
        return self.listed.position(self.runs[0])

    @property
    def title(self) -> str:
        return self.listed.task.title(self.runs[0])


class ResultReader(Struct):
    """One reading of some addresses."""

    request: ReadRequest
    log: ReadLog = field(default_factory=ReadLog)
    # By position, what is still to be read; and the number of results.
    unread: dict[Position, str] = {}
    _total: int = 0
    # Tasks that will never have a result, and each pool's runs that have one and confirm nothing.
    _without_result: list[tuple[QueueTask, TaskRecord]] = []
    _runs: dict[str, list[QueueRun]] = {}

    async def read(self, tasks: Sequence[ListedTask]) -> None:
        """Read the results of listed tasks, each run once; large ones last."""
        downloads: list[_Download] = []
        seen: set[tuple[str, int]] = set()
        for listed in tasks:
            for runs in self._chosen(listed):
                keys = {(listed.task.task_id, run.run_id) for run in runs}
                downloads += [] if keys & seen else [_Download(listed, runs)]
                seen |= keys
        self._total = len(downloads)
        self.unread = {download.position: download.title for download in downloads}
        self.request.progress(ReadProgress("reading results", 0, self._total))
        large = await self._read_all(downloads, SMALL_BYTES, CONNECTIONS)
        await self._read_all(large, MAXIMUM_BYTES, LARGE_AT_ONCE)
        # A task that was created after the pool's other tasks had started was not planned with them.
        # It was to add a worker, or to confirm a cause.
        for task, record in self._without_result:
            pool_runs = self._runs.get(record.pool, [])
            is_lost = task.pool is not None and not task.was_created_after(pool_runs)
            self.log.without_result.append(replace(record, is_lost=is_lost))

    async def _read_all(
        self, downloads: Sequence[_Download], maximum_bytes: int, at_once: int
    ) -> list[_Download]:
        """Read results of at most this size; return those that are larger."""
        readings = (self._read(download, maximum_bytes) for download in downloads)
        are_large = await run_all(readings, at_once)
        return list(compress(downloads, are_large))

    def _chosen(self, listed: ListedTask) -> list[_Runs]:
        task = listed.task
        try:
            return choose_runs(
                task, listed.run_id, lambda text: self.log.remark(listed.position(), text)
            )
        except NoArtifactError as error:
            self.log.problem(listed.position(), str(error), listed.url(), task.pool)
            return []

    async def _read(self, download: _Download, maximum_bytes: int) -> bool:
        """Read a result; return whether it is to be read later, because it is large."""
        # What was too large for the first reading is larger than that.
        least_bytes = SMALL_BYTES if maximum_bytes > SMALL_BYTES else 0
        if self.request.budget.allows_reading(download.title, least_bytes):
            try:
                await self._read_first(download, maximum_bytes)
            except TooLargeError:
                return True
        self.unread.pop(download.position, None)
        done = self._total - len(self.unread)
        self.request.progress(ReadProgress("reading results", done, self._total))
        return False

    async def _read_first(self, download: _Download, maximum_bytes: int) -> None:
        """Read the first run that has a result; where a run has none, an older one may."""
        listed, task, budget = download.listed, download.listed.task, self.request.budget
        reason = ""
        for run in download.runs:
            title = task.title(run)
            try:
                if self.request.has_run(task.task_id, run.run_id):
                    return
                data = await listed.deployment.result(task, run.run_id, maximum_bytes)
                budget.spend(len(data))
                run_result = RunResult.parse(data, title, listed.url(run))
            except NoArtifactError as error:
                state = "" if run.state == "completed" else f"{run.ending} and "
                reason = reason or f"{title}: {state}{error}"
                continue
            except ResultError as error:
                if isinstance(error, TooLargeError):
                    budget.spend(maximum_bytes)
                    if maximum_bytes < MAXIMUM_BYTES:
                        raise
                line = str(error) if str(error).startswith(title) else f"{title}: {error}"
                self._problem(listed, run, line)
                return
            if listed.run_id is None and run.state != "completed":
                self._remark_on_substitute(download, run)
            self._accept(listed, run, run_result, data)
            return
        newest = download.runs[0]
        line = self._problem(listed, newest, reason)
        if task.status.is_resolved:
            record = replace(task.record(newest, task.pool or ""), problem=line)
            self._without_result.append((task, record))

    def _accept(
        self, listed: ListedTask, run: QueueRun, run_result: RunResult, data: bytes
    ) -> None:
        pool = listed.task.pool or run_result.pool
        if run_result.result.config.pace_bytes_per_s is None:
            self._runs.setdefault(pool, []).append(run)
        run_result = replace(run_result, task=listed.task.record(run, pool))
        if listed.task.past is not None:
            root_url = listed.deployment.access.root_url
            self.log.pasts.setdefault(pool, IndexPlace(root_url, listed.task.past))
        self.request.accept(listed.position(run), run_result, data)

    def _problem(self, listed: ListedTask, run: QueueRun, sentence: str) -> str:
        return self.log.problem(listed.position(run), sentence, listed.url(run), listed.task.pool)

    def _remark_on_substitute(self, download: _Download, chosen: QueueRun) -> None:
        for run in download.runs:
            use = "is used, because no run completed" if run is chosen else "is not counted"
            remark = f"{download.listed.task.title(run)} {run.ending} and {use}"
            self.log.remark(download.listed.position(run), remark)


def read_results(addresses: Mapping[int, TaskclusterAddress], request: ReadRequest) -> ReadLog:
    """Read the results at the addresses; name those that were not read in time."""
    reader = ResultReader(request)
    reader.unread = {Position(number): str(address) for number, address in addresses.items()}

    async def read() -> None:
        async with connect(addresses, request.environment) as deployments:
            listing = TaskListing(deployments, request.progress, log=reader.log)
            try:
                async with asyncio.timeout(request.budget.left_s()):
                    await reader.read(await listing.tasks(addresses))
            except TimeoutError:
                for position, title in reader.unread.items():
                    problem = f"{title}: was not read in time; read it again"
                    reader.log.problem(position, problem)

    run_coroutine(read())
    return reader.log
