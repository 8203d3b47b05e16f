# SPDX-License-Identifier: MPL-2.0
"""How a cause is declared, and what its rule returns: a state with evidence and an explanation."""

import math
from collections.abc import Callable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.evidence import Observe, ReadEvidence, tally
from io_benchmark.analysis.diagnosis.measured_gains import FindGain
from io_benchmark.analysis.evidence_model import Evidence
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Part
from io_benchmark.analysis.statements import Quantity, Statement, Unit, Value, statement
from io_benchmark.results.trials import TrialKind

# The part of the difference that a cost must make up to be a cause of it.
_EXPLAINS_SHARE = 0.2


class Judgement(Struct, frozen=True):
    """The state of a cause, with the reason for it."""

    state: State
    evidence: "Sides"
    explanation: tuple[Statement, ...]
    predicted_ratio: float | None = None
    workload: str | None = None  # that would show what is not observable
    is_part: bool = False  # the ratio is a measured part of the difference, not a prediction
    # No setting differs: what is seen may be the effect of any other cause.
    is_leftover: bool = False
    # What differs is known to be slower, but not by how much.
    by_setting_alone: bool = False
    # It costs both sides time alike: its remedies help, though it differs in nothing.
    is_shared: bool = False

    def also(self, template: str, **values: Value) -> "Judgement":
        """Return the judgement with a further sentence."""
        return replace(self, explanation=(*self.explanation, statement(template, **values)))

    def now(self, state: State, reason: Statement) -> "Judgement":
        """Return the judgement in another state, for this reason too; it explains no part by a number."""
        explanation = (*self.explanation, reason)
        return replace(
            self, state=state, explanation=explanation, predicted_ratio=None, is_part=False
        )

    def as_part(self, case: Case, share: float) -> "Judgement":
        """Return the judgement of a cause that was measured as this share of the difference in time."""
        if self.state is not State.SUPPORTED:
            return self
        explained = min(max(share, 0.0), 1.0) * case.difference_share
        return replace(self, predicted_ratio=case.ratio_without_share(explained), is_part=True)

    def if_enough(self, case: Case, share: float | None, too_little: str) -> "Judgement":
        """Return what a measured share of the difference leaves of a supported cause.

        `too_little` is the reason to rule it out; it has a slot for the share.
        """
        if self.state is not State.SUPPORTED or share is None:
            return self
        if not is_enough(share):
            return self.evidence.ruled_out(too_little, share=part(share))
        return self.as_part(case, share)

    def if_waits(self, case: Case, reason: str) -> "Judgement":
        """Rule a supported cause out, for this reason, where the slower side never waits for its disks."""
        if self.state is State.SUPPORTED and case.slower_never_waits:
            return self.evidence.ruled_out(reason)
        return self

    def may_be_chance(self) -> "Judgement":
        return self.also("This may be chance; more workers would show it.")


class Sides(Struct, frozen=True):
    """Both sides' evidence, and the judgements that it can lead to."""

    read: ReadEvidence

    @classmethod
    def of(cls, case: Case, *observe: Observe, has_summary: bool = True) -> "Sides":
        """Return what both sides' workers showed; the first observation is the summary, if any."""

        def evidence(side: SideViews) -> Evidence:
            seen = tuple(each(side) for each in observe)
            return Evidence.led_by(*seen) if has_summary else Evidence(seen)

        return cls(lambda: (evidence(case.baseline), evidence(case.candidate)))

    def supported(
        self,
        template: str,
        *,
        predicted_ratio: float | None = None,
        is_part: bool = False,
        is_leftover: bool = False,
        **values: Value,
    ) -> Judgement:
        return Judgement(
            State.SUPPORTED,
            self,
            (statement(template, **values),),
            predicted_ratio=predicted_ratio,
            is_part=is_part,
            is_leftover=is_leftover,
        )

    def ruled_out(self, template: str, **values: Value) -> Judgement:
        return Judgement(State.RULED_OUT, self, (statement(template, **values),))

    def nothing_to_explain(self) -> Judgement:
        reason = statement("No difference was shown that needs an explanation.")
        return Judgement(State.NOT_JUDGED, self, (reason,))

    def faster_side_is_worse(self) -> Judgement:
        return self.ruled_out("The faster side has the slower setting.")

    def not_observable(
        self, template: str, *, workload: str | None = None, **values: Value
    ) -> Judgement:
        explanation = (statement(template, **values),)
        return Judgement(State.NOT_OBSERVABLE, self, explanation, workload=workload)


class CauseRule(Struct, frozen=True):
    """A cause: its hypothesis, how it is judged, whose difference it may explain, and its remedies."""

    name: str
    hypothesis: str
    judge: Callable[[Case], Judgement]
    explains: frozenset[str] = frozenset(("cache-retrieve",))
    remedies: Mapping[str, FindGain] = field(default_factory=dict)  # action -> its gain
    # The parts of the time through which it acts; empty: not known, so nothing limits it.
    acts_through: frozenset[Part] = frozenset()
    by_setting_alone: bool = False  # known to be the slower setting, but not by how much
    tried_by: TrialKind | None = None  # the trial that confirms or refutes it


def is_enough(share: float) -> bool:
    """Return whether a part of the difference is large enough to be a cause."""
    return share >= _EXPLAINS_SHARE


def part(share: float) -> Quantity:
    """Return a part of the difference as a quantity; a negative one is nothing."""
    return Quantity(max(share, 0.0), Unit.SHARE)


class RankedFact(Struct, frozen=True):
    """A fact of one worker; the higher rank is the slower one."""

    value: Statement
    rank: float = 0.0

    def __float__(self) -> float:
        """Return the rank: it is what facts are averaged by."""
        return float(self.rank)


ReadFact = Callable[[View], RankedFact | None]


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
) -> Judgement:
    """Support a cause where the slower side has the slower fact; `name` is the observation's.

    Facts of one rank never support it, and cost the same without a sentence for `unranked`.
    """
    evidence = evidence or Sides.of(case, fact_tally(name, read))
    slower, faster = case.means(read)
    if slower is None or faster is None:
        return evidence.not_observable(unseen, workload=workload)
    is_equal = _are_equal(slower, faster)
    if is_equal and not _values_differ(case, read):
        return evidence.ruled_out(same)
    if not case.differs:
        return evidence.nothing_to_explain()
    if is_equal and unranked is not None:
        return evidence.not_observable(unranked, workload=workload)
    if is_equal:
        return evidence.ruled_out("The sides differ in nothing that costs time here.")
    if slower < faster:
        return evidence.faster_side_is_worse()
    return evidence.supported(supported, predicted_ratio=predicted_ratio)


def is_unranked(case: Case, read: ReadFact) -> bool:
    """Return whether the facts differ, and neither is known to be the slower one."""
    slower, faster = case.means(read)
    if slower is None or faster is None or not case.differs:
        return False
    return _are_equal(slower, faster) and _values_differ(case, read)


def _are_equal(slower: float, faster: float) -> bool:
    return math.isclose(slower, faster, rel_tol=1e-9, abs_tol=1e-9)


def _values_differ(case: Case, read: ReadFact) -> bool:
    baseline, candidate = (
        {fact.value for fact in side.values(read) if fact is not None}
        for side in (case.baseline, case.candidate)
    )
    return baseline != candidate


def fact_tally(name: str, read: ReadFact) -> Observe:
    """Observe a ranked fact."""
    return tally(name, read, text=lambda fact: None if fact is None else fact.value)
