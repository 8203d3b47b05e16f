# SPDX-License-Identifier: MPL-2.0
"""The data of a history: readings, and series with their points, levels and changes."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

from msgspec import Struct

from io_benchmark.analysis.model.comparison import Interval, Verdict
from io_benchmark.analysis.model.groups import by_machine
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.reading.machines import Facts, FactValue, MachineMarks
from io_benchmark.results import workloads

# A validity rule and the traits that it compares; they are the same within a series.
Conditions = tuple[tuple[str, Statement], ...]


class Origin(Struct, frozen=True):
    """Where and when a result was measured."""

    group: str  # the task group; without one, a name of this task alone
    time: datetime
    revision: str | None
    task_id: str
    run_id: int | None
    source: str
    marks: MachineMarks  # by which the machine is recognised

    @property
    def task(self) -> str:
        """Return TASKID.RUN, or what names the task elsewhere."""
        return self.task_id + ("" if self.run_id is None else f".{self.run_id}")


class HistoryReading(Struct, frozen=True):
    """One worker's mean of one subject."""

    origin: Origin
    subject: Subject
    conditions: Conditions
    log_mean: float  # of nanoseconds
    facts: Facts


class MachineReading(NamedTuple):
    """A reading, and the name of the machine that it was measured on."""

    machine: str
    reading: HistoryReading


class _WorkerMean(Struct, frozen=True):
    """A worker of a point; several tasks on one machine are one worker."""

    worker_id: str
    tasks: tuple[str, ...]  # TASKID.RUN
    mean_ns: float


class Point(Struct, frozen=True):
    """One push: the mean of its workers' logarithms."""

    time: datetime
    group: str  # the task group; without one, a name of its task
    revision: str | None
    workers: tuple[_WorkerMean, ...]
    mean_ns: float
    value: float  # the mean in the workload's unit, which may be a rate
    # To the mean of the level before the point's level; None on the first level.
    ratio: float | None

    @classmethod
    def of(cls, group: str, readings: Sequence[MachineReading]) -> "Point":
        """Return the mean of a group's workers; runs on one machine are one worker."""
        workers, logs = [], []
        for same_machine in by_machine(readings, attrgetter("machine")):
            log_mean = fmean(each.reading.log_mean for each in same_machine)
            logs.append(log_mean)
            worker = _WorkerMean(
                worker_id=same_machine[0].machine,
                tasks=tuple(each.reading.origin.task for each in same_machine),
                mean_ns=math.exp(log_mean),
            )
            workers.append(worker)
        mean_ns = math.exp(fmean(logs))
        first = readings[0].reading
        revisions = (each.reading.origin.revision for each in readings)
        return cls(
            time=first.origin.time,
            group=group,
            revision=next(filter(None, revisions), None),
            workers=tuple(workers),
            mean_ns=mean_ns,
            value=workloads.of(first.subject.workload).shown(mean_ns),
            ratio=None,
        )

    @property
    def date(self) -> str:
        """Return the day of the push: 2026-03-01."""
        return self.time.date().isoformat()


class Level(Struct, frozen=True):
    """Points between two changes: from `start` to before `end`."""

    start: int
    end: int
    mean_ns: float
    value: float
    # Standard deviation of the points' logarithms, without the trend; None for a single point.
    variation_ratio: float | None


class FactChange(Struct, frozen=True):
    """A fact with one value before and a different one after."""

    name: str
    before: FactValue
    after: FactValue
    points_off: int  # how many points after the change of the level; negative: before it


class LevelChange(Struct, frozen=True):
    """The end of one level and the start of the next."""

    at: int  # the first point of the new level
    # Just before and after the change.
    before_ns: float
    after_ns: float
    ratio: float  # after ÷ before: above 1 is slower
    interval: Interval
    changed: tuple[FactChange, ...]
    unobserved: bool  # no fact was observed on both sides of the change

    @property
    def verdict(self) -> Verdict:
        """Return whether the new level is slower or faster."""
        return Verdict.SLOWER if self.ratio >= 1 else Verdict.FASTER


class Trend(Struct, frozen=True):
    """A trend, as the ratio of times after a year."""

    ratio: float
    interval: Interval


class HistorySeries(Struct, frozen=True, omit_defaults=True):
    """Points that differ only in time, with the levels and changes among them."""

    subject: Subject
    # How people know the workload's figure.
    operation: str  # what is done once
    unit: str
    higher_is_better: bool
    conditions: Mapping[str, Statement]  # by the validity rule that compares them
    points: tuple[Point, ...]
    levels: tuple[Level, ...]
    changes: tuple[LevelChange, ...]
    expected_ns: tuple[float, ...]  # of each point, by the trend and the changes
    trend: Trend | None = None
    possible: tuple[str, ...] = ()  # what else may move the points, not proven: `step`, `trend`


class LeftOut(Struct, frozen=True):
    """Results that are in no series, and the reason."""

    source: str  # a date, a task or a file
    reason: Statement


class History(Struct, frozen=True, tag_field="version", tag=4):
    """A pool's history."""

    pool: str
    series: tuple[HistorySeries, ...]
    left_out: tuple[LeftOut, ...]
    unreadable: tuple[str, ...]  # one line for each result that could not be read
    remarks: tuple[Statement, ...]
