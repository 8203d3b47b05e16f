# SPDX-License-Identifier: MPL-2.0
"""How long a label takes on its pool and on others: slower than what, since when, and where."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from statistics import fmean
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.investigation.investigation_model import Slowness
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN
from io_benchmark.analysis.statistics.series_fit import FEWEST_VALUES, SeriesFit
from io_benchmark.analysis.tasks.compare_tasks import compare_tasks
from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.run_results import TaskRun

# How far apart a change may be found on two pools. Chosen: noise moves a step by a few days.
_SAME_CHANGE = timedelta(days=3)
_MOST_PROFILES = 3  # runs of each pool

Sides = Mapping[str, Sequence[TaskRun]]


class _DailyStep(NamedTuple):
    """A step of the daily means."""

    day: date
    ratio: float


def find_slowness(
    label: str, pool: str, sides: Sides, every_label: Sides, prices: Mapping[str, Price]
) -> tuple[Slowness, tuple[Statement, ...]]:
    """Compare the label's completed runs on its pool with other pools; also return warnings.

    Where the label takes another time since some day, only runs from then on are compared.
    `every_label` has runs of other labels as well, if these were read.
    """
    step = _last_step(sides[pool])
    grew_everywhere = step is not None and _is_everywhere(step, pool, sides)
    if step is not None:
        # A pool without runs since then keeps its earlier ones, as where the task moved away.
        sides = {
            name: [run for run in runs if _day(run) >= step.day] or runs
            for name, runs in sides.items()
        }
    pairs = tuple((pool, name) for name in sorted(sides) if name != pool)
    report = compare_tasks(Plan(label, pool, "", pairs), sides, prices=prices)
    runs = sides[pool]
    slowness = Slowness(
        label=label,
        pool=pool,
        queue=_queue(runs),
        completed=len(runs),
        mean_s=fmean(max(0, run.resolved_ms - run.started_ms) / 1000 for run in runs),
        since=step.day.isoformat() if step is not None else "",
        growth=step.ratio if step is not None else 1.0,
        grew_everywhere=grew_everywhere,
        profiles=_newest(runs),
    )
    if not report.comparisons:
        return slowness, report.remarks
    # With the pool on which it is clearly faster, else the one on which it seems to be.
    comparison = max(
        report.comparisons, key=lambda each: (each.verdict is Verdict.SLOWER, each.ratio)
    )
    reference_runs = sides[comparison.baseline]
    gaining_share, gaining_labels = _gaining_labels(pool, comparison.baseline, every_label)
    slowness = replace(
        slowness,
        mean_s=comparison.times[pool].task_s,
        comparison=comparison,
        reference_queue=_queue(reference_runs),
        profiles=(*slowness.profiles, *_newest(reference_runs)),
        gaining_share=gaining_share,
        gaining_labels=gaining_labels,
    )
    return slowness, (*report.remarks, *comparison.warnings)


def _queue(runs: Sequence[TaskRun]) -> str:
    """Return the worker pool; a table may name it without its provisioner."""
    return max((run.pool for run in runs), key=lambda name: "/" in name)


def _newest(runs: Sequence[TaskRun]) -> tuple[str, ...]:
    """Return the addresses of the newest runs, which may have profiles."""
    known = [run for run in runs if run.task_id]
    known.sort(key=lambda run: (-run.started_ms, run.task_id))
    return tuple(f"task:{run.task_id}.{run.run_id}" for run in known[:_MOST_PROFILES])


def _gaining_labels(
    pool: str, reference: str, sides: Sides
) -> tuple[float | None, tuple[int, int]]:
    """Return the share of time in labels that are slower on the pool, and how many labels are.

    The time and the number of labels are of those that both pools have.
    """
    both = {name: sides.get(name, ()) for name in (pool, reference)}
    comparisons = compare_tasks(Plan.of_pools(both, reference), both).comparisons
    if not comparisons:
        return None, (0, 0)
    labels = comparisons[0].labels
    proven = [row for row in labels if row.interval and row.interval.low_ratio > 1]
    slower = [row for row in proven if row.ratio > 1 + DEFAULT_MARGIN]
    return min(1.0, math.fsum(row.share for row in slower)), (len(slower), len(labels))


# --- since when ---


def _is_everywhere(step: _DailyStep, pool: str, sides: Sides) -> bool:
    """Return whether all other pools have the same step, of which there is at least one."""
    other_steps = [
        _last_step(runs)
        for name, runs in sides.items()
        if name != pool and len(set(map(_day, runs))) >= FEWEST_VALUES
    ]
    return bool(other_steps) and all(_is_same_step(step, other) for other in other_steps)


def _is_same_step(step: _DailyStep, other: _DailyStep | None) -> bool:
    """Return whether two pools changed at about the same time and in the same direction."""
    if other is None or abs(other.day - step.day) > _SAME_CHANGE:
        return False
    return (other.ratio > 1) == (step.ratio > 1)


def _last_step(runs: Sequence[TaskRun]) -> _DailyStep | None:
    """Return the last step of the daily means."""
    days = grouped((run for run in runs if run.resolved_ms > run.started_ms), _day)
    order = sorted(days)
    times = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in order]
    logs = [fmean(math.log(run.resolved_ms - run.started_ms) for run in days[day]) for day in order]
    steps = SeriesFit.of(times, np.array(logs)).steps
    if not steps:
        return None
    last = steps[-1]
    return _DailyStep(order[last.at], last.ratio)


def _day(run: TaskRun) -> date:
    return datetime.fromtimestamp(run.started_ms / 1000, UTC).date()
