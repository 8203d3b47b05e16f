# SPDX-License-Identifier: MPL-2.0
"""One ratio of two sides' workers over several labels, and its error.

A worker that ran several labels is still one worker. The variance is that of independent workers,
with the correction for few of them (CR2) and its degrees of freedom. Sources: Bell and McCaffrey
2002, Survey Methodology 28:169; Imbens and Kolesár 2016, Review of Economics and Statistics 98:701.
Residuals are those of one ratio for all labels, so the interval is wider where labels differ in
their ratio. tests/simulation/test_tasks.py has the error rates.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from io_benchmark.analysis.model.looks import Look
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import FEWEST_FOR_VARIATION, LogMeans, MeanVariance

Numbers = NDArray[np.float64]
LogMeansByLabel = Mapping[str, Mapping[str, float]]  # of each worker
# Digits of logarithms that are the same on all machines: numpy adds in the order that suits a CPU.
_LOG_DECIMALS = 9
# An eigenvalue below this is 0, in spite of rounding: nothing is left of such a direction.
_SINGULAR = 1e-9


class LabelledRatio:
    """The cells of a label and a worker, the common ratio, and what each cell adds to it."""

    workers: tuple[LogMeans, LogMeans]  # of candidate and baseline, freed of their labels
    shares: Mapping[str, float]  # of the time of the common mix

    def __init__(
        self,
        candidate: LogMeansByLabel,
        baseline: LogMeansByLabel,
        mix: Mapping[str, float],
        look: Look,
        rounding_s: float = 0.0,
    ) -> None:
        """Compare ln of the mean times of two sides that have the same labels.

        `mix` is how often each label counts. Times that are rounded to so many seconds may agree
        although the workers do not.
        """
        numbers = {label: number for number, label in enumerate(sorted(mix))}
        cell_labels: list[int] = []
        cell_workers: list[str] = []
        cell_sides: list[float] = []  # 1: of the candidate
        cell_logs: list[float] = []
        for is_candidate, of_side in ((1.0, candidate), (0.0, baseline)):
            for label, workers in sorted(of_side.items()):
                for worker, log in sorted(workers.items()):
                    cell_labels.append(numbers[label])
                    cell_workers.append(worker)
                    cell_sides.append(is_candidate)
                    cell_logs.append(log)
        self._label, self._worker = np.array(cell_labels), np.array(cell_workers)
        side, logs = np.array(cell_sides), np.array(cell_logs)
        # The workers of each label: of both sides, of the candidate, and of the baseline.
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
        # What each cell counts in the ratio: its label's share, divided among the side's workers.
        self._weights = np.where(
            side > 0, (share / candidates)[self._label], -(share / baselines)[self._label]
        )
        self._log_ratio = round(float(self._weights @ logs), _LOG_DECIMALS)
        self.workers = self._freed(candidate), self._freed(baseline)
        self._look = look
        # Of both ends of each run; that of a rounded number is 1/12 of the rounding's square.
        parts = self._weights * rounding_s / np.exp(logs)
        self._rounding_variance = float(parts @ parts) * 2 / 12

    def estimate(self, assumed: float) -> Estimate:
        """Return the ratio; too few workers to show their variation have the `assumed` one."""
        estimate = self._estimate(assumed)
        variance = estimate.error.variance + self._rounding_variance
        error = round(math.sqrt(variance), _LOG_DECIMALS)
        degrees = round(estimate.error.degrees, _LOG_DECIMALS)
        # The runs of a single worker do not show how far they would differ on others.
        can_decide = all(len(side) > 1 for side in self.workers)
        return replace(estimate, error=MeanVariance(error**2, degrees), can_decide=can_decide)

    def _estimate(self, assumed: float) -> Estimate:
        """Return the ratio without the rounding of times."""
        candidate, baseline = self.workers
        counts = [len(candidate), len(baseline)]
        if max(counts) == 1:
            # Nothing shows how far workers of these pools differ.
            return Estimate(self._log_ratio, MeanVariance(math.inf, 1.0))
        if 1 in counts or len(self.shares) == 1:
            single = Estimate.of_means(candidate, baseline, assumed, self._look)
            if len(self.shares) == 1:
                return single
            # How much wider than with one label, where each worker counts the same.
            one_label = math.fsum(1 / count for count in counts)
            wider = max(1.0, self._variance_of_unit() / one_label)
            return replace(
                single,
                log_ratio=self._log_ratio,
                error=replace(single.error, variance=single.error.variance * wider),
            )
        error = self._variance()
        least = assumed**2 * self._variance_of_unit()
        if min(counts) < FEWEST_FOR_VARIATION and least > error.variance:
            error = replace(error, variance=least)
            return Estimate(self._log_ratio, error, assumed_variation=assumed)
        return Estimate(self._log_ratio, error)

    def _variance_of_unit(self) -> float:
        """Return the ratio's variance if workers have a standard deviation of 1 in each label."""
        return math.fsum(float(self._weights[rows].sum()) ** 2 for rows in self._rows_by_worker())

    def _freed(self, side: LogMeansByLabel) -> LogMeans:
        """Return the workers of a side, each with the mean of its logarithms less their labels'."""
        logs: dict[str, list[float]] = defaultdict(list)
        for label, workers in sorted(side.items()):
            for worker, log in sorted(workers.items()):
                logs[worker].append(log - self._at_baseline[label])
        return tuple(map(fmean, logs.values()))

    def _variance(self) -> MeanVariance:
        """Return the variance of the ratio's logarithm, with the correction CR2."""
        squares, sizes, projections = [], [], []
        for rows in self._rows_by_worker():
            design = self._design(rows)
            # Residuals are smaller than errors by what the model explains of this worker's cells.
            # Weights are divided by the root of what is left.
            values, vectors = np.linalg.eigh(np.eye(len(rows)) - design @ design.T)
            roots = np.where(values > _SINGULAR, 1 / np.sqrt(np.maximum(values, _SINGULAR)), 0.0)
            weights = (vectors * roots) @ (vectors.T @ self._weights[rows])
            squares.append(float(weights @ self._residuals[rows]) ** 2)
            sizes.append(float(weights @ weights))
            projections.append(weights @ design)
        degrees = degrees_of_freedom(np.array(sizes), np.array(projections))
        return MeanVariance(math.fsum(squares), degrees)

    def _design(self, rows: NDArray[np.int64]) -> Numbers:
        """Return the model's orthonormal columns: one per label, and the ratio's."""
        design = np.zeros((len(rows), len(self._counts) + 1))
        labels = self._label[rows]
        design[np.arange(len(rows)), labels] = 1 / np.sqrt(self._counts)[labels]
        design[:, -1] = self._apart[rows] / math.sqrt(self._square)
        return design

    def _rows_by_worker(self) -> list[NDArray[np.int64]]:
        order = np.argsort(self._worker, kind="stable")
        ends = np.flatnonzero(self._worker[order][1:] != self._worker[order][:-1]) + 1
        return list(np.split(order, ends))


def degrees_of_freedom(sizes: Numbers, projections: Numbers) -> float:
    """Return the degrees of freedom: twice the square of the variance's mean by its variance.

    The variance is a quadratic form of errors that are as large for all workers; `sizes` and
    `projections` are its matrix, without what the model explains.
    """
    explained: Numbers = (projections**2).sum(axis=1)
    trace = float((sizes - explained).sum())
    gram = projections.T @ projections
    squares = float((sizes**2).sum() - 2 * (sizes @ explained) + (gram**2).sum())
    return max(1.0, trace**2 / squares) if squares > 0 else 1.0
