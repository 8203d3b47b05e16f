# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A pool's past results, by the index.

The kind's transform `index` gives each pool a namespace whose names are dates, so that one listing
is its whole history. The index has one task for each push and pool; that task's group is asked for
the pool's others: replicates, retriggers and duplicates.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from io_benchmark.errors import ResultError, UsageError
from io_benchmark.sources.address import (
    ROOT_VARIABLE,
    TRUST_DOMAIN_VARIABLE,
    GroupAddress,
    IndexAddress,
    default_root_url,
    trust_domain,
)
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.found import Account, Found
from io_benchmark.sources.listing import Chosen, Listing, asked
from io_benchmark.sources.progress import Progress
from io_benchmark.sources.queue import Deployment, MissingError
from io_benchmark.sources.remote import Collection
from io_benchmark.sources.retrying import Policy
from io_benchmark.sources.tasks import ALL_KIND, Task, parse_date
from io_benchmark.text import clean

JOB = "io-benchmark"
# As the kind's transforms take them.
_POOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,44}")
_PROJECT = re.compile(r"[A-Za-z0-9_-]{1,100}(\.[A-Za-z0-9_-]{1,100})*")
_DATE = re.compile(r"[0-9]{14}")
# An action may create a task for a push as long as the push's decision task is kept, a year; no task
# is older than its push but for a clock that is wrong.
_AFTER_PUSH, _BEFORE_PUSH = timedelta(days=400), timedelta(days=1)


@dataclass(frozen=True)
class Wish:
    """Which part of a pool's history."""

    pool: str
    project: str
    newest: int  # so many points at most
    since: date | None = None


@dataclass(frozen=True)
class Past:
    """What there is to say of a reading, and when each push was, by its task group."""

    account: Account
    times: dict[str, datetime] = field(default_factory=dict)
    older: int = 0  # points that were not asked for


def check_pool(pool: str) -> None:
    if not _POOL.fullmatch(pool):
        shown = clean(pool, 100)
        raise UsageError(f"{shown!r} is not a pool's name; a pool is a task of kind.yml: amd-16")


def namespace(wish: Wish, environment: Mapping[str, str]) -> str:
    """Where the index has the pool's results by date; a dot in a name would end the name."""
    check_pool(wish.pool)
    if not _PROJECT.fullmatch(wish.project):
        shown = clean(wish.project, 100)
        raise UsageError(f"--project: {shown!r} is not the name of a project; try io-benchmark")
    domain = trust_domain(wish.project, environment)
    return f"{domain}.v2.{wish.project}.date.{JOB}.{wish.pool.replace('.', '~')}"


async def collect(
    wish: Wish,
    environment: Mapping[str, str],
    policy: Policy,
    *,
    accept: Callable[[Found], Awaitable[None]],
    progress: Callable[[Progress], None],
    budget: Budget | None = None,
) -> Past:
    """Reads the pool's results; `accept` gets each as it arrives."""
    root_url = default_root_url(environment)
    where = IndexAddress(root_url, namespace(wish, environment))
    async with asked([(0, where)], environment, policy) as (http, deployments):
        deployment = deployments[root_url]
        progress(Progress("listing the index", 0, None))
        listed = await _dated(deployment, where)
        wanted, older = _newest(listed, wish)
        collection = Collection(http, deployments, accept, _have_nothing, progress, budget)
        account = collection.account
        if not environment.get(ROOT_VARIABLE):
            said = f"asked {root_url}, because {ROOT_VARIABLE} is not set"
            account.remark((-1, "", "", 0), said)
        if not wanted:
            raise ResultError(await _nothing(deployment, where, wish, bool(listed)))
        known = await deployment.tasks(list(wanted.values()))
        for name, task_id in wanted.items():
            if task_id not in known:
                text = f"task {task_id} of {_time(name).date()}: is not there; it may have expired"
                account.problem((0, name, task_id, 0), text)
        tasks = {name: known[one] for name, one in wanted.items() if one in known}
        times = _times(tasks, account)
        tasks = {
            name: task
            for name, task in tasks.items()
            if wish.since is None or times[task.status.task_group_id].date() >= wish.since
        }
        listing = Listing(deployments, progress)
        chosen = await _of_the_pool(listing, deployment, list(tasks.values()), wish.pool)
        account.problems += listing.account.problems
        await collection.read(chosen)
        collection.name_left_out()
    return Past(account, times, older)


def _times(tasks: Mapping[str, Task], account: Account) -> dict[str, datetime]:
    """When each push was, by its task group: as the index says, unless the task itself denies it.

    Anyone with the scope may write any date into the index. A task's own dates are the queue's.
    """
    times = {}
    for name, task in sorted(tasks.items()):
        time, own = _time(name), _own_time(task)
        if own is not None and not own - _AFTER_PUSH <= time <= own + _BEFORE_PUSH:
            account.remark(
                (0, name, task.task_id, 0),
                f"task {task.task_id}: the index dates it {time.date()}, which cannot be its push's "
                f"date; shown by its own, {own.date()}",
            )
            time = own
        times[task.status.task_group_id] = time
    return times


def _own_time(task: Task) -> datetime | None:
    """When it was created, else when its first run started."""
    started = next((run.started for run in task.status.runs if run.started), None)
    return task.created or parse_date(started)


async def _dated(deployment: Deployment, where: IndexAddress) -> dict[str, str]:
    """The task ids by date, as far as the names are dates."""
    try:
        listed = await deployment.indexed(where.route)
    except MissingError:
        return {}
    return {name: one for name, one in listed.items() if _DATE.fullmatch(name) and _is_time(name)}


def _newest(listed: Mapping[str, str], wish: Wish) -> tuple[dict[str, str], int]:
    """Oldest first, and how many older ones were left out."""
    names = sorted(
        name for name in listed if wish.since is None or _time(name).date() >= wish.since
    )
    newest = names[-wish.newest :]
    return {name: listed[name] for name in newest}, len(names) - len(newest)


async def _nothing(deployment: Deployment, where: IndexAddress, wish: Wish, has_older: bool) -> str:
    """Why there is no history, with what there is instead."""
    if has_older:
        return f"{wish.pool}: nothing was measured since {wish.since}; the index has older results"
    parent = where.route.rpartition(".")[0]
    try:
        pools = [one.replace("~", ".") for one in await deployment.namespaces(parent)]
    except MissingError:
        pools = []
    if pools:
        there = ", ".join(clean(pool, 50) for pool in sorted(pools)[:20])
        return f"{where}: {where.root_url} has no such pool; there are {there}"
    return (
        f"{where}: {where.root_url} has no results there; look at --project, "
        f"{TRUST_DOMAIN_VARIABLE} and {ROOT_VARIABLE}"
    )


async def _of_the_pool(
    listing: Listing, deployment: Deployment, indexed: Sequence[Task], pool: str
) -> list[Chosen]:
    """The pool's tasks in the groups of those indexed, which stand in where a group is gone."""
    root_url = deployment.access.root_url
    groups = list(dict.fromkeys(task.status.task_group_id for task in indexed))
    members = await listing.tasks(
        [(at, GroupAddress(root_url, group)) for at, group in enumerate(groups)]
    )
    # Where neither command nor label says the pool, the result does. The kind that measures
    # everything is not in the index: its 200 retrieves are no point of a line of 2,000.
    chosen = [one for one in members if one[2].pool in (pool, None) and one[2].kind != ALL_KIND]
    seen = {one[2].task_id for one in chosen}
    chosen += [
        (groups.index(task.status.task_group_id), deployment, task, None)
        for task in indexed
        if task.task_id not in seen
    ]
    return sorted(chosen, key=lambda one: (one[0], one[2].label, one[2].task_id))


def _have_nothing(_task_id: str, _run_id: int) -> bool:
    return False


def _is_time(name: str) -> bool:
    try:
        _time(name)
    except ValueError:
        return False
    return True


def _time(name: str) -> datetime:
    return datetime.strptime(name, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
