# SPDX-License-Identifier: MPL-2.0
"""What is compared of two sides: the part that all runs have, now and at earlier looks.

A run that ended early, by its time budget or by --precision, measured more of the start: the cold
start of a cache, or the time before a burst credit was used up. What one side measured later is not
compared with what the other measured at the start.

A look is repeated by the workers of that time, which started first, and only if nobody could choose it:
the tasks or --looks declare the numbers of workers, or a plan does. Without these the report does not
know when somebody looked.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.inference.compared_means import did_same_work
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.inference.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.inference.moving_blocks import FEWEST_RETRIEVES
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import UNKNOWN, Entry, Problem, Run, Severity, Subject
from io_benchmark.analysis.observed.machine_identity import by_side
from io_benchmark.analysis.statements import Quantity, Unit, count, statement
from io_benchmark.results import workloads
from io_benchmark.results.format import PLAN_VARIABLE

# Runs that are left out are named where they are slower by this, and by more than workers differ.
_SLOWER_RATIO, _CLEARLY = 1.1, 2.0


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
        is_planned_look = schedule is not None and schedule.is_planned and self.look == SINGLE
        if schedule is None or not schedule.is_declared or is_planned_look:
            return self
        sides = tuple(sorted(side_runs, key=_start) for side_runs in runs)
        earlier: dict[int, Pair] = {}
        if schedule.is_planned:
            planned = list(map(_first_planned, sides, lost))
            return replace(self, earlier=self._at_look(subject, planned, SINGLE))
        for workers in schedule.looks:
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


def compared_samples(
    subject: Subject,
    whole: tuple[SideData, SideData],
    candidate: Sequence[Run],
    baseline: Sequence[Run],
) -> tuple[SideData, SideData, list[Problem]]:
    """Return what is compared of the candidate's and the baseline's runs, and a problem if not all.

    `whole` are all samples. Retrieve i took the same file in each run. Windows of time hold different
    work, and are all used.
    """
    entries = [run.entry for run in (*candidate, *baseline)]
    lengths = {len(entry.total_ns) for entry in entries}
    shortest = min(lengths)
    if len(lengths) == 1 or not did_same_work([_cut(entry, shortest) for entry in entries]):
        return *whole, []
    data = [
        SideData.of([run._replace(entry=_cut(run.entry, shortest)) for run in runs])
        for runs in (candidate, baseline)
    ]
    sides = (baseline[0].worker.side, candidate[0].worker.side)
    message = statement(
        "{baseline} and {candidate} are compared over the first {length} {samples} of each run",
        baseline=sides[0],
        candidate=sides[1],
        length=count(shortest),
        samples=workloads.of(subject.workload).samples,
    )
    explanation = statement("The runs have different lengths. The figures are of whole runs.")
    problem = Problem("unequal-length", Severity.WARNING, subject, sides, message, explanation)
    return data[0], data[1], [problem]


def slower_left_out(
    subject: Subject, runs: Sequence[Run], comparable: Sequence[Run]
) -> list[Problem]:
    """Return a problem for each side whose runs are left out because they ended early, and were slower.

    A task that is killed because it is slow takes no part in its pool's mean, which then is too fast.
    """
    kept = {id(run.entry) for run in comparable}
    problems = []
    for side, side_runs in by_side(runs).items():
        entries = [run.entry for run in side_runs]
        if any(entry.retrieves is None for entry in entries):
            continue
        ended_early = [
            entry
            for entry in entries
            if id(entry) not in kept and len(entry.total_ns) >= FEWEST_RETRIEVES
        ]
        rest = [entry for entry in entries if id(entry) in kept]
        if not ended_early or not rest:
            continue
        length = min(len(entry.total_ns) for entry in (*ended_early, *rest))
        slower, faster = (
            fmean(math.log(_cut(entry, length).mean_ns) for entry in group)
            for group in (ended_early, rest)
        )
        variation = DEFAULT_WORKER_VARIATION * math.sqrt(1 / len(ended_early) + 1 / len(rest))
        if slower - faster <= max(math.log(_SLOWER_RATIO), _CLEARLY * variation):
            continue
        runs_text = "run" if len(ended_early) == 1 else "runs"
        message = statement(
            f"{{side}}: {{left_out}} {runs_text} that ended early took {{ratio}} as long as the {{rest}} "
            "compared ones, over the same first {length} retrieves. The side is slower than its figures",
            side=side,
            left_out=count(len(ended_early)),
            ratio=Quantity(math.exp(slower - faster), Unit.RATIO),
            rest=count(len(rest)),
            length=count(length),
        )
        problems.append(Problem("survivors", Severity.WARNING, subject, (side,), message))
    return problems


def _cut(entry: Entry, length: int) -> Entry:
    return replace(
        entry,
        start_ns=entry.start_ns[:length],
        total_ns=entry.total_ns[:length],
        operations=entry.operations[:length],
        size_bytes=entry.size_bytes[:length],
        lookup_ns=None if entry.lookup_ns is None else entry.lookup_ns[:length],
    )
