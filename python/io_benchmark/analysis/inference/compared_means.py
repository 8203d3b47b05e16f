# SPDX-License-Identifier: MPL-2.0
"""Two machines' means, and the variance of their ratio by blocks within the runs."""

import math
from collections.abc import Sequence
from operator import sub

from msgspec import Struct

from io_benchmark.analysis.inference.moving_blocks import variance_of_mean
from io_benchmark.analysis.inference.variances import MeanVariance
from io_benchmark.analysis.model import Entry

# How the samples of two machines are compared.
_PAIRED_RETRIEVES, _PAIRED_BATCHES = "paired retrieves", "paired batches"
UNPAIRED_BATCHES = "batches in blocks"
# Shorter runs do not show the waves: in simulations too many equal pools are called different.
_LONG_RUN = 100


class _ComparedMeans(Struct, frozen=True):
    """ln of the mean of each run of two machines, and the variance of their averages by blocks."""

    candidate: tuple[float, ...]
    baseline: tuple[float, ...]
    blocks: tuple[MeanVariance, ...]
    method: str

    @property
    def log_ratio(self) -> float:
        return math.fsum(self.candidate) / len(self.candidate) - math.fsum(self.baseline) / len(
            self.baseline
        )


def did_same_work(entries: Sequence[Entry]) -> bool:
    """Return whether sample i did the same work in all runs; retrieves did, as far as each run went."""
    if all(entry.retrieves is not None for entry in entries):
        return True
    first = entries[0].operations
    return all(first == entry.operations for entry in entries[1:])


def compare_means(
    candidate: Sequence[Entry], baseline: Sequence[Entry], *, tries_longer: bool = False
) -> _ComparedMeans:
    """Compare the runs of two machines, sample by sample where all did the same work."""
    # Sorted by their times, so that the order in which runs are given does not matter.
    ours, theirs = (sorted(side, key=_order) for side in (candidate, baseline))
    compare = _paired if did_same_work([*candidate, *baseline]) else _unpaired
    return compare(ours, theirs, tries_longer)


def _order(entry: Entry) -> tuple[float, bytes]:
    return entry.mean_ns, entry.total_ns.tobytes()


def _paired(
    candidate: Sequence[Entry], baseline: Sequence[Entry], tries_longer: bool
) -> _ComparedMeans:
    """Compare the samples that all runs have.

    Retrieve i took the same file in each, so that the effect of file sizes cancels in the difference.
    """
    count = min(len(entry.total_ns) for entry in (*candidate, *baseline))
    (logs, times), (base_logs, base) = (_averaged(side, count) for side in (candidate, baseline))
    differences = list(map(sub, times, base))
    firsts = candidate[0].first_reads
    spread = variance_of_mean(differences, first_reads=firsts, tries_longer=tries_longer)
    if candidate[0].retrieves is not None:
        return _ComparedMeans(logs, base_logs, (spread,), _PAIRED_RETRIEVES)
    return _ComparedMeans(logs, base_logs, (_of_short(spread, count),), _PAIRED_BATCHES)


def _averaged(entries: Sequence[Entry], count: int) -> tuple[tuple[float, ...], list[float]]:
    """Return ln of each run's mean, and the average of the runs, over the first `count` samples."""
    runs = [entry.total_ns[:count] for entry in entries]
    means = [sum(run) / count for run in runs]
    courses = [[time / mean for time in run] for run, mean in zip(runs, means, strict=True)]
    course = [math.fsum(each) / len(runs) for each in zip(*courses, strict=True)]
    return tuple(map(math.log, means)), course


def _unpaired(
    candidate: Sequence[Entry], baseline: Sequence[Entry], tries_longer: bool
) -> _ComparedMeans:
    """Compare all samples of batches whose lengths differ; each run has its own error."""
    return _ComparedMeans(
        tuple(math.log(entry.mean_ns) for entry in candidate),
        tuple(math.log(entry.mean_ns) for entry in baseline),
        (
            *variances_of_average(candidate, tries_longer=tries_longer),
            *variances_of_average(baseline, tries_longer=tries_longer),
        ),
        UNPAIRED_BATCHES,
    )


def variances_of_average(
    entries: Sequence[Entry], *, tries_longer: bool = False
) -> tuple[MeanVariance, ...]:
    """Return what each run's blocks add to the variance of the average of the runs' means."""
    count = len(entries)
    spreads = [
        _of_short(entry.relative_times.spread(tries_longer=tries_longer), len(entry.total_ns))
        for entry in entries
    ]
    return tuple(MeanVariance(spread.variance / count**2, spread.degrees) for spread in spreads)


def _of_short(spread: MeanVariance, count: int) -> MeanVariance:
    """Enlarge the variance of a run that is too short to show its waves."""
    missed = max(1.0, _LONG_RUN / count)
    return MeanVariance(spread.variance * missed, spread.degrees)
