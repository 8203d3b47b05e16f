# SPDX-License-Identifier: MPL-2.0
"""Read what tasks published: which runs count, and their results or profiles.

Every completed run is a replicate. Where none completed, the newest resolved run that has the
artifact is used instead, and its state marks it. Artifacts of a failed or preempted run stay
readable. A remark names every other run.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.errors import GaveUpError, NoArtifactError, ResultError, TooLargeError
from io_benchmark.number_text import number_of
from io_benchmark.results.format import TaskProfile
from io_benchmark.results.reader import MAXIMUM_BYTES
from io_benchmark.results.resource_profile import MAXIMUM_RESOURCE_BYTES, parse_any_profile
from io_benchmark.sources import protocol
from io_benchmark.sources.budget import LARGE_AT_ONCE, SMALL_BYTES
from io_benchmark.sources.requests import CONNECTIONS, run_all
from io_benchmark.sources.run_results import RunProfile, RunResult, TaskRecord
from io_benchmark.sources.taskcluster.addresses import IndexAddress, TaskAddress, TaskclusterAddress
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.listing import ListedTask, read_listed
from io_benchmark.sources.taskcluster.tasks import ARTIFACT, QueueTask
from io_benchmark.text import clean_name

T = TypeVar("T")

_PROFILES_AT_ONCE = 4  # a profile of an hour has 2 MB
_MOST_PROFILES = 300  # the profiles that are read of a push; a prediction of each label takes three
_Runs = tuple[QueueRun, ...]
_Download = tuple[ListedTask, _Runs]  # a result: that of the first of these runs that has one


def _choose_runs(listed: ListedTask, reading: protocol.Reading) -> list[_Runs]:
    """Choose what to read: each is the file of the first of some runs that has one.

    Raise a NoArtifactError that explains why there are none.
    """
    task, run_id = listed.task, listed.run_id
    remark = partial(reading.remark, listed.position())
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
    for run in runs:
        if not run.is_resolved:
            state = clean_name(run.state)
            remark(f"{task.title(run)} is still {state} and not counted; read it again later")
        elif completed and run.state != "completed":
            remark(f"{task.title(run)} {run.ending} and is not counted")
    return completed or [tuple(reversed(resolved))]


async def _read_first(
    listed: ListedTask,
    files: Iterable[tuple[QueueRun, str]],
    parse: Callable[[bytes, str], T],
    reading: protocol.Reading,
    maximum_bytes: int,
) -> tuple[QueueRun, bytes, T] | None:
    """Read the first of these artifacts of runs that exists; one that cannot be read is a problem.

    Raise a NoArtifactError with the reason of the first where none exists, and a TooLargeError
    where only small ones are read now.
    """
    reasons = []
    for run, artifact in files:
        title = listed.task.title(run)
        try:
            if reading.has_run(listed.task.task_id, run.run_id):
                return None
            data = await listed.deployment.result(listed.task, run, maximum_bytes, artifact)
            reading.budget.read_bytes -= len(data)
            return run, data, await asyncio.to_thread(parse, data, title)
        except NoArtifactError as error:
            state = "" if run.state == "completed" else f"{run.ending} and "
            reasons.append(f"{title}: {state}{error}")
        except ResultError as error:
            if isinstance(error, TooLargeError):
                reading.budget.read_bytes -= maximum_bytes
                if maximum_bytes == SMALL_BYTES:
                    raise
            if isinstance(error, GaveUpError):
                reading.gave_up += 1
            line = str(error) if str(error).startswith(title) else f"{title}: {error}"
            reading.problem(listed.position(run), line, listed.url(run), listed.task.pool)
            return None
    raise NoArtifactError(reasons[0])


class ResultReader(Struct):
    request: protocol.Reading
    # By position, what is still to be read; and the number of results.
    unread: dict[protocol.Position, str] = {}
    _total: int = 0
    # Tasks that will never have a result, and each pool's runs that have one and confirm nothing.
    _without_result: list[tuple[QueueTask, TaskRecord]] = []
    _runs: dict[str, list[QueueRun]] = {}

    def read_all(self, addresses: Mapping[int, TaskclusterAddress]) -> None:
        """Read the results at the addresses; name those that were not read in time."""
        self.unread = {
            protocol.Position(number): str(address) for number, address in addresses.items()
        }
        try:
            read_listed(addresses, self.request, self.read)
        except TimeoutError:
            for position, title in self.unread.items():
                self.request.problem(position, f"{title}: was not read in time; read it again")

    async def read(self, tasks: Sequence[ListedTask]) -> None:
        """Read the results of listed tasks, each run once; large ones last."""
        downloads: list[_Download] = []
        seen: set[tuple[str, int]] = set()
        for listed in tasks:
            try:
                chosen = _choose_runs(listed, self.request)
            except NoArtifactError as error:
                self.request.problem(listed.position(), str(error), listed.url(), listed.task.pool)
                continue
            for runs in chosen:
                keys = {(listed.task.task_id, run.run_id) for run in runs}
                downloads += [] if keys & seen else [(listed, runs)]
                seen |= keys
        self._total = len(downloads)
        self.unread = {
            listed.position(runs[0]): listed.task.title(runs[0]) for listed, runs in downloads
        }
        self.request.progress("reading results", 0, self._total)
        small = (self._read(download, SMALL_BYTES) for download in downloads)
        are_large = await run_all(small, CONNECTIONS)
        large = (self._read(download, MAXIMUM_BYTES) for download in compress(downloads, are_large))
        await run_all(large, LARGE_AT_ONCE)
        # A task that was created after the pool's other tasks had started was not planned with
        # them. It was to add a worker, or to confirm a cause.
        for task, record in self._without_result:
            pool_runs = self._runs.get(record.pool, [])
            is_lost = task.pool is not None and not task.was_created_after(pool_runs)
            self.request.without_result.append(replace(record, is_lost=is_lost))

    async def _read(self, download: _Download, maximum_bytes: int) -> bool:
        """Read a result; return whether it is to be read later, because it is large."""
        # What was too large for the first reading is larger than that.
        least_bytes = SMALL_BYTES if maximum_bytes > SMALL_BYTES else 0
        (listed, runs), request = download, self.request
        if request.budget.allows_reading(listed.task.title(runs[0]), least_bytes):
            try:
                files = ((run, ARTIFACT) for run in runs)
                file = await _read_first(listed, files, RunResult.parse, request, maximum_bytes)
            except TooLargeError:
                return True
            except NoArtifactError as error:
                task, position = listed.task, listed.position(runs[0])
                line = request.problem(position, str(error), listed.url(runs[0]), task.pool)
                if task.status.is_resolved:
                    record = replace(task.record(runs[0], task.pool or ""), problem=line)
                    self._without_result.append((task, record))
            else:
                if file is not None:
                    self._accept(download, *file)
        self.unread.pop(listed.position(runs[0]), None)
        request.progress("reading results", self._total - len(self.unread), self._total)
        return False

    def _accept(
        self, download: _Download, chosen: QueueRun, data: bytes, run_result: RunResult
    ) -> None:
        listed, runs = download
        task = listed.task
        if listed.run_id is None and chosen.state != "completed":
            for run in runs:
                use = "is read, because no run completed" if run is chosen else "is not counted"
                self.request.remark(
                    listed.position(run), f"{task.title(run)} {run.ending} and {use}"
                )
        pool = task.pool or run_result.pool
        if run_result.result.config.pace_bytes_per_s is None:
            self._runs.setdefault(pool, []).append(chosen)
        if task.past is not None:
            root_url = listed.deployment.access.root_url
            self.request.pasts.setdefault(pool, set()).add(IndexAddress(root_url, task.past))
        run_result = replace(run_result, task=task.record(chosen, pool), source=listed.url(chosen))
        self.request.accept(listed.position(chosen), run_result, data)


class ProfileReader(Struct):
    """One reading of profiles: `measure`'s own, else the resource profile of the machine.

    Every completed run is one profile. Its label, pool, worker and times come from the queue.
    """

    addresses: Mapping[int, TaskclusterAddress]
    query: protocol.Reading
    _without: int = 0  # tasks of groups, most of which publish no profile

    async def read(self, tasks: Sequence[ListedTask]) -> None:
        runs = [(listed, run) for listed in tasks for run in self._completed_runs(listed)]
        if len(runs) > _MOST_PROFILES:
            self.query.remark(
                protocol.LAST,
                f"read the profiles of {_MOST_PROFILES} of {len(runs):,} runs; name fewer tasks",
            )
        self.query.progress("reading profiles", 0, len(runs))
        await run_all((self._read_run(*run) for run in runs[:_MOST_PROFILES]), _PROFILES_AT_ONCE)
        if self._without:
            self.query.remark(
                protocol.LAST,
                f"of groups, {number_of(self._without, 'task')} published no profile and are left "
                "out",
            )

    def _completed_runs(self, listed: ListedTask) -> list[QueueRun]:
        """Return the runs that completed; the profile of another one is not of all of the task."""
        task, runs = listed.task, list[QueueRun]()
        problem = (
            f"{task.title()}: publishes no profile; run it with `benchmark: {{measure: FOLDER}}`"
        )
        try:
            if task.profiles:
                problem = f"{task.title()}: {task.ending}; a prediction needs a completed run"
                chosen = _choose_runs(listed, self.query)
                runs = [run for (run, *_) in chosen if run.state == "completed"]
        except NoArtifactError as error:
            problem = str(error)
        if not runs:
            self._absent(listed, None, problem)
        return runs

    async def _read_run(self, listed: ListedTask, run: QueueRun) -> None:
        task = listed.task
        if not self.query.budget.allows_reading(task.title(run)):
            return
        files = ((run, artifact) for artifact in task.profiles)
        try:
            file = await _read_first(
                listed, files, parse_any_profile, self.query, MAXIMUM_RESOURCE_BYTES
            )
        except NoArtifactError as error:
            self._absent(listed, run, str(error))
            return
        if file is not None:
            *_, profile = file
            record = task.record(run, task.status.queue.rpartition("/")[2])
            pool = profile.task.pool if isinstance(profile, TaskProfile) else None
            profiled = RunProfile(
                profile, listed.url(run), task.label, pool or record.pool, record.task_ns
            )
            self.query.profiles.append((listed.position(run), profiled))

    def _absent(self, listed: ListedTask, run: QueueRun | None, sentence: str) -> None:
        if isinstance(self.addresses[listed.number], TaskAddress):
            self.query.problem(listed.position(run), sentence, listed.url(run))
        else:
            self._without += 1
