# SPDX-License-Identifier: MPL-2.0
"""The data of a comparison of real tasks: the runs of each side that count, and what reports show.

Times are seconds, ratios are candidate over baseline: above 1 is slower, or more expensive.

The times scheduled, started and resolved are from the queue's clock. The start and end of the task's own
work are from the worker's clock. Work that begins before its run, or ends after it, shows that the clocks
differ: such a run has no set-up and no tear-down. A smaller difference of the clocks cannot be seen. It moves
time between set-up and tear-down, and changes no other time.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.model import Advice, Interval, Verdict
from io_benchmark.analysis.statements import Statement

if TYPE_CHECKING:
    from io_benchmark.sources.run_results import TaskRun

# Times are written with whole seconds or milliseconds.
_ROUNDING_MS = 1000
# `exception` with one of these says nothing about the worker or its machine.
_STOPPED = ("canceled", "superseded", "deadline-exceeded", "malformed-payload")
Cell = tuple[str, str]  # a label and a worker
# How a run ended; lost ones were ended by their worker or its machine: paid, and done again. Stopped
# ones were ended by people, other tasks or a deadline, or refused. The times of unusable ones
# contradict each other.
Ending = Literal["completed", "failed", "lost", "stopped", "never_started", "unusable"]


class _SideRuns(Struct, frozen=True):
    """How many runs of one side ended in each way, of all its labels. Only completed ones are compared."""

    side: str
    queue: str  # PROVISIONER/WORKERTYPE, where it is known
    completed: int
    failed: int
    lost: int
    stopped: int
    never_started: int
    unusable: int


class UsedRun(Struct, frozen=True):
    """A run that started, with times that make sense."""

    label: str
    worker: str
    started_ms: int
    task_s: float
    pending_s: float | None = None
    set_up_s: float | None = None
    work_s: float | None = None
    tear_down_s: float | None = None


class Side(Struct):
    """One side's runs, sorted by how they ended."""

    name: str
    pool: str  # by its name here
    queue: str
    completed: list[UsedRun] = field(default_factory=list)
    lost: list[UsedRun] = field(default_factory=list)
    costs: list[tuple[float, float, str]] = field(default_factory=list)  # amount, hours, currency
    endings: Counter[tuple[Ending, str]] = field(default_factory=Counter)  # with the label
    unknown_workers: int = 0  # runs

    @classmethod
    def of(cls, name: str, pool: str, runs: "Sequence[TaskRun]") -> "Side":
        """Sort the runs of a side; their order does not matter."""
        # A table may name the pool without its provisioner.
        queue = max((run.pool for run in runs), key=lambda queue: ("/" in queue, queue))
        side = cls(name, pool, queue)
        for index, run in enumerate(sorted(runs)):
            side._add(run, index)
        return side

    def _add(self, run: "TaskRun", index: int) -> None:
        ending = _ending(run)
        self.endings[ending, run.label] += 1
        if ending in ("never_started", "unusable"):
            return
        if run.cost >= 0:
            hours = (run.resolved_ms - run.started_ms) / 3.6e6
            self.costs.append((run.cost, hours, run.currency))
        if ending == "completed":
            self.completed.append(self._used(run, index))
        elif ending == "lost":
            self.lost.append(self._used(run, index))

    def _used(self, run: "TaskRun", index: int) -> UsedRun:
        worker = run.worker
        if not worker:
            self.unknown_workers += 1
            worker = f"unknown {index}"
        task_ms = run.resolved_ms - run.started_ms
        pending_ms = max(0, run.started_ms - run.scheduled_ms)
        pending_s = pending_ms / 1000 if run.scheduled_ms >= 0 else None
        used = UsedRun(run.label, worker, run.started_ms, task_ms / 1000, pending_s)
        work_ms = run.own_ended_ms - run.own_started_ms
        has_work = min(run.own_started_ms, run.own_ended_ms, work_ms) >= 0
        if not has_work or work_ms > task_ms + _ROUNDING_MS:
            return used
        used = replace(used, work_s=min(work_ms, task_ms) / 1000)
        before_ms = run.own_started_ms - run.started_ms
        after_ms = run.resolved_ms - run.own_ended_ms
        if min(before_ms, after_ms) < -_ROUNDING_MS:
            return used
        return replace(used, set_up_s=max(0, before_ms) / 1000, tear_down_s=max(0, after_ms) / 1000)

    def count(self, ending: Ending, labels: Collection[str] | None = None) -> int:
        """Return how many runs ended in this way, of these labels or of all."""
        return sum(
            number
            for (run_ending, label), number in self.endings.items()
            if run_ending == ending and (labels is None or label in labels)
        )

    @property
    def counts(self) -> _SideRuns:
        return _SideRuns(self.name, self.queue, *map(self.count, get_args(Ending)))

    @property
    def labels(self) -> set[str]:
        return {run.label for run in self.completed}

    def cells(self, labels: Collection[str]) -> dict[Cell, list[UsedRun]]:
        """Return the completed runs of these labels, by label and worker."""
        cells: dict[Cell, list[UsedRun]] = {}
        for run in self.completed:
            if run.label in labels:
                cells.setdefault((run.label, run.worker), []).append(run)
        return cells


def _ending(run: "TaskRun") -> Ending:
    is_late = run.scheduled_ms >= 0 and run.started_ms < run.scheduled_ms - _ROUNDING_MS
    if run.started_ms < 0:
        return "never_started"
    if run.resolved_ms <= run.started_ms or is_late:
        return "unusable"
    if run.state == "completed":
        return "completed"
    if run.state == "failed":
        return "failed"
    return "stopped" if run.reason in _STOPPED else "lost"


class TaskTimes(Struct, frozen=True):
    """One side's mean times of a task, in the mix of labels that both sides share.

    Set-up, own work and tear-down are of runs that publish when their own work began and ended.
    """

    task_s: float  # from its start to its end
    pending_s: float | None
    set_up_s: float | None
    work_s: float | None
    tear_down_s: float | None


class LabelRow(Struct, frozen=True):
    """One label on both sides: baseline first."""

    label: str
    share: float  # of the time of the common mix
    completed: tuple[int, int]
    workers: tuple[int, int]
    means_s: tuple[float, float]
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
    # Baseline, candidate; all of the labels compared.
    workers: tuple[int, int]
    completed: tuple[int, int]
    failed: tuple[int, int]
    lost: tuple[int, int]
    stopped: tuple[int, int]
    difference_s: float  # per task: of the baseline's mean time and the ratio
    difference_interval_s: tuple[float, float]
    times: Mapping[str, TaskTimes]
    labels: tuple[LabelRow, ...]  # by their share, the largest first
    advice: Advice | None
    look: Statement | None
    cost: CostComparison | None
    warnings: tuple[Statement, ...] = ()

    def shares(self, ended: tuple[int, int]) -> list[float]:
        """Return for each side the share of runs that ended in this way instead of being completed."""
        return [
            runs / (runs + completed) if runs else 0.0
            for runs, completed in zip(ended, self.completed, strict=True)
        ]


class TaskReport(Struct, frozen=True, tag_field="version", tag=4):
    """How long the same tasks took on several pools, and what they cost."""

    title: str
    baseline: str
    baseline_reason: str
    margin_ratio: float
    sides: tuple[_SideRuns, ...]
    comparisons: tuple[TaskComparison, ...]
    unreadable: tuple[str, ...] = ()
    remarks: tuple[Statement, ...] = field(default=())
