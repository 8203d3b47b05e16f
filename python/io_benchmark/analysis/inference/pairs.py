# SPDX-License-Identifier: MPL-2.0
"""What is compared, and what was at earlier looks: the workers of that time, which started first.

A look can be repeated only if nobody could choose it: the tasks or --looks declare the numbers of
workers, or a plan does. Without these the report does not know when somebody looked.
"""

from collections.abc import Hashable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.inference.common_prefix import compared_samples
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import UNKNOWN, Run, Subject
from io_benchmark.results.format import PLAN_VARIABLE


class Pair(Struct, frozen=True):
    """A candidate and its baseline, with what is compared of both."""

    candidate: str
    baseline: str
    candidate_side: SideData
    baseline_side: SideData
    variation: WorkerVariation  # assumed where a side has one or two workers
    look: Look = SINGLE
    schedule: Schedule | None = None  # for more workers
    is_one_machine: bool = False  # that ran all tasks of both
    # What was compared at the looks before this one, by the workers per pool.
    earlier: Mapping[int, "Pair"] = field(default_factory=dict)

    @property
    def counts(self) -> tuple[int, int]:
        return self.candidate_side.count, self.baseline_side.count

    def with_earlier_looks(
        self, subject: Subject, runs: tuple[Sequence[Run], Sequence[Run]], lost: tuple[int, int]
    ) -> "Pair":
        """Return the pair with what was compared at the looks before this one.

        `runs` are the candidate's and the baseline's; `lost` counts their tasks without a result.
        """
        schedule = self.schedule
        if schedule is None or not schedule.is_declared:
            return self
        sides = tuple(sorted(side_runs, key=_start) for side_runs in runs)
        earlier: dict[int, Pair] = {}
        if schedule.is_planned and self.look != SINGLE:
            planned = [
                _first_planned(side_runs, side_lost)
                for side_runs, side_lost in zip(sides, lost, strict=True)
            ]
            earlier |= self._at_look(subject, planned, SINGLE)
        for workers in () if schedule.is_planned else schedule.looks:
            if workers <= min(self.counts) and self.counts != (workers, workers):
                first = [_first_workers(side_runs, workers) for side_runs in sides]
                earlier |= self._at_look(subject, first, schedule.look(workers))
        return replace(self, earlier=earlier)

    def _at_look(
        self, subject: Subject, sides: Sequence[Sequence[Run]], look: Look
    ) -> "dict[int, Pair]":
        """Return the pair with these runs, by the workers that each side has at least."""
        if not all(sides):
            return {}
        (candidate, baseline) = sides
        whole = (SideData.of(candidate), SideData.of(baseline))
        data = compared_samples(subject, whole, candidate, baseline)
        pair = replace(self, candidate_side=data[0], baseline_side=data[1], look=look)
        return {min(pair.counts): pair} if min(pair.counts) > 1 else {}


def _start(run: Run) -> tuple[str, str, int]:
    return run.worker.started, run.worker.task_id, run.worker.run_id or 0


def _first_workers(runs: Sequence[Run], count: int) -> list[Run]:
    """Return the runs until so many workers have run; each whose machine is unknown is one."""
    machines: set[str] = set()
    first: list[Run] = []
    for at, run in enumerate(runs):
        if len(machines) == count:
            break
        machine = run.worker.machine
        machines.add(f"{machine} {at}" if machine == UNKNOWN else machine)
        first.append(run)
    return first


def _first_planned(runs: Sequence[Run], lost: int) -> list[Run]:
    """Return as many runs as were planned of each task, less those that were lost.

    Return none where some of these are still to come, or where it is not known which task lost one.
    """
    left: dict[Hashable, int] = {}
    first: list[Run] = []
    for run in runs:
        config = run.worker.result.config
        task = (config.profile, tuple(config.workloads))
        left.setdefault(task, int(config.environment[PLAN_VARIABLE]) - lost)
        if left[task] > 0:
            left[task] -= 1
            first.append(run)
    return [] if any(left.values()) or (lost and len(left) > 1) else first
