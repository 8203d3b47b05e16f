# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A pool's results over time: points, their levels, and what changed where a level does.

The unit is the worker. A point is one push: its value is the mean of its workers' logarithms, so
that a push with three workers weighs as much as one with one. Only like stands beside like: results
that break a validity rule against each other are in different series.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime

import numpy as np

from io_benchmark.analysis.history import change_points
from io_benchmark.analysis.history.changes import fact_changes
from io_benchmark.analysis.history.history_model import (
    Change,
    Conditions,
    History,
    LeftOut,
    Level,
    Origin,
    Point,
    Reading,
    Series,
    WorkerMean,
)
from io_benchmark.analysis.inference import estimates, student
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.model import UNKNOWN, Subject
from io_benchmark.analysis.observed import machine_identity
from io_benchmark.analysis.observed.machine_identity import Marks


def history(
    pool: str,
    readings: Sequence[Reading],
    *,
    newest: int | None = None,
    since: date | None = None,
    left_out: Sequence[LeftOut] = (),
    unreadable: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> History:
    """The series of a pool: those that go on longest into today first."""
    # They come as they arrive over a network.
    kept, older = _newest(sorted(readings, key=_order), newest, since)
    alike: dict[tuple[Subject, Conditions], list[Reading]] = {}
    for reading in kept:
        alike.setdefault((reading.subject, reading.conditions), []).append(reading)
    points = {key: points_of(some) for key, some in alike.items()}
    shown, alone = _worth_showing(points)
    series = [_series(key, points[key], alike[key]) for key in shown]
    series.sort(key=lambda one: (one.subject, _age(one), -len(one.points), one.conditions))
    if older:
        remarks = [*remarks, older_points(older)]
    apart = sorted([*left_out, *alone], key=lambda one: (one.what, one.why))
    return History(pool, tuple(series), tuple(apart), tuple(sorted(unreadable)), tuple(remarks))


def _order(reading: Reading) -> tuple[object, ...]:
    origin = reading.origin
    run = -1 if origin.run_id is None else origin.run_id
    task = origin.time, origin.group, origin.task_id, run, origin.worker_id, origin.source
    return *task, reading.subject, reading.conditions, reading.log_mean, reading.facts


def older_points(count: int) -> str:
    """That there is more than was asked for."""
    points = "1 older point is" if count == 1 else f"{count:,} older points are"
    return f"{points} left out; --last N takes more"


def _newest(
    readings: Sequence[Reading], newest: int | None, since: date | None
) -> tuple[list[Reading], int]:
    """The readings of the newest groups, and how many were left out for being more than asked."""
    times: dict[str, datetime] = {}
    for one in readings:
        time = one.origin.time
        times[one.origin.group] = min(time, times.get(one.origin.group, time))
    asked = [group for group, time in times.items() if since is None or time.date() >= since]
    groups = sorted(asked, key=lambda group: (times[group], group))
    kept = groups if newest is None else groups[-newest:]
    chosen = set(kept)
    return [one for one in readings if one.origin.group in chosen], len(groups) - len(kept)


def _worth_showing(
    points: dict[tuple[Subject, Conditions], list[Point]],
) -> tuple[list[tuple[Subject, Conditions]], list[LeftOut]]:
    """A point that is like no other is named, where its subject has a series."""
    shown, alone = [], []
    for key, some in points.items():
        subject, conditions = key
        others = [other for other in points if other[0] == subject and other != key]
        longest = max(others, key=lambda other: len(points[other]), default=None)
        if len(some) > 1 or longest is None or len(points[longest]) == 1:
            shown.append(key)
            continue
        point = some[0]
        tasks = ", ".join(task for worker in point.workers for task in worker.tasks)
        why = f"{subject}: task {tasks}: {_difference(conditions, longest[1])}"
        alone.append(LeftOut(point.time.date().isoformat(), why))
    return shown, alone


def _difference(conditions: Conditions, usual: Conditions) -> str:
    """`copy-method: copied by cp, others copied by sendfile`."""
    others = dict(usual)
    found = [
        f"{rule}: {words}, others: {others.get(rule, UNKNOWN)}"
        for rule, words in conditions
        if others.get(rule) != words
    ]
    return "; ".join(found) or "has other conditions than the rest"


def points_of(readings: Iterable[Reading]) -> list[Point]:
    """A point a group, oldest first; runs on one machine are one worker."""
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(reading.origin.group, []).append(reading)
    points = [_point(group, some) for group, some in groups.items()]
    return sorted(points, key=lambda point: (point.time, point.group))


def _point(group: str, readings: Sequence[Reading]) -> Point:
    marks = [one.origin.marks or Marks(one.origin.worker_id) for one in readings]
    named = zip(machine_identity.machine_names(marks), readings, strict=True)
    logs = []
    workers = []
    for shared in machine_identity.group_by_machine(named, lambda pair: pair[0]).values():
        log_mean = math.fsum(one.log_mean for _, one in shared) / len(shared)
        logs.append(log_mean)
        tasks = tuple(_task(one.origin) for _, one in shared)
        workers.append(WorkerMean(shared[0][0], tasks, math.exp(log_mean)))
    log_mean = math.fsum(logs) / len(logs)
    first = min(readings, key=lambda one: one.origin.time)
    return Point(
        time=first.origin.time,
        group=group,
        revision=next((one.origin.revision for one in readings if one.origin.revision), None),
        workers=tuple(workers),
        log_mean=log_mean,
        mean_ns=math.exp(log_mean),
        ratio=None,
    )


def _task(origin: Origin) -> str:
    return origin.task_id + ("" if origin.run_id is None else f".{origin.run_id}")


def _series(
    key: tuple[Subject, Conditions], points: Sequence[Point], readings: Sequence[Reading]
) -> Series:
    logs = np.array([point.log_mean for point in points])
    found = change_points.find(logs)
    ends = [0, *(change.at for change in found), len(points)]
    levels = [_level(start, end, points[start:end]) for start, end in itertools.pairwise(ends)]
    changes = [
        _change(change, before, after, points, readings)
        for change, (before, after) in zip(found, itertools.pairwise(levels), strict=True)
    ]
    return Series(
        subject=key[0],
        conditions=key[1],
        points=tuple(_against(points, levels)),
        levels=tuple(levels),
        changes=tuple(changes),
    )


def _against(points: Sequence[Point], levels: Sequence[Level]) -> list[Point]:
    """Each point with its ratio to the level before."""
    made = list(points[: levels[0].end])
    for before, level in itertools.pairwise(levels):
        made += [
            replace(point, ratio=point.mean_ns / before.mean_ns)
            for point in points[level.start : level.end]
        ]
    return made


def _level(start: int, end: int, points: Sequence[Point]) -> Level:
    logs = [point.log_mean for point in points]
    variation = math.sqrt(student.sample_variance(logs)) if len(logs) > 1 else None
    return Level(start, end, math.exp(math.fsum(logs) / len(logs)), variation)


def _change(
    found: change_points.ChangePoint,
    before: Level,
    after: Level,
    points: Sequence[Point],
    readings: Sequence[Reading],
) -> Change:
    """The ratio of the levels, by Welch's t on the points' logarithms."""
    sides = [
        SideData(tuple(point.log_mean for point in points[level.start : level.end]), ())
        for level in (after, before)
    ]
    # A level has two points or more: nothing is assumed.
    estimate = estimates.estimate(sides[0], sides[1], 0.0)
    order = {point.group: at for at, point in enumerate(points)}
    observed = [
        (order[reading.origin.group], reading.facts)
        for reading in readings
        if before.start <= order[reading.origin.group] < after.end
    ]
    facts = fact_changes(sorted(observed, key=lambda one: one[0]), found.at)
    return Change(
        at=found.at,
        p_value=found.p_value,
        before_ns=before.mean_ns,
        after_ns=after.mean_ns,
        ratio=estimate.ratio,
        interval=estimates.interval(estimate, estimates.LEVEL),
        changed=facts.changed,
        varied=facts.varied,
        unobserved=facts.unobserved,
    )


def _age(series: Series) -> float:
    """The series with the newest point comes first."""
    return -series.points[-1].time.timestamp()
