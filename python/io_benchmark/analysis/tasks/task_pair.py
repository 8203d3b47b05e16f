# SPDX-License-Identifier: MPL-2.0
"""Two sides of tasks: the labels that both have, their common mix, the ratio, and the parts of the time.

Pools run different mixes of tasks, so the ratio of all times would also show how the mixes differ. Here
each label has a ratio. The result is the mean of their logarithms, weighted by the time that a label takes
in a mix that both sides share. That is close to the ratio of the whole times. With one label it is the
comparison of workers' means that benchmarks have.

A label's time is the mean over all its workers, of both sides. Weights by the time of one side would be
larger where that side happened to be slow, and so would call it slower.

A worker that ran several labels is still one worker. The variance is that of independent workers, with
the correction for few of them (CR2) and its degrees of freedom. Sources: Bell and McCaffrey 2002, Survey
Methodology 28:169; Imbens and Kolesár 2016, Review of Economics and Statistics 98:701. Residuals are
those of one ratio for all labels, so the interval is wider where labels differ in their ratio.
tests/simulation/test_tasks.py has the error rates.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, Self

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from io_benchmark.analysis import levels
from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.inference.looks import Look, Schedule
from io_benchmark.analysis.observed.sides import SideData
from io_benchmark.analysis.tasks.task_model import LabelRow, Side, TaskTimes
from io_benchmark.analysis.variances import FEWEST_FOR_VARIATION, MeanVariance
from io_benchmark.sources.run_results import TaskRun

_LogMeans = Mapping[str, Mapping[str, float]]  # by label, of each worker
MOST_LABELS = 1000
# The digits of logarithms that are the same on all machines: numpy adds up in the order that suits the CPU.
_LOG_DECIMALS = 9
# The chance that any label is reported as different where none is. Skewed times make it larger.
_CHANCE = 0.01
_FEWEST_WORKERS = 3
# Parts of the time are shown where this share of the runs of both sides has them.
_LEAST_KNOWN = 0.5
_MOST_ROUNDED_MS = 60_000
_SINGULAR = 1e-9


class PairSide(NamedTuple):
    """One side of a pair: its completed runs of the labels that both sides have."""

    side: Side
    runs: Sequence[TaskRun]
    labels: Mapping[str, Mapping[str, Sequence[TaskTimes]]]  # the runs of each worker
    # As of several benchmarks on one machine. The logarithm of the mean of a worker's runs would be
    # larger the more runs it has.
    log_means: _LogMeans
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
    ratio: "_LabelledRatio"
    look: Look

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
        ratio = _LabelledRatio(*logs, mix, look, rounding_s=rounding_s)
        return cls(candidate, baseline, mix, ratio, look)

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
            estimate = Estimate.of_sides(logs, base_logs, levels.DEFAULT_WORKER_VARIATION)
            interval = estimate.interval(levels.LEVEL)
            if len(self.mix) > 1 and fewest >= _FEWEST_WORKERS:
                strict = estimate.interval(1 - _CHANCE / len(self.mix))
                differs = strict.excludes(self.ratio.estimate.ratio)
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


class _LabelledRatio:
    """The cells of a label and a worker, the common ratio, and what each cell adds to it."""

    estimate: Estimate
    workers: tuple[SideData, SideData]  # of candidate and baseline, freed of their labels
    shares: Mapping[str, float]  # of the time of the common mix

    def __init__(
        self,
        candidate: _LogMeans,
        baseline: _LogMeans,
        mix: Mapping[str, float],
        look: Look,
        *,
        rounding_s: float = 0.0,
    ) -> None:
        """Compare ln of the mean times of two sides that have the same labels.

        `mix` is how often each label counts. Times that are rounded to so many seconds may agree
        although the workers do not.
        """
        numbers = {label: number for number, label in enumerate(sorted(mix))}
        cells = [
            (numbers[label], worker, is_candidate, log)
            for is_candidate, side in ((1.0, candidate), (0.0, baseline))
            for label, workers in sorted(side.items())
            for worker, log in sorted(workers.items())
        ]
        self._label, self._worker, side, logs = map(np.array, zip(*cells, strict=True))
        self._counts = np.bincount(self._label).astype(np.float64)
        candidates = np.bincount(self._label, weights=side)
        baselines = self._counts - candidates
        # The part of the side that labels do not predict: one ratio for all labels follows from it.
        self._apart = side - (candidates / self._counts)[self._label]
        self._square = float(self._apart @ self._apart)
        common = float(self._apart @ logs) / self._square
        label_means = np.bincount(self._label, weights=logs) / self._counts
        self._residuals = logs - label_means[self._label] - common * self._apart
        at_baseline = np.round(label_means - common * candidates / self._counts, _LOG_DECIMALS)
        self._at_baseline = dict(zip(numbers, at_baseline.tolist(), strict=True))
        times = np.array([mix[label] for label in numbers])
        times = times * np.exp(at_baseline - at_baseline.max())
        share = np.round(times / times.sum(), _LOG_DECIMALS)
        self.shares = dict(zip(numbers, share.tolist(), strict=True))
        # What each cell counts in the ratio: its label's share, divided among the workers of each side.
        self._weights = np.where(
            side > 0, (share / candidates)[self._label], -(share / baselines)[self._label]
        )
        self._log_ratio = round(float(self._weights @ logs), _LOG_DECIMALS)
        self.workers = self._freed(candidate), self._freed(baseline)
        estimate = self._estimate(look)
        # Both ends of each run are rounded.
        parts = self._weights * rounding_s / np.exp(logs)
        error = round(math.sqrt(estimate.error.variance + float(parts @ parts) / 6), _LOG_DECIMALS)
        degrees = round(estimate.error.degrees, _LOG_DECIMALS)
        self.estimate = replace(estimate, error=MeanVariance(error**2, degrees))

    def _estimate(self, look: Look) -> Estimate:
        assumed, counts = levels.DEFAULT_WORKER_VARIATION, [side.count for side in self.workers]
        if max(counts) == 1:
            # Nothing shows how far workers of these pools differ.
            return Estimate(self._log_ratio, MeanVariance(math.inf, 1.0))
        if 1 in counts or len(self.shares) == 1:
            single = Estimate.of_sides(*self.workers, assumed, look)
            if len(self.shares) == 1:
                return single
            wider = max(1.0, self._variance_of_unit() / math.fsum(1 / count for count in counts))
            return replace(
                single,
                log_ratio=self._log_ratio,
                error=replace(single.error, variance=single.error.variance * wider),
                single_variance=single.single_variance * wider,
            )
        error = self._variance()
        least = assumed**2 * self._variance_of_unit()
        if min(counts) < FEWEST_FOR_VARIATION and least > error.variance:
            error = replace(error, variance=least)
            return Estimate(self._log_ratio, error, assumed_variation=assumed)
        return Estimate(self._log_ratio, error)

    def _variance_of_unit(self) -> float:
        """Return the ratio's variance if the standard deviation between workers is 1 in every label."""
        return math.fsum(float(self._weights[rows].sum()) ** 2 for rows in self._clusters())

    def _freed(self, side: _LogMeans) -> SideData:
        """Return the workers of a side, each with the mean of its logarithms less their labels'."""
        logs: dict[str, list[float]] = defaultdict(list)
        for label, workers in sorted(side.items()):
            for worker, log in sorted(workers.items()):
                logs[worker].append(log - self._at_baseline[label])
        return SideData(tuple(map(fmean, logs.values())), ())

    def _variance(self) -> MeanVariance:
        """Return the variance of the ratio's logarithm."""
        squares, sizes, features = [], [], []
        for rows in self._clusters():
            design = np.zeros((len(rows), len(self._counts) + 1))
            design[np.arange(len(rows)), self._label[rows]] = (
                1 / np.sqrt(self._counts)[self._label[rows]]
            )
            design[:, -1] = self._apart[rows] / math.sqrt(self._square)
            values, vectors = np.linalg.eigh(np.eye(len(rows)) - design @ design.T)
            roots = np.where(values > _SINGULAR, 1 / np.sqrt(np.maximum(values, _SINGULAR)), 0.0)
            weights = (vectors * roots) @ (vectors.T @ self._weights[rows])
            squares.append(float(weights @ self._residuals[rows]) ** 2)
            sizes.append(float(weights @ weights))
            features.append(weights @ design)
        size, matrix = np.array(sizes), np.array(features)
        explained: NDArray[np.float64] = (matrix**2).sum(axis=1)
        trace = float((size - explained).sum())
        gram = matrix.T @ matrix
        total = float((size**2).sum() - 2 * (size @ explained) + (gram**2).sum())
        degrees = max(1.0, trace**2 / total) if total > 0 else 1.0
        return MeanVariance(math.fsum(squares), degrees)

    def _clusters(self) -> list[NDArray[np.float64]]:
        """Return the rows of each worker's cells."""
        order = np.argsort(self._worker, kind="stable")
        ends = np.flatnonzero(self._worker[order][1:] != self._worker[order][:-1]) + 1
        return list(np.split(order, ends))
