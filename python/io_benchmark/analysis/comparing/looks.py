# SPDX-License-Identifier: MPL-2.0
"""Which look the results of two sides are, and what was compared at the looks before it.

A look is repeated by the workers of that time, which started first, and only if nobody could choose
it: the tasks or --looks declare the numbers of workers, or a plan does. Without these the report
does not know when somebody looked.
"""

import itertools
import re
from collections.abc import Hashable, Mapping, Sequence

from msgspec.structs import replace

from io_benchmark.analysis.comparing.samples import in_common
from io_benchmark.analysis.model.looks import FEWEST_WORKERS, SINGLE, Look, Schedule
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.model.run import UNKNOWN, Run, Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import count, statement


def schedule_of(given: Schedule, results: Sequence[Sequence[Worker]]) -> Schedule:
    """Return the schedule that holds for two sides, by all results of each.

    One that is declared is believed; then the one that all tasks name. Without these, a plan is a
    single look, because it was made before there were results: each task names the number of
    replicates that were created with it.
    """
    if given.is_declared:
        return given
    plans = {worker.plan[1] for worker in itertools.chain(*results)}
    recorded = Schedule.parse(*plans) if len(plans) == 1 else None
    if recorded is not None and len(recorded.looks) > 1:
        return recorded
    numbers = [_replicates_planned(side) for side in results]
    if None in numbers:
        return given
    return Schedule((max(filter(None, numbers)),), is_declared=True, is_planned=True)


def look_of(
    schedule: Schedule,
    counts: Sequence[int],
    results: Sequence[Sequence[Worker]],
    lost: Sequence[int],
) -> Look:
    """Return the look of two sides, by their independent workers and by all results of each.

    `lost` is the number of each side's tasks that ended and left no result.
    """
    if not schedule.is_planned or min(counts) < FEWEST_WORKERS:
        return schedule.look_of_counts(counts)
    # Some runs of a plan are refused, or share a machine. One that is still to come is another
    # look, and so is one that was added later, also in place of one that was lost.
    for side, without_result in zip(results, lost, strict=True):
        planned = _replicates_planned(side) or 0
        if len(side) + without_result != planned:
            ended = " and {lost} without a result" if without_result else ""
            label = statement(
                f"{{side}} has {{runs}} runs{ended}, and its one look was planned at {{planned}}",
                side=side[0].side,
                runs=count(len(side)),
                lost=count(without_result),
                planned=count(planned),
            )
            return Look(label)
    return SINGLE


def _replicates_planned(workers: Sequence[Worker]) -> int | None:
    """Return how many runs were planned at once; None where one run has no or a different plan."""
    plans = {worker.plan for worker in workers}
    numbers = dict(plans).values()
    if len(numbers) < len(plans) or not all(re.fullmatch("[0-9]{1,3}", plan) for plan in numbers):
        return None
    return sum(map(int, numbers)) if numbers and min(map(int, numbers)) > 1 else None


def earlier_looks(
    pair: ComparedSides, candidate: Side, baseline: Side, lost: Sequence[int]
) -> dict[int, ComparedSides]:
    """Return what was compared at the looks before this one, by the workers that each side had.

    `candidate` and `baseline` have all runs; `lost` counts their tasks without a result.
    """
    schedule = pair.schedule
    is_planned_look = schedule.is_planned and pair.look == SINGLE
    if not schedule.is_declared or is_planned_look:
        return {}
    candidate_runs, baseline_runs = sorted(candidate, key=_start), sorted(baseline, key=_start)
    looks: list[tuple[list[Run], list[Run], Look]] = []
    if schedule.is_planned:
        planned = (_first_planned(candidate_runs, lost[0]), _first_planned(baseline_runs, lost[1]))
        looks.append((*planned, SINGLE))
    else:
        for workers in schedule.looks:
            if workers <= min(pair.counts) and pair.counts != (workers, workers):
                first = _first_workers(candidate_runs, workers)
                base = _first_workers(baseline_runs, workers)
                looks.append((first, base, schedule.look(workers)))
    earlier = {}
    for candidate_first, baseline_first, look in looks:
        if candidate_first and baseline_first:
            sides = in_common(Side.of(candidate_first), Side.of(baseline_first))
            at_look = replace(pair, candidate=sides.candidate, baseline=sides.baseline, look=look)
            if min(at_look.counts) > 1:
                earlier[min(at_look.counts)] = at_look
    return earlier


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


Earlier = Mapping[int, ComparedSides]  # by the workers that each side had at least
