# SPDX-License-Identifier: MPL-2.0
"""The ratio of two machines by what their runs measured, and how far a machine's mean is known.

One machine shows nothing of how far machines differ. Its runs and the blocks within them show how
far its own mean varies.
"""

import math
from collections.abc import Sequence
from operator import sub
from statistics import fmean
from typing import NamedTuple

from msgspec import Struct

from io_benchmark.analysis.statistics.noise import Series, relative_times, variance_of_mean
from io_benchmark.analysis.statistics.variances import MeanVariance

# Shorter runs do not show the waves: in simulations too many equal pools are called different.
_LONG_RUN = 100


class MachineRatio(Struct, frozen=True):
    """ln of the mean of each run of two machines, and the variance of their averages by blocks."""

    candidate: Sequence[float]
    baseline: Sequence[float]
    blocks: Sequence[MeanVariance]
    method: str

    @property
    def log_ratio(self) -> float:
        """Return ln of the ratio of the geometric means."""
        return fmean(self.candidate) - fmean(self.baseline)

    @staticmethod
    def did_same_work(runs: Sequence[Series]) -> bool:
        """Return whether sample i did the same work in all runs.

        Retrieves did, as far as each run went.
        """
        if all(run.are_retrieves for run in runs):
            return True
        return all(run.operations == runs[0].operations for run in runs[1:])

    @classmethod
    def between(
        cls, candidate: Sequence[Series], baseline: Sequence[Series], *, tries_longer: bool = False
    ) -> "MachineRatio":
        """Compare the runs of two machines, sample by sample where all did the same work.

        Retrieve i took the same file in each run, so that the effect of file sizes cancels in the
        difference; the samples that all runs have are compared. Batches of different work are
        compared by all samples, and each run has its own error.
        """
        # Sorted by their times, so that the order in which runs are given does not matter.
        candidate = sorted(candidate, key=_by_times)
        baseline = sorted(baseline, key=_by_times)
        if not cls.did_same_work([*candidate, *baseline]):
            blocks = _variances_by_blocks(candidate, tries_longer)
            blocks += _variances_by_blocks(baseline, tries_longer)
            return cls(log_means(candidate), log_means(baseline), blocks, "batches in blocks")
        first = candidate[0]
        count = min(len(run.total_ns) for run in (*candidate, *baseline))
        of_candidate = _averaged(candidate, count)
        of_baseline = _averaged(baseline, count)
        spread = variance_of_mean(
            list(map(sub, of_candidate.course, of_baseline.course)),
            first_reads=first.first_reads,
            tries_longer=tries_longer,
        )
        method = "paired retrieves"
        if not first.are_retrieves:
            method = "paired batches"
            spread = _of_short(spread, count)
        return cls(of_candidate.log_means, of_baseline.log_means, [spread], method)


def _by_times(run: Series) -> tuple[float, bytes]:
    """Return what runs are sorted by."""
    return run.mean_ns, run.total_ns.tobytes()


def noise_of_mean(
    runs: Sequence[Series], others: Sequence[Sequence[Series]]
) -> Sequence[MeanVariance]:
    """Return how far the mean of a machine's runs is known: by their blocks, or by how runs differ.

    Those of other machines show as well how far runs differ.
    """
    blocks = _variances_by_blocks(runs, tries_longer=True)
    between_runs = MeanVariance.pooled(map(log_means, (runs, *others)))
    if between_runs is None:
        return blocks
    of_mean = MeanVariance(between_runs.variance / len(runs), between_runs.degrees)
    return MeanVariance.wider(blocks, [of_mean])


class _Averaged(NamedTuple):
    """Several runs of one machine, as far as all of them went."""

    log_means: list[float]  # ln of each run's mean
    course: list[float]  # the average of the runs' samples, each relative to its run's mean


def _averaged(runs: Sequence[Series], count: int) -> _Averaged:
    """Return the means and the average of the runs over the first `count` samples."""
    logs: list[float] = []
    courses: list[list[float]] = []
    for run in runs:
        times_ns = run.total_ns[:count]
        mean_ns = sum(times_ns) / count
        logs.append(math.log(mean_ns))
        courses.append([time_ns / mean_ns for time_ns in times_ns])
    return _Averaged(logs, list(map(fmean, zip(*courses, strict=True))))


def _variances_by_blocks(runs: Sequence[Series], tries_longer: bool) -> list[MeanVariance]:
    """Return what each run's blocks add to the variance of the average of the runs' means."""
    shares = []
    for run in runs:
        spread = relative_times(run).spread(tries_longer=tries_longer)
        spread = _of_short(spread, len(run.total_ns))
        shares.append(spread.share_of_average(len(runs)))
    return shares


def _of_short(spread: MeanVariance, count: int) -> MeanVariance:
    """Enlarge the variance of a run that is too short to show its waves."""
    return MeanVariance(spread.variance * max(1.0, _LONG_RUN / count), spread.degrees)


def log_means(runs: Sequence[Series]) -> list[float]:
    """Return ln of the mean of each run."""
    return [math.log(run.mean_ns) for run in runs]
