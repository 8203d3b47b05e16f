# SPDX-License-Identifier: MPL-2.0
"""The data of a comparison of real tasks. `compare_tasks` fills it, reports show it.

Times are seconds, ratios are candidate over baseline: above 1 is slower, or more expensive.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from io_benchmark.analysis.model import Advice, Interval, Verdict
from io_benchmark.analysis.statements import Statement

# How a run ended; lost ones were ended by their worker or its machine: paid, and done again. Stopped
# ones were ended by people, other tasks or a deadline, or refused. The times of unusable ones
# contradict each other.
Ending = Literal["completed", "failed", "lost", "stopped", "never_started", "unusable"]


class SideRuns(Struct, frozen=True):
    """How many runs of one side ended in each way, of all its labels. Only completed ones are compared."""

    side: str
    queue: str  # PROVISIONER/WORKERTYPE, where it is known
    completed: int
    failed: int
    lost: int
    stopped: int
    never_started: int
    unusable: int


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
    sides: tuple[SideRuns, ...]
    comparisons: tuple[TaskComparison, ...]
    unreadable: tuple[str, ...] = ()
    remarks: tuple[Statement, ...] = field(default=())
