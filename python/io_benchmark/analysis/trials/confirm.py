# SPDX-License-Identifier: MPL-2.0
"""Which pools must run once more to confirm a cause, and at which pace."""

from collections.abc import Iterable, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.model import DIFFERENT, Comparison, Verdict, Worker
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.analysis.trials.recorded_trials import (
    CEILINGS_DIFFER_RATIO,
    LEAST_GAP_RATIO,
    TriedSide,
    is_same_pace,
)

_NO_TRIALS = statement(
    "No result has trials: measure again with `trials: auto` or `always` in the kind."
)
_NOT_COMPARED = statement("No pools with trials are compared.")


class Pace(Struct, frozen=True):
    """A pool whose copies must be limited to what another pool's disks can write."""

    pool: str
    bytes_per_s: int
    against: str  # the slower pool, whose ceiling this is

    @classmethod
    def between(cls, slower: TriedSide, faster: TriedSide) -> Self | Statement:
        """Return the pace that shows what the slower side's disks cost; or why there is none."""
        low, high = slower.ceiling_bytes_per_s, faster.ceiling_bytes_per_s
        if low is None or high is None:
            return _not_measured(
                [side for side in (slower, faster) if not side.ceiling_bytes_per_s]
            )
        if high < CEILINGS_DIFFER_RATIO * low:
            return statement(
                "The disks of {slower} can write {low}, those of {faster} {high}: a pace is tried where "
                "they can write 1.2 times less.",
                slower=slower.name,
                low=Quantity(low, Unit.BYTES_PER_SECOND),
                faster=faster.name,
                high=Quantity(high, Unit.BYTES_PER_SECOND),
            )
        return cls(faster.name, max(1, round(low)), slower.name)

    def is_like(self, pool: str | None, bytes_per_s: int) -> bool:
        """Return whether a run of a pool at this rate shows the same."""
        return self.pool == pool and is_same_pace(self.bytes_per_s, bytes_per_s)


class Confirming(Struct, frozen=True):
    """The runs that are missing to confirm causes, and why the other comparisons need none."""

    paces: tuple[Pace, ...] = ()
    reasons: tuple[Statement, ...] = ()

    @classmethod
    def of(cls, comparisons: Iterable[Comparison], workers: Sequence[Worker]) -> Self:
        """Judge the comparisons of these workers, in their order."""
        entries = (entry for worker in workers for entry in worker.entries)
        subjects = {entry.subject for entry in entries if entry.trials is not None}
        paces: list[Pace] = []
        reasons: dict[Statement, None] = {}
        for comparison in comparisons:
            if comparison.subject not in subjects:
                continue
            pace = _missing(comparison, workers)
            if isinstance(pace, Statement):
                reasons[pace] = None
            elif not any(known.is_like(pace.pool, pace.bytes_per_s) for known in paces):
                paces.append(pace)
        if not paces and not reasons:
            return cls((), (_NOT_COMPARED if subjects else _NO_TRIALS,))
        return cls(tuple(paces), tuple(reasons))


def _missing(comparison: Comparison, workers: Sequence[Worker]) -> Pace | Statement:
    """Return the run that is missing, or why none is."""
    slower, faster = comparison.candidate, comparison.baseline
    if comparison.verdict is Verdict.INCONCLUSIVE:
        template = "{candidate} against {baseline} is inconclusive: measure more workers first."
        return statement(template, candidate=slower, baseline=faster)
    ratio = comparison.ratio
    if comparison.verdict not in DIFFERENT or max(ratio, 1 / ratio) < LEAST_GAP_RATIO:
        return statement(
            "{candidate} takes {ratio} the time of {baseline}: too little to find the cause of.",
            candidate=slower,
            ratio=Quantity(ratio, Unit.RATIO),
            baseline=faster,
        )
    if comparison.verdict is Verdict.FASTER:
        slower, faster = faster, slower
    sides = [
        TriedSide.of([worker for worker in workers if worker.side == side], comparison.subject)
        for side in (slower, faster)
    ]
    pace = Pace.between(*sides)
    if isinstance(pace, Pace) and sides[1].paced_at(pace.bytes_per_s).runs:
        template = "{faster} was limited to the ceiling of {slower} already."
        return statement(template, faster=faster, slower=slower)
    return pace


def _not_measured(sides: Sequence[TriedSide]) -> Statement:
    recorded = [run for side in sides for run in side.runs]
    reasons = [run.reason.removesuffix(".") for run in recorded if run.reason and not run.ceilings]
    return statement(
        "What the disks of {sides} can write was not measured{why}.",
        sides=" and ".join(side.name for side in sides),
        why=statement(": {reason}", reason=reasons[0]) if reasons else "",
    )
