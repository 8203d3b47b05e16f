# SPDX-License-Identifier: MPL-2.0
"""Wait until tasks are resolved, and report each change."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from io_benchmark.errors import GaveUpError, MissingError
from io_benchmark.sources.event_loop import run_coroutine
from io_benchmark.sources.protocol import Environment, Tell
from io_benchmark.sources.taskcluster.addresses import (
    IndexAddress,
    LandingAddress,
    TaskclusterAddress,
)
from io_benchmark.sources.taskcluster.api_answers import RESOLVED
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.listing import ListedTask, TaskListing, connect
from io_benchmark.sources.web.retrying import RequestPolicy
from io_benchmark.text import clean_name

_INTERVAL_S = 15.0
_GROWTH = 1.5
_LONGEST_S = 60.0
_MAXIMUM_LOST = 5  # listings in a row, each of which was repeated many times
_STATES = (*RESOLVED, "running", "pending", "unscheduled", "unlisted")


class WaitClock(NamedTuple):
    """The time and how to let it pass; tests replace both."""

    now_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


_CLOCK = WaitClock()


class _WatchedTask(NamedTuple):
    """A task, or its run, to wait for."""

    title: str
    state: str = "unlisted"
    reason: str = "unlisted"  # its state, and why
    url: str = ""

    @classmethod
    def of(cls, listed: ListedTask) -> "_WatchedTask":
        task, runs = listed.task, listed.task.status.runs
        named = task.find_run(listed.run_id)
        newest = named or (runs[-1] if runs else None)
        state = task.status.state if named is None else named.state
        reason = state if newest is None else newest.state_and_reason
        return cls(f"{task.label} ({task.task_id})", state, reason, listed.url())

    @property
    def is_resolved(self) -> bool:
        return self.state in RESOLVED

    @property
    def line(self) -> str:
        return f"{self.title}: {clean_name(self.reason)}"


async def _until_resolved(
    look: Callable[[], Awaitable[Sequence[_WatchedTask]]],
    tell: Tell,
    clock: WaitClock,
    limit_s: float | None = None,
) -> Sequence[_WatchedTask]:
    """Wait until all tasks that `look` returns are resolved, at most this long; return the last look.

    The queue resolves every task by its deadline. A look that fails temporarily is repeated;
    several failures in a row are raised.
    """
    began_s = clock.now_s()
    pause_s, lost = _INTERVAL_S, 0
    tasks: Sequence[_WatchedTask] = ()
    previous = ""
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
            counts = _counts(tasks)
            if counts != previous and tasks:
                tell(f"{counts} after {(clock.now_s() - began_s) / 60:.0f} min")
                pause_s = _INTERVAL_S
            previous = counts
            # Each failure once: it can be looked at while other tasks run.
            for task in tasks:
                is_failure = task.is_resolved and task.state != "completed"
                if is_failure and task.title not in reported:
                    reported.add(task.title)
                    tell(task.line + (f", {task.url}" if task.url else ""))
            if all(task.is_resolved for task in tasks):
                return tasks
        if limit_s is not None:
            left_s = began_s + limit_s - clock.now_s()
            if left_s <= 0:
                return tasks
            pause_s = min(pause_s, left_s)
        await clock.sleep(pause_s)
        pause_s = min(pause_s * _GROWTH, _LONGEST_S)


def _counts(tasks: Sequence[_WatchedTask]) -> str:
    """Return `[2/3] 1 completed, 1 failed, 1 running`."""
    states = Counter(clean_name(task.state) for task in tasks)
    ordered = [state for state in _STATES if state in states]
    ordered += sorted(states.keys() - set(ordered))
    counted = ", ".join(f"{states[state]} {state}" for state in ordered)
    return f"[{sum(task.is_resolved for task in tasks)}/{len(tasks)}] {counted}"


def wait_for_tasks(
    addresses: Mapping[int, TaskclusterAddress],
    environment: Environment,
    limit_s: float,
    tell: Tell,
    *,
    policy: RequestPolicy | None = None,
    clock: WaitClock = _CLOCK,
) -> None:
    """Wait at most this long until the benchmark's tasks at the addresses are resolved.

    Each look lists again, so that new tasks count. Reading the addresses later reports what is
    wrong with them.
    """

    async def wait() -> Sequence[_WatchedTask]:
        async with connect(addresses, environment, policy) as deployments:
            watch = _Watch(addresses, deployments, tell)
            return await _until_resolved(watch.look, tell, clock, limit_s)

    try:
        tasks = run_coroutine(wait())
    except GaveUpError as error:
        tell(f"not waiting any longer: {error}")
        return
    unresolved = [task.line for task in tasks if not task.is_resolved]
    if unresolved:
        tell(f"not waiting any longer; not resolved: {', '.join(unresolved)}")


async def wait_in_group(
    deployment: Deployment,
    group_id: str,
    labels: Mapping[str, str],
    tell: Tell,
    clock: WaitClock = _CLOCK,
) -> None:
    """Wait until the tasks with these labels, by id, are resolved; the group's others do not count."""

    async def look() -> list[_WatchedTask]:
        members = {task.task_id: task for task in await deployment.group(group_id)}
        # The queue may take a moment to list a new task.
        return [
            _WatchedTask.of(ListedTask(0, deployment, members[task_id]))._replace(url="")
            if task_id in members
            else _WatchedTask(f"{label} ({task_id})")
            for task_id, label in labels.items()
        ]

    await _until_resolved(look, tell, clock)


class _Watch(Struct):
    """Lists the benchmark's tasks, with the decision and action tasks that may still add some."""

    addresses: Mapping[int, TaskclusterAddress]
    deployments: Mapping[str, Deployment]
    tell: Tell
    # What was seen unresolved: creators by id, routes by name; whether it still is.
    unresolved: dict[str, bool] = {}

    async def look(self) -> list[_WatchedTask]:
        listing, tasks = await self._list()
        if any(
            self.unresolved.get(creator.task.task_id) and creator.task.status.is_resolved
            for creator in listing.creators
        ):
            # It may have added tasks after their page was listed.
            listing, tasks = await self._list()
        return [
            *map(_WatchedTask.of, tasks),
            *map(self._decision_task, listing.not_indexed),
            *self._creators(listing),
        ]

    async def _list(self) -> tuple[TaskListing, list[ListedTask]]:
        listing = TaskListing(self.deployments)
        tasks = await listing.tasks(self.addresses)
        if listing.lost:
            raise listing.lost[0]
        return listing, tasks

    def _creators(self, listing: TaskListing) -> list[_WatchedTask]:
        """Return the creators that were seen to run; the others added their tasks before."""
        watched = []
        for creator in listing.creators:
            task_id, task = creator.task.task_id, _WatchedTask.of(creator)
            if task_id not in self.unresolved:
                if task.is_resolved:
                    continue
                self.tell(f"waiting for {task.title}, which adds tasks to its group, {task.url}")
            self.unresolved[task_id] = not task.is_resolved
            watched.append(task)
        return watched

    def _decision_task(self, push: IndexAddress | LandingAddress) -> _WatchedTask:
        missing, reason = f"{push} to land", "not landed"
        if isinstance(push, IndexAddress):
            missing, reason = (
                f"the push's decision task: {push} does not exist yet",
                "not in the index",
            )
            missing += "; it is added to the index when the decision task has completed"
        if str(push) not in self.unresolved:
            self.unresolved[str(push)] = True
            self.tell(f"waiting for {missing}")
        return _WatchedTask(f"decision task of {push}", reason=reason)
