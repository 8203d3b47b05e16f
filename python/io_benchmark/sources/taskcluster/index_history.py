# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Read a pool's past results from the index.

The kind's transform `index` gives each pool a namespace whose names are dates, so one listing is
its complete history. The index has one task per push and pool. That task's group has the pool's
others: replicates, retriggers and duplicates.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from io_benchmark.errors import MissingError, UsageError
from io_benchmark.sources.protocol import (
    HistoryLog,
    HistoryQuery,
    Position,
    ReadLog,
    ReadProgress,
    ReadRequest,
)
from io_benchmark.sources.taskcluster.addresses import (
    ROOT_VARIABLE,
    TRUST_DOMAIN_VARIABLE,
    GroupAddress,
    IndexAddress,
    default_root_url,
    trust_domain,
)
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.listing import ListedTask, TaskListing, connect
from io_benchmark.sources.taskcluster.task_results import ResultReader
from io_benchmark.sources.taskcluster.tasks import ALL_KIND, QueueTask
from io_benchmark.text import clean

_JOB = "io-benchmark"
# As the kind's transforms accept them.
PROJECT = re.compile(r"[A-Za-z0-9_-]{1,100}(\.[A-Za-z0-9_-]{1,100})*")
_DATE = re.compile(r"[0-9]{14}")
# An action may create a task for a push as long as the push's decision task is kept, a year. No
# task is older than its push unless a clock is wrong.
_AFTER_PUSH, _BEFORE_PUSH = timedelta(days=400), timedelta(days=1)
_FIRST = Position(-1)  # of remarks about the whole reading


def _history_namespace(query: HistoryQuery, environment: Mapping[str, str]) -> str:
    """Return the namespace of the pool's results by date; a dot in a name would end the name."""
    if not PROJECT.fullmatch(query.project):
        shown = clean(query.project, 100)
        raise UsageError(f"--project: {shown!r} is not the name of a project; try io-benchmark")
    domain = trust_domain(query.project, environment)
    return f"{domain}.v2.{query.project}.date.{_JOB}.{query.pool.replace('.', '~')}"


async def read_index_history(query: HistoryQuery, request: ReadRequest) -> HistoryLog:
    """Read the pool's results at the deployment of the environment."""
    root_url = default_root_url(request.environment)
    address = IndexAddress(root_url, _history_namespace(query, request.environment))
    async with connect({0: address}, request.environment, request.policy) as (client, deployments):
        deployment = deployments[root_url]
        request.progress(ReadProgress("listing the index", 0, None))
        dated = await _dated_tasks(deployment, address)
        wanted, older = _newest(dated, query)
        reader = ResultReader(client, deployments, request)
        log = reader.log
        if not request.environment.get(ROOT_VARIABLE):
            log.remark(_FIRST, f"read {root_url}, because {ROOT_VARIABLE} is not set")
        if not wanted:
            raise MissingError(await _explain_nothing(deployment, address, query, bool(dated)))
        tasks = await _known_tasks(deployment, wanted, log)
        times = _push_times(tasks, log)
        indexed = [
            task
            for task in tasks.values()
            if query.since is None or times[task.status.task_group_id].date() >= query.since
        ]
        listing = TaskListing(deployments, request.progress)
        listed = await _tasks_of_pool(listing, deployment, indexed, query.pool)
        log.problems += listing.log.problems
        await reader.read(listed)
    return HistoryLog(log, times, older)


async def _known_tasks(
    deployment: Deployment, wanted: Mapping[datetime, str], log: ReadLog
) -> dict[datetime, QueueTask]:
    """Return the tasks by date; report those that the deployment does not have."""
    known = await deployment.tasks(list(wanted.values()))
    for time, task_id in wanted.items():
        if task_id not in known:
            text = f"task {task_id} of {time.date()}: does not exist; it may have expired"
            log.problem(Position(0, str(time), task_id), text)
    return {time: known[task_id] for time, task_id in wanted.items() if task_id in known}


def _push_times(tasks: Mapping[datetime, QueueTask], log: ReadLog) -> dict[str, datetime]:
    """Return the time of each push by task group: the index's, unless the task contradicts it.

    Anyone with the scope can write any date into the index. A task's dates are the queue's.
    """
    times = {}
    for indexed, task in sorted(tasks.items()):
        time, created = indexed, task.created
        if created and not created - _AFTER_PUSH <= indexed <= created + _BEFORE_PUSH:
            text = (
                f"task {task.task_id}: the index dates it {indexed.date()}, which cannot be the date "
                f"of its push; the task's date is used, {created.date()}"
            )
            log.remark(Position(0, str(indexed), task.task_id), text)
            time = created
        times[task.status.task_group_id] = time
    return times


async def _dated_tasks(deployment: Deployment, address: IndexAddress) -> dict[datetime, str]:
    """Return the task ids by date, where the names are dates."""
    try:
        indexed = await deployment.indexed(address.route)
    except MissingError:
        return {}
    dated = {_time(name): task_id for name, task_id in indexed.items()}
    return {time: task_id for time, task_id in dated.items() if time is not None}


def _newest(dated: Mapping[datetime, str], query: HistoryQuery) -> tuple[dict[datetime, str], int]:
    """Return the newest tasks, oldest first, and the number of older ones."""
    times = sorted(time for time in dated if query.since is None or time.date() >= query.since)
    newest = times[-query.newest :]
    return {time: dated[time] for time in newest}, len(times) - len(newest)


async def _explain_nothing(
    deployment: Deployment, address: IndexAddress, query: HistoryQuery, has_older: bool
) -> str:
    """Explain why there is no history, and name what exists instead."""
    if has_older:
        return (
            f"{query.pool}: nothing was measured since {query.since}; the index has older results"
        )
    parent = address.route.rpartition(".")[0]
    try:
        pools = [name.replace("~", ".") for name in await deployment.namespaces(parent)]
    except MissingError:
        pools = []
    if pools:
        shown = ", ".join(clean(pool, 50) for pool in sorted(pools)[:20])
        return f"{address}: {address.root_url} has no such pool; its pools are {shown}"
    return (
        f"{address}: {address.root_url} has no results there; check --project, "
        f"{TRUST_DOMAIN_VARIABLE} and {ROOT_VARIABLE}; results of try and of pull requests expire after "
        "28 days"
    )


async def _tasks_of_pool(
    listing: TaskListing, deployment: Deployment, indexed: Sequence[QueueTask], pool: str
) -> list[ListedTask]:
    """Return the pool's tasks in the groups of those indexed; where a group expired, the indexed."""
    root_url = deployment.access.root_url
    groups = list(dict.fromkeys(task.status.task_group_id for task in indexed))
    members = await listing.tasks(
        {number: GroupAddress(root_url, group) for number, group in enumerate(groups)}
    )
    # Where neither command nor label names the pool, the result does. The kind that measures
    # everything is not in the index: its 200 retrieves are not a point of a line of 2,000.
    listed = [
        member
        for member in members
        if member.task.pool in (pool, None) and member.task.kind != ALL_KIND
    ]
    seen = {member.task.task_id for member in listed}
    listed += [
        ListedTask(groups.index(task.status.task_group_id), deployment, task)
        for task in indexed
        if task.task_id not in seen
    ]
    return sorted(listed, key=lambda member: member.order)


def _time(name: str) -> datetime | None:
    """Return the date that a name in the index is; None where it is not one."""
    if not _DATE.fullmatch(name):
        return None
    try:
        return datetime.strptime(name, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
