# SPDX-License-Identifier: MPL-2.0
"""How many workers each side had, and how many its verdicts still need."""

from collections import Counter
from collections.abc import Collection, Sequence

from io_benchmark.analysis.model import UNKNOWN, Comparison, Verdict
from io_benchmark.analysis.report_model import Replication, Standing, SubjectReport
from io_benchmark.analysis.run_record import WorkerLine


def count_workers(
    subjects: Sequence[SubjectReport], workers: Sequence[WorkerLine]
) -> tuple[Replication, ...]:
    """Count each side: a measurement's baseline before its candidates, then what was not compared."""
    runs: dict[str, list[WorkerLine]] = {}
    for run in workers:
        if run.is_counted:
            runs.setdefault(run.side, []).append(run)
    sides = dict.fromkeys([*(side for part in subjects for side in part.figures), *runs])
    return tuple(_count_side(side, runs[side], subjects) for side in sides if side in runs)


def _count_side(
    side: str, runs: Sequence[WorkerLine], subjects: Sequence[SubjectReport]
) -> Replication:
    compared = [
        (part, comparison)
        for part in subjects
        for comparison in part.comparisons
        if side in (comparison.candidate, comparison.baseline)
    ]
    never = SubjectReport.not_by_repetition(subjects)
    standing, needed, to_add = _workers_needed(side, compared, never)
    return Replication(
        side=side,
        runs=len(runs),
        workers=_count_machines(runs),
        workers_compared=min((part.workers(side) for part, _ in compared), default=0),
        standing=standing,
        workers_needed=needed,
        workers_to_add=to_add,
    )


def _count_machines(runs: Sequence[WorkerLine]) -> int:
    machines = Counter(run.machine for run in runs)
    unknown = machines.pop(UNKNOWN, 0)
    return len(machines) + unknown


def _workers_needed(
    side: str, compared: Sequence[tuple[SubjectReport, Comparison]], never: Collection[str]
) -> tuple[Standing, int | None, int | None]:
    if not compared:
        return Standing.NO_VERDICT, None, None
    undecided = [
        (part, comparison)
        for part, comparison in compared
        if comparison.verdict is Verdict.INCONCLUSIVE
    ]
    if not undecided:
        return Standing.DECIDED, None, None
    decidable = [
        (part, workers)
        for part, comparison in undecided
        if (workers := part.workers_wanted(comparison)) is not None
        and comparison.candidate not in never
    ]
    if not decidable:
        return Standing.NOT_BY_REPETITION, None, None
    missing = (workers - part.workers(side) for part, workers in decidable)
    return Standing.OPEN, max(workers for _, workers in decidable), max(0, *missing)
