# SPDX-License-Identifier: MPL-2.0
"""From the times of several tasks to one ratio: tasks are compared within their label only.

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
from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.arrays import Numbers
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import Look

# ln of a mean time, by label and worker: each worker counts once for a label.
_LabelLogs = Mapping[tuple[str, str], float]

_FEW_WORKERS = 2
_SINGULAR = 1e-9


class LabelledRatio:
    """The cells of a label and a worker, the common ratio, and what each cell adds to it."""

    estimate: Estimate
    workers: tuple[SideData, SideData]  # of candidate and baseline, freed of their labels
    shares: Mapping[str, float]  # of the time of the common mix

    def __init__(
        self,
        candidate: _LabelLogs,
        baseline: _LabelLogs,
        mix: Mapping[str, float],
        assumed_variation: float,
        look: Look,
        *,
        rounding_s: float = 0.0,
    ) -> None:
        """Compare two sides that have the same labels; `mix` is how often each label counts.

        Times that are rounded to so many seconds may agree although the workers do not.
        """
        numbers = {label: at for at, label in enumerate(sorted(mix))}
        cells = [
            (numbers[label], worker, is_candidate, log)
            for is_candidate, side in ((1.0, candidate), (0.0, baseline))
            for (label, worker), log in sorted(side.items())
        ]
        self._label = np.array([cell[0] for cell in cells])
        self._worker = np.array([cell[1] for cell in cells])
        side = np.array([cell[2] for cell in cells])
        logs = np.array([cell[3] for cell in cells])
        self._counts = np.bincount(self._label).astype(np.float64)
        candidates = np.bincount(self._label, weights=side)
        baselines = self._counts - candidates
        # The part of the side that labels do not predict: one ratio for all labels follows from it.
        self._apart = side - (candidates / self._counts)[self._label]
        self._square = float(self._apart @ self._apart)
        common = float(self._apart @ logs) / self._square
        label_means = np.bincount(self._label, weights=logs) / self._counts
        self._residuals = logs - label_means[self._label] - common * self._apart
        at_baseline = label_means - common * candidates / self._counts
        self._at_baseline = dict(zip(numbers, at_baseline.tolist(), strict=True))
        times = np.array([mix[label] for label in numbers])
        times = times * np.exp(at_baseline - at_baseline.max())
        share = times / times.sum()
        self.shares = dict(zip(numbers, share.tolist(), strict=True))
        # What each cell counts in the ratio: its label's share, divided among the workers of each side.
        self._weights = np.where(
            side > 0, (share / candidates)[self._label], -(share / baselines)[self._label]
        )
        self._log_ratio = float(self._weights @ logs)
        self.workers = self._freed(candidate), self._freed(baseline)
        estimate = self._estimate(assumed_variation, look)
        # Both ends of each run are rounded.
        parts = self._weights * rounding_s / np.exp(logs)
        variance = estimate.variance + float(parts @ parts) / 6
        self.estimate = replace(estimate, variance=variance)

    def _estimate(self, assumed_variation: float, look: Look) -> Estimate:
        counts = [side.count for side in self.workers]
        if max(counts) == 1:
            # Nothing shows how far workers of these pools differ.
            return Estimate(self._log_ratio, math.inf, 1.0)
        if 1 in counts or len(self.shares) == 1:
            single = Estimate.of_sides(*self.workers, assumed_variation, look)
            if len(self.shares) == 1:
                return single
            wider = max(1.0, self._variance_of_unit() / math.fsum(1 / count for count in counts))
            return replace(
                single,
                log_ratio=self._log_ratio,
                variance=single.variance * wider,
                single_variance=single.single_variance * wider,
            )
        variance, degrees = self._variance()
        assumed = None
        if min(counts) <= _FEW_WORKERS:
            least = assumed_variation**2 * self._variance_of_unit()
            if least > variance:
                variance, assumed = least, assumed_variation
        return Estimate(self._log_ratio, variance, degrees, assumed_variation=assumed)

    def _variance_of_unit(self) -> float:
        """Return the variance if workers vary by one, and alike in all labels."""
        return math.fsum(float(self._weights[rows].sum()) ** 2 for rows in self._clusters())

    def _freed(self, side: _LabelLogs) -> SideData:
        """Return the workers of a side, each with the mean of its logarithms less their labels'."""
        logs: dict[str, list[float]] = {}
        for (label, worker), log in sorted(side.items()):
            logs.setdefault(worker, []).append(log - self._at_baseline[label])
        return SideData(tuple(math.fsum(worker) / len(worker) for worker in logs.values()), ())

    def _variance(self) -> tuple[float, float]:
        """Return the variance of the ratio's logarithm, and its degrees of freedom."""
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
        explained: Numbers = (matrix**2).sum(axis=1)
        trace = float((size - explained).sum())
        gram = matrix.T @ matrix
        total = float((size**2).sum() - 2 * (size @ explained) + (gram**2).sum())
        return math.fsum(squares), max(1.0, trace**2 / total) if total > 0 else 1.0

    def _clusters(self) -> list[Numbers]:
        order = np.argsort(self._worker, kind="stable")
        ends = np.flatnonzero(self._worker[order][1:] != self._worker[order][:-1]) + 1
        return list(np.split(order, ends))
