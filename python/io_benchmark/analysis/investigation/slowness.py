# SPDX-License-Identifier: MPL-2.0
"""How long a label takes on its pool and on others: slower than what, since when, and in which part."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from statistics import fmean
from types import MappingProxyType

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.history.explanations import FEWEST_VALUES, explain
from io_benchmark.analysis.investigation.investigation_model import Change, Slowness
from io_benchmark.analysis.levels import DEFAULT_MARGIN
from io_benchmark.analysis.model import Verdict
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.statements import Statement
from io_benchmark.analysis.tasks.compare_tasks import compare_tasks
from io_benchmark.analysis.tasks.task_model import TaskComparison
from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.run_results import TaskRun

PENDING, OWN_WORK = "pending", "own work"
_PARTS = {
    PENDING: "pending_s",
    "set-up": "set_up_s",
    OWN_WORK: "work_s",
    "tear-down": "tear_down_s",
}
# How far apart a change may be found on two pools.
_SAME_CHANGE = timedelta(days=3)
_MOST_PROFILES = 3  # runs of each pool
_OPPOSITE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}

Sides = Mapping[str, Sequence[TaskRun]]


def find_slowness(
    label: str, pool: str, sides: Sides, prices: Mapping[str, Price] = MappingProxyType({})
) -> tuple[Slowness, tuple[Statement, ...]]:
    """Compare the label's completed runs on its pool with those on other pools; also return warnings.

    Where the label takes another time since some day, only runs from then on are compared.
    """
    change = _change(pool, sides)
    if change is not None:
        later = {
            name: [run for run in runs if _day(run).isoformat() >= change.date]
            for name, runs in sides.items()
        }
        # A task that moved did not run elsewhere since.
        sides = {name: later[name] or runs for name, runs in sides.items()}
    runs = sides[pool]
    slowness = Slowness(
        label=label,
        pool=pool,
        queue=_queue(runs),
        completed=len(runs),
        mean_s=fmean(max(0, run.resolved_ms - run.started_ms) / 1000 for run in runs),
        change=change,
        profiles=_newest(runs),
    )
    report = compare_tasks(Plan.of_pools(sides, pool), sides, prices=prices)
    if not report.comparisons:
        return slowness, report.remarks
    # The pool on which it is clearly faster, else the one on which it seems to be.
    pair = min(
        report.comparisons, key=lambda each: (each.verdict is not Verdict.FASTER, each.ratio)
    )
    return _compared(slowness, pair, sides[pair.candidate]), (*report.remarks, *pair.warnings)


def _compared(slowness: Slowness, pair: TaskComparison, runs: Sequence[TaskRun]) -> Slowness:
    """Add a comparison in which the task's pool is the baseline."""
    own, reference = pair.times[pair.baseline], pair.times[pair.candidate]
    parts = {part: (getattr(own, name), getattr(reference, name)) for part, name in _PARTS.items()}
    cost = pair.cost
    return replace(
        slowness,
        mean_s=own.task_s,
        reference=pair.candidate,
        reference_queue=_queue(runs),
        reference_mean_s=reference.task_s,
        verdict=_OPPOSITE.get(pair.verdict, pair.verdict),
        ratio=1 / pair.ratio,
        low_ratio=1 / pair.interval.high_ratio,
        high_ratio=min(1e9, 1 / max(1e-9, pair.interval.low_ratio)),
        workers=pair.workers,
        workers_to_add=None if pair.advice is None else pair.advice.workers_to_add,
        parts_s={part: both[0] - both[1] for part, both in parts.items() if None not in both},
        cost_per_1000=(cost.baseline.per_1000, cost.candidate.per_1000) if cost else None,
        currency=cost.currency if cost else "",
        profiles=(*slowness.profiles, *_newest(runs)),
    )


def _queue(runs: Sequence[TaskRun]) -> str:
    """Return the worker pool; a table may name it without its provisioner."""
    return max((run.pool for run in runs), key=lambda name: "/" in name)


def _newest(runs: Sequence[TaskRun]) -> tuple[str, ...]:
    """Return the addresses of the newest runs, which may have profiles."""
    known = [run for run in runs if run.task_id]
    newest = sorted(known, key=lambda run: (-run.started_ms, run.task_id))[:_MOST_PROFILES]
    return tuple(f"task:{run.task_id}.{run.run_id}" for run in newest)


def with_gaining_labels(slowness: Slowness, sides: Sides) -> Slowness:
    """Add which part of the time of both pools' labels is in labels that are slower on the task's pool."""
    both = {name: sides.get(name, ()) for name in (slowness.pool, slowness.reference or "")}
    comparisons = compare_tasks(Plan.of_pools(both, slowness.reference or ""), both).comparisons
    if not comparisons:
        return slowness
    labels = comparisons[0].labels
    slower = [
        row
        for row in labels
        if row.interval is not None
        and row.interval.low_ratio > 1
        and row.ratio > 1 + DEFAULT_MARGIN
    ]
    gaining = min(1.0, math.fsum(row.share for row in slower))
    return replace(slowness, gaining_share=gaining, gaining_labels=(len(slower), len(labels)))


# --- since when ---


def _change(pool: str, sides: Sides) -> Change | None:
    """Return the last day from which on the label takes another time on its pool."""
    step = _last_step(sides[pool])
    if step is None:
        return None
    since, ratio = step
    others = [
        _last_step(runs)
        for name, runs in sides.items()
        if name != pool and len(set(map(_day, runs))) >= FEWEST_VALUES
    ]
    is_everywhere = bool(others) and all(
        step is not None and abs(step[0] - since) <= _SAME_CHANGE and (step[1] > 1) == (ratio > 1)
        for step in others
    )
    return Change(date=since.isoformat(), ratio=ratio, is_everywhere=is_everywhere)


def _last_step(runs: Sequence[TaskRun]) -> tuple[date, float] | None:
    """Return the day and the ratio of the last step of the daily means."""
    days: dict[date, list[float]] = {}
    for run in runs:
        if run.resolved_ms > run.started_ms:
            days.setdefault(_day(run), []).append(math.log(run.resolved_ms - run.started_ms))
    order = sorted(days)
    times = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in order]
    steps = explain(times, np.array([fmean(days[day]) for day in order])).steps
    return (order[steps[-1].at], steps[-1].ratio) if steps else None


def _day(run: TaskRun) -> date:
    return datetime.fromtimestamp(run.started_ms / 1000, UTC).date()
