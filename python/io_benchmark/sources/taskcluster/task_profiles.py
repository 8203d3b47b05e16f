# SPDX-License-Identifier: MPL-2.0
"""Read the profiles that tasks published: `measure`'s own, else the resource profile of the machine.

Every completed run is one profile. Its label, pool, worker and times come from the queue.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct

from io_benchmark.errors import NoArtifactError, ResultError
from io_benchmark.number_text import number_of
from io_benchmark.results.format import TaskProfile
from io_benchmark.results.resource_profile import MAXIMUM_RESOURCE_BYTES, parse_any_profile
from io_benchmark.sources.protocol import LAST, ProfileQuery, ReadLog, ReadProgress
from io_benchmark.sources.requests import run_all, run_coroutine
from io_benchmark.sources.run_results import RunProfile
from io_benchmark.sources.taskcluster.addresses import TaskAddress, TaskclusterAddress
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.listing import ListedTask, TaskListing, connect
from io_benchmark.sources.taskcluster.task_results import choose_runs

# A profile of an hour has 2 MB.
_PROFILES_AT_ONCE = 4
# Of a push; a prediction of each label takes three.
_MOST_RUNS = 300
_Run = tuple[ListedTask, QueueRun]


def read_task_profiles(addresses: Mapping[int, TaskclusterAddress], query: ProfileQuery) -> ReadLog:
    """Give the query the profiles of all tasks at the addresses."""

    async def read() -> ReadLog:
        async with connect(addresses, query.environment) as deployments:
            listing = TaskListing(deployments, query.progress, every_kind=True)
            reader = _ProfileReader(addresses, query, listing.log)
            await reader.read(await listing.tasks(addresses))
            return listing.log

    return run_coroutine(read())


class _ProfileReader(Struct):
    """One reading of some addresses."""

    addresses: Mapping[int, TaskclusterAddress]
    query: ProfileQuery
    log: ReadLog
    _without: int = 0  # tasks of groups, most of which publish no profile

    async def read(self, tasks: Sequence[ListedTask]) -> None:
        """Read the profiles of all completed runs."""
        runs = [(listed, run) for listed in tasks for run in self._completed_runs(listed)]
        if len(runs) > _MOST_RUNS:
            remark = f"read the profiles of {_MOST_RUNS} of {len(runs):,} runs; name fewer tasks"
            self.log.remark(LAST, remark)
        readings = (self._read_run(*run) for run in runs[:_MOST_RUNS])
        self.query.progress(ReadProgress("reading profiles", 0, len(runs)))
        await run_all(readings, _PROFILES_AT_ONCE)
        if self._without:
            without = number_of(self._without, "task")
            self.log.remark(LAST, f"of groups, {without} published no profile and are left out")

    def _completed_runs(self, listed: ListedTask) -> list[QueueRun]:
        """Return the runs that completed; the profile of another one is not of all of the task."""
        task, runs = listed.task, list[QueueRun]()
        problem = (
            f"{task.title()}: publishes no profile; run it with `benchmark: {{measure: FOLDER}}`"
        )
        try:
            if task.profiles:
                problem = f"{task.title()}: {task.ending}; a prediction needs a completed run"
                chosen = choose_runs(
                    task, listed.run_id, partial(self.log.remark, listed.position())
                )
                runs = [run for (run, *_) in chosen if run.state == "completed"]
        except NoArtifactError as error:
            problem = str(error)
        if not runs:
            self._absent(listed, None, problem)
        return runs

    async def _read_run(self, listed: ListedTask, run: QueueRun) -> None:
        """Read the best profile that a run left; what cannot be read is a problem and stops nothing."""
        task, budget, title = listed.task, self.query.budget, listed.task.title(run)
        reason = ""
        for artifact in task.profiles if budget.allows_reading(title) else ():
            try:
                data = await listed.deployment.result(
                    task, run.run_id, MAXIMUM_RESOURCE_BYTES, artifact
                )
                budget.spend(len(data))
                profile = await asyncio.to_thread(parse_any_profile, data, title)
            except NoArtifactError as error:
                reason = reason or f"{title}: {error}"
            except ResultError as error:
                line = str(error) if str(error).startswith(title) else f"{title}: {error}"
                self.log.problem(listed.position(run), line, listed.url(run))
                return
            else:
                record = task.record(run, task.status.queue.rpartition("/")[2])
                pool = profile.task.pool if isinstance(profile, TaskProfile) else None
                profiled = RunProfile(
                    profile, listed.url(run), task.label, pool or record.pool, record.task_ns
                )
                self.query.profiles.append((listed.position(run), profiled))
                return
        if reason:
            self._absent(listed, run, reason)

    def _absent(self, listed: ListedTask, run: QueueRun | None, sentence: str) -> None:
        if isinstance(self.addresses[listed.number], TaskAddress):
            self.log.problem(listed.position(run), sentence, listed.url(run))
        else:
            self._without += 1
