# SPDX-License-Identifier: MPL-2.0
"""The cost of tasks, by their time budget or by earlier durations."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.submit import sizes
from io_benchmark.submit.definitions import SelectedTask


def estimate(
    chosen: Sequence[SelectedTask],
    earlier: Mapping[str, float],
    prices: Mapping[str, Price] = MappingProxyType({}),
) -> Cost:
    """Estimate the cost; `earlier` has the minutes that each job's tasks took before."""
    # By job, because a pool's tasks of different kinds take different times.
    of_jobs: dict[str, list[SelectedTask]] = {}
    for task in chosen:
        of_jobs.setdefault(task.job, []).append(task)
    pools = Counter(tasks[0].pool for tasks in of_jobs.values())
    shares = []
    for job, (first, *others) in of_jobs.items():
        known = earlier.get(job)
        minutes = _budget_minutes(first.definition) if known is None else known
        shares.append(
            CostShare(
                name=first.pool if pools[first.pool] == 1 else job,
                tasks=1 + len(others),
                minutes=max(1, math.ceil(minutes)),
                is_limit=known is None,
                price=Price.find(prices, first.pool, first.queue),
                queue=first.queue,
            )
        )
    return Cost(tuple(shares), with_prices=bool(prices))


def _budget_minutes(definition: Mapping[str, Any]) -> float:
    """Return the script's own time budget, else the task's limit."""
    payload = definition["payload"]
    budget_s = sizes.budget_s(payload.get("command", []))
    return (payload.get("maxRunTime", 0) if budget_s is None else budget_s) / 60
