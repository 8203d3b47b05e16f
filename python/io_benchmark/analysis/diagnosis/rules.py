# SPDX-License-Identifier: MPL-2.0
"""How a cause is declared: by a function of the case, or by a fact whose rank is compared."""

import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct, field

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.effects import (
    Effect,
    Fact,
    Observe,
    Proof,
    SideEvidence,
    tally,
)
from io_benchmark.analysis.diagnosis.measured_gains import FindGain
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.statements import Statement
from io_benchmark.analysis.time_parts import Kind, Part, in_copies
from io_benchmark.results.workloads.cache_retrieve import TrialKind

Judge = Callable[[Case], Effect]
Refine = Callable[[Case, Effect], Effect]


class CauseRule(Struct, frozen=True):
    """A cause: its hypothesis, how it is judged, and its remedies."""

    name: str
    hypothesis: str
    judge: Judge
    workloads: frozenset[str] = frozenset(("cache-retrieve",))  # whose difference it may explain
    remedies: Mapping[str, FindGain] = field(default_factory=dict)  # action -> its gain
    # The parts of the time through which it acts; empty: not known, so nothing limits it.
    acts_through: frozenset[Part] = in_copies(Kind.BLOCKED)
    proof: Proof = Proof.COST
    tried_by: TrialKind | None = None  # the trial that confirms or refutes it

    def is_slower(self, case: Case) -> bool:
        """Return whether the slower side has the slower fact, whatever else speaks against the cause."""
        return self.judge(case).is_slower


def cause(name: str, hypothesis: str, **details: Any) -> Callable[[Judge], CauseRule]:
    """Declare the cause that a function judges."""
    return lambda judge: CauseRule(name, hypothesis, judge, **details)


class RankedFact(Struct, frozen=True):
    """A fact of one worker; the higher rank is the slower one."""

    value: Statement
    rank: float = 0.0

    def __float__(self) -> float:
        """Return the rank: it is what facts are averaged by."""
        return float(self.rank)


class Ranking(Struct, frozen=True, kw_only=True):
    """A fact that is compared by its rank, and the sentence for each outcome."""

    name: str  # of the observation
    read: Callable[[Run], RankedFact | None]
    unseen: str
    supports: str = ""
    same: str = "Both sides have the same."
    neither: str = ""  # in place of `same` where nothing has a rank
    # Facts of one rank that differ; without a sentence they cost the same.
    unranked: str = ""
    workload: str | None = None  # that would show what is not observable
    no_waits: str = ""  # against a fact of disks for which the slower side never waits
    observe: tuple[Observe, ...] = ()  # the evidence, where that is more than the fact

    @property
    def tally(self) -> Observe:
        return tally(self.name, self.read, to_statement=lambda fact: fact and fact.value)

    def judge(self, case: Case, evidence: SideEvidence | None = None) -> Effect:
        """Support a cause where the slower side has the slower fact."""
        evidence = evidence or SideEvidence.of(case, *(self.observe or (self.tally,)))
        slower, faster = case.means(self.read)
        if slower is None or faster is None:
            return evidence.unseen(self.unseen, workload=self.workload)
        if not math.isclose(slower, faster, rel_tol=1e-9, abs_tol=1e-9):
            effect = evidence.compared(slower, faster, self.supports)
            is_idle = effect.is_slower and self.no_waits and case.slower_never_waits
            return evidence.opposes(self.no_waits) if is_idle else effect
        if self._values(case.baseline) == self._values(case.candidate):
            return evidence.same(self.same if slower else self.neither or self.same)
        if self.unranked:
            return evidence.unclear(self.unranked, workload=self.workload)
        return evidence.opposes("The sides differ in nothing that costs time here.")

    def _values(self, side: Side) -> set[Statement]:
        return {fact.value for fact in side.values(self.read) if fact is not None}


def ranked_cause(
    name: str,
    hypothesis: str,
    ranking: Ranking,
    *,
    refined: AbstractSet[Fact] = frozenset((Fact.SLOWER,)),
    **details: Any,
) -> Callable[[Refine], CauseRule]:
    """Declare the cause of a ranked fact; a function refines the effects in which it is `refined`."""

    def declare(refine: Refine) -> CauseRule:
        def judge(case: Case) -> Effect:
            effect = ranking.judge(case)
            return refine(case, effect) if effect.fact in refined else effect

        return CauseRule(name, hypothesis, judge, **details)

    return declare
