# SPDX-License-Identifier: MPL-2.0
"""Two sides of tasks: the labels that both have, their common mix, the ratio, and the parts of the time.

Pools run different mixes of tasks, so the ratio of all times would also show how the mixes differ. Here
each label has a ratio. The result is the mean of their logarithms, weighted by the time that a label takes
in a mix that both sides share. That is close to the ratio of the whole times. With one label it is the
comparison of workers' means that benchmarks have.

A label's time is the mean over all its workers, of both sides. Weights by the time of one side would be
larger where that side happened to be slow, and so would call it slower.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, Self

from io_benchmark.analysis.model.side import SideData
from io_benchmark.analysis.model.worker_variation import WorkerVariation
from io_benchmark.analysis.statistics import levels, variations
from io_benchmark.analysis.statistics.looks import Look, Schedule
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import LogMeans
from io_benchmark.analysis.tasks.labelled_ratio import LabelledRatio, LogMeansByLabel
from io_benchmark.analysis.tasks.task_model import LabelRow, Side, TaskTimes
from io_benchmark.sources.run_results import TaskRun

MOST_LABELS = 1000
# The chance that any label is reported as different where none is. Skewed times make it larger.
_CHANCE = 0.01
_FEWEST_WORKERS = 3
# Parts of the time are shown where this share of the runs of both sides has them.
_LEAST_KNOWN = 0.5
_MOST_ROUNDED_MS = 60_000


class PairSide(NamedTuple):
    """One side of a pair: its completed runs of the labels that both sides have."""

    side: Side
    runs: Sequence[TaskRun]
    labels: Mapping[str, Mapping[str, Sequence[TaskTimes]]]  # the runs of each worker
    # As of several benchmarks on one machine. The logarithm of the mean of a worker's runs would be
    # larger the more runs it has.
    log_means: LogMeansByLabel
    means_s: Mapping[str, float]  # of a task, by label; each worker counts once
    mean_s: float  # of a task in the common mix

    @classmethod
    def of(cls, side: Side, mix: Mapping[str, float]) -> Self:
        runs = side.of_labels("completed", mix)
        labels: dict[str, dict[str, list[TaskTimes]]] = defaultdict(lambda: defaultdict(list))
        for run in runs:
            labels[run.label][run.worker].append(TaskTimes.of(run))
        means_s, log_means = {}, {}
        for label, workers in labels.items():
            times_s = {worker: [run.task_s for run in workers[worker]] for worker in workers}
            means_s[label] = fmean(map(fmean, times_s.values()))
            log_means[label] = {worker: fmean(map(math.log, times_s[worker])) for worker in workers}
        return cls(side, runs, labels, log_means, means_s, _weighted(means_s, mix))

    def part_s(self, name: str, mix: Mapping[str, float]) -> float | None:
        """Return the mean of a part of the time in the mix, each worker once.

        Return None where too few runs or not all labels have it.
        """
        means, number = {}, 0
        for label, workers in self.labels.items():
            values = [
                [value for run in runs if (value := getattr(run, name)) is not None]
                for runs in workers.values()
            ]
            if not any(values):
                return None
            number += sum(map(len, values))
            means[label] = fmean(map(fmean, filter(None, values)))
        return _weighted(means, mix) if number >= _LEAST_KNOWN * len(self.runs) else None


class TaskPair(NamedTuple):
    """Two sides and the runs of the labels that both have."""

    candidate: PairSide
    baseline: PairSide
    mix: Mapping[str, float]  # tasks of each label
    ratio: LabelledRatio
    look: Look
    estimate: Estimate
    variation: WorkerVariation  # assumed where a side has one or two workers

    @classmethod
    def of(cls, candidate_side: Side, baseline_side: Side) -> Self | None:
        """Compare two sides; return None where no label has a completed run on both."""
        counts = [
            Counter(run.label for run in side.runs["completed"])
            for side in (candidate_side, baseline_side)
        ]
        # How much each label counts: by the runs that both sides have of it.
        mix = {
            label: 2 / (1 / counts[0][label] + 1 / counts[1][label])
            for label in counts[0].keys() & counts[1].keys()
        }
        if not mix:
            return None
        # A choice by times instead of runs would depend on which side happened to be slow.
        most = sorted(mix, key=lambda label: (-mix[label], label))[:MOST_LABELS]
        mix = {label: mix[label] for label in sorted(most)}
        candidate, baseline = PairSide.of(candidate_side, mix), PairSide.of(baseline_side, mix)
        workers = [len({run.worker for run in side.runs}) for side in (candidate, baseline)]
        look = Schedule().look_of_sides(workers, ())
        rounding_s = _rounding_s([*candidate.runs, *baseline.runs])
        logs = (candidate.log_means, baseline.log_means)
        ratio = LabelledRatio(*logs, mix, look, rounding_s=rounding_s)
        variation = variations.DEFAULT
        estimate = ratio.estimate(variation.ratio)
        return cls(candidate, baseline, mix, ratio, look, estimate, variation)

    @property
    def log_means(self) -> dict[str, LogMeans]:
        """Return ln of the mean of each worker of both sides, freed of their labels."""
        candidate, baseline = (workers.log_means for workers in self.ratio.workers)
        return {self.candidate.side.name: candidate, self.baseline.side.name: baseline}

    def with_others(self, sides: Mapping[str, LogMeans]) -> Self:
        """Assume of few workers what all sides show, as a comparison of benchmarks does."""
        own = self.log_means
        candidate, baseline = own
        variation = variations.of_pair((candidate, baseline), {**sides, **own})
        return self._replace(variation=variation, estimate=self.ratio.estimate(variation.ratio))

    @property
    def times(self) -> dict[str, TaskTimes]:
        """Return both sides' mean times; a part only where both sides have it."""
        both = (self.baseline, self.candidate)
        parts = [
            [pair_side.part_s(name, self.mix) for pair_side in both]
            for name in TaskTimes.__struct_fields__[1:]
        ]
        return {
            pair_side.side.name: TaskTimes(
                pair_side.mean_s, *(None if None in part else part[index] for part in parts)
            )
            for index, pair_side in enumerate(both)
        }

    @property
    def label_rows(self) -> tuple[LabelRow, ...]:
        """Compare each label by itself, those first that take most of the time."""
        rows = map(self._label_row, self.ratio.shares)
        return tuple(sorted(rows, key=lambda row: (-row.share, row.label)))

    def _label_row(self, label: str) -> LabelRow:
        """Compare a label; whether it differs is corrected for the number of labels."""
        both = (self.baseline, self.candidate)
        base_logs, logs = (SideData(tuple(side.log_means[label].values()), ()) for side in both)
        fewest, interval, differs = min(logs.count, base_logs.count), None, False
        if fewest > 1:
            estimate = Estimate.of_sides(logs, base_logs, self.variation.ratio)
            interval = estimate.interval(levels.LEVEL)
            if len(self.mix) > 1 and fewest >= _FEWEST_WORKERS:
                strict = estimate.interval(1 - _CHANCE / len(self.mix))
                differs = strict.excludes(self.estimate.ratio)
        first, second = (sum(map(len, side.labels[label].values())) for side in both)
        return LabelRow(
            label,
            self.ratio.shares[label],
            completed=(first, second),
            workers=(base_logs.count, logs.count),
            means_s=(self.baseline.means_s[label], self.candidate.means_s[label]),
            ratio=math.exp(fmean(logs.log_means) - fmean(base_logs.log_means)),
            interval=interval,
            differs=differs,
        )


def _weighted(values: Mapping[str, float], mix: Mapping[str, float]) -> float:
    """Return the mean of labels' values in the common mix."""
    total = math.fsum(mix[label] for label in values)
    return math.fsum(mix[label] * value for label, value in values.items()) / total


def _rounding_s(runs: Sequence[TaskRun]) -> float:
    """Return the rounding of the times, at most a minute: what all of them are multiples of."""
    moments_ms = (moment for run in runs for moment in (run.started_ms, run.resolved_ms))
    return math.gcd(_MOST_ROUNDED_MS, *moments_ms) / 1000
