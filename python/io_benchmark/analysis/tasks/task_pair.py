# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Two sides of tasks: the labels that both have, their common mix, and the ratio within labels."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from io_benchmark.analysis.inference.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.tasks.label_ratio import LabelledRatio, compare_labels
from io_benchmark.analysis.tasks.runs import Cell, Side, UsedRun, means_by_label

MOST_LABELS = 1000
Cells = Mapping[Cell, Sequence[UsedRun]]


class TaskPair(NamedTuple):
    """Two sides and the runs of the labels that both have."""

    candidate: Side
    baseline: Side
    ours: Cells
    theirs: Cells
    mix: Mapping[str, float]  # tasks of each label
    found: LabelledRatio
    look: Look

    @classmethod
    def of(cls, candidate: Side, baseline: Side, worker_variation: float) -> Self | None:
        """Compare two sides; return None where no label has a completed run on both."""
        labels = candidate.labels & baseline.labels
        if not labels:
            return None
        mix = _mix(candidate.cells(labels), baseline.cells(labels))
        # Those with most runs. A choice by times would depend on which side happened to be slow.
        most = sorted(mix, key=lambda label: (-mix[label], label))[:MOST_LABELS]
        mix = {label: mix[label] for label in sorted(most)}
        ours, theirs = candidate.cells(mix), baseline.cells(mix)
        counts = [len({worker for _, worker in cells}) for cells in (ours, theirs)]
        look = (
            Schedule().look(2 * counts[0] * counts[1] / sum(counts)) if min(counts) > 1 else SINGLE
        )
        found = compare_labels(log_means(ours), log_means(theirs), mix, worker_variation, look)
        return cls(candidate, baseline, ours, theirs, mix, found, look)

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


def log_means(cells: Cells) -> dict[Cell, float]:
    """Return the mean of the runs' logarithms, as of several benchmarks on one machine.

    The logarithm of their mean would be larger the more runs a worker has.
    """
    return {
        cell: math.fsum(math.log(run.task_s) for run in runs) / len(runs)
        for cell, runs in cells.items()
    }
