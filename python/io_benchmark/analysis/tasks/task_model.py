# SPDX-License-Identifier: MPL-2.0
"""The data of a comparison of real tasks: the runs of each side that count, and what reports show.

Times are seconds, ratios are candidate over baseline: above 1 is slower, or more expensive.

The times scheduled, started and resolved are from the queue's clock. The start and end of the
task's own work are from the worker's clock. Work that begins before its run, or ends after it,
shows that the clocks differ: such a run has no set-up and no tear-down. A smaller difference of the
clocks cannot be seen. It moves time between set-up and tear-down, and changes no other time.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, get_args

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Advice, Interval, Verdict, WorkerVariation
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.tasks.both_sides import BothSides
from io_benchmark.analysis.tasks.difference_model import ComparedPhases
from io_benchmark.sources.run_results import TaskRun

_ROUNDING_MS = 1000  # times are written with whole seconds or milliseconds
# Reasons of `exception` that say nothing about the worker or its machine.
_STOPPED = ("canceled", "superseded", "deadline-exceeded", "malformed-payload")
# What a name begins with that is given to a worker that is not known. No real name has a line end.
_UNKNOWN = "\n"
# Parts of a task's time, as they are named in a sentence.
PENDING = "pending"
SET_UP = "set-up"
OWN_WORK = "own work"
TEAR_DOWN = "tear-down"
# How a run ended. Lost ones were ended by their worker or its machine: they are paid, and done
# again. Stopped ones were ended by people, other tasks or a deadline, or refused. The times of
# unusable ones contradict each other.
Ending = Literal["completed", "failed", "lost", "stopped", "never_started", "unusable"]


class _SideRuns(Struct, frozen=True):
    """How many runs of one side ended in each way, with any label.

    Only completed ones are compared.
    """

    side: str
    queue: str  # PROVISIONER/WORKERTYPE, where it is known
    completed: int
    failed: int
    lost: int
    stopped: int
    never_started: int
    unusable: int


class TaskSide(Struct, frozen=True):
    """One side's runs of tasks, sorted by how they ended.

    The names of their workers also differ between pools, of which several may have a worker
    `static/1`. A run whose worker is not known has a worker of its own.
    """

    name: str
    pool: str  # by its name here
    queue: str
    runs: Mapping[Ending, Sequence[TaskRun]]

    @classmethod
    def of(cls, name: str, pool: str, runs: Sequence[TaskRun]) -> "TaskSide":
        """Sort the runs of a side; their order does not matter."""
        # A table may name the pool without its provisioner.
        queue = max((run.pool for run in runs), key=lambda queue: ("/" in queue, queue))
        by_ending: dict[Ending, list[TaskRun]] = {ending: [] for ending in get_args(Ending)}
        for index, run in enumerate(sorted(runs)):
            worker = f"{pool}/{run.worker}" if run.worker else f"{_UNKNOWN}{name} {index}"
            by_ending[cls.ending(run)].append(replace(run, worker=worker))
        return cls(name, pool, queue, by_ending)

    def of_labels(self, ending: Ending, labels: Collection[str]) -> list[TaskRun]:
        """Return the runs that ended in this way and have one of these labels."""
        return [run for run in self.runs[ending] if run.label in labels]

    @property
    def systems(self) -> set[str]:
        """Return the systems of the runs, as far as they are known."""
        return {run.system for runs in self.runs.values() for run in runs if run.system}

    @property
    def counts(self) -> _SideRuns:
        return _SideRuns(
            side=self.name,
            queue=self.queue,
            completed=len(self.runs["completed"]),
            failed=len(self.runs["failed"]),
            lost=len(self.runs["lost"]),
            stopped=len(self.runs["stopped"]),
            never_started=len(self.runs["never_started"]),
            unusable=len(self.runs["unusable"]),
        )

    @staticmethod
    def is_known(worker: str) -> bool:
        """Return whether this name of a worker is one that the runs gave."""
        return not worker.startswith(_UNKNOWN)

    @staticmethod
    def ending(run: TaskRun) -> Ending:
        if run.started_ms < 0:
            return "never_started"
        # A run that was never scheduled has no time that contradicts its start.
        if run.resolved_ms <= run.started_ms or run.started_ms < run.scheduled_ms - _ROUNDING_MS:
            return "unusable"
        if run.state == "completed":
            return "completed"
        if run.state == "failed":
            return "failed"
        return "stopped" if run.reason in _STOPPED else "lost"


class TaskTimes(Struct, frozen=True):
    """One side's mean times of a task, in the mix of labels that both sides share; or a run's.

    Set-up, own work and tear-down are of runs that publish when their own work began and ended.
    """

    task_s: float  # from its start to its end
    pending_s: float | None = None
    set_up_s: float | None = None
    work_s: float | None = None
    tear_down_s: float | None = None

    @classmethod
    def of(cls, run: TaskRun) -> "TaskTimes":
        """Return the times of a run that started."""
        task_ms = run.resolved_ms - run.started_ms
        pending_ms = max(0, run.started_ms - run.scheduled_ms)
        work_ms = run.own_ended_ms - run.own_started_ms
        before_ms = run.own_started_ms - run.started_ms
        after_ms = run.resolved_ms - run.own_ended_ms
        has_work = min(run.own_started_ms, run.own_ended_ms, work_ms) >= 0
        has_work = has_work and work_ms <= task_ms + _ROUNDING_MS
        is_inside = has_work and min(before_ms, after_ms) >= -_ROUNDING_MS
        return cls(
            task_s=task_ms / 1000,
            pending_s=pending_ms / 1000 if run.scheduled_ms >= 0 else None,
            set_up_s=max(0, before_ms) / 1000 if is_inside else None,
            work_s=min(work_ms, task_ms) / 1000 if has_work else None,
            tear_down_s=max(0, after_ms) / 1000 if is_inside else None,
        )

    def with_parts_of(self, other: "TaskTimes") -> "TaskTimes":
        """Return these times without the parts that the other side's times do not have."""
        return TaskTimes(
            task_s=self.task_s,
            pending_s=None if other.pending_s is None else self.pending_s,
            set_up_s=None if other.set_up_s is None else self.set_up_s,
            work_s=None if other.work_s is None else self.work_s,
            tear_down_s=None if other.tear_down_s is None else self.tear_down_s,
        )


class LabelRow(Struct, frozen=True):
    """One label on both sides: baseline first."""

    label: str
    share: float  # of the time of the common mix
    completed: BothSides[int]
    workers: BothSides[int]
    means_s: BothSides[float]
    ratio: float
    interval: Interval | None  # None: one of the sides has a single worker
    differs: bool  # from the ratio of all labels, by more than chance


class SideCost(Struct, frozen=True):
    """What 1,000 completed tasks cost on one side, the lost runs included."""

    per_hour: float
    source: Literal["prices", "run costs"]
    kind: str | None  # spot, on-demand
    date: str | None
    lost_share: float  # time of lost runs, divided by that of completed ones
    per_1000: float


class CostComparison(Struct, frozen=True):
    """What an hour and a task cost on both sides, and the price at which a task costs the same."""

    currency: str
    baseline: SideCost
    candidate: SideCost
    price_ratio: float  # what an hour of the candidate costs, divided by an hour of the baseline
    ratio: float  # what a task costs on the candidate, divided by the same on the baseline
    interval: Interval
    # With this `price_ratio` a task would cost the same on both sides.
    break_even_ratio: float
    break_even_interval: Interval


class TaskComparison(Struct, frozen=True):
    """The tasks of one pool compared with those of the baseline, in the labels that both have."""

    baseline: str
    candidate: str
    ratio: float
    interval: Interval  # 95 %, adjusted for several candidates and looks
    interval_90: Interval
    p_value: float
    verdict: Verdict
    # Of the labels that are compared, together.
    workers: BothSides[int]
    completed: BothSides[int]
    failed: BothSides[int]
    lost: BothSides[int]
    stopped: BothSides[int]
    difference_s: float  # per task: of the baseline's mean time and the ratio
    difference_interval_s: tuple[float, float]
    times: Mapping[str, TaskTimes]
    labels: tuple[LabelRow, ...]  # by their share, the largest first
    advice: Advice | None
    look: Statement | None
    cost: CostComparison | None
    warnings: tuple[Statement, ...] = ()
    # Between workers, where one side has too few to show it; None: the workers show it.
    assumed_variation: WorkerVariation | None = None

    @property
    def single_sides(self) -> list[str]:
        """Return the sides that have one worker, by which nothing is decided."""
        workers = {self.baseline: self.workers.baseline, self.candidate: self.workers.candidate}
        return [side for side, number in workers.items() if number == 1]

    @property
    def differences_s(self) -> dict[str, float]:
        """Return what the candidate takes longer, of the parts that both sides know."""
        before, after = self.times[self.baseline], self.times[self.candidate]
        parts = {
            PENDING: (before.pending_s, after.pending_s),
            SET_UP: (before.set_up_s, after.set_up_s),
            OWN_WORK: (before.work_s, after.work_s),
            TEAR_DOWN: (before.tear_down_s, after.tear_down_s),
        }
        return {
            part: second_s - first_s
            for part, (first_s, second_s) in parts.items()
            if first_s is not None and second_s is not None
        }

    def shares(self, ended: BothSides[int]) -> BothSides[float]:
        """Return the share of runs that ended in this way, of these and the completed ones."""
        return BothSides(
            ended.baseline / (ended.baseline + self.completed.baseline),
            ended.candidate / (ended.candidate + self.completed.candidate),
        )


class TaskReport(Struct, frozen=True, tag_field="version", tag=4):
    """How long the same tasks took on several pools, and what they cost."""

    title: str
    baseline: str
    baseline_reason: str
    margin_ratio: float
    sides: tuple[_SideRuns, ...]
    comparisons: tuple[TaskComparison, ...]
    unreadable: tuple[str, ...] = ()
    remarks: tuple[Statement, ...] = ()
    phases: ComparedPhases | UnsetType = UNSET  # only where logs were read


class ExplainedTasks(TaskReport, frozen=True, kw_only=True):
    """A report with what only people read of it; it is not published as JSON."""

    addresses: tuple[str, ...]
    days: tuple[str, ...]  # of the first and the last start of a run; one if they are the same
