# SPDX-License-Identifier: MPL-2.0
"""A pool's results over time: points, trend, levels, and what changed where a level does.

The unit is the worker. A point is one push, and its value is the mean of its workers' logarithms. So a
push with three workers weighs as much as a push with one. Only identical measurements are in one series:
results that break a validity rule together are in different ones.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from operator import attrgetter, itemgetter

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.history import (
    Change,
    FactChange,
    History,
    HistoryReading,
    HistorySeries,
    LeftOut,
    Level,
    Origin,
    Point,
    WorkerMean,
)
from io_benchmark.analysis.history.explanations import Explanation, Numbers
from io_benchmark.analysis.observed.machines import (
    Facts,
    FactValue,
    MachineMarks,
    by_machine,
    grouped,
)
from io_benchmark.analysis.statements import count, statement
from io_benchmark.analysis.variances import MeanVariance
from io_benchmark.results import workloads
from io_benchmark.results.parts import Workload

# How far noise can move a change that is large enough to matter.
_POINTS_NEAR = 2


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
    times: dict[str, datetime] = {}
    for reading in readings:
        times.setdefault(reading.origin.group, reading.origin.time)
    groups = [group for group, time in times.items() if since is None or time.date() >= since]
    kept = set(groups if newest is None else groups[-newest:])
    by_key = grouped(
        (reading for reading in readings if reading.origin.group in kept),
        attrgetter("subject", "conditions"),
    )
    older += len(groups) - len(kept)
    verb = "point is" if older == 1 else "points are"
    cut = statement(f"{{number}} older {verb} left out; --last N takes more", number=count(older))
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
        pool,
        tuple(series),
        tuple(sorted(left_out, key=lambda line: (line.source, repr(line.reason)))),
        tuple(sorted(unreadable)),
        (*(statement("{remark}", remark=remark) for remark in remarks), *([cut] if older else [])),
    )


def _order(reading: HistoryReading) -> tuple[object, ...]:
    origin = reading.origin
    run = -1 if origin.run_id is None else origin.run_id
    task = origin.time, origin.group, origin.task_id, run, origin.marks.worker_id, origin.source
    conditions = repr(reading.conditions)
    return *task, reading.subject, conditions, reading.log_mean, reading.facts


def _point(group: str, readings: Sequence[HistoryReading]) -> Point:
    """Return the mean of a group's workers; runs on one machine are one worker."""
    machines = MachineMarks.machine_names([reading.origin.marks for reading in readings])
    workers = []
    logs = []
    for pairs in by_machine(zip(machines, readings, strict=True), itemgetter(0)):
        log_mean = math.fsum(reading.log_mean for _, reading in pairs) / len(pairs)
        logs.append(log_mean)
        tasks = tuple(_task(reading.origin) for _, reading in pairs)
        workers.append(WorkerMean(pairs[0][0], tasks, math.exp(log_mean)))
    mean_ns = math.exp(math.fsum(logs) / len(logs))
    return Point(
        time=readings[0].origin.time,
        group=group,
        revision=next(filter(None, (reading.origin.revision for reading in readings)), None),
        workers=tuple(workers),
        mean_ns=mean_ns,
        value=workloads.of(readings[0].subject.workload).shown(mean_ns),
        ratio=None,
    )


def _task(origin: Origin) -> str:
    return origin.task_id + ("" if origin.run_id is None else f".{origin.run_id}")


def _series(readings: Sequence[HistoryReading]) -> HistorySeries:
    """Return the series of readings of one subject under the same conditions, which are in order."""
    groups = grouped(readings, attrgetter("origin.group"))
    points = [_point(group, members) for group, members in groups.items()]
    subject = readings[0].subject
    workload = workloads.of(subject.workload)
    logs = np.array([math.log(point.mean_ns) for point in points])
    explanation = Explanation.of([point.time for point in points], logs)
    expected = explanation.expected
    ends = [0, *(step.at for step in explanation.steps), len(points)]
    left = logs if expected is None else logs - expected
    levels = [_level(workload, start, end, logs, left) for start, end in itertools.pairwise(ends)]
    if expected is None:
        expected_ns = (levels[0].mean_ns,) * len(points)
    else:
        expected_ns = tuple(map(math.exp, expected.tolist()))
    order = {point.group: number for number, point in enumerate(points)}
    observed = [(order[reading.origin.group], reading.facts) for reading in readings]
    return HistorySeries(
        subject=subject,
        operation=workload.operation,
        unit=workload.unit,
        higher_is_better=workload.higher_is_better,
        conditions=dict(readings[0].conditions),
        points=tuple(_with_ratios(points, levels)),
        levels=tuple(levels),
        changes=tuple(
            _with_facts(step, (pair for pair in observed if start <= pair[0] < end))
            for step, start, end in zip(explanation.steps, ends, ends[2:], strict=False)
        ),
        trend=explanation.trend,
        possible=explanation.possible,
        expected_ns=expected_ns,
    )


def _with_facts(step: Change, observed: Iterable[tuple[int, Facts]]) -> Change:
    """Return a step with the facts that changed at its point or near it.

    `observed` has the number of a point and the facts of a worker, for each worker. A fact changed if it
    has one value on all workers before and a different one on all workers after. One that varies before
    or after does not explain the step.
    """
    values: dict[str, list[tuple[int, FactValue]]] = {}
    for point, facts in sorted(observed, key=itemgetter(0)):
        for name, value in facts:
            values.setdefault(name, []).append((point, value))
    both_sides = {
        name: pairs for name, pairs in values.items() if pairs[0][0] < step.at <= pairs[-1][0]
    }
    changes = (_single_change(name, pairs, step.at) for name, pairs in both_sides.items())
    near = [change for change in changes if change and abs(change.points_off) <= _POINTS_NEAR]
    near.sort(key=lambda change: abs(change.points_off))
    return replace(step, changed=tuple(near), unobserved=not both_sides)


def _single_change(
    name: str, pairs: Iterable[tuple[int, FactValue]], start: int
) -> FactChange | None:
    """Return where a fact has one value on all workers before, and a different one from there on."""
    points: dict[FactValue, list[int]] = {}
    for point, value in pairs:
        points.setdefault(value, []).append(point)
    if len(points) != 2:
        return None
    (before, early), (after, late) = points.items()
    return FactChange(name, before, after, late[0] - start) if early[-1] < late[0] else None


def _with_ratios(points: Sequence[Point], levels: Sequence[Level]) -> list[Point]:
    """Return each point with its ratio to the level before."""
    made = list(points[: levels[0].end])
    for before, level in itertools.pairwise(levels):
        made += [
            replace(point, ratio=point.mean_ns / before.mean_ns)
            for point in points[level.start : level.end]
        ]
    return made


def _level(workload: Workload, start: int, end: int, logs: Numbers, left: Numbers) -> Level:
    """Return a level; `left` is what the trend and the steps leave."""
    mean_ns = math.exp(math.fsum(logs[start:end]) / (end - start))
    variation = None
    if end - start > 1:
        variation = math.sqrt(MeanVariance.of_values(left[start:end].tolist()).variance)
    return Level(start, end, mean_ns, workload.shown(mean_ns), variation)
