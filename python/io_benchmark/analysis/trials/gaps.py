# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The gap between two sides in a trial, and how much of it a change removes."""

from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.variances import MeanVariance

LEAST_REPETITIONS = 3

# Of each machine the mean time of a retrieve in each repetition.
_Times = Sequence[Sequence[float]]


class GoneShare(Struct, frozen=True):
    """The part of a gap that a change removes, and half the width of its interval."""

    share: float
    half_width: float
    repetitions: int


class Gap(Struct, frozen=True):
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
        machines = [[fmean(times) for times in side] for side in (self.slower, self.faster)]
        return MeanVariance.pooled(
            [[mean / fmean(means) for mean in means] for means in machines if len(means) > 1]
        )

    def gone_after(self, changed: "Gap", spread: MeanVariance | None = None) -> GoneShare:
        """Compare this gap with the one after a change.

        The interval is over repetitions, or over machines where these differ more. If only the faster
        side was changed, `spread` says how far machines of the slower side differ.
        """
        repetitions = min(self.repetitions, changed.repetitions)
        persists = changed.mean_ns / self.mean_ns
        # Residuals: the changed blocks less their share of the normal blocks; their mean is 0.
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
    return MeanVariance.of_mean(gaps).half_width(LEVEL)


def _over_machines(slower: _Times, faster: _Times) -> float:
    """Return half the width over machines; nothing where both sides have only one."""
    sides = [[fmean(times) for times in side] for side in (slower, faster)]
    several = [MeanVariance.of_mean(means) for means in sides if len(means) > 1]
    return MeanVariance.of_sum(several).half_width(LEVEL)


def _spread(slower: _Times, spread: MeanVariance) -> float:
    of_mean = replace(spread, variance=spread.variance / len(slower))
    return of_mean.half_width(LEVEL) * abs(_mean(slower))


def _mean(times: _Times) -> float:
    return fmean(fmean(repetitions) for repetitions in times)
