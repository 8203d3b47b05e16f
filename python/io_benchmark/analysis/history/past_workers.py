# SPDX-License-Identifier: MPL-2.0
"""What earlier results show about how far workers of a pool differ.

Workers of one push ran at the same time, so only their own differences count. Between pushes a pool
changes as well, from day to day or in steps. Steps that a history finds are left out. Changes that it does
not find count as differences between workers, so an interval is too wide rather than too narrow. With too
few pushes to find steps, only pushes with several workers count, if there are any.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.history.explanations import FEWEST_VALUES
from io_benchmark.analysis.history.history_model import HistoryReading, HistorySeries
from io_benchmark.analysis.history.readings import conditions_of
from io_benchmark.analysis.history.series import history
from io_benchmark.analysis.inference import variations
from io_benchmark.analysis.model import UNKNOWN, Run, WorkerVariation
from io_benchmark.analysis.statements import Statement, count, joined, statement
from io_benchmark.analysis.variances import MeanVariance

# Nearly a year of weekly pushes. Looking for steps in more takes long.
NEWEST_PUSHES = 50
# Three workers.
_FEWEST_DEGREES = 2


class PastWorkers(Struct, frozen=True):
    """Earlier workers of several pools, without those that are compared."""

    address: str  # where they were read, as the user named it
    readings: Mapping[str, Sequence[HistoryReading]]  # by pool

    def variations(self, runs: Sequence[Run]) -> list[WorkerVariation]:
        """Return how far earlier workers differ in what these runs measured.

        Where there are too few for each of the runs, return the default with this reason.
        """
        known = list(filter(None, map(self._variation, runs)))
        if known or not runs:
            return known
        explanation = statement(
            "{address} has fewer than three earlier workers of {pools} that measured the same.",
            address=self.address,
            pools=joined(sorted({run.worker.pool for run in runs}), " or of "),
        )
        return [replace(variations.default(), explanation=explanation)]

    def push_variance(self, run: Run) -> tuple[int, MeanVariance] | None:
        """Return how many earlier pushes there are, and how far their levels differ; None of too few."""
        for series in self._series(run):
            levels = [
                [fmean(math.log(worker.mean_ns) for worker in point.workers) for point in points]
                for level in series.levels
                for points in [series.points[level.start : level.end]]
            ]
            measured = MeanVariance.pooled(levels)
            if measured is not None and measured.degrees >= _FEWEST_DEGREES:
                return len(series.points), measured
        return None

    def _series(self, run: Run) -> tuple[HistorySeries, ...]:
        """Return the past of what `run` measured."""
        pool, measured = run.worker.pool, (run.entry.subject, conditions_of(run))
        same_work = [
            reading
            for reading in self.readings.get(pool, ())
            if (reading.subject, reading.conditions) == measured
        ]
        return history(pool, same_work, newest=NEWEST_PUSHES).series

    def _variation(self, run: Run) -> WorkerVariation | None:
        """Return how far earlier workers differ in what `run` measured; None if too few did."""
        pool = run.worker.pool
        for series in self._series(run):
            between, workers = _between_workers(series), _machines(series)
            if between is not None and min(between.degrees, workers - 1) >= _FEWEST_DEGREES:
                # A machine that was measured each week is one worker.
                between = replace(between, degrees=min(between.degrees, workers - 1.0))
                source = self._source(pool, series, workers)
                return variations.of_history(between, workers, source)
        return None

    def _source(self, pool: str, series: HistorySeries, workers: int) -> Statement:
        steps = len(series.changes)
        changes = "change" if steps == 1 else "changes"
        left_out = f"; {{steps}} {changes} of level left out" if steps else ""
        return statement(
            "{workers} earlier workers of {pool} ({address}" + left_out + ")",
            workers=count(workers),
            pool=pool,
            address=self.address,
            steps=count(steps),
        )


def _between_workers(series: HistorySeries) -> MeanVariance | None:
    """Return the variance within pushes, or within levels where it is larger and steps can be found."""
    points = [[math.log(worker.mean_ns) for worker in point.workers] for point in series.points]
    within = MeanVariance.pooled(points)
    if within is not None and within.degrees < _FEWEST_DEGREES:
        within = None
    if within is not None and len(points) < FEWEST_VALUES:
        return within
    levels = [
        [log_mean for point in points[level.start : level.end] for log_mean in point]
        for level in series.levels
    ]
    variances = filter(None, (within, MeanVariance.pooled(levels)))
    return max(variances, key=lambda variance: variance.variance, default=None)


def _machines(series: HistorySeries) -> int:
    """Return how many machines the workers of all points ran on."""
    names = [worker.worker_id for point in series.points for worker in point.workers]
    return len(set(names) - {UNKNOWN}) + names.count(UNKNOWN)
