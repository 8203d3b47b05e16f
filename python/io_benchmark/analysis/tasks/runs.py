# SPDX-License-Identifier: MPL-2.0
"""From the runs of tasks to sides: which runs count, and the parts of their time.

The times scheduled, started and resolved are from the queue's clock. The start and end of the task's own
work are from the worker's clock. Work that begins before its run, or ends after it, shows that the clocks
differ: such a run has no set-up and no tear-down. A smaller difference of the clocks cannot be seen. It moves
time between set-up and tear-down, and changes no other time.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import get_args

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.tasks.task_model import Ending, SideRuns
from io_benchmark.sources.run_results import TaskRun

# Times are written with whole seconds or milliseconds.
_ROUNDING_MS = 1000
# `exception` with one of these says nothing about the worker or its machine.
_STOPPED = ("canceled", "superseded", "deadline-exceeded", "malformed-payload")
Cell = tuple[str, str]  # a label and a worker


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
    def of(cls, name: str, pool: str, runs: Sequence[TaskRun]) -> "Side":
        """Sort the runs of a side; their order does not matter."""
        # A table may name the pool without its provisioner.
        queue = max((run.pool for run in runs), key=lambda queue: ("/" in queue, queue))
        side = cls(name, pool, queue)
        for index, run in enumerate(sorted(runs)):
            side._add(run, index)
        return side

    def _add(self, run: TaskRun, index: int) -> None:
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

    def _used(self, run: TaskRun, index: int) -> UsedRun:
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
    def counts(self) -> SideRuns:
        return SideRuns(self.name, self.queue, *map(self.count, get_args(Ending)))

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


def _ending(run: TaskRun) -> Ending:
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
