# SPDX-License-Identifier: MPL-2.0
"""What it would take to decide the comparisons that are inconclusive: workers, their time, money.

The time of a further worker is the mean of what the runs of its pool took that measured what is
inconclusive, as long as any of them completed.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

from io_benchmark.analysis.model import Subject, Worker
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.results.workload import NS_PER_S

_NS_PER_MINUTE = 60 * NS_PER_S


def cost_of_deciding(
    reports: Sequence[SubjectReport], workers: Sequence[Worker], prices: Mapping[str, Price]
) -> Cost | None:
    """Return the cost; None where more workers would decide nothing."""
    never = SubjectReport.not_by_repetition(reports)
    to_add: dict[str, int] = {}
    subjects: dict[str, set[Subject]] = {}
    for part in reports:
        for comparison in part.comparisons:
            needed = part.workers_wanted(comparison)
            if needed is None or comparison.candidate in never:
                continue
            for side in (comparison.candidate, comparison.baseline):
                to_add[side] = max(to_add.get(side, 0), needed - part.workers(side))
                subjects.setdefault(side, set()).add(part.subject)
    if not to_add:
        return None
    runs = {
        side: _typical_runs([worker for worker in workers if worker.side == side], subjects[side])
        for side, count in to_add.items()
        if count > 0
    }
    counted = [worker for side_runs in runs.values() for worker in side_runs]
    with_setup = all(worker.task_ns is not None for worker in counted)
    shares = (_share(side, to_add[side], runs[side], prices, with_setup) for side in runs)
    return Cost(tuple(shares), bool(prices), len(counted), with_setup)


def _typical_runs(workers: Sequence[Worker], subjects: set[Subject]) -> list[Worker]:
    """Return the runs that measured these, those that completed if there are any."""
    runs = [run for run in workers if any(entry.subject in subjects for entry in run.entries)]
    return [run for run in runs if run.completed] or runs


def _share(
    side: str,
    count: int,
    runs: Sequence[Worker],
    prices: Mapping[str, Price],
    with_setup: bool,
) -> CostShare:
    times_ns = [
        run.task_ns if with_setup and run.task_ns is not None else run.result.duration_ns
        for run in runs
    ]
    run_prices = {Price.find(prices, run.pool, run.queue, run.instance_type or "") for run in runs}
    return CostShare(
        side,
        count,
        fmean(times_ns) / _NS_PER_MINUTE,
        # Machines at several prices: which of them a further task gets is not known.
        price=run_prices.pop() if len(run_prices) == 1 else None,
    )
