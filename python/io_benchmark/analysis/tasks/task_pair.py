# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Two sides of tasks: the labels that both have, their common mix, the ratio, and the parts of the time."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self

from io_benchmark.analysis.inference import levels
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import Look, Schedule
from io_benchmark.analysis.tasks.label_ratio import LabelledRatio
from io_benchmark.analysis.tasks.runs import Cell, Side, UsedRun
from io_benchmark.analysis.tasks.task_model import LabelRow, TaskTimes

MOST_LABELS = 1000
# The chance that any label is reported as different where none is. Skewed times make it larger.
_CHANCE = 0.01
_FEWEST_WORKERS = 3
# Parts of the time are shown where this share of the runs of both sides has them.
_LEAST_KNOWN = 0.5
_MOST_ROUNDED_MS = 60_000
Cells = Mapping[Cell, Sequence[UsedRun]]


class TaskPair(NamedTuple):
    """Two sides and the runs of the labels that both have."""

    candidate: Side
    baseline: Side
    candidate_cells: Cells
    baseline_cells: Cells
    mix: Mapping[str, float]  # tasks of each label
    ratio: LabelledRatio
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
        candidate_cells, baseline_cells = candidate.cells(mix), baseline.cells(mix)
        counts = [
            len({worker for _, worker in cells}) for cells in (candidate_cells, baseline_cells)
        ]
        look = Schedule().look_of_sides(counts, ())
        ratio = LabelledRatio.of(
            _log_means(candidate_cells),
            _log_means(baseline_cells),
            mix,
            worker_variation,
            look,
            rounding_s=_rounding_s(candidate_cells, baseline_cells),
        )
        return cls(candidate, baseline, candidate_cells, baseline_cells, mix, ratio, look)

    @staticmethod
    def means(cells: Cells) -> dict[str, float]:
        """Return the mean time of a task by label; each worker counts once."""
        by_label: dict[str, list[float]] = {}
        for (label, _), runs in sorted(cells.items()):
            mean_s = math.fsum(run.task_s for run in runs) / len(runs)
            by_label.setdefault(label, []).append(mean_s)
        return {label: math.fsum(means) / len(means) for label, means in by_label.items()}

    def mean_s(self, cells: Cells) -> float:
        """Return the mean time of a task in the common mix."""
        return self.weighted(self.means(cells))

    def weighted(self, values: Mapping[str, float]) -> float:
        """Return the mean of labels' values in the common mix."""
        total = math.fsum(self.mix[label] for label in values)
        return math.fsum(self.mix[label] * value for label, value in values.items()) / total

    @property
    def times(self) -> dict[str, TaskTimes]:
        """Return both sides' mean times; a part only where all labels have it on both sides."""
        both = (self.baseline_cells, self.candidate_cells)

        def part(value_of: Callable[[UsedRun], float | None]) -> tuple[float | None, ...]:
            sides = [_part_by_label(cells, value_of) for cells in both]
            if any(of_side.keys() != self.mix.keys() for of_side in sides):
                return (None, None)
            return tuple(map(self.weighted, sides))

        pending, work = part(lambda run: run.pending_s), part(lambda run: run.work_s)
        around = part(lambda run: None if run.work_s is None else run.task_s - run.work_s)
        set_up: tuple[float | None, ...] = (None, None)
        tear_down = set_up
        if not self.baseline.skewed and not self.candidate.skewed:
            set_up, tear_down = part(lambda run: run.set_up_s), part(lambda run: run.tear_down_s)
        wholes = map(self.mean_s, both)
        parts = zip(wholes, pending, set_up, work, tear_down, around, strict=True)
        names = (self.baseline.name, self.candidate.name)
        return {name: TaskTimes(*of_side) for name, of_side in zip(names, parts, strict=True)}

    def label_rows(self, worker_variation: float) -> tuple[LabelRow, ...]:
        """Compare each label by itself; whether it differs is corrected for the number of labels."""
        logs = _log_means(self.baseline_cells), _log_means(self.candidate_cells)
        means = self.means(self.baseline_cells), self.means(self.candidate_cells)
        completed: dict[str, list[int]] = {label: [0, 0] for label in self.ratio.shares}
        for at, cells in enumerate((self.baseline_cells, self.candidate_cells)):
            for (label, _), runs in cells.items():
                completed[label][at] += len(runs)
        by_label: tuple[dict[str, list[float]], ...] = ({}, {})
        for side, of_side in zip(by_label, logs, strict=True):
            for (label, _), log in sorted(of_side.items()):
                side.setdefault(label, []).append(log)
        strict = 1 - _CHANCE / len(self.ratio.shares)
        rows = []
        for label, share in self.ratio.shares.items():
            baseline, candidate = (SideData(tuple(side[label]), ()) for side in by_label)
            log_ratio = math.fsum(candidate.log_means) / candidate.count
            log_ratio -= math.fsum(baseline.log_means) / baseline.count
            interval, differs = None, False
            if min(candidate.count, baseline.count) > 1:
                of_label = Estimate.of_sides(candidate, baseline, worker_variation)
                interval = of_label.interval(levels.LEVEL)
                can_differ = (
                    len(self.ratio.shares) > 1
                    and min(candidate.count, baseline.count) >= _FEWEST_WORKERS
                )
                differs = can_differ and of_label.interval(strict).excludes(
                    self.ratio.estimate.ratio
                )
            counts = (completed[label][0], completed[label][1])
            workers = (baseline.count, candidate.count)
            means_s = (means[0][label], means[1][label])
            rows.append(
                LabelRow(
                    label, share, counts, workers, means_s, math.exp(log_ratio), interval, differs
                )
            )
        return tuple(sorted(rows, key=lambda row: (-row.share, row.label)))


def _mix(candidate_cells: Cells, baseline_cells: Cells) -> dict[str, float]:
    """Return how much each label counts: by the runs that both sides have of it."""
    runs: dict[str, list[int]] = {}
    for at, cells in enumerate((candidate_cells, baseline_cells)):
        for (label, _), of_cell in cells.items():
            runs.setdefault(label, [0, 0])[at] += len(of_cell)
    return {label: 2 / (1 / counts[0] + 1 / counts[1]) for label, counts in sorted(runs.items())}


def _rounding_s(*sides: Cells) -> float:
    """Return the rounding of the times, at most a minute: what all of them are multiples of."""
    runs = [run for cells in sides for of_cell in cells.values() for run in of_cell]
    return (
        math.gcd(
            _MOST_ROUNDED_MS,
            *(run.started_ms for run in runs),
            *(round(run.task_s * 1000) for run in runs),
        )
        / 1000
    )


def _log_means(cells: Cells) -> dict[Cell, float]:
    """Return the mean of the runs' logarithms, as of several benchmarks on one machine.

    The logarithm of their mean would be larger the more runs a worker has.
    """
    return {
        cell: math.fsum(math.log(run.task_s) for run in runs) / len(runs)
        for cell, runs in cells.items()
    }


def _part_by_label(cells: Cells, value_of: Callable[[UsedRun], float | None]) -> dict[str, float]:
    """Return the mean of a part by label, each worker once; nothing where too few runs have it."""
    values: dict[str, list[float]] = {}
    count = known_count = 0
    for (label, _), runs in sorted(cells.items()):
        known = [value for run in runs if (value := value_of(run)) is not None]
        count, known_count = count + len(runs), known_count + len(known)
        if known:
            values.setdefault(label, []).append(math.fsum(known) / len(known))
    if known_count < _LEAST_KNOWN * count:
        return {}
    return {label: math.fsum(each) / len(each) for label, each in values.items()}
