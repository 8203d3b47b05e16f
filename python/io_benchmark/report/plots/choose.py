# SPDX-License-Identifier: MPL-2.0
"""Choose which of many workers to draw: few, and the same each time."""

from collections.abc import Sequence
from statistics import fmean

from io_benchmark.analysis.report_model import SampleSeries, SubjectReport

SIDES_DRAWN = 12


def by_side(series: Sequence[SampleSeries], part: SubjectReport) -> dict[str, list[SampleSeries]]:
    """Return one subject's workers that have samples, by side in the order of the sides."""
    workers_of: dict[str, list[SampleSeries]] = {side: [] for side in part.figures}
    for worker in series:
        if worker.subject == part.subject and worker.side in workers_of and len(worker.total_ns):
            workers_of[worker.side].append(worker)
    drawn = [(side, workers) for side, workers in workers_of.items() if workers]
    return dict(drawn[:SIDES_DRAWN])


def typical(workers: Sequence[SampleSeries]) -> SampleSeries:
    """Return the worker in the middle, by its mean."""
    ordered = by_mean(workers)
    return ordered[(len(ordered) - 1) // 2]


def by_mean(workers: Sequence[SampleSeries]) -> list[SampleSeries]:
    """Sort workers, the fastest first."""
    return sorted(workers, key=lambda series: (fmean(series.total_ns), series.worker))
