# SPDX-License-Identifier: MPL-2.0
"""The gap between two sides in a trial, and how much of it a change removes."""

from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.variances import MeanVariance

LEAST_REPETITIONS = 3

# For each machine, the mean time of a retrieve in each repetition.
_Times = Sequence[Sequence[float]]


class GoneShare(Struct, frozen=True):
    """The part of a gap that a change removes, and half the width of its interval."""

    share: float
    half_width: float
    repetitions: int
    gain_ratio: float  # how many times as fast the slower side is after the change


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

    def gone_after(self, changed: "Gap", of_workers: MeanVariance | None = None) -> GoneShare:
        """Compare this gap with the one after a change.

        The interval is over repetitions, or over machines where these differ more. If other machines of
        the faster side were changed, and the slower side was not, `of_workers` says how far workers of a
        pool differ.
        """
        persists = changed.mean_ns / self.mean_ns
        # Residuals: the changed blocks less their share of the normal blocks; their mean is 0.
        over_repetitions = MeanVariance.of_mean(
            [
                after - persists * before
                for before, after in zip(self.by_repetition, changed.by_repetition, strict=False)
            ]
        )
        if of_workers is None:
            over_machines = self._over_machines(changed, persists)
        else:
            over_machines = self._over_workers(changed, persists, of_workers)
        half_ns = max(variance.half_width(LEVEL) for variance in (over_repetitions, over_machines))
        repetitions = min(self.repetitions, changed.repetitions)
        gain_ratio = Gap(self.slower, changed.slower).times_as_long
        return GoneShare(1 - persists, half_ns / abs(self.mean_ns), repetitions, gain_ratio)

    @property
    def by_repetition(self) -> list[float]:
        slower, faster = (
            list(map(fmean, zip(*times, strict=False))) for times in (self.slower, self.faster)
        )
        return [slow - fast for slow, fast in zip(slower, faster, strict=False)]

    def _over_machines(self, changed: "Gap", persists: float) -> MeanVariance:
        """Return the variance over machines that ran both; none where both sides have only one."""
        sides = [
            [fmean(after) - persists * fmean(before) for before, after in zip(*times, strict=True)]
            for times in ((self.slower, changed.slower), (self.faster, changed.faster))
        ]
        return MeanVariance.of_sum(
            [MeanVariance.of_mean(means) for means in sides if len(means) > 1]
        )

    def _over_workers(
        self, changed: "Gap", persists: float, of_workers: MeanVariance
    ) -> MeanVariance:
        """Return the variance by how far workers differ; what a change sets is the same for all of them."""
        stays = max(0.0, persists)
        slower_ns, faster_ns = _mean(self.slower) * (1 - stays), _mean(self.faster) * stays
        factor = slower_ns**2 / len(self.slower)
        factor += faster_ns**2 * (1 / len(self.faster) + 1 / len(changed.faster))
        return replace(of_workers, variance=factor * of_workers.variance)


def _mean(times: _Times) -> float:
    return fmean(fmean(repetitions) for repetitions in times)
