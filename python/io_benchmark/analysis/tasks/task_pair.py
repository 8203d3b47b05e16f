# SPDX-License-Identifier: MPL-2.0
"""Two sides of tasks: the labels that both have, their common mix, the ratio, and the parts of the time."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
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
WorkerRuns = Sequence[Sequence[UsedRun]]  # the runs of each worker


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
        return {label: _mean_s(workers) for label, workers in _by_label(cells).items()}

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
        """Compare each label by itself, those first that take most of the time."""
        baseline, candidate = _by_label(self.baseline_cells), _by_label(self.candidate_cells)
        rows = [
            self._label_row(label, baseline[label], candidate[label], worker_variation)
            for label in self.ratio.shares
        ]
        return tuple(sorted(rows, key=lambda row: (-row.share, row.label)))

    def _label_row(
        self, label: str, baseline: WorkerRuns, candidate: WorkerRuns, worker_variation: float
    ) -> LabelRow:
        """Compare a label; whether it differs is corrected for the number of labels."""
        logs, base_logs = (
            SideData(tuple(map(_log_mean, workers)), ()) for workers in (candidate, baseline)
        )
        fewest = min(logs.count, base_logs.count)
        interval, differs = None, False
        if fewest > 1:
            estimate = Estimate.of_sides(logs, base_logs, worker_variation)
            interval = estimate.interval(levels.LEVEL)
            strict = estimate.interval(1 - _CHANCE / len(self.mix))
            can_differ = len(self.mix) > 1 and fewest >= _FEWEST_WORKERS
            differs = can_differ and strict.excludes(self.ratio.estimate.ratio)
        return LabelRow(
            label,
            self.ratio.shares[label],
            completed=(_count(baseline), _count(candidate)),
            workers=(base_logs.count, logs.count),
            means_s=(_mean_s(baseline), _mean_s(candidate)),
            ratio=math.exp(fmean(logs.log_means) - fmean(base_logs.log_means)),
            interval=interval,
            differs=differs,
        )


def _by_label(cells: Cells) -> dict[str, list[Sequence[UsedRun]]]:
    """Return the runs of each worker, by label."""
    labels: dict[str, list[Sequence[UsedRun]]] = {}
    for (label, _), runs in sorted(cells.items()):
        labels.setdefault(label, []).append(runs)
    return labels


def _count(workers: WorkerRuns) -> int:
    return sum(map(len, workers))


def _mean_s(workers: WorkerRuns) -> float:
    """Return the mean time of a task; each worker counts once."""
    return fmean(fmean(run.task_s for run in runs) for runs in workers)


def _log_mean(runs: Sequence[UsedRun]) -> float:
    """Return the mean of the runs' logarithms, as of several benchmarks on one machine.

    The logarithm of their mean would be larger the more runs a worker has.
    """
    return fmean(math.log(run.task_s) for run in runs)


def _mix(candidate_cells: Cells, baseline_cells: Cells) -> dict[str, float]:
    """Return how much each label counts: by the runs that both sides have of it."""
    candidate, baseline = _by_label(candidate_cells), _by_label(baseline_cells)
    return {
        label: 2 / (1 / _count(workers) + 1 / _count(baseline[label]))
        for label, workers in candidate.items()
    }


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
    return {cell: _log_mean(runs) for cell, runs in cells.items()}


def _part_by_label(cells: Cells, value_of: Callable[[UsedRun], float | None]) -> dict[str, float]:
    """Return the mean of a part by label, each worker once; nothing where too few runs have it."""
    means: dict[str, float] = {}
    number = 0
    for label, workers in _by_label(cells).items():
        values = [
            [value for run in runs if (value := value_of(run)) is not None] for runs in workers
        ]
        number += sum(map(len, values))
        if any(values):
            means[label] = fmean(map(fmean, filter(None, values)))
    return means if number >= _LEAST_KNOWN * sum(map(len, cells.values())) else {}
