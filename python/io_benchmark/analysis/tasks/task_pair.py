# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Two sides of tasks: the labels that both have, their common mix, and the ratio within labels."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.tasks.label_ratio import compare_labels
from io_benchmark.analysis.tasks.runs import Cell, Side, UsedRun, means_by_label

MOST_LABELS = 1000
Cells = Mapping[Cell, Sequence[UsedRun]]


class TaskPair(NamedTuple):
    """Two sides and the runs of the labels that both have."""

    candidate: Side
    baseline: Side
    ours: Cells
    theirs: Cells
    shares: Mapping[str, float]  # of the time of the common mix
    mix: Mapping[str, float]  # tasks of each label in it
    estimate: Estimate
    workers: tuple[SideData, SideData]
    look: Look

    @classmethod
    def of(cls, candidate: Side, baseline: Side, worker_variation: float) -> Self | None:
        """Compare two sides; return None where no label has a completed run on both."""
        labels = candidate.labels & baseline.labels
        if not labels:
            return None
        if len(labels) > MOST_LABELS:
            # The longest ones of all: the others make up little of the time.
            means = means_by_label(baseline.cells(labels))
            labels = set(sorted(labels, key=lambda label: (-means[label], label))[:MOST_LABELS])
        ours, theirs = candidate.cells(labels), baseline.cells(labels)
        mix = _mix(ours, theirs)
        shares = _shares(mix, means_by_label(ours), means_by_label(theirs))
        counts = [len({worker for _, worker in cells}) for cells in (ours, theirs)]
        look = (
            Schedule().look(2 * counts[0] * counts[1] / sum(counts)) if min(counts) > 1 else SINGLE
        )
        estimate, workers = compare_labels(
            log_means(ours), log_means(theirs), shares, worker_variation, look
        )
        return cls(candidate, baseline, ours, theirs, shares, mix, estimate, workers, look)

    def mean_s(self, cells: Cells) -> float:
        """Return the mean time of a task in the common mix."""
        return self.weighted(means_by_label(cells))

    def weighted(self, values: Mapping[str, float]) -> float:
        """Return the mean of labels' values in the common mix."""
        total = math.fsum(self.mix[label] for label in values)
        return math.fsum(self.mix[label] * value for label, value in values.items()) / total


def _mix(ours: Cells, theirs: Cells) -> dict[str, float]:
    """Return how much each label counts: by the runs that both sides have of it."""
    runs: dict[str, list[int]] = {}
    for at, cells in enumerate((ours, theirs)):
        for (label, _), of_cell in cells.items():
            runs.setdefault(label, [0, 0])[at] += len(of_cell)
    return {label: 2 / (1 / counts[0] + 1 / counts[1]) for label, counts in sorted(runs.items())}


def _shares(
    mix: Mapping[str, float], ours: Mapping[str, float], theirs: Mapping[str, float]
) -> dict[str, float]:
    """Return the labels' parts of the mix's time: the mean of what they are on both sides."""
    totals = [math.fsum(mix[label] * means[label] for label in mix) for means in (ours, theirs)]
    return {
        label: (mix[label] * ours[label] / totals[0] + mix[label] * theirs[label] / totals[1]) / 2
        for label in mix
    }


def log_means(cells: Cells) -> dict[Cell, float]:
    return {
        cell: math.log(math.fsum(run.task_s for run in runs) / len(runs))
        for cell, runs in cells.items()
    }
