# SPDX-License-Identifier: MPL-2.0
"""Wait until tasks are resolved, and report each change."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import quote

from msgspec import Struct

from io_benchmark.errors import GaveUpError, MissingError, ResultError
from io_benchmark.number_text import number_of
from io_benchmark.sources.protocol import Environment, Reading, Tell
from io_benchmark.sources.silence import in_lines
from io_benchmark.sources.taskcluster.addresses import TaskclusterAddress
from io_benchmark.sources.taskcluster.api_answers import RESOLVED
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.listing import ListedTask, TaskListing
from io_benchmark.text import clean_name

_INTERVAL_S, _GROWTH, _LONGEST_S = 15.0, 1.5, 60.0
_MAXIMUM_LOST = 5  # listings in a row, each of which was repeated many times
_Pool = tuple[Deployment, str]  # PROVISIONER/WORKERTYPE of a deployment
_BY_A_WORKER = ("running", "completed", "failed")  # a task in one of these states had a worker
_STATES = (*RESOLVED, "running", "pending", "unscheduled", "unlisted")
# The time, and how to let it pass; tests replace both.
_now_s, _sleep = time.monotonic, asyncio.sleep


class _WatchedTask(NamedTuple):
    """A task, or its run, to wait for."""

    title: str
    state: str = "unlisted"
    ending: str = "is not listed yet"  # its state in words, and why
    pool: _Pool | None = None
    url: str = ""
    adds_tasks: bool = False

    @classmethod
    def of(cls, listed: ListedTask) -> "_WatchedTask":
        task = listed.task
        run = next((run for run in task.status.runs if run.run_id == listed.run_id), None)
        state, ending = (task.status.state, task.ending) if run is None else (run.state, run.ending)
        return cls(
            f"{task.label} ({task.task_id})",
            state,
            ending,
            (listed.deployment, task.status.queue) if task.status.queue else None,
            listed.url(),
            task.adds_tasks,
        )

    @property
    def is_resolved(self) -> bool:
        return self.state in RESOLVED

    @property
    def line(self) -> str:
        return f"{self.title}: {self.ending}" + (f", {self.url}" if self.url else "")


class _PoolWatch(Struct):
    """Looks at the pools that tasks wait for, and asks once whether each has workers."""

    tell: Tell
    _waited_for: set[_Pool] = set()  # at the last look
    _asked: set[_Pool] = set()

    async def look(self, tasks: Sequence[_WatchedTask]) -> None:
        """Name a pool without workers, once its tasks have been pending at two looks."""
        pending = Counter(task.pool for task in tasks if task.state == "pending")
        served = {task.pool for task in tasks if task.state in _BY_A_WORKER}
        waited_for = {pool for pool in pending if pool is not None and pool not in served}
        asked = (waited_for & self._waited_for) - self._asked
        self._asked |= asked
        self._waited_for = waited_for
        for deployment, queue in sorted(asked, key=itemgetter(1)):
            # It is a hint: the tasks are waited for all the same.
            with suppress(ResultError):
                if await deployment.has_workers(queue) is False:
                    url = f"{deployment.access.root_url}/worker-manager/{quote(queue, safe='')}"
                    waiting = number_of(pending[deployment, queue], "pending task")
                    self.tell(
                        f"no worker has been seen in this pool: {queue} ({waiting}); look at the "
                        f"pool and its errors: {url}"
                    )


async def _until_resolved(
    look: Callable[[], Awaitable[Sequence[_WatchedTask]]], tell: Tell, limit_s: float | None = None
) -> Sequence[_WatchedTask]:
    """Wait until all tasks that `look` returns are resolved; return the last look.

    `limit_s` limits the wait. The queue resolves every task by its deadline. A look that fails
    temporarily is repeated; several failures in a row are raised.
    """
    began_s = _now_s()
    pools = _PoolWatch(tell)
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
            for task in tasks:
                if task.adds_tasks and task.title not in reported:
                    reported.add(task.title)
                    tell(f"waiting for what adds tasks to the group: {task.line}")
            counts = _counts(tasks)
            if counts != previous and tasks:
                tell(f"{counts} after {(_now_s() - began_s) / 60:.0f} min")
                pause_s = _INTERVAL_S
            previous = counts
            # Each failure once: it can be looked at while other tasks run.
            for task in tasks:
                if task.is_resolved and task.state != "completed" and task.title not in reported:
                    reported.add(task.title)
                    tell(task.line)
            if all(task.is_resolved for task in tasks):
                return tasks
            await pools.look(tasks)
        if limit_s is not None:
            left_s = began_s + limit_s - _now_s()
            if left_s <= 0:
                return tasks
            pause_s = min(pause_s, left_s)
        await _sleep(pause_s)
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
) -> None:
    """Wait at most this long until the benchmark's tasks at the addresses are resolved.

    Each look lists again, so that new tasks count. Reading the addresses later reports what is
    wrong with them.
    """
    root_urls = (address.root_url for address in addresses.values())
    try:
        tasks = Deployment.run(
            root_urls,
            environment,
            lambda deployments: _until_resolved(_Watch(addresses, deployments).look, tell, limit_s),
            notice=in_lines(tell),
        )
    except GaveUpError as error:
        tell(f"not waiting any longer: {error}")
        return
    unresolved = [f"{task.title}: {task.ending}" for task in tasks if not task.is_resolved]
    if unresolved:
        tell(f"not waiting any longer; not resolved: {', '.join(unresolved)}")


async def wait_in_group(
    deployment: Deployment, group_id: str, labels: Mapping[str, str], tell: Tell
) -> None:
    """Wait until the tasks with these labels, by id, are resolved; others do not count."""

    async def look() -> list[_WatchedTask]:
        members = {task.task_id: task for task in await deployment.group(group_id)}
        # The queue may take a moment to list a new task.
        return [
            _WatchedTask.of(ListedTask(0, deployment, members[task_id]))._replace(url="")
            if task_id in members
            else _WatchedTask(f"{label} ({task_id})")
            for task_id, label in labels.items()
        ]

    await _until_resolved(look, tell)


class _Watch(Struct):
    """Lists the benchmark's tasks, with the decision and action tasks that may still add some."""

    addresses: Mapping[int, TaskclusterAddress]
    deployments: Mapping[str, Deployment]
    _had_creators: bool = False

    async def look(self) -> list[_WatchedTask]:
        tasks, creators = await self._list()
        if self._had_creators and not creators:
            # They may have added tasks after their page was listed.
            tasks, creators = await self._list()
        self._had_creators = bool(creators)
        return tasks + creators

    async def _list(self) -> tuple[list[_WatchedTask], list[_WatchedTask]]:
        """Return the tasks, and those that may still add others."""
        # Messages are those of the reading that follows.
        listing = TaskListing(self.deployments, Reading({}))
        tasks = await listing.tasks(self.addresses)
        if listing.lost:
            raise listing.lost[0]
        creators = map(_WatchedTask.of, listing.creators)
        running = [creator for creator in creators if not creator.is_resolved]
        return [*map(_WatchedTask.of, tasks)], running + [
            _WatchedTask(f"decision task of {push}", ending=reason, adds_tasks=True)
            for push, reason in listing.not_indexed
        ]
