# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What is drawn of many workers and many samples: few, always the same ones, and said so."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from io_benchmark.analysis.model import Integers, Subject
from io_benchmark.analysis.report_model import RateTimeline, SampleSeries

SIDES_DRAWN = 12
Chosen = TypeVar("Chosen")


def by_side(
    series: Sequence[SampleSeries], subject: Subject, sides: Sequence[str]
) -> dict[str, list[SampleSeries]]:
    """One subject's workers that have samples, by side in the order of the sides."""
    found: dict[str, list[SampleSeries]] = {side: [] for side in sides}
    for one in series:
        if one.subject == subject and one.side in found and len(one.total_ns):
            found[one.side].append(one)
    drawn = [(side, workers) for side, workers in found.items() if workers]
    return dict(drawn[:SIDES_DRAWN])


def spread(workers: Sequence[SampleSeries], most: int) -> list[SampleSeries]:
    """Workers from the quickest to the slowest, evenly, at most so many."""
    ordered = sorted(workers, key=lambda one: (float(np.mean(one.total_ns)), one.worker))
    if len(ordered) <= most:
        return ordered
    return [ordered[round(at * (len(ordered) - 1) / (most - 1))] for at in range(most)]


def typical(workers: Sequence[SampleSeries]) -> SampleSeries:
    """The worker in the middle, by its mean."""
    ordered = sorted(workers, key=lambda one: (float(np.mean(one.total_ns)), one.worker))
    return ordered[(len(ordered) - 1) // 2]


def timelines(
    all_of_them: Sequence[RateTimeline], series: Sequence[SampleSeries], sides: Sequence[str]
) -> list[RateTimeline]:
    """One a side, in their order: that of the typical worker where it has one, else the first."""
    wanted: dict[str, str] = {}
    for side in sides:
        own = [one for one in series if one.side == side and len(one.total_ns)]
        if own:
            wanted[side] = typical([one for one in own if one.subject == own[0].subject]).worker
    found: dict[str, RateTimeline] = {}
    for timeline in all_of_them:
        if not timeline.time_s:
            continue
        is_wanted = timeline.worker == wanted.get(timeline.side)
        if timeline.side not in found or (
            is_wanted and found[timeline.side].worker != timeline.worker
        ):
            found[timeline.side] = timeline
    return [found[side] for side in sides if side in found][:SIDES_DRAWN]


def thinned(values_ns: Integers, most: int) -> tuple[Integers, int]:
    """Which retrieves are drawn, and the step: each so-many-th, and the slowest of all."""
    count = len(values_ns)
    step = -(-count // most)
    if step <= 1:
        return np.arange(count), 1
    slowest = np.argsort(values_ns, kind="stable")[-max(count // 100, 1) :]
    return np.union1d(np.arange(0, count, step), slowest), step
