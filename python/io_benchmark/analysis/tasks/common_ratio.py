# SPDX-License-Identifier: MPL-2.0
"""One ratio that several kinds of work have in common, of workers that are as slow in each of them.

Pools run different mixes, so that few of their workers did the same work. But a worker that did two
kinds shows how far these are apart, without its own slowness. So the least squares are generalized:
what a worker adds is the same in all of its kinds. Only the weights follow from that. The variance
is that of independent workers with the correction CR2 and its degrees of freedom, as of tasks
(`labelled_ratio`), and holds where workers are not as slow in each kind.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import FEWEST_FOR_VARIATION, MeanVariance
from io_benchmark.analysis.tasks.labelled_ratio import degrees_of_freedom

# What is the same work but for its size: a label, and what its log says of the work.
Kind = tuple[str, bool, bool]
LogsByKind = Mapping[Kind, Mapping[str, Sequence[float]]]  # of each worker's runs
_Numbers = NDArray[np.float64]
# How far the workers of a pool differ: for the weights, and the least where a pool has two of them.
# Chosen: phases of runs vary by 10 to 20 % between workers.
_BETWEEN_WORKERS = 0.15
_BETWEEN_RUNS = 0.10  # where no worker did the same work twice
_LEAST_BETWEEN_RUNS = 0.01
# An eigenvalue below this is 0, in spite of rounding.
_SINGULAR = 1e-9
_DECIMALS = 9  # that are the same on all machines


class CommonRatio(NamedTuple):
    """The ratio of two sides, and the variance that it would have of workers that vary as usual."""

    estimate: Estimate
    usual_variance: float


class _Cell(NamedTuple):
    """One kind of work of one worker."""

    worker: str
    kind: int
    is_candidate: bool
    log: float
    runs: int


class _Rows(NamedTuple):
    """A worker's cells, multiplied by the inverse root of their covariance."""

    whitener: _Numbers
    design: _Numbers  # a column per kind, and the ratio's
    values: _Numbers

    @classmethod
    def of_worker(cls, cells: Sequence[_Cell], kinds: int, between_runs: float) -> "_Rows":
        noise = np.diag([between_runs**2 / cell.runs for cell in cells])
        whitener = _inverse_root(noise + _BETWEEN_WORKERS**2)
        design = np.zeros((len(cells), kinds + 1))
        design[np.arange(len(cells)), [cell.kind for cell in cells]] = 1
        design[:, -1] = [cell.is_candidate for cell in cells]
        logs = np.array([cell.log for cell in cells])
        return cls(whitener, whitener @ design, whitener @ logs)


def common_ratio(candidate: LogsByKind, baseline: LogsByKind) -> CommonRatio | None:
    """Return the ratio of two sides; None where they have no kind of work in common."""
    kinds = sorted(candidate.keys() & baseline.keys())
    cells: dict[str, list[_Cell]] = {}
    workers = []
    for side in (candidate, baseline):
        for number, kind in enumerate(kinds):
            for worker, logs in sorted(side[kind].items()):
                cell = _Cell(worker, number, side is candidate, fmean(logs), len(logs))
                cells.setdefault(worker, []).append(cell)
        workers.append(len({worker for kind in kinds for worker in side[kind]}))
    if not cells:
        return None
    between_runs = _variation_of_runs([*candidate.values(), *baseline.values()])
    rows = [
        _Rows.of_worker(worker_cells, len(kinds), between_runs) for worker_cells in cells.values()
    ]
    return _estimate(rows, fewest_workers=min(workers), most_workers=max(workers))


def _variation_of_runs(sides: Sequence[Mapping[str, Sequence[float]]]) -> float:
    """Return the standard deviation of a worker's runs that do the same work."""
    pooled = MeanVariance.pooled(logs for workers in sides for logs in workers.values())
    if pooled is None:
        return _BETWEEN_RUNS
    return max(math.sqrt(pooled.variance), _LEAST_BETWEEN_RUNS)


def _estimate(rows: Sequence[_Rows], *, fewest_workers: int, most_workers: int) -> CommonRatio:
    """Fit the levels of all kinds and the ratio, which is the last column."""
    design = np.vstack([worker.design for worker in rows])
    values = np.concatenate([worker.values for worker in rows])
    inverse = np.linalg.pinv(design)
    weights = inverse[-1]
    log_ratio = round(float(weights @ values), _DECIMALS)
    if most_workers == 1:
        # Nothing shows how far workers of these pools differ.
        unknown = MeanVariance(math.inf, 1.0)
        return CommonRatio(Estimate(log_ratio, unknown, can_decide=False), math.inf)
    basis, sizes, _ = np.linalg.svd(design, full_matrices=False)
    basis = basis[:, sizes > _SINGULAR * sizes[0]]
    residuals = values - design @ (inverse @ values)
    squares, norms, projections, sums = [], [], [], []
    start = 0
    for worker in rows:
        part = slice(start, start + len(worker.values))
        start = part.stop
        # Residuals are smaller than errors by what the model explains of this worker's rows.
        left = np.eye(len(worker.values)) - basis[part] @ basis[part].T
        corrected = _inverse_root(left) @ weights[part]
        squares.append(float(corrected @ residuals[part]) ** 2)
        norms.append(float(corrected @ corrected))
        projections.append(corrected @ basis[part])
        sums.append(float((weights[part] @ worker.whitener).sum()) ** 2)
    variance, least = math.fsum(squares), _BETWEEN_WORKERS**2 * math.fsum(sums)
    is_assumed = fewest_workers < FEWEST_FOR_VARIATION and least > variance
    error = math.sqrt(least if is_assumed else variance)
    degrees = degrees_of_freedom(np.array(norms), np.array(projections))
    estimate = Estimate(
        log_ratio,
        MeanVariance(round(error, _DECIMALS) ** 2, round(degrees, _DECIMALS)),
        assumed_variation=_BETWEEN_WORKERS if is_assumed else None,
        can_decide=fewest_workers > 1,
    )
    return CommonRatio(estimate, least)


def _inverse_root(matrix: _Numbers) -> _Numbers:
    """Return the inverse of a matrix's square root; 0 in directions of which nothing is left."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.where(values > _SINGULAR, 1 / np.sqrt(np.maximum(values, _SINGULAR)), 0.0)
    return np.asarray((vectors * roots) @ vectors.T)
