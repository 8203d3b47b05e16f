# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Wait until tasks are resolved, and report each change."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from io_benchmark.errors import GaveUpError, MissingError
from io_benchmark.sources.event_loop import run_coroutine
from io_benchmark.sources.taskcluster.addresses import TaskAddress, TaskclusterAddress
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.listing import ListedTask, TaskListing, connect
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.sources.web.retrying import RequestPolicy
from io_benchmark.text import clean_name

_INTERVAL_S = 15.0
_GROWTH = 1.5
_LONGEST = 4  # times the first interval
_MAXIMUM_LOST = 5  # listings in a row, each of which was repeated many times
_ORDER = ("completed", "failed", "exception", "running", "pending", "unscheduled", "unlisted")


class _WaitClock(Struct, frozen=True):
    """The time and how to let it pass; tests replace both."""

    now_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class _WatchedTask(Struct, frozen=True):
    """A task to wait for."""

    title: str
    state: str
    is_resolved: bool
    reason: str  # its state, and why
    url: str = ""

    @property
    def shown(self) -> str:
        return f"{self.title}: {clean_name(self.reason)}"


@dataclass(frozen=True)
class _TaskCounts:
    """How many tasks are in which state."""

    states: tuple[tuple[str, int], ...] = ()
    resolved: int = 0
    total: int = 0
    unresolved: tuple[str, ...] = field(default=(), compare=False)

    @property
    def shown(self) -> str:
        listed = ", ".join(f"{count} {state}" for state, count in self.states)
        return f"[{self.resolved}/{self.total}] {listed}"


async def _until_resolved(
    look: Callable[[], Awaitable[Sequence[_WatchedTask]]],
    tell: Callable[[str], None],
    *,
    every_s: float = _INTERVAL_S,
    limit_s: float | None = None,
    before: _TaskCounts | None = None,
    clock: _WaitClock | None = None,
) -> _TaskCounts:
    """Wait until all tasks that `look` returns are resolved, at most this long.

    The queue resolves every task by its deadline. A look that fails temporarily is repeated;
    several failures in a row are raised.
    """
    clock = clock or _WaitClock()
    began_s = clock.now_s()
    pause_s, lost = every_s, 0
    previous = before or _TaskCounts()
    reported: set[str] = set()
    while True:
        try:
            tasks = await look()
            lost = 0
        except (GaveUpError, MissingError) as error:
            lost += 1
            if lost >= _MAXIMUM_LOST:
                raise
            tell(f"the tasks could not be listed: {error}")
        else:
            counts = _count(tasks)
            if counts != previous:
                minutes = (clock.now_s() - began_s) / 60
                tell(f"{counts.shown} after {minutes:.0f} min")
                pause_s = every_s
            for text in _new_failures(tasks, reported):
                tell(text)
            previous = counts
            if counts.resolved == counts.total:
                return counts
        if limit_s is not None:
            left_s = began_s + limit_s - clock.now_s()
            if left_s <= 0:
                return previous
            pause_s = min(pause_s, left_s)
        await clock.sleep(pause_s)
        pause_s = min(pause_s * _GROWTH, every_s * _LONGEST)


def wait_for_tasks(
    addresses: Mapping[int, TaskclusterAddress],
    environment: Mapping[str, str],
    limit_s: float,
    tell: Callable[[str], None],
    *,
    policy: RequestPolicy | None = None,
    clock: _WaitClock | None = None,
) -> None:
    """Wait at most this long until the benchmark's tasks at the addresses are resolved.

    Each look lists again, so that new tasks count. Reading the addresses later reports what is
    wrong with them.
    """

    async def wait() -> _TaskCounts:
        async with connect(addresses, environment, policy) as (_, deployments):
            look = _Look(addresses, deployments, tell)
            return await _until_resolved(look, tell, limit_s=limit_s, clock=clock)

    try:
        counts = run_coroutine(wait())
    except GaveUpError as error:
        tell(f"not waiting any longer: {error}")
        return
    if counts.unresolved:
        tell(f"not waiting any longer; not resolved: {', '.join(counts.unresolved)}")


async def wait_in_group(
    deployment: Deployment,
    group_id: str,
    labels: Mapping[str, str],
    tell: Callable[[str], None],
    *,
    every_s: float,
    limit_s: float | None,
    clock: _WaitClock | None = None,
) -> _TaskCounts:
    """Wait at most this long until the tasks with these labels, by id, are resolved.

    The group's other tasks do not count.
    """

    async def look() -> list[_WatchedTask]:
        members = {task.task_id: task for task in await deployment.group(group_id)}
        watched = []
        for task_id, label in labels.items():
            title = f"{label} ({task_id})"
            watched.append(
                _watch(title, members[task_id])
                if task_id in members  # the queue may take a moment
                else _WatchedTask(title, "unlisted", is_resolved=False, reason="unlisted")
            )
        return watched

    before = _TaskCounts(total=len(labels))
    return await _until_resolved(
        look, tell, every_s=every_s, limit_s=limit_s, before=before, clock=clock
    )


class _Look:
    """Lists the benchmark's tasks, with the decision and action tasks that may still add some."""

    def __init__(
        self,
        addresses: Mapping[int, TaskclusterAddress],
        deployments: Mapping[str, Deployment],
        tell: Callable[[str], None],
    ) -> None:
        self._addresses = addresses
        self._deployments = deployments
        self._tell = tell
        # What was seen unresolved: creators by id, routes by name; whether it still is.
        self._unresolved: dict[str, bool] = {}

    async def __call__(self) -> list[_WatchedTask]:
        listing, tasks = await self._list()
        if self._has_just_ended(listing):
            # It may have added tasks after their page was listed.
            listing, tasks = await self._list()
        watched = [
            _watch(
                f"{listed.task.label} ({listed.task.task_id})",
                listed.task,
                listed.run_id,
                _url(listed.deployment, listed.task),
            )
            for listed in tasks
        ]
        return watched + self._not_indexed(listing) + self._creators(listing)

    async def _list(self) -> tuple[TaskListing, list[ListedTask]]:
        listing = TaskListing(self._deployments)
        tasks = await listing.tasks(self._addresses)
        if listing.lost:
            raise listing.lost[0]
        return listing, tasks

    def _has_just_ended(self, listing: TaskListing) -> bool:
        return any(
            self._unresolved.get(task.task_id, False) and task.status.is_resolved
            for _, task in listing.creators
        )

    def _creators(self, listing: TaskListing) -> list[_WatchedTask]:
        """Return the creators that were seen to run; the others added their tasks before."""
        watched = []
        for deployment, task in listing.creators:
            is_new = task.task_id not in self._unresolved
            if is_new and task.status.is_resolved:
                continue
            title, url = f"{task.label} ({task.task_id})", _url(deployment, task)
            if is_new:
                self._tell(f"waiting for {title}, which adds tasks to its group, {url}")
            self._unresolved[task.task_id] = not task.status.is_resolved
            watched.append(_watch(title, task, None, url))
        return watched

    def _not_indexed(self, listing: TaskListing) -> list[_WatchedTask]:
        watched = []
        for address in listing.not_indexed:
            if str(address) not in self._unresolved:
                self._unresolved[str(address)] = True
                self._tell(
                    f"waiting for the push's decision task: {address} does not exist yet; it is "
                    "added to the index when the decision task has completed"
                )
            title = f"decision task of {address}"
            watched.append(_WatchedTask(title, "unlisted", False, "not in the index"))
        return watched


def _watch(title: str, task: QueueTask, run_id: int | None = None, url: str = "") -> _WatchedTask:
    """Watch a task, or its run where one is named."""
    runs, status = task.status.runs, task.status
    named = task.find_run(run_id)
    if named is not None:
        return _WatchedTask(title, named.state, named.is_resolved, named.shown_state, url)
    reason = runs[-1].shown_state if runs else status.state
    return _WatchedTask(title, status.state, status.is_resolved, reason, url)


def _url(deployment: Deployment, task: QueueTask) -> str:
    return TaskAddress(deployment.access.root_url, task.task_id).url


def _count(tasks: Sequence[_WatchedTask]) -> _TaskCounts:
    states = Counter(clean_name(task.state) for task in tasks)
    ordered = sorted(states.items(), key=lambda pair: (_rank(pair[0]), pair[0]))
    unresolved = tuple(task.shown for task in tasks if not task.is_resolved)
    return _TaskCounts(tuple(ordered), len(tasks) - len(unresolved), len(tasks), unresolved)


def _rank(state: str) -> int:
    return _ORDER.index(state) if state in _ORDER else len(_ORDER)


def _new_failures(tasks: Sequence[_WatchedTask], reported: set[str]) -> list[str]:
    """Report each failure once: it can be looked at while other tasks run."""
    lines = []
    for task in tasks:
        if task.is_resolved and task.state != "completed" and task.title not in reported:
            reported.add(task.title)
            lines.append(task.shown + (f", {task.url}" if task.url else ""))
    return lines
