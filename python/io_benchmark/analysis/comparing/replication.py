# SPDX-License-Identifier: MPL-2.0
"""How many workers each side had, how many its verdicts still need, and what these would cost.

The time of a further worker is the mean of what the runs of its pool took that measured what is
inconclusive, as long as any of them completed.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from statistics import fmean

from msgspec import convert
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Comparison, Verdict
from io_benchmark.analysis.model.groups import by_machine, grouped
from io_benchmark.analysis.model.measurement import Measurement, SubjectReport
from io_benchmark.analysis.model.report import Replication, Standing
from io_benchmark.analysis.model.run import Worker, WorkerLine
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.results.parts import NS_PER_S

_NS_PER_MINUTE = 60 * NS_PER_S


def _decidable(subjects: Sequence[SubjectReport]) -> list[tuple[SubjectReport, Comparison, int]]:
    """Return the comparisons that more workers would decide, and how many each side needs."""
    never = SubjectReport.not_by_repetition(subjects)
    return [
        (part, comparison, needed)
        for part in subjects
        for comparison in part.comparisons
        if comparison.candidate not in never
        and (needed := part.workers_wanted(comparison)) is not None
    ]


def worker_lines(
    workers: Sequence[Worker], measurements: Sequence[Measurement]
) -> tuple[WorkerLine, ...]:
    """Return the line of each run, with how many measurements no validity rule left out."""
    used = Counter(
        id(run.worker)
        for measurement in measurements
        for side in measurement.sides.values()
        for run in side
    )
    return tuple(
        replace(
            convert(worker, WorkerLine, from_attributes=True),
            measurements=sum(run.is_measured for run in worker.runs),
            measurements_used=used[id(worker)],
        )
        for worker in workers
    )


def count_workers(
    subjects: Sequence[SubjectReport], workers: Sequence[WorkerLine]
) -> tuple[Replication, ...]:
    """Count each side: a baseline before its candidates, then what was not compared."""
    runs = grouped((run for run in workers if run.is_counted), attrgetter("side"))
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
    needed = [
        (workers, workers - part.workers(side))
        for part, comparison, workers in _decidable(subjects)
        if side in (comparison.candidate, comparison.baseline)
    ]
    standing = Standing.DECIDED if compared else Standing.NO_VERDICT
    if needed:
        standing = Standing.OPEN
    elif any(comparison.verdict is Verdict.INCONCLUSIVE for _, comparison in compared):
        standing = Standing.NOT_BY_REPETITION
    return Replication(
        side=side,
        runs=len(runs),
        workers=len(by_machine(runs, attrgetter("machine"))),
        workers_compared=min((part.workers(side) for part, _ in compared), default=0),
        standing=standing,
        workers_needed=max((workers for workers, _ in needed), default=None),
        workers_to_add=max(0, *(missing for _, missing in needed)) if needed else None,
    )


def cost_of_deciding(
    reports: Sequence[SubjectReport], workers: Sequence[Worker], prices: Mapping[str, Price]
) -> Cost | None:
    """Return what the workers to add cost; None where more workers would decide nothing."""
    to_add: Counter[str] = Counter()
    undecided: dict[str, set[Subject]] = defaultdict(set)
    for part, comparison, needed in _decidable(reports):
        for side in (comparison.candidate, comparison.baseline):
            to_add[side] = max(to_add[side], needed - part.workers(side))
            undecided[side].add(part.subject)
    if not to_add:
        return None
    measuring = grouped(
        (w for w in workers if any(run.subject in undecided[w.side] for run in w.runs)),
        attrgetter("side"),
    )
    counted = {
        side: [run for run in measuring[side] if run.completed] or measuring[side]
        for side in +to_add
    }
    all_runs = [*chain(*counted.values())]
    with_setup = all(run.task_ns is not None for run in all_runs)
    shares = []
    for side, side_runs in counted.items():
        times_ns = [(with_setup and run.task_ns) or run.result.duration_ns for run in side_runs]
        minutes = fmean(times_ns) / _NS_PER_MINUTE
        price = _price(side_runs, prices)
        shares.append(CostShare(side, to_add[side], minutes, price=price))
    return Cost(tuple(shares), bool(prices), len(all_runs), with_setup)


def prices_of(workers: Sequence[Worker], prices: Mapping[str, Price]) -> dict[str, Price]:
    """Return the price of each side whose workers have one."""
    sides = grouped(workers, attrgetter("side")).items()
    priced = ((side, _price(runs, prices)) for side, runs in sides)
    return {side: price for side, price in priced if price is not None}


def _price(runs: Sequence[Worker], prices: Mapping[str, Price]) -> Price | None:
    """Return the price of these workers; None where it is not known, or machines have several."""
    different = {Price.find(prices, run.pool, run.queue, run.instance_type or "") for run in runs}
    return different.pop() if len(different) == 1 else None
