# SPDX-License-Identifier: MPL-2.0
"""Two sides of tasks: the labels that both have, their common mix, the ratio, and the times' parts.

Pools run different mixes of tasks, so the ratio of all times would also show how the mixes differ.
Here each label has a ratio. The result is the mean of their logarithms, weighted by the time that a
label takes in a mix that both sides share. That is close to the ratio of the whole times. With one
label it is the comparison of workers' means that benchmarks have.

A label's time is the mean over all its workers, of both sides. Weights by the time of one side
would be larger where that side happened to be slow, and so would call it slower.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from statistics import fmean
from typing import NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import WorkerVariation
from io_benchmark.analysis.model.looks import Look, Schedule
from io_benchmark.analysis.statistics import levels, variations
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import LogMeans
from io_benchmark.analysis.tasks.both_sides import BothSides
from io_benchmark.analysis.tasks.labelled_ratio import LabelledRatio, LogMeansByLabel
from io_benchmark.analysis.tasks.task_model import Ending, LabelRow, TaskSide, TaskTimes
from io_benchmark.sources.run_results import TaskRun

# Chosen: nobody reads more rows, and the variance needs memory for each worker and label.
MOST_LABELS = 1000
# The chance that any label is reported as different where none is. Skewed times make it larger.
_CHANCE = 0.01
# Two workers do not show their variation: it is assumed, which says nothing about one label.
_FEWEST_WORKERS = 3
# Parts of the time are shown where this share of the runs of both sides has them. Chosen: the
# mean of a minority says little about the others.
_LEAST_KNOWN = 0.5
# Times that are all multiples of more than a minute agree by chance: no table rounds that far.
_MOST_ROUNDED_MS = 60_000


class CommonRuns(NamedTuple):
    """The completed runs of one side, of the labels that both sides have."""

    side: TaskSide
    runs: Sequence[TaskRun]
    labels: Mapping[str, Mapping[str, Sequence[TaskTimes]]]  # by label and worker
    # Of each worker's runs: the logarithm of their mean would be larger the more runs there are.
    log_means: LogMeansByLabel
    means_s: Mapping[str, float]  # of a task, by label; each worker counts once
    mean_s: float  # of a task in the common mix

    @classmethod
    def of(cls, side: TaskSide, mix: Mapping[str, float]) -> Self:
        """Select the runs of the labels in the mix, and average them."""
        runs = side.of_labels("completed", mix)
        labels: dict[str, dict[str, list[TaskTimes]]] = defaultdict(lambda: defaultdict(list))
        for run in runs:
            labels[run.label][run.worker].append(TaskTimes.of(run))
        means_s, log_means = {}, {}
        for label, workers in labels.items():
            times_s = {
                worker: [times.task_s for times in worker_times]
                for worker, worker_times in workers.items()
            }
            means_s[label] = fmean(map(fmean, times_s.values()))
            log_means[label] = {worker: fmean(map(math.log, times_s[worker])) for worker in workers}
        return cls(side, runs, labels, log_means, means_s, _weighted(means_s, mix))

    def runs_of(self, label: str) -> int:
        """Return how many runs have this label."""
        return sum(len(runs) for runs in self.labels[label].values())

    def times(self, mix: Mapping[str, float]) -> TaskTimes:
        """Return the mean times of a task in the mix."""
        return TaskTimes(
            task_s=self.mean_s,
            pending_s=self._part_s(mix, lambda times: times.pending_s),
            set_up_s=self._part_s(mix, lambda times: times.set_up_s),
            work_s=self._part_s(mix, lambda times: times.work_s),
            tear_down_s=self._part_s(mix, lambda times: times.tear_down_s),
        )

    def _part_s(
        self, mix: Mapping[str, float], part_s: Callable[[TaskTimes], float | None]
    ) -> float | None:
        """Return a part's mean, each worker once; None: too few runs or not all labels have it."""
        means_s: dict[str, float] = {}
        known_runs = 0
        for label, workers in self.labels.items():
            worker_means_s = []
            for runs in workers.values():
                known_s = [value_s for value_s in map(part_s, runs) if value_s is not None]
                if known_s:
                    worker_means_s.append(fmean(known_s))
                    known_runs += len(known_s)
            if not worker_means_s:
                return None
            means_s[label] = fmean(worker_means_s)
        if known_runs < _LEAST_KNOWN * len(self.runs):
            return None
        return _weighted(means_s, mix)


class TaskPair(Struct, frozen=True, dict=True):
    """Two sides and the runs of the labels that both have."""

    candidate: CommonRuns
    baseline: CommonRuns
    mix: Mapping[str, float]  # tasks of each label
    ratio: LabelledRatio
    look: Look
    # Assumed where a side has one or two workers.
    variation: WorkerVariation = variations.DEFAULT

    @classmethod
    def of(cls, candidate_side: TaskSide, baseline_side: TaskSide) -> Self | None:
        """Compare two sides; return None where no label has a completed run on both."""
        mix = _common_mix(candidate_side, baseline_side)
        if not mix:
            return None
        candidate = CommonRuns.of(candidate_side, mix)
        baseline = CommonRuns.of(baseline_side, mix)
        workers = [len({run.worker for run in common.runs}) for common in (candidate, baseline)]
        look = Schedule().look_of_counts(workers)
        rounding_s = _rounding_s([*candidate.runs, *baseline.runs])
        ratio = LabelledRatio(candidate.log_means, baseline.log_means, mix, look, rounding_s)
        return cls(candidate, baseline, mix, ratio, look)

    @cached_property
    def estimate(self) -> Estimate:
        """Return the ratio of the sides, with what is assumed of few workers."""
        return self.ratio.estimate(self.variation.ratio)

    def ended(self, ending: Ending) -> BothSides[int]:
        """Return how many runs of the common labels ended in this way."""
        return BothSides(
            len(self.baseline.side.of_labels(ending, self.mix)),
            len(self.candidate.side.of_labels(ending, self.mix)),
        )

    @property
    def log_means(self) -> dict[str, LogMeans]:
        """Return ln of the mean of each worker of both sides, freed of their labels."""
        candidate, baseline = self.ratio.workers
        return {self.candidate.side.name: candidate, self.baseline.side.name: baseline}

    def with_others(self, sides: Mapping[str, LogMeans]) -> Self:
        """Assume of few workers what all sides show, as a comparison of benchmarks does."""
        names = (self.candidate.side.name, self.baseline.side.name)
        return replace(self, variation=variations.of_pair(names, {**sides, **self.log_means}))

    @property
    def times(self) -> dict[str, TaskTimes]:
        """Return both sides' mean times; a part only where both sides have it."""
        baseline, candidate = self.baseline.times(self.mix), self.candidate.times(self.mix)
        return {
            self.baseline.side.name: baseline.with_parts_of(candidate),
            self.candidate.side.name: candidate.with_parts_of(baseline),
        }

    @property
    def label_rows(self) -> tuple[LabelRow, ...]:
        """Compare each label by itself, those first that take most of the time."""
        rows = map(self._label_row, self.ratio.shares)
        return tuple(sorted(rows, key=lambda row: (-row.share, row.label)))

    def _label_row(self, label: str) -> LabelRow:
        """Compare a label; whether it differs is corrected for the number of labels."""
        baseline = tuple(self.baseline.log_means[label].values())
        candidate = tuple(self.candidate.log_means[label].values())
        fewest = min(len(candidate), len(baseline))
        interval, differs = None, False
        if fewest > 1:
            estimate = Estimate.of_means(candidate, baseline, self.variation.ratio)
            interval = estimate.interval(levels.LEVEL)
            if len(self.mix) > 1 and fewest >= _FEWEST_WORKERS:
                strict = estimate.interval(1 - _CHANCE / len(self.mix))
                differs = strict.excludes(self.estimate.ratio)
        return LabelRow(
            label,
            self.ratio.shares[label],
            completed=BothSides(self.baseline.runs_of(label), self.candidate.runs_of(label)),
            workers=BothSides(len(baseline), len(candidate)),
            means_s=BothSides(self.baseline.means_s[label], self.candidate.means_s[label]),
            ratio=math.exp(fmean(candidate) - fmean(baseline)),
            interval=interval,
            differs=differs,
        )


def _common_mix(candidate: TaskSide, baseline: TaskSide) -> dict[str, float]:
    """Return how much each label counts: the harmonic mean of both sides' numbers of its runs."""
    candidate_runs = Counter(run.label for run in candidate.runs["completed"])
    baseline_runs = Counter(run.label for run in baseline.runs["completed"])
    mix = {
        label: 2 / (1 / candidate_runs[label] + 1 / baseline_runs[label])
        for label in candidate_runs.keys() & baseline_runs.keys()
    }
    # A choice by times instead of runs would depend on which side happened to be slow.
    most = sorted(mix, key=lambda label: (-mix[label], label))[:MOST_LABELS]
    return {label: mix[label] for label in sorted(most)}


def _weighted(values: Mapping[str, float], mix: Mapping[str, float]) -> float:
    """Return the mean of labels' values in the common mix."""
    total = math.fsum(mix[label] for label in values)
    return math.fsum(mix[label] * value for label, value in values.items()) / total


def _rounding_s(runs: Sequence[TaskRun]) -> float:
    """Return the rounding of the times, at most a minute: what all of them are multiples of."""
    moments_ms = (moment for run in runs for moment in (run.started_ms, run.resolved_ms))
    return math.gcd(_MOST_ROUNDED_MS, *moments_ms) / 1000
