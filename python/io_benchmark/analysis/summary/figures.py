# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""One side's figures for one subject, and how far measurements of the same thing differ."""

import itertools
import math
from collections.abc import Callable, Collection
from functools import partial
from statistics import fmean

import numpy as np

from io_benchmark.analysis.inference import variances
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.moving_blocks import RelativeTimes
from io_benchmark.analysis.model import (
    PERCENTILES,
    Entry,
    Figures,
    Integers,
)
from io_benchmark.analysis.observed.worker_view import mean_of_known
from io_benchmark.analysis.report_model import NoiseFloor


def summarize(data: SideData) -> Figures:
    entries = list(itertools.chain(*data.runs))

    def mean(figure: Callable[[Entry], float]) -> float:
        """Return the mean of the workers' figures: the unit is the worker."""
        return fmean(fmean(map(figure, worker)) for worker in data.runs)

    def part(column: Callable[[Entry], Integers | None]) -> float | None:
        return mean_of_known(
            mean_of_known(
                None if (times := column(entry)) is None else float(times.mean())
                for entry in worker
            )
            for worker in data.runs
        )

    return Figures(
        workers=data.count,
        samples=sum(len(entry.total_ns) for entry in entries),
        operations=sum(int(entry.operations.sum()) for entry in entries),
        mean_ns=mean(lambda entry: entry.mean_ns),
        percentiles_ns={percent: mean(partial(_percentile, percent)) for percent in PERCENTILES},
        total_ns=mean(lambda entry: float(entry.total_ns.sum())),
        lookup_mean_ns=part(lambda entry: entry.lookup_ns),
        copy_mean_ns=part(_copy_ns),
        within_worker_ratio=max(RelativeTimes.of(entry).error_of_mean for entry in entries),
        between_workers_ratio=(
            math.sqrt(variances.sample_variance(data.log_means)) if data.count > 1 else None
        ),
    )


def _copy_ns(entry: Entry) -> Integers | None:
    return None if entry.lookup_ns is None else entry.total_ns - entry.lookup_ns


def _percentile(percent: int, entry: Entry) -> float:
    """Return a percentile as older reports define it; a batch counts as its average."""
    count = len(entry.total_ns)
    at = min(count * percent // 100, count - 1)
    each = entry.total_ns if entry.retrieves is not None else entry.total_ns / entry.operations
    return float(np.partition(each, at)[at])


def noise_floors(sides: Collection[SideData]) -> tuple[NoiseFloor, ...]:
    """Return how far halves of one run, and workers of one side, differ."""
    halves = [
        RelativeTimes.of(entry).halves_ratio
        for side in sides
        for entry in itertools.chain(*side.runs)
    ]
    floors = [NoiseFloor("within-worker", min(halves), max(halves))]
    spreads = [max(side.log_means) - min(side.log_means) for side in sides if side.count > 1]
    if spreads:
        floors.append(
            NoiseFloor("between-workers", math.exp(-max(spreads)), math.exp(max(spreads)))
        )
    return tuple(floors)
