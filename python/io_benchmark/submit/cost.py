# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The cost of tasks in worker hours, by their time budget or by earlier durations."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from io_benchmark.number_text import compact
from io_benchmark.submit import sizes
from io_benchmark.submit.definitions import SelectedTask

MINUTES_PER_HOUR = 60


@dataclass(frozen=True)
class _CostShare:
    """The cost of one pool, or of one job of a pool with several jobs."""

    name: str
    queue: str
    tasks: int
    minutes: int  # per task
    measured: bool  # by earlier results; otherwise the most that the time budget allows

    @property
    def all_minutes(self) -> int:
        return self.tasks * self.minutes

    @property
    def shown(self) -> str:
        how = "about" if self.measured else "at most"
        tasks = f"{_tasks(self.tasks)} of {self.minutes} min"
        return f"{self.name}: {how} {worker_hours(self.all_minutes)} ({tasks} on {self.queue})"


@dataclass(frozen=True)
class _Cost:
    shares: tuple[_CostShare, ...]

    @property
    def tasks(self) -> int:
        return sum(share.tasks for share in self.shares)

    @property
    def minutes(self) -> int:
        return sum(share.all_minutes for share in self.shares)

    @property
    def shown(self) -> str:
        how = "about" if all(share.measured for share in self.shares) else "at most"
        return f"{_tasks(self.tasks)}, {how} {worker_hours(self.minutes)} in all"


def _tasks(count: int) -> str:
    return f"{count} task" + ("" if count == 1 else "s")


def worker_hours(minutes: float) -> str:
    """Write hours with three digits: 0.917, 2.75, 165, 1,230."""
    number = compact(minutes / MINUTES_PER_HOUR)
    return f"{number} worker hour" + ("" if number == "1" else "s")


def estimate(chosen: Sequence[SelectedTask], earlier: Mapping[str, float]) -> _Cost:
    """Estimate the cost; `earlier` has the minutes that each job's tasks took before."""
    # A pool's tasks of another kind measure for another time.
    of_jobs: dict[str, list[SelectedTask]] = {}
    for task in chosen:
        of_jobs.setdefault(task.job, []).append(task)
    pools = Counter(tasks[0].pool for tasks in of_jobs.values())
    shares = []
    for job, (first, *others) in of_jobs.items():
        known = earlier.get(job)
        minutes = _budget_minutes(first.definition) if known is None else known
        shares.append(
            _CostShare(
                name=first.pool if pools[first.pool] == 1 else job,
                queue=first.queue,
                tasks=1 + len(others),
                minutes=max(1, math.ceil(minutes)),
                measured=known is not None,
            )
        )
    return _Cost(tuple(shares))


def _budget_minutes(definition: Mapping[str, Any]) -> float:
    """Return the script's own time budget, else the task's limit."""
    payload = definition["payload"]
    budget_s = sizes.budget_s(payload.get("command", []))
    return (payload.get("maxRunTime", 0) if budget_s is None else budget_s) / 60
