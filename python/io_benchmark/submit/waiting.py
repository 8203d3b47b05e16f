# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Waits until tasks are resolved, and tells of each change."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from io_benchmark.sources.queue import Deployment, MissingError
from io_benchmark.sources.retrying import GaveUpError
from io_benchmark.sources.tasks import Task
from io_benchmark.sources.text import name
from io_benchmark.submit.definitions import Ready

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
class Standing:
    """Where the tasks stand."""

    counts: tuple[tuple[str, int], ...]
    resolved: int
    total: int

    @property
    def shown(self) -> str:
        listed = ", ".join(f"{count} {state}" for state, count in self.counts)
        return f"[{self.resolved}/{self.total}] {listed}"


async def wait(
    deployment: Deployment,
    group_id: str,
    tasks: Sequence[Ready],
    every_s: float,
    timeout_s: float | None,
    tell: Callable[[str], None],
    clock: Clock | None = None,
) -> Standing:
    """Until all are resolved, or for so long. The queue resolves every task by its deadline."""
    clock = clock or Clock()
    began_s = clock.now_s()
    pause_s, lost = every_s, 0
    previous = Standing((), 0, len(tasks))
    told: set[str] = set()
    while True:
        try:
            members = await deployment.group(group_id, lambda _count: None)
            lost = 0
        except (GaveUpError, MissingError) as error:
            lost += 1
            if lost >= LOST_IN_A_ROW:
                raise
            tell(f"the group could not be listed: {error}")
        else:
            by_id = {one.task_id: one for one in members}
            standing = _standing(tasks, by_id)
            if standing != previous:
                minutes = (clock.now_s() - began_s) / 60
                tell(f"{standing.shown} after {minutes:.0f} min")
                pause_s = every_s
            for text in _failures(tasks, by_id, told):
                tell(text)
            previous = standing
            if standing.resolved == standing.total:
                return standing
        if timeout_s is not None:
            left_s = began_s + timeout_s - clock.now_s()
            if left_s <= 0:
                return previous
            pause_s = min(pause_s, left_s)
        await clock.sleep(pause_s)
        pause_s = min(pause_s * GROWTH, every_s * SLOWEST)


def _standing(tasks: Sequence[Ready], members: dict[str, Task]) -> Standing:
    states = Counter(
        name(members[one.task_id].status.state) if one.task_id in members else "unlisted"
        for one in tasks
    )
    shown = sorted(states.items(), key=lambda pair: (_place(pair[0]), pair[0]))
    resolved = sum(
        one.task_id in members and members[one.task_id].status.is_resolved for one in tasks
    )
    return Standing(tuple(shown), resolved, len(tasks))


def _place(state: str) -> int:
    return _ORDER.index(state) if state in _ORDER else len(_ORDER)


def _failures(tasks: Sequence[Ready], members: dict[str, Task], told: set[str]) -> list[str]:
    """Each once: what failed can be looked at while the others run."""
    found = []
    for one in tasks:
        member = members.get(one.task_id)
        if member is None or one.task_id in told or member.status.state == "completed":
            continue
        if member.status.is_resolved:
            told.add(one.task_id)
            runs = member.status.runs
            state = runs[-1].shown_state if runs else member.status.state
            found.append(f"{one.label} ({one.task_id}): {name(state)}")
    return found
