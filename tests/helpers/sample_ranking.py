# SPDX-License-Identifier: MPL-2.0
"""Rankings of labels, as the golden files have them, and sums of runs whose truth is known."""

import math
import random
from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from io_benchmark import command_lines
from io_benchmark.analysis.tasks.ranking import ExplainedRanking, RunTotals
from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.run_results import TaskRun

START_MS = 1_774_000_000_000
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
TASK = "cQ4kTnR7QTq1p2L0dJ8wXg"
GROUP = "Q0dZr3pPQ3m2cV9zqv1l9A"


def totals(
    hours: dict[tuple[str, str], float],
    *,
    workers: int = 6,
    days: int = 30,
    spread: float = 0.0,
    systems: Mapping[str, str] = MappingProxyType({}),
) -> RunTotals:
    """Return sums of one run per day and worker, of these hours by label and pool."""
    dice, sums = random.Random(1), RunTotals()
    for (label, pool), time_h in hours.items():
        for worker in range(workers):
            usual_h = time_h * math.exp(dice.gauss(0, spread))
            for day in range(days):
                started_ms = START_MS + day * DAY_MS
                resolved_ms = started_ms + round(usual_h * HOUR_MS)
                task_id, worker_id = f"{label} {pool} {worker} {day}", f"{pool}/{worker}"
                ending = ("completed", "completed", -1, started_ms, resolved_ms)
                run = TaskRun(label, pool, task_id, 0, worker_id, *ending)
                sums.add(replace(run, system=systems.get(pool, "")))
    return sums


PRICES = {"linux-amd": Price(0.5, "USD"), "linux": Price(0.4, "USD")}


def explained(
    sums: RunTotals,
    prices: Mapping[str, Price],
    cause: str = "",
    task_id: str = "",
    **changes: tuple[str, ...],
) -> ExplainedRanking:
    """Return a ranking with its next commands, of runs in a group."""
    ranking = sums.ranking(prices)
    addresses = (f"group:{GROUP}",)
    labels = tuple(replace(row, cause=cause) for row in ranking.labels)
    commands = tuple(
        command_lines.investigate_task(task_id)
        if task_id
        else command_lines.compare_label(addresses, row.label, (row.reference, row.pool))
        for row in labels
    )
    return ExplainedRanking(
        days=ranking.days,
        compared=ranking.compared,
        labels=labels,
        pools=ranking.pools,
        addresses=addresses,
        first_day="2026-03-20",
        last_day="2026-04-18",
        next_commands=commands,
        **changes,
    )


def seven_labels() -> ExplainedRanking:
    """Seven labels that are slower on one of two pools, which also costs more."""
    hours = {
        (f"build-{number}/opt", pool): 2 - number / 8 if pool == "p/linux-amd" else 1.0
        for number in range(7)
        for pool in ("p/linux-amd", "p/linux")
    }
    return explained(totals(hours, spread=0.03), PRICES, "cpu (supported)", TASK)


def sixty_pools() -> ExplainedRanking:
    """One label on sixty pools, each of which is a little slower than the one before."""
    hours = {("build", f"pool-{number:02}"): 1 + number / 40 for number in range(60)}
    return explained(totals(hours, workers=3, days=10, spread=0.005), {})


def nothing() -> ExplainedRanking:
    """One pool, which is compared with nothing."""
    return explained(totals({("build", "p/linux"): 1.0}, days=2), {})


def hostile() -> ExplainedRanking:
    """Names that would end a line, color a terminal or become markup; no command has them."""
    bad = "[x](javascript:1) | \x1b[31m `a`\u202e<b>" + "long " * 60
    hours = {(bad, f"one {bad}"): 2.0, (bad, f"two {bad}"): 1.0}
    ranking = explained(totals(hours, days=5, spread=0.01), {}, unreadable=(bad,), remarks=(bad,))
    return replace(ranking, next_commands=("",))
