# SPDX-License-Identifier: MPL-2.0
"""From a result to a history's readings, and what earlier ones show about how far pushes differ.

What a single result adds to a history is limited: any task can have written it. A worker that
measures every workload in three places has some 100 measurements, and 50 facts.

Between pushes a pool changes from day to day or in steps. Steps that a history finds are left out.
Changes that it does not find count as differences between pushes, so an interval is too wide rather
than too narrow.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.history.bounds import (
    LINE,
    LINES,
    UNDATED,
    bound_fact,
    bound_sentence,
    conditions_of,
    origin_of,
    reasons_of,
)
from io_benchmark.analysis.history.history_model import HistoryReading, LeftOut
from io_benchmark.analysis.history.series import history
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import count, joined, statement
from io_benchmark.analysis.reading.intake import worker_of
from io_benchmark.analysis.reading.machines import facts_of
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.validity import checks
from io_benchmark.sources.run_results import RunResult

# What a single result may add, twice to three times as much as any result had so far.
MEASUREMENTS = 200
_FACTS = 150
_NEWEST_PUSHES = 50  # nearly a year of weekly pushes; looking for steps in more takes long
_FEWEST_DEGREES = 2  # three pushes of one level


def readings_of(measured: RunResult) -> tuple[list[HistoryReading], list[LeftOut]]:
    """Return a reading of each measurement that no rule refuses, and what is left out."""
    worker, task = worker_of(measured, measured.pool), measured.task
    origin = origin_of(worker, task)
    if origin is None:
        return [], [LeftOut(measured.source, UNDATED)]
    kept, problems = checks.check_runs(worker.runs, frozenset())
    queue, image = (task.task_queue, task.image) if task else (None, None)
    facts = {
        place: facts_of(worker.result, place, queue, image)
        for place in dict.fromkeys(run.subject.place for run in kept)
    }
    readings = [
        HistoryReading(
            origin,
            run.subject,
            conditions_of(run),
            math.log(run.mean_ns),
            tuple(map(bound_fact, facts[run.subject.place][:_FACTS])),
        )
        for run in kept[:MEASUREMENTS]
    ]
    reasons = reasons_of(worker, problems)
    cuts = [
        statement(f"{{cut}} of {{all}} {things}", cut=count(number - most), all=count(number))
        for number, most, things in (
            (len(kept), MEASUREMENTS, "measurements"),
            (max(map(len, facts.values()), default=0), _FACTS, "facts about its worker"),
            (len(reasons), LINES, "lines about what was left out"),
        )
        if number > most
    ]
    del reasons[LINES:]
    if cuts:
        sentence = "{task}: this result holds more than a history shows; cut: {cuts}"
        reasons.append(statement(sentence, task=worker.task_name, cuts=joined(cuts, "; ")))
    when = origin.time.date().isoformat()
    return readings, [LeftOut(when, bound_sentence(reason, LINE)) for reason in reasons]


class EarlierPushes(Struct, frozen=True):
    """Earlier results of several pools, without those that are compared."""

    readings: Mapping[str, Sequence[HistoryReading]]  # by pool

    def variance(self, run: Run) -> tuple[int, MeanVariance] | None:
        """Return how many pushes measured the same as `run`, and how far their levels differ.

        Return None where these are too few.
        """
        pool, measured = run.worker.pool, (run.subject, conditions_of(run))
        same_work = [
            reading
            for reading in self.readings.get(pool, ())
            if (reading.subject, reading.conditions) == measured
        ]
        for series in history(pool, same_work, newest=_NEWEST_PUSHES).series:
            means = [
                fmean(math.log(worker.mean_ns) for worker in point.workers)
                for point in series.points
            ]
            within_levels = MeanVariance.pooled(
                means[level.start : level.end] for level in series.levels
            )
            if within_levels is not None and within_levels.degrees >= _FEWEST_DEGREES:
                return len(series.points), within_levels
        return None
