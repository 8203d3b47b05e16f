# SPDX-License-Identifier: MPL-2.0
"""How a cause is declared, and what its rule returns: an effect, of which `deciding` makes a state."""

import math
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case, times_without_share
from io_benchmark.analysis.diagnosis.evidence import BothEvidence, Observe, ReadEvidence, tally
from io_benchmark.analysis.diagnosis.measured_gains import FindGain
from io_benchmark.analysis.diagnosis_model import Evidence
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.statements import Quantity, Statement, Unit, Value, statement
from io_benchmark.analysis.time_parts import Kind, Part, in_copies
from io_benchmark.results.workloads.cache_retrieve import TrialKind

# The part of the difference that a cost must make up to be a cause of it.
_EXPLAINS_SHARE = 0.2


class Fact(Enum):
    """How the facts of both sides compare."""

    UNSEEN = auto()  # a side did not record it
    SAME = auto()
    UNCLEAR = auto()  # they differ, and nothing shows whether that costs time
    OPPOSITE = auto()  # the faster side has the slower one, or it costs the slower side nothing
    SHARED = auto()  # it costs both sides time alike: its remedies help, but it explains nothing
    SLOWER = auto()  # the slower side has the slower one


class Proof(Enum):
    """What makes a slower fact a cause."""

    COST = auto()
    # One setting is slower, but nobody knows by how much. Without a size it may cost nothing.
    SETTING = auto()
    # Nothing else differs: what is seen may be the effect of any other cause.
    LEFTOVER = auto()


class Size(NamedTuple):
    """How many times as long the slower side takes because of a cause."""

    times: float
    is_measured: bool = False  # a part of the measured difference, not a prediction

    @classmethod
    def measured(cls, case: Case, times: float) -> "Size":
        """Return the size of a cause that was measured; it is at most the whole difference."""
        return cls(min(times, case.times) if case.ratio else times, is_measured=True)


class Effect(Struct, frozen=True):
    """What a rule found about a cause: how the facts compare, what they cost, and the reasons."""

    fact: Fact
    evidence: "SideEvidence"
    reasons: tuple[Statement, ...]
    size: Size | None = None  # None: nothing shows how much it costs
    proof: Proof | None = None  # None: as the cause declares
    workload: str | None = None  # that would show what is not observable

    @property
    def is_slower(self) -> bool:
        return self.fact is Fact.SLOWER

    def also(self, template: str, **values: Value) -> "Effect":
        """Return the effect with a further sentence."""
        return replace(self, reasons=(*self.reasons, statement(template, **values)))

    def as_part(self, case: Case, share: float) -> "Effect":
        """Return the effect of a fact that was measured as this share of the difference in time."""
        explained = min(max(share, 0.0), 1.0) * (1 - 1 / case.times)
        return replace(self, size=Size(times_without_share(explained), is_measured=True))

    def if_enough(self, case: Case, share: float | None, too_little: str) -> "Effect":
        """Return what a measured share of the difference leaves of a slower fact.

        `too_little` is the reason against it; it has a slot for the share.
        """
        if not self.is_slower or share is None:
            return self
        if not is_enough(share):
            return self.evidence.opposes(too_little, share=as_share(share))
        return self.as_part(case, share)

    def may_be_chance(self) -> "Effect":
        return self.also("This may be chance; more workers would show it.")


class SideEvidence(Struct, frozen=True):
    """Both sides' evidence; its methods return the effects that it can lead to."""

    read: ReadEvidence

    @classmethod
    def of(cls, case: Case, *observe: Observe, has_summary: bool = True) -> "SideEvidence":
        """Return what both sides' workers showed; the first observation is the summary, if any."""

        def evidence(side: Side) -> Evidence:
            observations = tuple(observation(side) for observation in observe)
            return Evidence.led_by(*observations) if has_summary else Evidence(observations)

        return cls(lambda: (evidence(case.baseline), evidence(case.candidate)))

    def joined(self, further: "SideEvidence") -> "SideEvidence":
        """Return the evidence with further observations; its summary stays."""

        def read() -> BothEvidence:
            baseline, candidate = (
                replace(evidence, observations=evidence.observations + more.observations)
                for evidence, more in zip(self.read(), further.read(), strict=True)
            )
            return baseline, candidate

        return SideEvidence(read)

    def by_share(self, share: float, template: str) -> Effect:
        """Support a cause whose cost is a large enough part; the sentence has a slot for the share."""
        judge = self.supports if is_enough(share) else self.opposes
        return judge(template, share=as_share(share))

    def supports(
        self, template: str, size: Size | None = None, proof: Proof | None = None, **values: Value
    ) -> Effect:
        reasons = (statement(template, **values),)
        return Effect(Fact.SLOWER, self, reasons, size=size, proof=proof)

    def same(self, template: str, **values: Value) -> Effect:
        return Effect(Fact.SAME, self, (statement(template, **values),))

    def opposes(self, template: str, **values: Value) -> Effect:
        return Effect(Fact.OPPOSITE, self, (statement(template, **values),))

    def unseen(self, template: str, *, workload: str | None = None, **values: Value) -> Effect:
        reasons = (statement(template, **values),)
        return Effect(Fact.UNSEEN, self, reasons, workload=workload)

    def unclear(self, template: str, *, workload: str | None = None, **values: Value) -> Effect:
        return replace(self.unseen(template, workload=workload, **values), fact=Fact.UNCLEAR)

    def compared(self, slower: float, faster: float, supports: str) -> Effect:
        """Return the effect of figures that differ; the higher one is the slower fact."""
        if slower < faster:
            return self.opposes("The faster side has the slower setting.")
        return self.supports(supports)


Judge = Callable[[Case], Effect]


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


def cause(name: str, hypothesis: str, **details: Any) -> Callable[[Judge], CauseRule]:
    """Declare the cause that a function judges."""
    return lambda judge: CauseRule(name, hypothesis, judge, **details)


def is_enough(share: float) -> bool:
    """Return whether a part of the difference is large enough to be a cause."""
    return share >= _EXPLAINS_SHARE


def as_share(share: float) -> Quantity:
    """Return a part of the difference as a quantity; a negative one is nothing."""
    return Quantity(max(share, 0.0), Unit.SHARE)


class RankedFact(Struct, frozen=True):
    """A fact of one worker; the higher rank is the slower one."""

    value: Statement
    rank: float = 0.0

    def __float__(self) -> float:
        """Return the rank: it is what facts are averaged by."""
        return float(self.rank)


ReadFact = Callable[[Run], RankedFact | None]


class Ranking(Struct, frozen=True, kw_only=True):
    """A fact that is compared by its rank, and the sentence for each outcome."""

    name: str  # of the observation
    read: ReadFact
    unseen: str
    supports: str = ""
    same: str = "Both sides have the same."
    neither: str = ""  # in place of `same` where nothing has a rank
    # Facts of one rank that differ; without a sentence they cost the same.
    unranked: str = ""
    workload: str | None = None  # that would show what is not observable
    no_waits: str = ""  # against a fact of disks for which the slower side never waits

    @property
    def tally(self) -> Observe:
        return tally(self.name, self.read, to_statement=lambda fact: fact and fact.value)

    def judge(self, case: Case, evidence: SideEvidence | None = None) -> Effect:
        """Support a cause where the slower side has the slower fact."""
        evidence = evidence or SideEvidence.of(case, self.tally)
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
