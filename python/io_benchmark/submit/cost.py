# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What tasks will cost: machine minutes by the time budget, or as long as earlier ones took."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from io_benchmark.submit.definitions import Chosen

_BUDGET = re.compile(r"(?<!\S)--time-budget[ =]([0-9]{1,6})(?!\S)")


@dataclass(frozen=True)
class Share:
    """One pool's part of it, or that of one of its tasks where it has several."""

    name: str
    queue: str
    tasks: int
    minutes: int  # a task
    measured: bool  # by earlier results; otherwise the most that the time budget allows

    @property
    def shown(self) -> str:
        how = "about" if self.measured else "at most"
        return f"{self.name}: {self.tasks} × {how} {self.minutes} min on {self.queue}"


@dataclass(frozen=True)
class Cost:
    shares: tuple[Share, ...]

    @property
    def tasks(self) -> int:
        return sum(share.tasks for share in self.shares)

    @property
    def minutes(self) -> int:
        return sum(share.tasks * share.minutes for share in self.shares)

    @property
    def shown(self) -> str:
        how = "about" if all(share.measured for share in self.shares) else "at most"
        tasks = f"{self.tasks} task" + ("" if self.tasks == 1 else "s")
        return f"{tasks}, {how} {self.minutes:,} machine minutes in all"


def estimate(chosen: Sequence[Chosen], earlier: Mapping[str, float]) -> Cost:
    """`earlier`: minutes that a task took before, by its label without a replicate's number."""
    # A pool's tasks of another kind measure for another time.
    of_jobs: dict[str, list[Chosen]] = {}
    for one in chosen:
        of_jobs.setdefault(one.job, []).append(one)
    pools = Counter(tasks[0].pool for tasks in of_jobs.values())
    shares = []
    for job, (first, *others) in of_jobs.items():
        known = earlier.get(job)
        minutes = _budget_minutes(first.definition) if known is None else known
        shares.append(
            Share(
                name=first.pool if pools[first.pool] == 1 else job,
                queue=first.queue,
                tasks=1 + len(others),
                minutes=max(1, math.ceil(minutes)),
                measured=known is not None,
            )
        )
    return Cost(tuple(shares))


def _budget_minutes(definition: Mapping[str, Any]) -> float:
    """The script's own time budget, else the task's limit."""
    payload = definition["payload"]
    for part in reversed(_strings(payload.get("command", []))):
        budgets = _BUDGET.findall(part)
        if budgets:
            return int(budgets[-1]) / 60
    return float(payload.get("maxRunTime", 0)) / 60


def _strings(command: Any) -> list[str]:
    """docker-worker has a list of strings, generic-worker a list of such lists."""
    if isinstance(command, str):
        return [command]
    return [text for part in command for text in _strings(part)]
