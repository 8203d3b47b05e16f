# SPDX-License-Identifier: MPL-2.0
"""What is compared of two sides: the part that all runs have, now and at earlier looks.

A run that its time budget ended measured more of the start: the cold
start of a cache, or the time before a burst credit was used up. What one side measured later is not
compared with what the other measured at the start.

A look is repeated by the workers of that time, which started first, and only if nobody could choose it:
the tasks or --looks declare the numbers of workers, or a plan does. Without these the report does not
know when somebody looked.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import WorkerVariation
from io_benchmark.analysis.model.run import UNKNOWN, Run
from io_benchmark.analysis.model.side import Side, SideData
from io_benchmark.analysis.statistics.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.statistics.pushes import PushVariation
from io_benchmark.analysis.statistics.ratios import Estimate, MachineRatio


class Pair(Struct, frozen=True):
    """A candidate and its baseline, with what is compared of both."""

    candidate: str
    baseline: str
    candidate_side: SideData
    baseline_side: SideData
    variation: WorkerVariation  # assumed where a side has one or two workers
    look: Look = SINGLE
    schedule: Schedule | None = None  # for more workers; None: no more are advised
    is_one_machine: bool = False  # that ran all tasks of both
    # What was compared at the looks before this one, by the workers that each side had at least.
    earlier: Mapping[int, "Pair"] = field(default_factory=dict)
    push_variation: PushVariation | None = None  # where the sides are of different pushes

    @property
    def counts(self) -> tuple[int, int]:
        return self.candidate_side.count, self.baseline_side.count

    @property
    def estimate(self) -> Estimate:
        estimate = Estimate.of_sides(
            self.candidate_side, self.baseline_side, self.variation.ratio, self.look
        )
        if self.push_variation is not None:
            estimate = estimate.with_further(self.push_variation.variance)
        return estimate

    def with_earlier_looks(self, candidate: Side, baseline: Side, lost: tuple[int, int]) -> "Pair":
        """Return the pair with what was compared at the looks before this one.

        `lost` counts the candidate's and the baseline's tasks without a result.
        """
        schedule = self.schedule
        is_planned_look = schedule is not None and schedule.is_planned and self.look == SINGLE
        if schedule is None or not schedule.is_declared or is_planned_look:
            return self
        sides = [sorted(side, key=_start) for side in (candidate, baseline)]
        if schedule.is_planned:
            looks = [(list(map(_first_planned, sides, lost)), SINGLE)]
        else:
            looks = [
                ([_first_workers(runs, workers) for runs in sides], schedule.look(workers))
                for workers in schedule.looks
                if workers <= min(self.counts) and self.counts != (workers, workers)
            ]
        pairs = [
            self.with_sides(*map(Side.of, runs), look=look) for runs, look in looks if all(runs)
        ]
        earlier = {min(pair.counts): pair for pair in pairs if min(pair.counts) > 1}
        return replace(self, earlier=earlier)

    @staticmethod
    def compared_samples(candidate: Side, baseline: Side) -> tuple[SideData, SideData, int | None]:
        """Return what is compared of the candidate's and the baseline's runs: None, or so many samples of each.

        Retrieve i took the same file in each run. Windows of time hold different work, and are all used.
        """
        runs = [*candidate, *baseline]
        shortest, *longer = sorted({len(run.total_ns) for run in runs})
        if not longer or not MachineRatio.did_same_work([run.first(shortest) for run in runs]):
            return candidate.data, baseline.data, None
        candidate, baseline = (
            Side.of(run.first(shortest) for run in side) for side in (candidate, baseline)
        )
        return candidate.data, baseline.data, shortest

    def with_sides(self, candidate: Side, baseline: Side, **changes: Any) -> "Pair":
        data, baseline_data, _ = self.compared_samples(candidate, baseline)
        return replace(self, candidate_side=data, baseline_side=baseline_data, **changes)


def _start(run: Run) -> tuple[str, str, int]:
    return run.worker.started, run.worker.task_id, run.worker.run_id or 0


def _first_workers(runs: Sequence[Run], count: int) -> list[Run]:
    """Return the runs until so many workers have run; each whose machine is unknown is one."""
    machines: set[str] = set()
    first: list[Run] = []
    for index, run in enumerate(runs):
        if len(machines) == count:
            break
        machine = run.worker.machine
        machines.add(f"{machine} {index}" if machine == UNKNOWN else machine)
        first.append(run)
    return first


def _first_planned(runs: Sequence[Run], lost: int) -> list[Run]:
    """Return as many runs as were planned of each task, less those that were lost.

    Return none where some of these are still to come, or where it is not known which task lost one.
    """
    left: dict[Hashable, int] = {}
    first: list[Run] = []
    for run in runs:
        measured, plan = run.worker.plan
        left.setdefault(measured, int(plan) - lost)
        if left[measured] > 0:
            left[measured] -= 1
            first.append(run)
    return [] if any(left.values()) or (lost and len(left) > 1) else first
