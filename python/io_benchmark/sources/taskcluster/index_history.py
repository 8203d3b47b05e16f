# SPDX-License-Identifier: MPL-2.0
"""Read a pool's past results from the index.

The kind's transform `index` gives each pool a namespace whose names are dates, so one listing is
its complete history. The index has one task per push and pool. That task's group has the pool's
others: replicates, retriggers and duplicates.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import partial

from io_benchmark.errors import GaveUpError, MissingError
from io_benchmark.sources import protocol
from io_benchmark.sources.silence import in_progress
from io_benchmark.sources.taskcluster.addresses import ROOT_VARIABLE, GroupAddress, default_remark
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.listing import ListedTask, TaskListing
from io_benchmark.sources.taskcluster.task_results import ResultReader
from io_benchmark.sources.taskcluster.tasks import ALL_KIND, GATE_KIND, QueueTask

_DATE = re.compile(r"[0-9]{14}")
# An action may create a task for a push as long as the push's decision task is kept, a year. No
# task is older than its push unless a clock is wrong.
_AFTER_PUSH, _BEFORE_PUSH = timedelta(days=400), timedelta(days=1)


def read_index_history(
    query: protocol.HistoryQuery, request: protocol.Reading
) -> tuple[dict[str, datetime], int]:
    """Read the pool's results in the time of the budget.

    Return the time of each push by its task group, and how many older points were not read.
    """
    use, notice = partial(_read, query, request), in_progress(request.progress)
    root_urls, limit_s = [query.place.root_url], request.budget.left_s()
    try:
        return Deployment.run(root_urls, request.environment, use, limit_s, notice)
    except TimeoutError:
        raise GaveUpError("was not read in time") from None


async def _read(
    query: protocol.HistoryQuery, request: protocol.Reading, deployments: Mapping[str, Deployment]
) -> tuple[dict[str, datetime], int]:
    root_url = query.place.root_url
    deployment = deployments[root_url]
    request.progress("listing the index", 0, None)
    if not request.environment.get(ROOT_VARIABLE):
        request.remark(protocol.FIRST, default_remark(root_url))
    names = await deployment.indexed(query.place.route)
    dated = {}
    for name, task_id in names.items():
        time = parse_date_name(name)
        if time is not None:
            dated[time] = task_id
    since = query.since or date.min
    recent = sorted(time for time in dated if time.date() >= since)
    if not recent:
        if dated:
            why = f"nothing was measured since {query.since}; the index has older results"
            raise MissingError(f"{query.pool}: {why}")
        advice = "; check pool and --project" if query.whole_pushes else ""
        raise MissingError(f"{query.place}: {root_url} has no results there{advice}")
    newest = {time: dated[time] for time in recent[-query.newest :]}
    tasks = await deployment.tasks(list(newest.values()))
    times = _push_times(newest, tasks, request)
    if query.whole_pushes:
        groups = (group for group, time in times.items() if time.date() >= since)
        addresses = (GroupAddress(root_url, group) for group in groups)
        listed = await TaskListing(deployments, request).tasks(dict(enumerate(addresses)))
    else:
        listed = [ListedTask(0, deployment, task) for task in tasks.values()]
    # Where neither command nor label names the pool, the result does. The other kinds are not in
    # the index: what they measure is not a point of the line of the kind `io-benchmark`.
    await ResultReader(request).read(
        [
            member
            for member in listed
            if member.task.pool in (query.pool, None)
            and member.task.kind not in (ALL_KIND, GATE_KIND)
        ]
    )
    return times, len(recent) - len(newest)


def _push_times(
    dated: Mapping[datetime, str], tasks: Mapping[str, QueueTask], request: protocol.Reading
) -> dict[str, datetime]:
    """Return the time of each push by task group: the index's, unless the task contradicts it.

    Anyone with the scope can write any date into the index. A task's dates are the queue's.
    """
    times = {}
    for time, task_id in sorted(dated.items()):
        position = protocol.Position(0, str(time), task_id)
        task = tasks.get(task_id)
        if task is None:
            request.problem(
                position, f"task {task_id} of {time.date()}: does not exist; it may have expired"
            )
            continue
        possible = time_of_push(time, task.created)
        if possible != time:
            request.remark(
                position,
                f"task {task_id}: the index dates it {time.date()}, which cannot be the date of "
                f"its push; the task's date is used, {possible.date()}",
            )
        times[task.status.task_group_id] = possible
    return times


def time_of_push(time: datetime, created: datetime | None) -> datetime:
    """Return a date of the index; that of the task's creation where a push cannot have the date."""
    if created is None or created - _AFTER_PUSH <= time <= created + _BEFORE_PUSH:
        return time
    return created


def parse_date_name(name: str) -> datetime | None:
    """Return the date that a name in the index is; None where it is not one."""
    try:
        return datetime.strptime(f"{name}Z", "%Y%m%d%H%M%S%z") if _DATE.fullmatch(name) else None
    except ValueError:
        return None
