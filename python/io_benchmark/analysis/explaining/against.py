# SPDX-License-Identifier: MPL-2.0
"""What is held against a supported cause: a table, of which the first row that holds decides."""

import math
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.effects import Effect, Fact, Proof, as_share, is_enough
from io_benchmark.analysis.explaining.judging import effect_of, judge_workers
from io_benchmark.analysis.explaining.rules import CauseRule
from io_benchmark.analysis.model.cause import State, TrialOutcome, TrialState
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Statement, ratio_of, share, statement
from io_benchmark.analysis.model.time_parts import Kind, Phase, in_copies
from io_benchmark.analysis.reading.counters import io_wait_share
from io_benchmark.analysis.reading.disk_rates import WAITS_SHARE, written_share
from io_benchmark.results.workloads.cache_retrieve import TrialKind

_WRITES_SHARE = 0.2  # less of the bytes copied is what the page cache absorbs
_BLOCKED = in_copies(Kind.BLOCKED)
_IN_STORAGE = in_copies(Kind.BLOCKED, Kind.ELSEWHERE, Kind.KERNEL)
_NOTHING_TO_EXPLAIN = statement("No difference was shown that needs an explanation.")
_STATES = {  # all other facts rule a cause out
    Fact.UNSEEN: State.NOT_OBSERVABLE,
    Fact.UNCLEAR: State.NOT_OBSERVABLE,
    Fact.SLOWER: State.SUPPORTED,
}


class Judged(Struct, frozen=True):
    """A cause with its state so far, and the reasons for that."""

    rule: CauseRule
    effect: Effect
    case: Case
    trials: Mapping[TrialKind | None, TrialOutcome]  # None: a cause that no trial tries
    state: State
    reasons: tuple[Statement, ...]

    @classmethod
    def alone(
        cls, rule: CauseRule, case: Case, trials: Mapping[TrialKind | None, TrialOutcome]
    ) -> "Judged":
        """Judge a cause by its rule and by the rows of the table, whatever other causes are."""
        effect = effect_of(rule, case)
        if not case.differs and effect.fact not in (Fact.UNSEEN, Fact.SAME):
            return cls(rule, effect, case, trials, State.NOT_JUDGED, (_NOTHING_TO_EXPLAIN,))
        state = _STATES.get(effect.fact, State.RULED_OUT)
        judged = cls(rule, effect, case, trials, state, effect.reasons)
        for row in _ROWS:
            outcome = row(judged) if judged.is_supported else None
            judged = judged if outcome is None else judged.now(*outcome)
        return judged

    @property
    def is_supported(self) -> bool:
        return self.state is State.SUPPORTED

    @property
    def proof(self) -> Proof:
        # With a size it is known how much the setting costs.
        by_rule = self.rule.proof if self.effect.size is None else Proof.COST
        return self.effect.proof or by_rule

    def shown(self, state: TrialState, kind: TrialKind | None = None) -> Statement | None:
        """Return what a trial shows, with its share of the gap; None for another outcome.

        It is the trial of this cause where no other kind is named.
        """
        trial = self.trials.get(kind or self.rule.tried_by)
        if trial is None or trial.state is not state:
            return None
        meaning = statement("Trial {kind}: {meaning}", kind=trial.kind.value, meaning=trial.meaning)
        if trial.share is None:
            return meaning
        explained = as_share(trial.share)
        return statement("{found} It explains {share} of the gap.", found=meaning, share=explained)

    def now(self, state: State, reason: Statement) -> "Judged":
        """Return the cause in another state, for this reason; what rules it out is the only one."""
        earlier = () if state is State.RULED_OUT else self.reasons
        return replace(self, state=state, reasons=(*earlier, reason))


_Outcome = tuple[State, Statement] | None  # None: the row holds nothing against the cause


def _sides_object(judged: Judged) -> _Outcome:
    for objection in judged.rule.objections:
        if objection.where(judged.case):
            return State.RULED_OUT, statement(objection.reason)
    return None


def _parts_are_too_small(judged: Judged) -> _Outcome:
    """Rule a cause out if the parts of the time that a cause acts through explain too little.

    Where the workers recorded those parts, and they hardly differ, or differ the other way, no fact
    that differs makes it a cause. What was not recorded may belong to any cause.
    """
    case, acts_through = judged.case, judged.rule.acts_through
    at_most = case.share_at_most(acts_through)
    if not acts_through or at_most is None or is_enough(at_most):
        return None
    parts = case.parts_of_workload(acts_through)
    return State.RULED_OUT, statement(
        "The sides differ in this, but the parts of the time that it acts through ({parts}) make "
        "up {share} of the difference.",
        parts=", ".join(
            f"{phase} {kind}" for phase in Phase for kind in Kind if (phase, kind) in parts
        ),
        share=share(at_most),
    )


def _predicts_too_little(judged: Judged) -> _Outcome:
    size, ratio = judged.effect.size, judged.case.ratio
    if size is None or size.is_measured or ratio is None:
        return None
    predicted = judged.case.in_direction(size.times)
    explained = math.log(predicted) / math.log(ratio)
    if is_enough(explained):
        return None
    return State.RULED_OUT, statement(
        "The sides differ in this, but it predicts {predicted} of the measured {measured}: {share} "
        "of the difference.",
        predicted=ratio_of(predicted),
        measured=ratio_of(ratio),
        share=as_share(explained),
    )


def _trial_refutes(judged: Judged) -> _Outcome:
    meaning = judged.shown(TrialState.REFUTED)
    if meaning is None:
        return None
    if judged.rule.tried_by is TrialKind.PACE and not judged.rule.acts_through <= _BLOCKED:
        return None  # such as a mount that waits for each write, whatever the bandwidth is
    if judged.rule.tried_by is not TrialKind.UNLINK:
        return State.REFUTED, meaning
    return State.NOT_SEPARABLE, statement(
        "{found} This refutes the remedy only: copies that wait for something else, and a removed "
        "file that is being written already, look the same.",
        found=meaning,
    )


def _memory_refutes(judged: Judged) -> _Outcome:
    """Refute storage if the gap stays in memory, and what is not storage if it goes there."""
    parts = judged.rule.acts_through
    is_storage = any(part.kind in (Kind.BLOCKED, Kind.ELSEWHERE) for part in parts)
    if not parts or (is_storage and not (_BLOCKED <= parts <= _IN_STORAGE)):
        return None
    against = TrialState.REFUTED if is_storage else TrialState.CONFIRMED
    meaning = judged.shown(against, TrialKind.MEMORY)
    is_confirmed = judged.shown(TrialState.CONFIRMED) is not None
    return None if meaning is None or is_confirmed else (State.REFUTED, meaning)


def _lookups_need_a_trial(judged: Judged) -> _Outcome:
    """Leave lookups open that cannot be told from disks that write meanwhile."""
    rule, case = judged.rule, judged.case
    if rule.tried_by is not TrialKind.LOOKUP or judged.shown(TrialState.CONFIRMED) is not None:
        return None
    if not all(map(_writing_limits, (case.slower, case.faster))):
        return None
    return State.NOT_SEPARABLE, statement(
        "The disks also write during lookups, and they limit the copies of both sides: only the "
        "trial lookup would show whether lookups make the difference."
    )


def _cpus_may_explain_it(judged: Judged) -> _Outcome:
    """Leave a cause open where waiting for CPUs is not recorded, and may be all of its part."""
    case, parts = judged.case, judged.rule.acts_through
    at_most = case.share_at_most(parts) if parts else None
    if at_most is None or any(part.kind is Kind.WAITING for part in parts):
        return None
    about_ns, at_most_ns = case.waits_longer_ns(parts)
    more = case.share_of(at_most_ns - about_ns)
    if more is None or is_enough(at_most - more):
        return None
    return State.NOT_SEPARABLE, statement(
        "Others kept the slower side's CPUs busier. How long its operations waited for one is not "
        "recorded, and may be all of this."
    )


# What is held against a supported cause, in this order.
_ROWS: tuple[Callable[[Judged], _Outcome], ...] = (
    _sides_object,
    _parts_are_too_small,
    _predicts_too_little,
    lambda judged: judge_workers(judged.rule, judged.effect, judged.case),
    _trial_refutes,
    _memory_refutes,
    _lookups_need_a_trial,
    _cpus_may_explain_it,
)


def _writing_limits(side: Side) -> bool:
    """Return whether the copies wait for what they write."""
    written, blocked = (side.mean(read) or 0.0 for read in (written_share, _blocked_share))
    return written >= _WRITES_SHARE and blocked >= WAITS_SHARE


def _blocked_share(run: Run) -> float | None:
    """Return the share of a retrieve in which its copy is blocked, or something waits for I/O."""
    blocked_ns, mean_ns = run.blocked_ns, run.known_mean_ns
    return io_wait_share(run) if blocked_ns is None or not mean_ns else blocked_ns / mean_ns
