# SPDX-License-Identifier: MPL-2.0
"""One side's figures for one subject, and how far measurements of the same thing differ."""

import itertools
import math
from collections.abc import Callable, Collection, Iterable
from operator import truediv
from statistics import fmean

from io_benchmark.analysis.inference import variances
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.model import PERCENTILES, Entry, Figures
from io_benchmark.analysis.observed.worker_view import mean_of_known
from io_benchmark.analysis.report_model import NoiseFloor
from io_benchmark.results.workload import Workload


def summarize(data: SideData, workload: Workload) -> Figures:
    entries = list(itertools.chain(*data.runs))

    def mean(figure: Callable[[Entry], float]) -> float:
        """Return the mean of the workers' figures: the unit is the worker."""
        return fmean(fmean(map(figure, worker)) for worker in data.runs)

    def part(figure: Callable[[Entry], float | None]) -> float | None:
        return mean_of_known(mean_of_known(map(figure, worker)) for worker in data.runs)

    mean_ns = mean(lambda entry: entry.mean_ns)
    runs_ns = [[_percentiles_ns(entry) for entry in worker] for worker in data.runs]
    return Figures(
        workers=data.count,
        samples=sum(len(entry.total_ns) for entry in entries),
        operations=sum(entry.operations_done for entry in entries),
        mean_ns=mean_ns,
        value=workload.shown(mean_ns),
        percentiles_ns={
            percent: fmean(fmean(run[percent] for run in worker) for worker in runs_ns)
            for percent in PERCENTILES
        },
        total_ns=mean(lambda entry: sum(entry.total_ns)),
        lookup_mean_ns=part(lambda entry: entry.lookup_mean_ns),
        copy_mean_ns=part(_copy_mean_ns),
        within_worker_ratio=max(entry.relative_times.error_of_mean for entry in entries),
        between_workers_ratio=(
            math.sqrt(variances.sample_variance(data.log_means)) if data.count > 1 else None
        ),
    )


def _copy_mean_ns(entry: Entry) -> float | None:
    return None if entry.lookup_mean_ns is None else entry.mean_ns - entry.lookup_mean_ns


def _percentiles_ns(entry: Entry) -> dict[int, float]:
    """Return percentiles as older reports define them; a batch counts as its average."""
    times_ns: Iterable[float] = entry.total_ns.tolist()  # sorted faster than an array
    if entry.retrieves is None:
        times_ns = map(truediv, entry.total_ns, entry.operations)
    ordered = sorted(times_ns)
    count = len(ordered)
    return {percent: ordered[min(count * percent // 100, count - 1)] for percent in PERCENTILES}


def noise_floors(sides: Collection[SideData]) -> tuple[NoiseFloor, ...]:
    """Return how far halves of one run, and workers of one side, differ."""
    halves = [
        entry.relative_times.halves_ratio for side in sides for entry in itertools.chain(*side.runs)
    ]
    floors = [NoiseFloor("within-worker", min(halves), max(halves))]
    spreads = [max(side.log_means) - min(side.log_means) for side in sides if side.count > 1]
    if spreads:
        floors.append(
            NoiseFloor("between-workers", math.exp(-max(spreads)), math.exp(max(spreads)))
        )
    return tuple(floors)
