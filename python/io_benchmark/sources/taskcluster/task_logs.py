# SPDX-License-Identifier: MPL-2.0
"""Read the logs of tasks' runs, several at once, within the limits of a command."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.phases.phase_model import RunPhases
from io_benchmark.analysis.phases.read_log import RunFacts
from io_benchmark.errors import GaveUpError, MissingError, ResultError
from io_benchmark.number_text import digits, number_of, size
from io_benchmark.sources import protocol
from io_benchmark.sources.requests import run_all
from io_benchmark.sources.run_logs import LogSink, facts_of, nanoseconds
from io_benchmark.sources.silence import in_progress
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.listing import ListedTask
from io_benchmark.sources.web_client import WebClient
from io_benchmark.text import clean

_AT_ONCE = 8  # each keeps some MB
_GROWING_S = 5.0  # a log that grows is sent until its task ends
_FEW_LOGS = 20
_RECENT_TASKS = 20  # of a worker; earlier ones are forgotten
_Run = tuple[ListedTask, QueueRun]


class TaskLogs(Struct):
    """One reading of logs, of whatever was listed or is named by task and run."""

    query: protocol.LogQuery
    done: int = 0
    _received_bytes: int = 0
    _total: int = 0
    _is_of_many: bool = False
    _failures: Counter[str] = field(default_factory=Counter)  # by the reason

    async def read_tasks(self, tasks: Sequence[ListedTask]) -> None:
        """Read the log of each task's completed run, else of its newest one; or of one named."""
        chosen = [(listed, _choose_run(listed)) for listed in tasks]
        runs = [(listed, run) for listed, run in chosen if run is not None]
        without = len(chosen) - len(runs)
        if without and runs:
            line = f"without a log, because they never started: {number_of(without, 'task')}"
            self.query.remark(protocol.LAST, line)
        elif without:
            listed = chosen[0][0]
            run_name = "" if listed.run_id is None else f" run {listed.run_id}"
            line = f"{listed.task.title()}:{run_name} never started, so that there is no log"
            self.query.problem(listed.position(), line, listed.url())
        await self.read_runs(runs)

    async def read_runs(self, runs: Sequence[_Run]) -> None:
        """Read the logs of these runs; what was kept of one is not read again."""
        new = []
        for listed, run in runs:
            kept = self.query.kept.get((listed.task.task_id, run.run_id))
            if kept is None:
                new.append((listed, run))
            else:
                self.query.accept_phases(listed.position(run), kept)
        limit = self.query.limits.runs
        if len(new) > limit:
            self.query.remark(
                protocol.LAST,
                f"read the logs of {number_of(limit, 'run')} of {len(new):,}; select fewer, or go "
                "on with --readings",
            )
        self._total, self._is_of_many = len(new[:limit]), len(runs) > 1
        self._tell_cost()
        await run_all((self._read_run(*run) for run in new[:limit]), _AT_ONCE)
        for reason, count in sorted(self._failures.items()):
            line = f"logs of {number_of(count, 'run')} cannot be read: {reason}"
            self.query.problem(protocol.LAST, line)

    def _tell_cost(self) -> None:
        """Show what many logs may cost before the first is read."""
        limits = self.query.limits
        if self._total > _FEW_LOGS:
            most = size(min(limits.total_bytes, self._total * limits.log_bytes))
            self.query.tell(
                f"reading the logs of {number_of(self._total, 'run')}: at most {most}, "
                f"{limits.seconds / 60:g} min"
            )

    def remark_on_time(self) -> None:
        left_s = digits(self.query.limits.seconds)
        self.query.remark(
            protocol.LAST,
            f"read {number_of(self.done, 'log')} of {self._total:,} within {left_s} s; select "
            "fewer, or go on with --readings",
        )

    async def _read_run(self, listed: ListedTask, run: QueueRun) -> None:
        limits = self.query.limits
        if self._received_bytes >= limits.total_bytes:
            self._failures[f"one command reads at most {size(limits.total_bytes)} of logs"] += 1
            return
        title = listed.task.title(run)
        try:
            phases = await self._phases(listed, run)
        except ResultError as error:
            if isinstance(error, GaveUpError):
                self.query.gave_up += 1
            if self._is_of_many:
                self._failures[str(error)] += 1
            else:
                self.query.problem(listed.position(run), f"{title}: {error}", listed.url(run))
        else:
            self.query.accept_phases(listed.position(run), phases)
        self.done += 1
        self.query.progress("reading logs", self.done, self._total)

    async def _phases(self, listed: ListedTask, run: QueueRun) -> RunPhases:
        """Return the phases of a run; a log that grows is read as far as it is."""
        facts = facts_of(listed.task, run)
        if self._total <= _FEW_LOGS:
            facts = await _with_worker_start(listed, run, facts)
        sinks: list[LogSink] = []

        def new_sink() -> LogSink:
            sinks.append(LogSink(facts, self.query.limits.log_bytes))
            return sinks[-1]

        try:
            # What the time of a log that grows was enough for is read.
            with suppress(TimeoutError):
                async with asyncio.timeout(None if run.is_resolved else _GROWING_S):
                    await self._stream(listed, run, new_sink)
        finally:
            self._received_bytes += sum(sink.received_bytes for sink in sinks)
        whole = max(sinks, key=lambda sink: sink.received_bytes, default=None)
        if whole is None:
            raise ResultError("its log does not arrive; try again later")
        return await asyncio.to_thread(whole.finish, is_growing=not run.is_resolved)

    async def _stream(
        self, listed: ListedTask, run: QueueRun, new_sink: Callable[[], LogSink]
    ) -> None:
        """Read the first of the names that a log may have."""
        task, deployment = listed.task, listed.deployment
        for name in task.logs:
            try:
                content = await deployment.content(task, run, name)
            except MissingError:
                continue
            url = content.url or ""
            if content.storage_type == "error" or not WebClient.can_request(url):
                why = clean(content.reason or content.storage_type, 50)
                raise ResultError(f"its log is an artifact without content ({why})")
            with suppress(MissingError):
                return await deployment.http.retry(
                    url, partial(_attempt, deployment, url, new_sink)
                )
        raise ResultError("it has no log: it has expired, or the worker died before it wrote one")


async def _with_worker_start(listed: ListedTask, run: QueueRun, facts: RunFacts) -> RunFacts:
    """Add when the run's worker was made and ready, if this was its first task."""
    group, name = run.worker_group or "", run.worker_id or ""
    try:
        seen, made = await listed.deployment.worker(listed.task.status.queue, group, name)
    except ResultError:
        return facts  # it has expired, or who asks may not know it
    tasks = seen.recent_tasks
    if len(tasks) >= _RECENT_TASKS or not tasks or tasks[0].task_id != listed.task.task_id:
        return facts
    return replace(
        facts,
        worker_made_ns=nanoseconds(made.created),
        worker_ready_ns=nanoseconds(seen.first_claim),
    )


def _choose_run(listed: ListedTask) -> QueueRun | None:
    runs = [run for run in listed.task.status.runs if run.started is not None]
    if listed.run_id is not None:
        runs = [run for run in runs if run.run_id == listed.run_id]
    completed = [run for run in runs if run.state == "completed"]
    return next(reversed(completed or runs), None)


async def _attempt(deployment: Deployment, url: str, new_sink: Callable[[], LogSink]) -> None:
    await deployment.http.download(url, 0, deployment.access.root_url, new_sink().take)


def read_named_logs(
    root_url: str, keys: Sequence[protocol.RunKey], query: protocol.LogQuery
) -> None:
    """Read the logs of runs that are named by their task and number."""
    logs = TaskLogs(query)

    async def read(deployments: Mapping[str, Deployment]) -> None:
        deployment = deployments[root_url]
        new = [task_id for task_id, run_id in keys if (task_id, run_id) not in query.kept]
        tasks = await deployment.tasks(list(dict.fromkeys(new)))
        runs = []
        for number, (task_id, run_id) in enumerate(keys):
            task, kept = tasks.get(task_id), query.kept.get((task_id, run_id))
            if kept is not None:
                query.accept_phases(protocol.Position(number), kept)
            elif task is not None:
                listed = ListedTask(number, deployment, task, run_id)
                runs += [(listed, run) for run in task.status.runs if run.run_id == run_id]
        await logs.read_runs(runs)

    try:
        notice = in_progress(query.progress)
        Deployment.run([root_url], query.environment, read, query.budget.left_s(), notice)
    except TimeoutError:
        logs.remark_on_time()
