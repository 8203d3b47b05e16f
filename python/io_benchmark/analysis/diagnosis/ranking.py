# SPDX-License-Identifier: MPL-2.0
"""Judges a fact by its rank: is the slower side's the slower one?"""

from collections.abc import Callable
from enum import Enum, auto

from msgspec import Struct

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, Observe, Sides
from io_benchmark.analysis.diagnosis.evidence import tally
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.statements import Statement


class RankedFact(Struct, frozen=True):
    """A fact of one worker; the higher rank is the slower one."""

    value: Statement
    rank: float = 0.0

    def __float__(self) -> float:
        """Return the rank: it is what facts are averaged by."""
        return float(self.rank)


ReadFact = Callable[[View], RankedFact | None]


class _Ranking(Enum):
    """How both sides' facts compare."""

    UNSEEN = auto()
    SAME = auto()
    NOTHING_TO_EXPLAIN = auto()
    UNRANKED = auto()  # they differ, and neither is known to be the slower one
    OPPOSITE = auto()
    SLOWER = auto()  # the slower side has the slower fact


def _ranking(case: Case, read: ReadFact) -> _Ranking:
    """Compare the facts of both sides."""
    baseline, candidate = (side.mean(read) for side in (case.baseline, case.candidate))
    if baseline is None or candidate is None:
        return _Ranking.UNSEEN
    equal = abs(baseline - candidate) <= 1e-9 * max(1.0, abs(baseline), abs(candidate))
    if equal and _values(case.baseline, read) == _values(case.candidate, read):
        return _Ranking.SAME
    if not case.differs:
        return _Ranking.NOTHING_TO_EXPLAIN
    if equal:
        return _Ranking.UNRANKED
    if (candidate > baseline) != case.candidate_is_slower:
        return _Ranking.OPPOSITE
    return _Ranking.SLOWER


def is_unranked(case: Case, read: ReadFact) -> bool:
    """Return whether the facts differ, and neither is known to be the slower one."""
    return _ranking(case, read) is _Ranking.UNRANKED


def _values(side: SideViews, read: ReadFact) -> set[Statement]:
    return {seen.value for seen in side.values(read) if seen is not None}


def by_rank(
    case: Case,
    read: ReadFact,
    *,
    name: str,
    unseen: str,
    supported: str = "",
    same: str = "Both sides have the same.",
    unranked: str | None = None,
    workload: str | None = None,
    evidence: Sides | None = None,
    predicted_ratio: float | None = None,
) -> CauseJudgement:
    """Support a cause where the slower side has the slower fact; `name` is the observation's.

    Facts of one rank never support it, and cost the same without a sentence for `unranked`.
    """
    evidence = evidence or Sides.of(case, fact_tally(name, read))
    match _ranking(case, read):
        case _Ranking.UNSEEN:
            return evidence.not_observable(unseen, workload=workload)
        case _Ranking.SAME:
            return evidence.ruled_out(same)
        case _Ranking.NOTHING_TO_EXPLAIN:
            return evidence.nothing_to_explain()
        case _Ranking.UNRANKED if unranked is not None:
            return evidence.not_observable(unranked, workload=workload)
        case _Ranking.UNRANKED:
            return evidence.ruled_out("The sides differ in nothing that costs time here.")
        case _Ranking.OPPOSITE:
            return evidence.faster_side_is_worse()
        case _Ranking.SLOWER:
            return evidence.supported(supported, predicted_ratio=predicted_ratio)


def fact_tally(name: str, read: ReadFact) -> Observe:
    """Observe a ranked fact."""
    return tally(name, read, text=lambda seen: None if seen is None else seen.value)
