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

LEAST_REPETITIONS = 3

# Of each machine the mean time of a retrieve in each repetition.
_Times = Sequence[Sequence[float]]


@dataclass(frozen=True)
class GoneShare:
    """The part of a gap that a change takes away, and half the width of its interval."""

    share: float
    half_width: float
    repetitions: int


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

    @property
    def spread_of_machines(self) -> MeanVariance | None:
        """Return how far machines of one side differ, as parts of their times; None without several.

        Both sides are taken to vary alike.
        """
        several = [
            [fmean(times) for times in side] for side in (self.slower, self.faster) if len(side) > 1
        ]
        degrees = sum(len(means) - 1 for means in several)
        if not degrees:
            return None
        squares = math.fsum(
            sample_variance(means) / fmean(means) ** 2 * (len(means) - 1) for means in several
        )
        return MeanVariance(squares / degrees, float(degrees))

    def gone_after(self, changed: "Gap", spread: MeanVariance | None = None) -> GoneShare:
        """Compare this gap with the one after a change.

        The interval is over repetitions, or over the machines where these differ more: as far as
        `spread` says on the slower side, if only the faster side was changed.
        """
        repetitions = min(self.repetitions, changed.repetitions)
        persists = changed.mean_ns / self.mean_ns
        # What the changed blocks have beyond their share of the normal ones scatters around nothing.
        slower, faster = (
            [
                [after - persists * before for before, after in zip(*times, strict=False)][
                    :repetitions
                ]
                for times in zip(*both, strict=True)
            ]
            for both in ((self.slower, changed.slower), (self.faster, changed.faster))
        )
        over_machines = (
            _over_machines(slower, faster) if spread is None else _spread(slower, spread)
        )
        half_ns = max(_over_repetitions(slower, faster), over_machines)
        return GoneShare(1 - persists, half_ns / abs(self.mean_ns), repetitions)


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


def _mean(times: _Times) -> float:
    return fmean(fmean(repetitions) for repetitions in times)
