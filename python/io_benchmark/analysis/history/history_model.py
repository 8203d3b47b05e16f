# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a pool's history is made of: readings in, series with their levels and changes out.

Plain, frozen data, as in `model`: `history` fills it, `report.history` shows it.
"""

from dataclasses import dataclass
from datetime import datetime

from io_benchmark.analysis.model import Interval, Subject
from io_benchmark.analysis.observed.machine_identity import Marks

# A rule's name and what it found: what has to be alike within a series.
Conditions = tuple[tuple[str, str], ...]
# What was observed of the machine, by the fact's name, in the order that it is shown.
Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Origin:
    """Where and when a result was measured."""

    group: str  # the task group; without one, whatever is of this task alone
    time: datetime
    revision: str | None
    task_id: str
    run_id: int | None
    worker_id: str
    source: str
    marks: Marks | None = None  # by which the machine is recognised; None: by the worker id alone


@dataclass(frozen=True)
class Reading:
    """One worker's mean of one subject."""

    origin: Origin
    subject: Subject
    conditions: Conditions
    log_mean: float  # of nanoseconds
    facts: Facts


@dataclass(frozen=True)
class WorkerMean:
    """A worker of a point; several tasks on one machine are one worker."""

    worker_id: str
    tasks: tuple[str, ...]  # TASKID.RUN
    mean_ns: float


@dataclass(frozen=True)
class Point:
    """One push: the mean of its workers' logarithms."""

    time: datetime
    group: str
    revision: str | None
    workers: tuple[WorkerMean, ...]
    log_mean: float
    mean_ns: float
    # Against the mean of the level before the one that the point is in; None on the first.
    ratio: float | None


@dataclass(frozen=True)
class Level:
    """Points that nothing divides: from `start` to before `end`."""

    start: int
    end: int
    mean_ns: float
    # Standard deviation of the points' logarithms; None for a single point.
    variation_ratio: float | None


@dataclass(frozen=True)
class FactChange:
    """A fact that is one thing before and another after."""

    name: str
    before: str
    after: str
    points_off: int  # how many points after the change of the level; negative: before it


@dataclass(frozen=True)
class FactSpread:
    """A fact that varies on a side of a change."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """Where one level ends and another begins."""

    at: int  # the first point of the new level
    p_value: float  # of the permutation test
    before_ns: float
    after_ns: float
    ratio: float  # after ÷ before: above 1 is slower
    interval: Interval
    changed: tuple[FactChange, ...]
    varied: tuple[FactSpread, ...]
    # Nothing was observed of a machine on one of the sides, or on both.
    unobserved: bool


@dataclass(frozen=True)
class Series:
    """Points that are alike but for the time, and what happened among them."""

    subject: Subject
    conditions: Conditions
    points: tuple[Point, ...]
    levels: tuple[Level, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class LeftOut:
    """Results that are in no series, and why."""

    what: str  # which: task, date
    why: str


@dataclass(frozen=True)
class History:
    """Everything that a report of a history shows."""

    pool: str
    series: tuple[Series, ...]
    left_out: tuple[LeftOut, ...]
    unreadable: tuple[str, ...]  # one line for each result that could not be had
    remarks: tuple[str, ...]
