# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Choose which of many workers and samples to draw: few, and the same each time."""

from collections.abc import Sequence

import numpy as np

from io_benchmark.analysis.model import Integers, Subject
from io_benchmark.analysis.report_model import RateTimeline, SampleSeries

SIDES_DRAWN = 12


def by_side(
    series: Sequence[SampleSeries], subject: Subject, sides: Sequence[str]
) -> dict[str, list[SampleSeries]]:
    """Return one subject's workers that have samples, by side in the order of the sides."""
    workers_of: dict[str, list[SampleSeries]] = {side: [] for side in sides}
    for worker in series:
        if worker.subject == subject and worker.side in workers_of and len(worker.total_ns):
            workers_of[worker.side].append(worker)
    drawn = [(side, workers) for side, workers in workers_of.items() if workers]
    return dict(drawn[:SIDES_DRAWN])


def spread(workers: Sequence[SampleSeries], most: int) -> list[SampleSeries]:
    """Return at most this many workers, evenly from the fastest to the slowest."""
    ordered = sorted(workers, key=lambda series: (float(np.mean(series.total_ns)), series.worker))
    if len(ordered) <= most:
        return ordered
    return [ordered[round(at * (len(ordered) - 1) / (most - 1))] for at in range(most)]


def typical(workers: Sequence[SampleSeries]) -> SampleSeries:
    """Return the worker in the middle, by its mean."""
    ordered = sorted(workers, key=lambda series: (float(np.mean(series.total_ns)), series.worker))
    return ordered[(len(ordered) - 1) // 2]


def timelines(
    all_timelines: Sequence[RateTimeline], series: Sequence[SampleSeries], sides: Sequence[str]
) -> list[RateTimeline]:
    """Return one timeline per side: that of the typical worker, else the first."""
    wanted: dict[str, str] = {}
    for side in sides:
        workers = [each for each in series if each.side == side and len(each.total_ns)]
        if workers:
            subject = workers[0].subject
            wanted[side] = typical([each for each in workers if each.subject == subject]).worker
    chosen: dict[str, RateTimeline] = {}
    for timeline in all_timelines:
        if not timeline.time_s:
            continue
        is_wanted = timeline.worker == wanted.get(timeline.side)
        if timeline.side not in chosen or (
            is_wanted and chosen[timeline.side].worker != timeline.worker
        ):
            chosen[timeline.side] = timeline
    return [chosen[side] for side in sides if side in chosen][:SIDES_DRAWN]


def thin(values_ns: Integers, most: int) -> tuple[Integers, int]:
    """Return which samples to draw, and the step: every n-th, and the slowest 1 %."""
    count = len(values_ns)
    step = -(-count // most)
    if step <= 1:
        return np.arange(count), 1
    slowest = np.argsort(values_ns, kind="stable")[-max(count // 100, 1) :]
    return np.union1d(np.arange(0, count, step), slowest), step
