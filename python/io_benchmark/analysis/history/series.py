# SPDX-License-Identifier: MPL-2.0
"""A pool's results over time: points, trend and seasons, levels, and what changed where a level does.

The unit is the worker. A point is one push, and its value is the mean of its workers' logarithms. So a
push with three workers weighs as much as a push with one. Only identical measurements are in one series:
results that break a validity rule together are in different ones.
"""

import itertools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.arrays import Numbers
from io_benchmark.analysis.history.changes import fact_changes
from io_benchmark.analysis.history.effects import Effects
from io_benchmark.analysis.history.history_model import (
    Change,
    Conditions,
    FactChange,
    FactSpread,
    History,
    HistoryReading,
    HistorySeries,
    LeftOut,
    Level,
    Origin,
    Point,
    WorkerMean,
)
from io_benchmark.analysis.inference import variances
from io_benchmark.analysis.model import UNKNOWN, Subject
from io_benchmark.analysis.observed import machine_identity
from io_benchmark.analysis.statements import Statement, count, joined, statement
from io_benchmark.results import workloads
from io_benchmark.results.workload import Workload


class _SeriesKey(NamedTuple):
    """Points with the same key are in one series."""

    subject: Subject
    conditions: Conditions


_Points = Mapping[_SeriesKey, Sequence[Point]]


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
    kept, beyond = _newest(sorted(readings, key=_order), newest, since)
    by_key: dict[_SeriesKey, list[HistoryReading]] = {}
    for reading in kept:
        by_key.setdefault(_SeriesKey(reading.subject, reading.conditions), []).append(reading)
    points = {key: _points_of(some) for key, some in by_key.items()}
    series, alone = [], []
    for key, key_points in points.items():
        usual = _longest_other(key, points)
        # A point with conditions that no other point has is left out where its subject has a series.
        if len(key_points) > 1 or usual is None or len(points[usual]) == 1:
            series.append(_series(key, key_points, by_key[key]))
        else:
            alone.append(_left_out(key, key_points[0], usual))
    series.sort(
        key=lambda line: (
            line.subject,
            _age(line),
            -len(line.points),
            repr(list(line.conditions.items())),
        )
    )
    return History(
        pool,
        tuple(series),
        tuple(sorted([*left_out, *alone], key=lambda line: (line.source, repr(line.reason)))),
        tuple(sorted(unreadable)),
        (
            *(statement("{remark}", remark=remark) for remark in remarks),
            *(_older_points(number) for number in (older, beyond) if number),
        ),
    )


def _order(reading: HistoryReading) -> tuple[object, ...]:
    origin = reading.origin
    run = -1 if origin.run_id is None else origin.run_id
    task = origin.time, origin.group, origin.task_id, run, origin.marks.worker_id, origin.source
    conditions = repr(reading.conditions)
    return *task, reading.subject, conditions, reading.log_mean, reading.facts


def _older_points(number: int) -> Statement:
    verb = "point is" if number == 1 else "points are"
    return statement(f"{{number}} older {verb} left out; --last N takes more", number=count(number))


def _newest(
    readings: Sequence[HistoryReading], newest: int | None, since: date | None
) -> tuple[list[HistoryReading], int]:
    """Return the readings of the newest groups, and how many groups are beyond these."""
    times: dict[str, datetime] = {}
    for reading in readings:
        time = reading.origin.time
        times[reading.origin.group] = min(time, times.get(reading.origin.group, time))
    recent = [group for group, time in times.items() if since is None or time.date() >= since]
    groups = sorted(recent, key=lambda group: (times[group], group))
    kept = set(groups if newest is None else groups[-newest:])
    return [each for each in readings if each.origin.group in kept], len(groups) - len(kept)


def _longest_other(key: _SeriesKey, points: _Points) -> _SeriesKey | None:
    """Return the subject's longest other series."""
    keys = [other for other in points if other.subject == key.subject and other != key]
    return max(keys, key=lambda other: len(points[other]), default=None)


def _left_out(key: _SeriesKey, point: Point, usual: _SeriesKey) -> LeftOut:
    reason = statement(
        "{subject}: task {tasks}: {difference}",
        subject=str(key.subject),
        tasks=joined(task for worker in point.workers for task in worker.tasks),
        difference=_difference(key.conditions, usual.conditions),
    )
    return LeftOut(point.time.date().isoformat(), reason)


def _difference(conditions: Conditions, usual: Conditions) -> Statement:
    """Return `copy-method: copied by cp, others: copied by sendfile`."""
    others = dict(usual)
    differences = [
        statement(
            "{rule}: {traits}, others: {others}",
            rule=rule,
            traits=traits,
            others=others.get(rule, UNKNOWN),
        )
        for rule, traits in conditions
        if others.get(rule) != traits
    ]
    if not differences:
        return statement("has other conditions than the rest")
    return joined(differences, "; ")


def _points_of(readings: Iterable[HistoryReading]) -> list[Point]:
    """Return a point per group, oldest first; runs on one machine are one worker."""
    groups: dict[str, list[HistoryReading]] = {}
    for reading in readings:
        groups.setdefault(reading.origin.group, []).append(reading)
    points = [_point(group, members) for group, members in groups.items()]
    return sorted(points, key=lambda point: (point.time, point.group))


def _point(group: str, readings: Sequence[HistoryReading]) -> Point:
    machines = machine_identity.MachineMarks.machine_names(
        [reading.origin.marks for reading in readings]
    )
    named = zip(machines, readings, strict=True)
    workers = []
    logs = []
    for of_machine in machine_identity.by_machine(named, lambda pair: pair[0]):
        log_mean = math.fsum(reading.log_mean for _, reading in of_machine) / len(of_machine)
        logs.append(log_mean)
        tasks = tuple(_task(reading.origin) for _, reading in of_machine)
        workers.append(WorkerMean(of_machine[0][0], tasks, math.exp(log_mean)))
    mean_ns = math.exp(math.fsum(logs) / len(logs))
    revisions = (reading.origin.revision for reading in readings if reading.origin.revision)
    return Point(
        time=min(reading.origin.time for reading in readings),
        group=group,
        revision=next(revisions, None),
        workers=tuple(workers),
        mean_ns=mean_ns,
        value=workloads.of(readings[0].subject.workload).shown(mean_ns),
        ratio=None,
    )


def _task(origin: Origin) -> str:
    return origin.task_id + ("" if origin.run_id is None else f".{origin.run_id}")


def _series(
    key: _SeriesKey, points: Sequence[Point], readings: Sequence[HistoryReading]
) -> HistorySeries:
    workload = workloads.of(key.subject.workload)
    logs = np.log([point.mean_ns for point in points])
    effects = Effects.of([point.time for point in points], logs)
    ends = [0, *(step.at for step in effects.steps), len(points)]
    left = logs if effects.expected is None else logs - effects.expected
    levels = [_level(workload, start, end, logs, left) for start, end in itertools.pairwise(ends)]
    spans = zip(effects.steps, ends, ends[2:], strict=False)
    changes = []
    for step, start, end in spans:
        changed, varied, unobserved = _facts(points, readings, start, step.at, end)
        changes.append(
            Change(
                at=step.at,
                p_value=step.p_value,
                before_ns=step.before_ns,
                after_ns=step.before_ns * step.ratio,
                ratio=step.ratio,
                interval=step.interval,
                changed=changed,
                varied=varied,
                unobserved=unobserved,
            )
        )
    if effects.expected is None:
        expected_ns = (levels[0].mean_ns,) * len(points)
    else:
        expected_ns = tuple(np.exp(effects.expected).tolist())
    return HistorySeries(
        subject=key.subject,
        operation=workload.operation,
        unit=workload.unit,
        higher_is_better=workload.higher_is_better,
        conditions=dict(key.conditions),
        points=tuple(_with_ratios(points, levels)),
        levels=tuple(levels),
        changes=tuple(changes),
        trend=effects.trend,
        seasons=effects.seasons,
        possible=effects.possible,
        autocorrelation=effects.autocorrelation,
        expected_ns=expected_ns,
    )


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
    """Return a level; `left` is what trend and seasons leave."""
    mean_ns = math.exp(math.fsum(logs[start:end]) / (end - start))
    variation = None
    if end - start > 1:
        variation = math.sqrt(variances.sample_variance(left[start:end].tolist()))
    return Level(start, end, mean_ns, workload.shown(mean_ns), variation)


def _facts(
    points: Sequence[Point], readings: Sequence[HistoryReading], start: int, at: int, end: int
) -> tuple[tuple[FactChange, ...], tuple[FactSpread, ...], bool]:
    """Return which facts changed between two levels and which varied, and whether none was observed."""
    order = {point.group: number for number, point in enumerate(points)}
    observed = [
        (order[reading.origin.group], reading.facts)
        for reading in readings
        if start <= order[reading.origin.group] < end
    ]
    return fact_changes(sorted(observed, key=operator.itemgetter(0)), at)


def _age(series: HistorySeries) -> float:
    """Return a key by which the series with the newest point comes first."""
    return -series.points[-1].time.timestamp()
