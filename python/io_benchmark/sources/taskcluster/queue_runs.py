# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Read the runs of any tasks from the queue: all tasks of a group, or of a project's pushes.

The queue cannot be searched by label. So a project's pushes are found in the index, by their decision
tasks. Firefox has them under `pushlog-id`, where numbers grow. Other projects have them under `revision`.

When a task's own work began and ended is known where it publishes that: results of this benchmark, and
profiles that `measure` wrote.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from io_benchmark.errors import (
    MissingError,
    NoArtifactError,
    ResultError,
    TooLargeError,
    UsageError,
)
from io_benchmark.results.reader import MAXIMUM_BYTES
from io_benchmark.sources.event_loop import run_all
from io_benchmark.sources.protocol import Position, ReadLog, ReadProgress
from io_benchmark.sources.task_runs import LATEST_MS, RunQuery, TaskRun, parse_milliseconds
from io_benchmark.sources.taskcluster.addresses import (
    DECISION,
    GroupAddress,
    IndexAddress,
    TaskAddress,
    TaskclusterAddress,
    default_root_url,
    trust_domain,
)
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.index_history import PROJECT
from io_benchmark.sources.taskcluster.listing import connect
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.text import clean, clean_name

_GROUPS_AT_ONCE = 4
_RESULTS_AT_ONCE = 8
_MOST_PUSHES = 100
_MOST_REVISIONS = 1000
_LOOKED_UP_AT_ONCE = 20
# Reading a file for two times is worth it for a comparison, not for an archive.
_MOST_OWN_TIMES = 500
_FIRST = Position(-1)


class _Found(NamedTuple):
    deployment: Deployment
    task: QueueTask
    run_id: int | None = None  # None: all


class _OwnTimes(msgspec.Struct, frozen=True):
    """What results and profiles say about their time."""

    started: str
    ended: str | None = None
    duration_ns: int | None = None


async def read_queue_runs(
    addresses: Mapping[int, TaskclusterAddress], query: RunQuery, project: str | None = None
) -> ReadLog:
    """Give the query the runs of all tasks at the addresses, or of a project's pushes."""
    if project is not None:
        return await _read_project(project, query)
    async with connect(addresses, query.environment, query.policy) as (_, deployments):
        return await _read(addresses, deployments, query)


async def _read_project(project: str, query: RunQuery) -> ReadLog:
    """Give the query the runs of a project's pushes since the query's date."""
    root_url = default_root_url(query.environment)
    if not PROJECT.fullmatch(project):
        raise UsageError(f"--project: {clean(project, 100)!r} is not the name of a project")
    namespace = f"{trust_domain(project, query.environment)}.v2.{project}"
    address = IndexAddress(root_url, namespace)
    async with connect({0: address}, query.environment, query.policy) as (_, deployments):
        query.progress(ReadProgress("listing the index", 0, None))
        groups, older = await _groups(deployments[root_url], namespace, query)
        log = ReadLog()
        if older:
            text = f"{older:,} older pushes were not read; read at most {_MOST_PUSHES} at once"
            log.remark(_FIRST, text)
        found = {number: GroupAddress(root_url, group) for number, group in enumerate(groups)}
        log.extend(await _read(found, deployments, query))
        return log


async def _groups(deployment: Deployment, namespace: str, query: RunQuery) -> tuple[list[str], int]:
    """Return the newest groups of a project since the query's date, and the number of older ones."""
    numbers = [
        name for name in await _names(deployment, f"{namespace}.pushlog-id") if name.isdecimal()
    ]
    numbers.sort(key=lambda name: -int(name[:18]))
    routes = [f"{namespace}.pushlog-id.{number}.decision" for number in numbers]
    if not routes:
        names = await _names(deployment, f"{namespace}.revision")
        if len(names) > _MOST_REVISIONS:
            raise UsageError(
                f"{namespace}: has {len(names):,} pushes in no order; give the addresses of some"
            )
        routes = [f"{namespace}.revision.{name}{DECISION}" for name in names]
    if not routes:
        raise MissingError(
            f"{namespace}: the index has no pushes there; check --project, or give addresses"
        )
    pushed: dict[str, datetime] = {}
    since = query.since
    for at in range(0, len(routes), _LOOKED_UP_AT_ONCE):
        ids = await run_all(map(deployment.find, routes[at : at + _LOOKED_UP_AT_ONCE]))
        tasks = await deployment.tasks([task_id for task_id in ids if task_id is not None])
        dated = {task.status.task_group_id: task.created for task in tasks.values() if task.created}
        recent = {
            group: created
            for group, created in dated.items()
            if since is None or created.date() >= since
        }
        pushed |= recent
        # Numbers grow with time: what follows is older.
        if numbers and dated and (not recent or len(pushed) >= _MOST_PUSHES):
            break
    newest = sorted(pushed, key=lambda group: (pushed[group], group), reverse=True)
    return newest[:_MOST_PUSHES], len(newest[_MOST_PUSHES:])


async def _names(deployment: Deployment, namespace: str) -> list[str]:
    try:
        return await deployment.namespaces(namespace)
    except MissingError:
        return []


async def _read(
    addresses: Mapping[int, TaskclusterAddress],
    deployments: Mapping[str, Deployment],
    query: RunQuery,
) -> ReadLog:
    log = ReadLog()
    query.progress(ReadProgress("listing tasks", 0, None))
    listings = [
        _tasks(number, deployments[address.root_url], address, log)
        for number, address in addresses.items()
    ]
    listed = await run_all(listings, _GROUPS_AT_ONCE)
    found = {
        (each.task.task_id, each.run_id): each
        for tasks in listed
        for each in tasks
        if query.wants_task(each.task.label, each.task.status.queue)
    }
    unfinished = 0
    wanted: list[tuple[_Found, QueueRun]] = []
    for each in found.values():
        runs = [run for run in each.task.status.runs if each.run_id in (None, run.run_id)]
        wanted += [(each, run) for run in runs if run.is_resolved]
        unfinished += sum(not run.is_resolved for run in runs)
    if unfinished:
        text = (
            f"runs that have not ended: {unfinished:,}; they are not counted, read them again later"
        )
        log.remark(_FIRST, text)
    times = await _own_times(wanted, query, log)
    for each, run in wanted:
        query.accept(
            _task_run(each.task, run, times.get((each.task.task_id, run.run_id), (-1, -1)))
        )
    return log


async def _tasks(
    number: int, deployment: Deployment, address: TaskclusterAddress, log: ReadLog
) -> list[_Found]:
    """Return the tasks that an address leads to; one that adds tasks means its group."""
    try:
        if isinstance(address, GroupAddress):
            tasks = await deployment.group(address.group_id)
            return [_Found(deployment, task) for task in tasks]
        run_id = None
        if isinstance(address, TaskAddress):
            ids, run_id = [address.task_id], address.run_id
        else:
            task_id = await deployment.find(address.route)
            ids = [task_id] if task_id else [*(await deployment.indexed(address.route)).values()]
        known = await deployment.tasks(ids) if ids else {}
        if not known:
            raise MissingError("has no such task; it may have expired")
        creators = [task for task in known.values() if task.adds_tasks]
        if len(known) == 1 and creators:
            tasks = await deployment.group(creators[0].status.task_group_id)
            return [_Found(deployment, task) for task in tasks]
        return [_Found(deployment, task, run_id) for task in known.values()]
    except ResultError as error:
        log.problem(Position(number), f"{address}: {error}")
        return []


async def _own_times(
    wanted: Sequence[tuple[_Found, QueueRun]], query: RunQuery, log: ReadLog
) -> dict[tuple[str, int], tuple[int, int]]:
    """Return when the tasks' own work began and ended, of the runs that publish it."""
    published = [
        (each, run)
        for each, run in wanted
        if run.state == "completed" and each.task.own_times is not None
    ]
    if len(published) > _MOST_OWN_TIMES:
        text = f"set-up and tear-down are known of {_MOST_OWN_TIMES} runs at most; select fewer"
        log.remark(_FIRST, text)
        published = published[:_MOST_OWN_TIMES]
    query.progress(ReadProgress("reading results", 0, len(published)))
    times = await run_all((_read_own_times(each, run) for each, run in published), _RESULTS_AT_ONCE)
    return {
        (each.task.task_id, run.run_id): own
        for (each, run), own in zip(published, times, strict=True)
        if own is not None
    }


async def _read_own_times(each: _Found, run: QueueRun) -> tuple[int, int] | None:
    artifact = each.task.own_times or ""
    try:
        data = await each.deployment.result(each.task, run.run_id, MAXIMUM_BYTES, artifact)
        times = await asyncio.to_thread(msgspec.json.decode, data, type=_OwnTimes)
    except (NoArtifactError, TooLargeError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    started_ms, ended_ms = _milliseconds(times.started), _milliseconds(times.ended)
    if times.duration_ns is not None and started_ms >= 0:
        ended_ms = started_ms + times.duration_ns // 10**6
    return (started_ms, ended_ms) if 0 <= started_ms <= ended_ms <= LATEST_MS else None


def _task_run(task: QueueTask, run: QueueRun, own_times: tuple[int, int]) -> TaskRun:
    worker = clean_name(run.worker_id or "")
    return TaskRun(
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
        own_started_ms=own_times[0],
        own_ended_ms=own_times[1],
    )


def _milliseconds(text: str | None) -> int:
    """Return a time of the queue or a file; -1 where the text is not one."""
    time_ms = parse_milliseconds(text or "")
    return -1 if time_ms is None else max(-1, round(time_ms))
