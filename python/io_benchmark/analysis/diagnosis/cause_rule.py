# SPDX-License-Identifier: MPL-2.0
"""How a cause is declared, and what its rule returns: a state with evidence and an explanation."""

import math
from collections.abc import Callable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.measured_gains import FindGain
from io_benchmark.analysis.evidence_model import Evidence, Observation
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.parts.time_parts import Kind, Part, Phase
from io_benchmark.analysis.statements import Quantity, Statement, Unit, Value, statement
from io_benchmark.results.trials import TrialKind

NOTHING_TO_EXPLAIN = "No difference was shown that needs an explanation."
# The part of the difference that a cost must make up to be a cause of it.
_EXPLAINS_SHARE = 0.2


class CauseJudgement(Struct, frozen=True):
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

    def also(self, template: str, **values: Value) -> "CauseJudgement":
        """Return the judgement with a further sentence."""
        return replace(self, explanation=(*self.explanation, statement(template, **values)))

    def now(self, state: State, *explanation: Statement) -> "CauseJudgement":
        """Return the judgement in another state, for these reasons; it explains no part by a number."""
        return replace(
            self, state=state, explanation=explanation, predicted_ratio=None, is_part=False
        )

    def as_part(self, case: Case, share: float) -> "CauseJudgement":
        """Return the judgement of a cause that was measured as this share of the difference in time."""
        if self.state is not State.SUPPORTED:
            return self
        explained = min(max(share, 0.0), 1.0) * case.difference_share
        return replace(self, predicted_ratio=case.ratio_without_share(explained), is_part=True)

    def if_enough(self, case: Case, share: float | None, too_little: str) -> "CauseJudgement":
        """Return what a measured share of the difference leaves of a supported cause.

        `too_little` is the reason to rule it out; it has a slot for the share.
        """
        if self.state is not State.SUPPORTED or share is None:
            return self
        if not is_enough(share):
            return self.evidence.ruled_out(too_little, share=part(share))
        return self.as_part(case, share)

    def if_waits(self, case: Case, reason: str) -> "CauseJudgement":
        """Rule a supported cause out, for this reason, where the slower side never waits for its disks."""
        if self.state is State.SUPPORTED and case.slower_never_waits:
            return self.evidence.ruled_out(reason)
        return self

    def may_be_chance(self) -> "CauseJudgement":
        return self.also("This may be chance; more workers would show it.")


Observe = Callable[[SideViews], Observation]


class Sides(Struct, frozen=True):
    """Both sides' evidence, and the judgements that it can lead to.

    Evidence is made when it is read: nobody reads it where a single worker is judged.
    """

    read: Callable[[], tuple[Evidence, Evidence]]  # the baseline's and the candidate's

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
        **values: Value,
    ) -> CauseJudgement:
        explanation = (statement(template, **values),)
        return CauseJudgement(
            State.SUPPORTED, self, explanation, predicted_ratio=predicted_ratio, is_part=is_part
        )

    def ruled_out(self, template: str, **values: Value) -> CauseJudgement:
        return CauseJudgement(State.RULED_OUT, self, (statement(template, **values),))

    def nothing_to_explain(self) -> CauseJudgement:
        return CauseJudgement(State.NOT_JUDGED, self, (statement(NOTHING_TO_EXPLAIN),))

    def faster_side_is_worse(self) -> CauseJudgement:
        return self.ruled_out("The faster side has the slower setting.")

    def not_observable(
        self, template: str, *, workload: str | None = None, **values: Value
    ) -> CauseJudgement:
        explanation = (statement(template, **values),)
        return CauseJudgement(State.NOT_OBSERVABLE, self, explanation, workload=workload)


class CauseRule(Struct, frozen=True):
    """A cause: its hypothesis, how it is judged, whose difference it may explain, and its remedies."""

    name: str
    hypothesis: str
    judge: Callable[[Case], CauseJudgement]
    explains: frozenset[str] = frozenset(("cache-retrieve",))
    remedies: Mapping[str, FindGain] = field(default_factory=dict)  # action -> its gain
    # The parts of the time through which it acts; empty: not known, so nothing limits it.
    acts_through: frozenset[Part] = frozenset()
    by_setting_alone: bool = False  # known to be the slower setting, but not by how much
    tried_by: TrialKind | None = None  # the trial that confirms or refutes it

    def hold_to_parts(self, judgement: CauseJudgement, case: Case) -> CauseJudgement:
        """Rule a supported cause out where its parts of the time, or its prediction, make up too little.

        Where the workers recorded those parts, and they hardly differ, or differ the other way, no fact
        that differs makes it a cause. What was not recorded may belong to any cause.
        """
        if judgement.state is not State.SUPPORTED:
            return judgement
        at_most = case.share_at_most(self.acts_through) if self.acts_through else None
        if at_most is None or is_enough(at_most):
            return _hold_to_size(judgement, case)
        reason = statement(
            "The sides differ in this, but the parts of the time that it acts through ({parts}) make up "
            "{share} of the difference.",
            parts=_named(case.parts_of_workload(self.acts_through)),
            share=Quantity(at_most, Unit.SHARE),
        )
        return judgement.now(State.RULED_OUT, reason)


def is_enough(share: float) -> bool:
    """Return whether a part of the difference is large enough to be a cause."""
    return share >= _EXPLAINS_SHARE


def part(share: float) -> Quantity:
    """Return a part of the difference as a quantity; a negative one is nothing."""
    return Quantity(max(share, 0.0), Unit.SHARE)


def _hold_to_size(judgement: CauseJudgement, case: Case) -> CauseJudgement:
    """Rule a supported cause out where its prediction is far too small for the difference."""
    predicted, ratio = judgement.predicted_ratio, case.ratio
    if judgement.is_part or not predicted or not ratio:
        return judgement
    explained = math.log(predicted) / math.log(ratio)
    if is_enough(explained):
        return judgement
    reason = statement(
        "The sides differ in this, but it predicts {predicted} of the measured {measured}: {share} of "
        "the difference.",
        predicted=Quantity(predicted, Unit.RATIO),
        measured=Quantity(ratio, Unit.RATIO),
        share=part(explained),
    )
    return judgement.now(State.RULED_OUT, reason)


def _named(parts: frozenset[Part]) -> str:
    ordered = [Part(phase, kind) for phase in Phase for kind in Kind]
    return ", ".join(f"{each.phase} {each.kind}" for each in ordered if each in parts)
