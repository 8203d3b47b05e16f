# SPDX-License-Identifier: MPL-2.0
"""Read the results of all pools from the index, the newest push first.

The namespace `date.io-benchmark` has a namespace per pool, whose names are dates of pushes. One
listing of a push's task group has the tasks of all its pools, replicates included. Results that an
earlier reading kept are not read again: the newest task of the fleet publishes them.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from functools import partial

from msgspec import Struct

from io_benchmark.errors import GaveUpError, MissingError, ResultError
from io_benchmark.number_text import listed, number_of
from io_benchmark.sources import protocol
from io_benchmark.sources.requests import run_all
from io_benchmark.sources.silence import in_progress
from io_benchmark.sources.taskcluster.addresses import (
    ROOT_VARIABLE,
    IndexAddress,
    default_remark,
)
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.index_history import parse_date_name, time_of_push
from io_benchmark.sources.taskcluster.listing import ListedTask
from io_benchmark.sources.taskcluster.published_readings import (
    PublishedReadings,
    latest_fleet,
    published_readings,
)
from io_benchmark.sources.taskcluster.task_results import ResultReader
from io_benchmark.sources.taskcluster.tasks import GATE_KIND
from io_benchmark.text import clean_name

_LISTINGS_AT_ONCE = 16
_PER_RESULT = 2  # requests: where the artifact is, and its content
_NAMED = 3  # pools in a message


class PushesQuery(Struct, frozen=True):
    """Which pushes are read."""

    place: IndexAddress  # a namespace that has a namespace per pool
    since: date
    most_requests: int  # when these were sent, no push is begun; the first one is always read
    most_kept_bytes: int
    # Gets what the newest task of the fleet kept; returns the task groups that need not be read.
    take_kept: Callable[[PublishedReadings | None], AbstractSet[str]]


class IndexedPushes(Struct):
    """What was read; it grows with each push, so that a reading can be stopped."""

    times: dict[str, datetime] = {}  # of the pushes that the index has, by task group
    complete: set[str] = set()  # task groups of which everything was read
    unread: set[str] = set()  # task groups of which something was not
    is_listed: bool = False  # whether all pools and their pushes were


def read_index_pushes(query: PushesQuery, request: protocol.Reading, pushes: IndexedPushes) -> None:
    """Read pushes in the time of the budget; `pushes` says which."""
    use, notice = partial(_read, query, request, pushes), in_progress(request.progress)
    root_urls, limit_s = [query.place.root_url], request.budget.left_s()
    try:
        Deployment.run(root_urls, request.environment, use, limit_s, notice)
    except TimeoutError:
        if not pushes.is_listed:
            raise GaveUpError("was not read in time") from None


async def _read(
    query: PushesQuery,
    request: protocol.Reading,
    pushes: IndexedPushes,
    deployments: Mapping[str, Deployment],
) -> None:
    deployment = deployments[query.place.root_url]
    request.progress("listing the index", 0, None)
    if not request.environment.get(ROOT_VARIABLE):
        request.remark(protocol.FIRST, default_remark(query.place.root_url))
    latest, most_bytes = latest_fleet(query.place), query.most_kept_bytes
    published = await published_readings(deployment, latest, most_bytes)
    kept_groups = query.take_kept(published)
    dated = await _list_pools(query, request, deployment)
    statuses = await deployment.statuses(list(dated))
    indexed: dict[str, list[str]] = {}
    for task_id, status in statuses.items():
        group = status.task_group_id
        time = dated[task_id]
        # Tasks of one push have its date; anyone with the scope can write another one.
        pushes.times[group] = min(time, pushes.times.get(group, time))
        indexed.setdefault(group, []).append(task_id)
    if len(statuses) < len(dated):
        gone = number_of(len(dated) - len(statuses), "task")
        request.remark(protocol.FIRST, f"the index has {gone} more, which expired")
    pushes.is_listed = True
    pushes.complete |= kept_groups
    pushes.unread |= pushes.times.keys() - kept_groups
    to_read = sorted(pushes.unread, key=lambda group: (pushes.times[group], group), reverse=True)
    for number, group in enumerate(to_read):
        needed = 1 + _PER_RESULT * len(indexed[group])
        is_over = deployment.requests + needed > query.most_requests
        if number and (is_over or request.budget.read_bytes <= 0):
            break
        push = _Push(number, group, indexed[group], f"push {number + 1:,} of {len(to_read):,}")
        if await push.read(request, deployment, pushes):
            pushes.complete.add(group)
            pushes.unread.remove(group)


async def _list_pools(
    query: PushesQuery, request: protocol.Reading, deployment: Deployment
) -> dict[str, datetime]:
    """Return the date of each indexed task of all pools."""
    place, unlisted = query.place, list[str]()

    async def list_pool(name: str) -> dict[str, str]:
        try:
            return await deployment.indexed(f"{place.route}.{name}")
        except ResultError as error:
            pool = clean_name(name.replace("~", "."))
            unlisted.append(pool)
            position = protocol.Position(0, pool)
            request.problem(position, f"{pool}: its pushes cannot be listed: {error}", pool=pool)
            return {}

    names = sorted(await deployment.namespaces(place.route))
    listings = await run_all(map(list_pool, names), _LISTINGS_AT_ONCE)
    times = [
        (parse_date_name(name), task_id)
        for listing in listings
        for name, task_id in listing.items()
    ]
    dated = {task_id: time for time, task_id in times if time is not None}
    recent = {task_id: time for task_id, time in dated.items() if time.date() >= query.since}
    if not recent and not unlisted:
        if dated:
            why = f"nothing was measured since {query.since}; the index has older results"
            raise MissingError(f"{place}: {why}")
        raise MissingError(f"{place}: {place.root_url} has no results there; check the project")
    if unlisted:
        pools = f"{number_of(len(unlisted), 'pool')} of {len(names):,}"
        request.remark(
            protocol.FIRST,
            f"the index did not list the pushes of {pools} ({listed(sorted(unlisted), _NAMED)}); "
            "run it again",
        )
    return recent


class _Push(Struct):
    number: int
    group: str
    indexed: Sequence[str]  # ids of its tasks in the index
    title: str

    async def read(
        self, request: protocol.Reading, deployment: Deployment, pushes: IndexedPushes
    ) -> bool:
        """Read the push's results; return whether there is nothing more to read."""
        position = protocol.Position(self.number, "", self.group)
        try:
            members = await deployment.group(self.group)
        except MissingError:
            request.remark(position, f"group:{self.group}: has expired, and was never read")
            return True
        except ResultError as error:
            request.problem(position, f"group:{self.group}: {error}")
            return False
        created_times = (task.created for task in members if task.task_id in self.indexed)
        created = next(filter(None, created_times), None)
        time = pushes.times[self.group]
        pushes.times[self.group] = possible = time_of_push(time, created)
        if possible != time:
            request.remark(
                position,
                f"group:{self.group}: the index dates it {time.date()}, which cannot be the date "
                f"of its push; its task's date is used, {possible.date()}",
            )
        wanted = [task for task in members if task.is_benchmark and task.kind != GATE_KIND]
        expired = [task for task in wanted if deployment.has_expired(task)]
        if expired:
            gone = number_of(len(expired), "result")
            why = "expired and was never read" if len(expired) == 1 else "expired, never read"
            request.remark(position, f"push of {possible.date()}: {gone} {why}")
        to_read = [
            ListedTask(self.number, deployment, task) for task in wanted if task not in expired
        ]
        lost = request.gave_up
        progress = request.progress
        request.progress = lambda _, done, total: progress(f"{self.title}: results", done, total)
        try:
            await ResultReader(request).read(to_read)
        finally:
            request.progress = progress
        is_resolved = all(listed.task.status.is_resolved for listed in to_read)
        return is_resolved and request.gave_up == lost and request.budget.read_bytes > 0
