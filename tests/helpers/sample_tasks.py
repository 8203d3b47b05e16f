# SPDX-License-Identifier: MPL-2.0
"""Reports about real tasks, as the golden files have them, and runs whose truth is known."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import real_tasks
from msgspec.structs import replace
from simulated_phases import PhasedPools

from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.statements import count, statement
from io_benchmark.analysis.phases.phase_model import PhaseName
from io_benchmark.analysis.tasks.compare_tasks import compare_tasks
from io_benchmark.analysis.tasks.difference_model import ComparedPhases
from io_benchmark.analysis.tasks.phase_differences import compare_phases
from io_benchmark.analysis.tasks.task_model import TaskComparison, TaskReport
from io_benchmark.costs.worker_time import Price
from io_benchmark.report.content import text_of
from io_benchmark.sources.run_results import TaskRun
from io_benchmark.sources.run_table import _run

START_MS = 1_774_000_000_000
PRICES = {
    "intel": Price(0.42, "USD", "spot", "2026-11-01"),
    "amd-16": Price(0.39, "USD", "spot", "2026-11-01"),
}


def of_rows(rows: Iterable[Mapping[str, Any]]) -> list[TaskRun]:
    """Return the runs that rows of a table describe, as its reader does."""
    return [_run(row) for row in rows]


def completed(
    pool: str, minutes: float, worker: str = "", label: str = "build", **changes: Any
) -> TaskRun:
    """Return a completed run of so many minutes."""
    started_ms = changes.pop("started_ms", START_MS)
    made: dict[str, Any] = {
        "task_id": "",
        "run_id": 0,
        "state": "completed",
        "reason": "completed",
        "scheduled_ms": started_ms - 60_000,
        "resolved_ms": started_ms + round(minutes * 60_000),
    }
    return TaskRun(label, pool, worker=worker, started_ms=started_ms, **(made | changes))


def compared(runs: Sequence[TaskRun], baseline: str | None = None, **options: Any) -> TaskReport:
    """Compare pools as the command does."""
    sides: dict[str, list[TaskRun]] = {}
    for run in runs:
        sides.setdefault(run.pool, []).append(run)
    return compare_tasks(Plan.of_pools(sides, baseline), sides, **options)


def seed() -> TaskReport:
    """The seed's tasks with prices."""
    return compared(of_rows(real_tasks.rows()), prices=PRICES)


def many() -> TaskReport:
    """Four pools, of which one is slow at one of two labels only; its mix is another one too."""
    runs = []
    for pool, ratios in {
        "arm": (1.0, 1.0),
        "half": (1.6, 1.0),
        "slow": (1.3, 1.3),
        "usual": (1.0, 1.0),
    }.items():
        for worker in range(8):
            factor = math.exp(0.02 * (worker - 3.5))
            for label, minutes, ratio in zip(("link", "test"), (60, 6), ratios, strict=True):
                repeated = 3 if (pool, label) == ("half", "test") else 1
                runs += [
                    completed(
                        pool, minutes * factor * ratio, f"g/{pool}-{worker}", label, run_id=each
                    )
                    for each in range(repeated)
                ]
    return compared(runs)


def phased() -> TaskReport:
    """Tasks of which logs were read: a pool with slower disks, and one with larger fetches."""
    pools = PhasedPools(
        (9, 8),
        factors={PhaseName.IMAGE_LOAD: 1.5, PhaseName.UNPACK: 1.3},
        sizes={PhaseName.DOWNLOAD: 1.4},
        cached=(0.1, 0.7),
        evenness=20,
        between=0.05,
    ).make(np.random.default_rng(1))
    runs = dict(zip(("amd-16", "intel"), pools.values(), strict=True))
    tasks = [
        completed(pool, run.run_ns / 60e9, run.worker, run.label, run_id=number)
        for pool, side in runs.items()
        for number, run in enumerate(side)
    ]
    logs = sum(map(len, runs.values()))
    phases = ComparedPhases(
        pairs=compare_phases([("amd-16", "intel")], runs),
        logs=logs,
        notes=(statement("logs of {logs} of 1,234 runs were read", logs=count(logs)),),
    )
    return replace(compared(tasks, "intel", prices=PRICES), phases=phases)


def nothing() -> TaskReport:
    """Two pools without a label in common."""
    return compared([completed("a", 5, "g/1", "x"), completed("b", 5, "g/2", "y")])


def hostile() -> TaskReport:
    """Names that would end a line, color a terminal or become markup; clocks that are wrong."""
    bad = "[x](javascript:1) | \x1b[31m `a`\u202e" + "long " * 60
    runs = [
        completed(
            pool,
            10 + worker,
            f"g/{bad}{worker}{pool}",
            bad,
            own_started_ms=START_MS - 60_000,
            own_ended_ms=START_MS + 300_000,
        )
        for pool in (f"one {bad}", f"two {bad}")
        for worker in range(3)
    ]
    return compared(runs)


def runs_on_two_pools(
    first: float, second: float, workers: int = 4, spread: float = 0.02, label: str = "build"
) -> list[TaskRun]:
    """Return runs of as many minutes on `a` and on `b`, one per worker."""
    return [
        completed(pool, minutes * math.exp(spread * (worker % 3 - 1)), f"g/{pool}{worker}", label)
        for pool, minutes in (("a", first), ("b", second))
        for worker in range(workers)
    ]


def only_pair(report: TaskReport) -> TaskComparison:
    """Return the comparison of a report that has one."""
    (pair,) = report.comparisons
    return pair


def warnings_of(report: TaskReport) -> list[str]:
    """Return the warnings of the report's only comparison."""
    return [text_of(warning) for warning in only_pair(report).warnings]
