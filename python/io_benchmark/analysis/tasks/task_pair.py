# SPDX-License-Identifier: MPL-2.0
"""Two sides of tasks: the labels that both have, their common mix, the ratio, and the parts of the time."""

import math
from collections import Counter
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


class PairSide(NamedTuple):
    """One side of a pair: its completed runs of the labels that both sides have."""

    side: Side
    cells: Cells
    labels: Mapping[str, WorkerRuns]
    means_s: Mapping[str, float]  # of a task, by label; each worker counts once
    mean_s: float  # of a task in the common mix

    @classmethod
    def of(cls, side: Side, mix: Mapping[str, float]) -> Self:
        cells = side.cells(mix)
        labels = _by_label(cells)
        means_s = {label: _mean_s(workers) for label, workers in labels.items()}
        return cls(side, cells, labels, means_s, _weighted(means_s, mix))

    @property
    def runs(self) -> list[UsedRun]:
        return [run for runs in self.cells.values() for run in runs]


class TaskPair(NamedTuple):
    """Two sides and the runs of the labels that both have."""

    candidate: PairSide
    baseline: PairSide
    mix: Mapping[str, float]  # tasks of each label
    ratio: LabelledRatio
    look: Look

    @classmethod
    def of(cls, candidate_side: Side, baseline_side: Side, worker_variation: float) -> Self | None:
        """Compare two sides; return None where no label has a completed run on both."""
        names = candidate_side.labels & baseline_side.labels
        if not names:
            return None
        counts = [
            Counter(run.label for run in side.completed) for side in (candidate_side, baseline_side)
        ]
        # How much each label counts: by the runs that both sides have of it.
        mix = {label: 2 / (1 / counts[0][label] + 1 / counts[1][label]) for label in names}
        # Those with most runs. A choice by times would depend on which side happened to be slow.
        most = sorted(mix, key=lambda label: (-mix[label], label))[:MOST_LABELS]
        mix = {label: mix[label] for label in sorted(most)}
        candidate, baseline = PairSide.of(candidate_side, mix), PairSide.of(baseline_side, mix)
        workers = [len({worker for _, worker in side.cells}) for side in (candidate, baseline)]
        look = Schedule().look_of_sides(workers, ())
        ratio = LabelledRatio(
            {cell: _log_mean(runs) for cell, runs in candidate.cells.items()},
            {cell: _log_mean(runs) for cell, runs in baseline.cells.items()},
            mix,
            worker_variation,
            look,
            rounding_s=_rounding_s([*candidate.runs, *baseline.runs]),
        )
        return cls(candidate, baseline, mix, ratio, look)

    @property
    def times(self) -> dict[str, TaskTimes]:
        """Return both sides' mean times; a part only where all labels have it on both sides."""
        both = (self.baseline, self.candidate)

        def part(value_of: Callable[[UsedRun], float | None]) -> tuple[float | None, ...]:
            sides = [_part_by_label(pair_side, value_of) for pair_side in both]
            if any(means.keys() != self.mix.keys() for means in sides):
                return (None, None)
            return tuple(_weighted(means, self.mix) for means in sides)

        has_skew = any(pair_side.side.skewed for pair_side in both)
        parts = zip(
            (pair_side.mean_s for pair_side in both),
            part(lambda run: run.pending_s),
            part(lambda run: None if has_skew else run.set_up_s),
            part(lambda run: run.work_s),
            part(lambda run: None if has_skew else run.tear_down_s),
            part(lambda run: None if run.work_s is None else run.task_s - run.work_s),
            strict=True,
        )
        return {
            pair_side.side.name: TaskTimes(*times)
            for pair_side, times in zip(both, parts, strict=True)
        }

    def label_rows(self, worker_variation: float) -> tuple[LabelRow, ...]:
        """Compare each label by itself, those first that take most of the time."""
        rows = [self._label_row(label, worker_variation) for label in self.ratio.shares]
        return tuple(sorted(rows, key=lambda row: (-row.share, row.label)))

    def _label_row(self, label: str, worker_variation: float) -> LabelRow:
        """Compare a label; whether it differs is corrected for the number of labels."""
        baseline, candidate = self.baseline.labels[label], self.candidate.labels[label]
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
            completed=(sum(map(len, baseline)), sum(map(len, candidate))),
            workers=(base_logs.count, logs.count),
            means_s=(self.baseline.means_s[label], self.candidate.means_s[label]),
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


def _weighted(values: Mapping[str, float], mix: Mapping[str, float]) -> float:
    """Return the mean of labels' values in the common mix."""
    total = math.fsum(mix[label] for label in values)
    return math.fsum(mix[label] * value for label, value in values.items()) / total


def _mean_s(workers: WorkerRuns) -> float:
    return fmean(fmean(run.task_s for run in runs) for runs in workers)


def _log_mean(runs: Sequence[UsedRun]) -> float:
    """Return the mean of the runs' logarithms, as of several benchmarks on one machine.

    The logarithm of their mean would be larger the more runs a worker has.
    """
    return fmean(math.log(run.task_s) for run in runs)


def _rounding_s(runs: Sequence[UsedRun]) -> float:
    """Return the rounding of the times, at most a minute: what all of them are multiples of."""
    starts = (run.started_ms for run in runs)
    return math.gcd(_MOST_ROUNDED_MS, *starts, *(round(run.task_s * 1000) for run in runs)) / 1000


def _part_by_label(
    pair_side: PairSide, value_of: Callable[[UsedRun], float | None]
) -> dict[str, float]:
    """Return the mean of a part by label, each worker once; nothing where too few runs have it."""
    means: dict[str, float] = {}
    number = 0
    for label, workers in pair_side.labels.items():
        values = [
            [value for run in runs if (value := value_of(run)) is not None] for runs in workers
        ]
        number += sum(map(len, values))
        if any(values):
            means[label] = fmean(map(fmean, filter(None, values)))
    return means if number >= _LEAST_KNOWN * len(pair_side.runs) else {}
