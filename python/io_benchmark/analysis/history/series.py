# SPDX-License-Identifier: MPL-2.0
"""A pool's results over time: points, trend, levels, and what changed where a level does.

The unit is the worker. A point is one push, and its value is the mean of its workers' logarithms.
So a push with three workers weighs as much as a push with one. Only identical measurements are in
one series: results that break a validity rule together are in different ones.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import pairwise
from operator import attrgetter
from statistics import fmean

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import (
    FactChange,
    History,
    HistoryReading,
    HistorySeries,
    LeftOut,
    Level,
    LevelChange,
    MachineReading,
    Point,
    Trend,
)
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.statements import count, statement
from io_benchmark.analysis.reading.machines import Facts, FactValue, MachineMarks
from io_benchmark.analysis.statistics.regression import Numbers
from io_benchmark.analysis.statistics.series_fit import LevelStep, SeriesFit
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.number_text import plural
from io_benchmark.results import workloads
from io_benchmark.results.parts import Workload

_POINTS_NEAR = 2  # how many points noise can move a change that is large enough to matter
_Observed = tuple[int, Facts]  # the facts of a worker, with the number of its point


def history(
    pool: str,
    readings: Sequence[HistoryReading],
    *,
    newest: int | None = None,
    since: date | None = None,
    older: int = 0,
    left_out: Sequence[LeftOut] = (),
    unreadable: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> History:
    """Return a pool's series, those with the newest points first.

    `older` points were left out before; points beyond the `newest` are left out here.
    """
    # Readings arrive in any order over a network.
    readings = sorted(readings, key=_order)
    groups = [
        group
        for group, (first, *_) in grouped(readings, attrgetter("origin.group")).items()
        if since is None or first.origin.time.date() >= since
    ]
    kept = set(groups if newest is None else groups[-newest:])
    by_key = grouped(
        (reading for reading in readings if reading.origin.group in kept),
        attrgetter("subject", "conditions"),
    )
    older += len(groups) - len(kept)
    messages = [statement("{remark}", remark=remark) for remark in remarks]
    if older:
        verb = f"{plural(older, 'point')} {'is' if older == 1 else 'are'}"
        template = f"{{number}} older {verb} left out; --last N takes more"
        messages.append(statement(template, number=count(older)))
    series = [_series(members) for members in by_key.values()]
    series.sort(
        key=lambda line: (
            line.subject,
            -line.points[-1].time.timestamp(),  # the newest first
            -len(line.points),
            repr(list(line.conditions.items())),
        )
    )
    return History(
        pool=pool,
        series=tuple(series),
        left_out=tuple(sorted(left_out, key=lambda line: (line.source, repr(line.reason)))),
        unreadable=tuple(sorted(unreadable)),
        remarks=tuple(messages),
    )


def _order(reading: HistoryReading) -> tuple[object, ...]:
    """Return what readings are sorted by: first the time, then whatever may differ."""
    origin = reading.origin
    return (
        origin.time,
        origin.group,
        origin.task_id,
        -1 if origin.run_id is None else origin.run_id,
        origin.marks.worker_id,
        origin.source,
        reading.subject,
        repr(reading.conditions),
        reading.log_mean,
        reading.facts,
    )


def _series(readings: Sequence[HistoryReading]) -> HistorySeries:
    """Return the series of readings of one subject under the same conditions, in their order."""
    # All points are looked at together: a worker of another pool may have had the same id.
    machines = MachineMarks.machine_names([reading.origin.marks for reading in readings])
    groups = grouped(map(MachineReading, machines, readings), attrgetter("reading.origin.group"))
    points = [Point.of(group, members) for group, members in groups.items()]
    subject = readings[0].subject
    workload = workloads.of(subject.workload)
    logs = np.array([math.log(point.mean_ns) for point in points])
    fit = SeriesFit.of([point.time for point in points], logs)
    ends = [0, *(step.at for step in fit.steps), len(points)]
    left = logs if fit.expected is None else logs - fit.expected
    levels = [_level(workload, start, end, logs, left) for start, end in pairwise(ends)]
    for before, level in pairwise(levels):
        for number in range(level.start, level.end):
            point = points[number]
            points[number] = replace(point, ratio=point.mean_ns / before.mean_ns)
    if fit.expected is None:
        expected_ns = (levels[0].mean_ns,) * len(points)
    else:
        expected_ns = tuple(math.exp(log) for log in fit.expected.tolist())
    observed = [
        (number, member.reading.facts)
        for number, members in enumerate(groups.values())
        for member in members
    ]
    changes = []
    for position, step in enumerate(fit.steps):
        # From the start of the level before the step to the end of the level after it.
        start, end = levels[position].start, levels[position + 1].end
        near = [(number, facts) for number, facts in observed if start <= number < end]
        changes.append(_change(step, near))
    return HistorySeries(
        subject=subject,
        operation=workload.operation,
        unit=workload.unit,
        higher_is_better=workload.higher_is_better,
        conditions=dict(readings[0].conditions),
        points=tuple(points),
        levels=tuple(levels),
        changes=tuple(changes),
        trend=None if fit.trend is None else Trend(fit.trend.ratio, fit.trend.interval),
        possible=fit.possible,
        expected_ns=expected_ns,
    )


def _change(step: LevelStep, observed: Iterable[_Observed]) -> LevelChange:
    """Return a step with the facts that changed at its point or near it.

    `observed` has each worker of the levels before and after, in the points' order. A fact changed
    if it has one value on all workers before and a different one on all workers after. One that
    varies before or after does not explain the step.
    """
    points: dict[str, dict[FactValue, list[int]]] = defaultdict(lambda: defaultdict(list))
    for point, facts in observed:
        for name, value in facts:
            points[name][value].append(point)
    changed = []
    unobserved = True
    for name, by_value in points.items():
        numbers = [number for value_points in by_value.values() for number in value_points]
        if not min(numbers) < step.at <= max(numbers):
            continue
        unobserved = False
        if len(by_value) == 2:
            (before, before_points), (after, after_points) = by_value.items()
            points_off = after_points[0] - step.at
            if before_points[-1] < after_points[0] and abs(points_off) <= _POINTS_NEAR:
                changed.append(FactChange(name, before, after, points_off))
    changed.sort(key=lambda change: abs(change.points_off))
    return LevelChange(
        at=step.at,
        before_ns=step.before,
        after_ns=step.after,
        ratio=step.ratio,
        interval=step.interval,
        changed=tuple(changed),
        unobserved=unobserved,
    )


def _level(workload: Workload, start: int, end: int, logs: Numbers, left: Numbers) -> Level:
    """Return a level; `left` is what the trend and the steps leave."""
    mean_ns = math.exp(fmean(logs[start:end]))
    variation = None
    if end - start > 1:
        variation = math.sqrt(MeanVariance.of_values(left[start:end].tolist()).variance)
    return Level(start, end, mean_ns, workload.shown(mean_ns), variation)
