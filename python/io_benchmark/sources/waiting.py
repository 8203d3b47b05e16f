# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Waits until tasks are resolved, and tells of each change."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from io_benchmark.sources import address, local
from io_benchmark.sources.address import task_url
from io_benchmark.sources.listing import Chosen, Listing, asked
from io_benchmark.sources.queue import Deployment, MissingError
from io_benchmark.sources.retrying import GaveUpError, Policy
from io_benchmark.sources.running import run
from io_benchmark.sources.tasks import Task
from io_benchmark.text import clean_name

EVERY_S = 15.0
GROWTH = 1.5
SLOWEST = 4  # times the first pause
LOST_IN_A_ROW = 5  # listings, each of which was tried many times
_ORDER = ("completed", "failed", "exception", "running", "pending", "unscheduled", "unlisted")


@dataclass(frozen=True)
class Clock:
    """Tests bring their own."""

    now_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True)
class Watched:
    """A task that is waited for."""

    title: str
    state: str
    is_resolved: bool
    how: str  # its state, and why
    where: str = ""  # its address

    @property
    def shown(self) -> str:
        return f"{self.title}: {clean_name(self.how)}"


@dataclass(frozen=True)
class Standing:
    """Where the tasks stand."""

    counts: tuple[tuple[str, int], ...] = ()
    resolved: int = 0
    total: int = 0
    unresolved: tuple[str, ...] = field(default=(), compare=False)

    @property
    def shown(self) -> str:
        listed = ", ".join(f"{count} {state}" for state, count in self.counts)
        return f"[{self.resolved}/{self.total}] {listed}"


async def until_resolved(
    look: Callable[[], Awaitable[Sequence[Watched]]],
    tell: Callable[[str], None],
    *,
    every_s: float = EVERY_S,
    limit_s: float | None = None,
    before: Standing | None = None,
    clock: Clock | None = None,
) -> Standing:
    """Until all that `look` sees are, or for so long. The queue resolves every task by its deadline.

    A look that fails in passing is repeated; after several in a row the failure comes out.
    """
    clock = clock or Clock()
    began_s = clock.now_s()
    pause_s, lost = every_s, 0
    previous = before or Standing()
    told: set[str] = set()
    while True:
        try:
            tasks = await look()
            lost = 0
        except (GaveUpError, MissingError) as error:
            lost += 1
            if lost >= LOST_IN_A_ROW:
                raise
            tell(f"the tasks could not be listed: {error}")
        else:
            standing = _standing(tasks)
            if standing != previous:
                minutes = (clock.now_s() - began_s) / 60
                tell(f"{standing.shown} after {minutes:.0f} min")
                pause_s = every_s
            for text in _failures(tasks, told):
                tell(text)
            previous = standing
            if standing.resolved == standing.total:
                return standing
        if limit_s is not None:
            left_s = began_s + limit_s - clock.now_s()
            if left_s <= 0:
                return previous
            pause_s = min(pause_s, left_s)
        await clock.sleep(pause_s)
        pause_s = min(pause_s * GROWTH, every_s * SLOWEST)


def wait_for(
    addresses: Sequence[str],
    environment: Mapping[str, str],
    limit_s: float,
    tell: Callable[[str], None],
    *,
    policy: Policy | None = None,
    clock: Clock | None = None,
) -> None:
    """Until the benchmark's tasks that the addresses lead to are resolved, or for so long.

    Each look lists anew, so that tasks made meanwhile count. Whatever is wrong with an address is
    left to its reading. A folder's results are there already.
    """
    meanings = [address.parse(text, environment) for text in addresses]
    remote = [
        (at, one) for at, one in enumerate(meanings) if not isinstance(one, address.FileAddress)
    ]
    for one in meanings:
        if isinstance(one, address.FileAddress):
            local.find(one.path)  # a mistake is told now, and not after hours
    if not remote:
        return

    async def main() -> Standing:
        async with asked(remote, environment, policy or Policy()) as (_, deployments):
            look = _Look(remote, deployments, tell)
            return await until_resolved(look, tell, limit_s=limit_s, clock=clock)

    try:
        standing = run(main())
    except GaveUpError as error:
        tell(f"not waiting any longer: {error}")
        return
    if standing.unresolved:
        tell(f"not waiting any longer; not resolved: {', '.join(standing.unresolved)}")


class _Look:
    """The benchmark's tasks, with the decision and action tasks that may still add some."""

    def __init__(
        self,
        addresses: Sequence[tuple[int, address.RemoteAddress]],
        deployments: Mapping[str, Deployment],
        tell: Callable[[str], None],
    ) -> None:
        self._addresses = addresses
        self._deployments = deployments
        self._tell = tell
        self._creating: dict[str, bool] = {}  # what was seen unresolved, and whether it still is

    async def __call__(self) -> list[Watched]:
        listing, tasks = await self._list()
        if self._has_just_ended(listing):
            # It may have added tasks after their page was listed.
            listing, tasks = await self._list()
        found = [
            watched(f"{task.label} ({task.task_id})", task, run_id, _where(deployment, task))
            for _, deployment, task, run_id in tasks
        ]
        return found + self._not_indexed(listing) + self._creators(listing)

    async def _list(self) -> tuple[Listing, list[Chosen]]:
        listing = Listing(self._deployments)
        tasks = await listing.tasks(self._addresses)
        if listing.lost:
            raise listing.lost[0]
        return listing, tasks

    def _has_just_ended(self, listing: Listing) -> bool:
        return any(
            self._creating.get(task.task_id, False) and task.status.is_resolved
            for _, task in listing.creators
        )

    def _creators(self, listing: Listing) -> list[Watched]:
        """Those that were seen to run: what others did is over."""
        found = []
        for deployment, task in listing.creators:
            is_new = task.task_id not in self._creating
            if is_new and task.status.is_resolved:
                continue
            title, where = f"{task.label} ({task.task_id})", _where(deployment, task)
            if is_new:
                self._tell(f"waiting for {title}, which adds tasks to its group, {where}")
            self._creating[task.task_id] = not task.status.is_resolved
            found.append(watched(title, task, None, where))
        return found

    def _not_indexed(self, listing: Listing) -> list[Watched]:
        found = []
        for one in listing.not_indexed:
            if str(one) not in self._creating:
                self._creating[str(one)] = True
                self._tell(
                    f"waiting for the push's decision task: {one} is not there yet, and comes into "
                    "the index when the decision task has completed"
                )
            found.append(Watched(f"decision task of {one}", "unlisted", False, "not in the index"))
        return found


def _where(deployment: Deployment, task: Task) -> str:
    return task_url(deployment.access.root_url, task.task_id)


def watched(title: str, task: Task, run_id: int | None = None, where: str = "") -> Watched:
    """The task, or its run where one is named."""
    runs, status = task.status.runs, task.status
    named = next((one for one in runs if one.run_id == run_id), None)
    if named is not None:
        return Watched(title, named.state, named.is_resolved, named.shown_state, where)
    how = runs[-1].shown_state if runs else status.state
    return Watched(title, status.state, status.is_resolved, how, where)


def _standing(tasks: Sequence[Watched]) -> Standing:
    states = Counter(clean_name(one.state) for one in tasks)
    shown = sorted(states.items(), key=lambda pair: (_place(pair[0]), pair[0]))
    unresolved = tuple(one.shown for one in tasks if not one.is_resolved)
    return Standing(tuple(shown), len(tasks) - len(unresolved), len(tasks), unresolved)


def _place(state: str) -> int:
    return _ORDER.index(state) if state in _ORDER else len(_ORDER)


def _failures(tasks: Sequence[Watched], told: set[str]) -> list[str]:
    """Each once: what failed can be looked at while the others run."""
    found = []
    for one in tasks:
        if one.is_resolved and one.state != "completed" and one.title not in told:
            told.add(one.title)
            found.append(one.shown + (f", {one.where}" if one.where else ""))
    return found
