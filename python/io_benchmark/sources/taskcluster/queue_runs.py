# SPDX-License-Identifier: MPL-2.0
"""Read the runs of any tasks, and what the queue knows about one.

Its label's tasks in earlier pushes are read as well. When a task's own work began and ended is
known where it publishes that: results of this benchmark, and profiles that `measure` wrote.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from io_benchmark.errors import MissingError, NoArtifactError, ResultError, TooLargeError
from io_benchmark.results.reader import MAXIMUM_BYTES
from io_benchmark.sources.protocol import FIRST, RunQuery
from io_benchmark.sources.requests import run_all
from io_benchmark.sources.run_results import LATEST_MS, TaskRun, parse_time
from io_benchmark.sources.taskcluster.addresses import TaskAddress
from io_benchmark.sources.taskcluster.api_answers import QueueRun, Slug, decode
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.listing import ListedTask
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.text import clean_name

_RESULTS_AT_ONCE = 8
# Reading a file for two times is worth it for a comparison, not for an archive.
_MOST_OWN_TIMES = 500
# The route of a decision task; repositories without a log of pushes have none.
_PUSH = re.compile(r"index\.((?:[A-Za-z0-9_-]+\.)+pushlog-id)\.([0-9]{1,9})\.decision")
# How many pushes earlier: many of the last days, and a few of the last weeks.
_EARLIER = (1, 2, 3, 5, 8, 12, 18, 27, 41, 61, 92, 138, 207, 311, 467, 700, 1050, 1580, 2360)
_LABELS, _MOST_LABELS_BYTES = "public/label-to-taskid.json", 16 * 1024 * 1024
_Run = tuple[ListedTask, QueueRun]
_Times = tuple[int, int]  # milliseconds since 1970
_NO_TIMES: _Times = (-1, -1)


class _OwnTimes(msgspec.Struct, frozen=True):
    started: str
    ended: str | None = None
    duration_ns: int | None = None


_OWN_TIMES = msgspec.json.Decoder(_OwnTimes)  # made once: it is used in several threads


async def read_queue_runs(query: RunQuery, tasks: Sequence[ListedTask]) -> None:
    ended: list[_Run] = []
    unfinished = 0
    for listed in tasks:
        task = listed.task
        if query.wants_task(task.label, task.status.queue, listed.number):
            runs = [run for run in task.status.runs if listed.run_id in (None, run.run_id)]
            ended += [(listed, run) for run in runs if run.is_resolved]
            unfinished += sum(not run.is_resolved for run in runs)
    if unfinished:
        query.remark(
            FIRST,
            f"runs that have not ended: {unfinished:,}; they are not counted, read them again "
            "later",
        )
    times = await _own_times(ended, query)
    for listed, run in ended:
        task, worker = listed.task, clean_name(run.worker_id or "")
        own_started_ms, own_ended_ms = times.get((task.task_id, run.run_id), _NO_TIMES)
        query.add(
            TaskRun(
                label=task.label,
                pool=task.status.queue,
                task_id=task.task_id,
                run_id=run.run_id,
                worker=f"{clean_name(run.worker_group or '')}/{worker}" if worker else "",
                state=run.state,
                reason=clean_name(run.reason_resolved or run.state),
                scheduled_ms=_milliseconds(run.scheduled),
                started_ms=_milliseconds(run.started),
                resolved_ms=_milliseconds(run.resolved),
                own_started_ms=own_started_ms,
                own_ended_ms=own_ended_ms,
                system=task.system,
            ),
            listed.number,
        )


async def _own_times(ended: Sequence[_Run], query: RunQuery) -> dict[tuple[str, int], _Times]:
    """Return when the tasks' own work began and ended, of the runs that publish it."""
    published = [
        (listed, run)
        for listed, run in ended
        if run.state == "completed" and listed.task.own_times is not None
    ]
    if len(published) > _MOST_OWN_TIMES:
        limit = f"{_MOST_OWN_TIMES} runs at most; select fewer"
        query.remark(FIRST, f"set-up and tear-down are known of {limit}")
        published = published[:_MOST_OWN_TIMES]
    query.progress("reading results", 0, len(published))
    readings = (_read_own_times(listed, run) for listed, run in published)
    times = await run_all(readings, _RESULTS_AT_ONCE)
    refusals = [time for time in times if isinstance(time, str)]
    if refusals:
        # The queue has the times of the tasks all the same.
        query.remark(
            FIRST,
            f"set-up and tear-down are not known of {len(refusals):,} of {len(times):,} runs: "
            f"{min(refusals)}",
        )
    return {
        (listed.task.task_id, run.run_id): time
        for (listed, run), time in zip(published, times, strict=True)
        if not isinstance(time, str)
    }


async def _read_own_times(listed: ListedTask, run: QueueRun) -> _Times | str:
    """Return when a run's own work began and ended, or why that cannot be read."""
    task = listed.task
    try:
        data = await listed.deployment.result(task, run, MAXIMUM_BYTES, task.own_times or "")
        times = await asyncio.to_thread(_OWN_TIMES.decode, data)
    except (NoArtifactError, TooLargeError, msgspec.DecodeError, UnicodeDecodeError):
        return _NO_TIMES
    except ResultError as error:
        return str(error)
    started_ms, ended_ms = _milliseconds(times.started), _milliseconds(times.ended)
    if times.duration_ns is not None and started_ms >= 0:
        ended_ms = started_ms + times.duration_ns // 10**6
    return (started_ms, ended_ms) if 0 <= started_ms <= ended_ms <= LATEST_MS else _NO_TIMES


def _milliseconds(time: str | None) -> int:
    """Return a time of the queue or a file; -1 where it is not one."""
    moment = parse_time(time)
    return -1 if moment is None else max(-1, round(moment.timestamp() * 1000))


async def read_task(address: TaskAddress, deployment: Deployment) -> tuple[QueueTask, Any]:
    """Return the task, and the image of its payload as its definition has it."""
    try:
        task = (await deployment.tasks([address.task_id]))[address.task_id]
        payload = (await deployment.definition(address.task_id)).get("payload")
    except (KeyError, MissingError):
        raise ResultError(
            f"{address}: {address.root_url} has no such task; it may have expired, or belong to "
            "another deployment"
        ) from None
    return task, payload.get("image") if isinstance(payload, dict) else None


async def find_earlier_tasks(task: QueueTask, deployment: Deployment) -> tuple[str, ...]:
    """Return the addresses of the label's tasks in earlier pushes to the same repository.

    Each push's decision task lists them. Nothing where the index does not number pushes.
    """
    try:
        routes = (await deployment.definition(task.status.task_group_id)).get("routes")
    except MissingError:
        return ()
    texts = map(str, routes) if isinstance(routes, list) else ()
    own = next(filter(None, map(_PUSH.fullmatch, texts)), None)
    if own is None:
        return ()
    numbers = (int(own[2]) - back for back in _EARLIER)
    earlier = (f"{own[1]}.{number}.decision" for number in numbers if number > 0)
    found = await run_all(map(deployment.find, earlier), _RESULTS_AT_ONCE)
    decisions = await deployment.tasks(list(filter(None, found)))
    lists = (_task_of_label(deployment, push, task.label) for push in decisions.values())
    listed = dict.fromkeys(filter(None, await run_all(lists, _RESULTS_AT_ONCE)))
    # Some may have expired.
    return tuple(f"task:{task_id}" for task_id in sorted(await deployment.tasks([*listed])))


async def _task_of_label(deployment: Deployment, decision: QueueTask, label: str) -> str | None:
    """Return the task of a push with this label; None where its decision task does not list one."""
    completed = [run for run in decision.status.runs if run.state == "completed"]
    try:
        data = await deployment.result(decision, completed[-1], _MOST_LABELS_BYTES, _LABELS)
        return decode(data, dict[str, Slug]).get(label)
    except (IndexError, NoArtifactError, TooLargeError, ValueError):
        return None
