# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The gap between two sides in the same block of a trial, and how much of it a change takes away."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.variances import (
    MeanVariance,
    reach,
    sample_variance,
    satterthwaite,
)
from io_benchmark.results.trials import TrialKind, Trials

LEAST_REPETITIONS = 3

# Of each machine the mean time of a retrieve in each repetition.
_Times = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Gap:
    """Both sides in blocks of one kind each."""

    slower: _Times
    faster: _Times

    @property
    def repetitions(self) -> int:
        return min(map(len, (*self.slower, *self.faster)), default=0)

    @property
    def times_as_long(self) -> float:
        faster_ns = _mean(self.faster)
        return _mean(self.slower) / faster_ns if faster_ns else 1.0

    @property
    def mean_ns(self) -> float:
        return _mean(self.slower) - _mean(self.faster)


@dataclass(frozen=True)
class GoneShare:
    """The part of a gap that a change takes away, and half the width of its interval."""

    share: float
    half_width: float
    repetitions: int


def times_of(
    machines: Sequence[Sequence[Trials]], kind: TrialKind, files: int
) -> list[list[float]]:
    """Return the times of each machine that has blocks of this kind, over the first files of each.

    Several runs of one machine are averaged, repetition by repetition.
    """
    by_machine = [
        [times for run in runs if (times := _repetitions(run, kind, files))] for runs in machines
    ]
    return [
        [fmean(repetition) for repetition in zip(*runs, strict=False)]
        for runs in by_machine
        if runs
    ]


def common_files(recorded: Sequence[Trials]) -> int:
    """Return how many files, from the first on, all runs copied in the same order."""
    columns = zip(*(run.file_indexes for run in recorded), strict=False)
    files = 0
    for indexes in columns:
        if len(set(indexes)) > 1:
            break
        files += 1
    return files


def spread_of_machines(normal: Gap) -> MeanVariance | None:
    """Return how far machines of one side differ, as parts of their times; None without several.

    Both sides are taken to vary alike.
    """
    several = [
        [fmean(times) for times in side] for side in (normal.slower, normal.faster) if len(side) > 1
    ]
    degrees = sum(len(means) - 1 for means in several)
    if not degrees:
        return None
    squares = math.fsum(
        sample_variance(means) / fmean(means) ** 2 * (len(means) - 1) for means in several
    )
    return MeanVariance(squares / degrees, float(degrees))


def gone_share(normal: Gap, changed: Gap, spread: MeanVariance | None = None) -> GoneShare:
    """Compare the gap after a change with the gap before.

    The interval is over repetitions, or over the machines where these differ more: as far as `spread`
    says on the slower side, if only the faster side was changed.
    """
    repetitions = min(normal.repetitions, changed.repetitions)
    persists = changed.mean_ns / normal.mean_ns
    # What the changed blocks have beyond their share of the normal ones scatters around nothing.
    slower, faster = (
        [
            [after - persists * before for before, after in zip(*times, strict=False)][:repetitions]
            for times in zip(*both, strict=True)
        ]
        for both in ((normal.slower, changed.slower), (normal.faster, changed.faster))
    )
    over_machines = _over_machines(slower, faster) if spread is None else _spread(slower, spread)
    half_ns = max(_over_repetitions(slower, faster), over_machines)
    return GoneShare(1 - persists, half_ns / abs(normal.mean_ns), repetitions)


def _over_repetitions(slower: _Times, faster: _Times) -> float:
    gaps = [
        fmean(slow) - fmean(fast)
        for slow, fast in zip(zip(*slower, strict=True), zip(*faster, strict=True), strict=True)
    ]
    return reach(LEVEL, len(gaps) - 1.0) * math.sqrt(sample_variance(gaps) / len(gaps))


def _over_machines(slower: _Times, faster: _Times) -> float:
    """Return half the width over machines; nothing where both sides have only one."""
    sides = [[fmean(times) for times in side] for side in (slower, faster)]
    variances = [
        MeanVariance(sample_variance(means) / len(means), len(means) - 1.0)
        for means in sides
        if len(means) > 1
    ]
    error = math.sqrt(math.fsum(each.variance for each in variances))
    return reach(LEVEL, satterthwaite(variances)) * error if error else 0.0


def _spread(slower: _Times, spread: MeanVariance) -> float:
    error = math.sqrt(spread.variance / len(slower))
    return reach(LEVEL, spread.degrees) * error * abs(_mean(slower))


def _repetitions(run: Trials, kind: TrialKind, files: int) -> list[float]:
    return [
        (math.fsum(block.lookup_ns[:files]) + math.fsum(block.copy_ns[:files])) / files
        for block in run.blocks
        if block.trial is kind
    ]


def _mean(times: _Times) -> float:
    return fmean(fmean(repetitions) for repetitions in times)
