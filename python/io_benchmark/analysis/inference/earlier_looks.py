# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What was compared at earlier looks: the workers of that time, which are those that started first.

A look can be repeated only if nobody could choose it: the tasks or --looks declare the numbers of
workers, or a plan does. Without these the report does not know when somebody looked.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace

from io_benchmark.analysis.inference.common_prefix import compared_samples
from io_benchmark.analysis.inference.comparisons import Pair
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.model import UNKNOWN, Run, Subject
from io_benchmark.results.format import PLAN_VARIABLE


def with_earlier_looks(
    subject: Subject,
    pair: Pair,
    schedule: Schedule,
    candidate: Sequence[Run],
    baseline: Sequence[Run],
) -> Pair:
    """Return the pair with what was compared of these runs at the looks before this one."""
    sides = tuple(sorted(runs, key=_start) for runs in (candidate, baseline))
    counts = (pair.ours.count, pair.theirs.count)
    if schedule.is_planned:
        planned = [_first_planned(runs) for runs in sides]
        earlier = {} if pair.look == SINGLE else _pair_at(subject, pair, planned, SINGLE)
    else:
        earlier = {}
        for workers in schedule.looks if schedule.is_declared else ():
            if workers <= min(counts) and counts != (workers, workers):
                first = [_first_workers(runs, workers) for runs in sides]
                earlier |= _pair_at(subject, pair, first, schedule.look(workers))
    return replace(pair, earlier=earlier)


def _start(run: Run) -> tuple[str, str, int]:
    return run.worker.started, run.worker.task_id, run.worker.run_id or 0


def _pair_at(
    subject: Subject, pair: Pair, sides: Sequence[Sequence[Run]], look: Look
) -> dict[int, Pair]:
    """Return the pair with these runs, by the workers that each side has at least."""
    if not all(sides):
        return {}
    (ours, theirs) = sides
    compared = compared_samples(subject, (SideData.of(ours), SideData.of(theirs)), ours, theirs)
    fewest = min(compared[0].count, compared[1].count)
    made = replace(pair, ours=compared[0], theirs=compared[1], look=look)
    return {fewest: made} if fewest > 1 else {}


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


def _first_planned(runs: Sequence[Run]) -> list[Run]:
    """Return as many runs as were planned of each task; none where some of these are missing."""
    left: dict[Hashable, int] = {}
    first: list[Run] = []
    for run in runs:
        config = run.worker.result.config
        task = (config.profile, tuple(config.workloads))
        left.setdefault(task, int(config.environment[PLAN_VARIABLE]))
        if left[task]:
            left[task] -= 1
            first.append(run)
    return [] if any(left.values()) else first
