# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which pools must run once more to confirm a cause, and at which pace."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from io_benchmark.analysis.model import DIFFERENT, Comparison, Verdict, Worker
from io_benchmark.analysis.trials.recorded_trials import (
    CEILINGS_DIFFER_RATIO,
    LEAST_GAP_RATIO,
    TriedSide,
    is_same_pace,
)


class Pace(Struct, frozen=True):
    """A pool whose copies must be limited to what another pool's disks can write."""

    pool: str
    bytes_per_s: int
    against: str  # the slower pool, whose ceiling this is

    def is_like(self, pool: str | None, bytes_per_s: int) -> bool:
        """Return whether a run of a pool at this rate shows the same."""
        return self.pool == pool and is_same_pace(self.bytes_per_s, bytes_per_s)

    @staticmethod
    def missing(comparisons: Iterable[Comparison], workers: Sequence[Worker]) -> "tuple[Pace, ...]":
        """Return the runs that are missing, in the order of the comparisons of these workers."""
        found: list[Pace] = []
        for pace in filter(None, (_pace(each, workers) for each in comparisons)):
            if not any(known.is_like(pace.pool, pace.bytes_per_s) for known in found):
                found.append(pace)
        return tuple(found)


def _pace(comparison: Comparison, workers: Sequence[Worker]) -> Pace | None:
    ratio = comparison.ratio
    if comparison.verdict not in DIFFERENT or max(ratio, 1 / ratio) < LEAST_GAP_RATIO:
        return None
    slower, faster = comparison.candidate, comparison.baseline
    if comparison.verdict is Verdict.FASTER:
        slower, faster = faster, slower
    slow, fast = (
        TriedSide.of([worker for worker in workers if worker.side == side], comparison.subject)
        for side in (slower, faster)
    )
    low, high = slow.ceiling_bytes_per_s, fast.ceiling_bytes_per_s
    if low is None or high is None or high < CEILINGS_DIFFER_RATIO * low:
        return None
    if fast.paced_at(low).runs:
        return None
    return Pace(faster, round(low), slower)
