# SPDX-License-Identifier: MPL-2.0
"""The state of each cause: what its rule says of it is held to further facts, one step after the other.

1. The parts of the time that it acts through, and what it predicts, must be a large enough share.
2. The workers that have it must be the slow ones (`worker_facts.py`).
3. A trial that takes it away and leaves the difference refutes it.
4. It must be separable from other causes of the same part of the time. Some causes are known by a
   setting alone: one value is slower, but nobody knows by how much. Such a setting may cost much or
   nothing, so it is never supported: another cause of the same part may explain all of the difference,
   and so may something that no worker can record, such as a cap of the cloud. Other causes are supported
   only because nothing else differs. They are the first ones to be withdrawn.
5. A trial that takes it away with the difference confirms it. A trial shows through what the difference
   arises, such as write bandwidth, and not which setting lies behind it. So a cause is confirmed only
   where it alone is supported among those that the trial tries.
"""

import math
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.diagnosis.rules import CauseRule, Judgement, is_enough, part
from io_benchmark.analysis.diagnosis.worker_facts import hold_to_workers
from io_benchmark.analysis.model import Cause, State
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.observed.worker_view import WAITS_SHARE, View
from io_benchmark.analysis.parts.time_parts import Kind, Part, Phase
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.analysis.trials.trial_model import TrialOutcome, TrialState
from io_benchmark.results.trials import TrialKind

# Less than this of the bytes copied is what the page cache absorbs.
_WRITES_SHARE = 0.2
_WRITTEN_SHARE = attrgetter("written_share")
# Where the destination's flush is the cause, a pace adds to the faster side what it does not do.
_ORDER = (TrialKind.LOOKUP, TrialKind.UNLINK, TrialKind.PACE)
_POSSIBLE = (State.SUPPORTED, State.NOT_SEPARABLE)

_Outcomes = Mapping[TrialKind, TrialOutcome]


class _Judged(NamedTuple):
    rule: CauseRule
    judgement: Judgement


def judge(case: Case, trials: Sequence[TrialOutcome] = ()) -> tuple[Cause, ...]:
    """Judge every cause that may explain the case; without a ratio none is supported."""
    tried = {outcome.kind: outcome for outcome in trials}
    judged = []
    for rule in RULES:
        if case.subject.workload in rule.explains:
            judgement = _hold_to_parts(rule.judge(case), rule, case)
            judgement = hold_to_workers(judgement, rule, case)
            judged.append(_Judged(rule, _refute(judgement, rule, tried, case)))
    supported = [each for each in judged if each.judgement.state is State.SUPPORTED]
    judged = [_Judged(each.rule, _separate(each, supported, case)) for each in judged]
    return tuple(_cause(each, case) for each in _confirm(judged, tried))


def _hold_to_parts(judgement: Judgement, rule: CauseRule, case: Case) -> Judgement:
    """Rule a supported cause out where its parts of the time, or its prediction, make up too little.

    Where the workers recorded those parts, and they hardly differ, or differ the other way, no fact
    that differs makes it a cause. What was not recorded may belong to any cause.
    """
    if judgement.state is not State.SUPPORTED:
        return judgement
    at_most = case.share_at_most(rule.acts_through) if rule.acts_through else None
    if at_most is not None and not is_enough(at_most):
        parts = case.parts_of_workload(rule.acts_through)
        ordered = [Part(phase, kind) for phase in Phase for kind in Kind]
        return judgement.evidence.ruled_out(
            "The sides differ in this, but the parts of the time that it acts through ({parts}) make up "
            "{share} of the difference.",
            parts=", ".join(f"{each.phase} {each.kind}" for each in ordered if each in parts),
            share=Quantity(at_most, Unit.SHARE),
        )
    predicted, ratio = judgement.predicted_ratio, case.ratio
    if judgement.is_part or not predicted or not ratio:
        return judgement
    explained = math.log(predicted) / math.log(ratio)
    if is_enough(explained):
        return judgement
    return judgement.evidence.ruled_out(
        "The sides differ in this, but it predicts {predicted} of the measured {measured}: {share} of "
        "the difference.",
        predicted=Quantity(predicted, Unit.RATIO),
        measured=Quantity(ratio, Unit.RATIO),
        share=part(explained),
    )


def _refute(judgement: Judgement, rule: CauseRule, trials: _Outcomes, case: Case) -> Judgement:
    """Refute a cause whose trial left the difference; leave lookups open that need a trial."""
    outcome = trials.get(rule.tried_by) if rule.tried_by is not None else None
    if rule.tried_by is None or judgement.state not in _POSSIBLE:
        return judgement
    if outcome is not None and outcome.state is TrialState.REFUTED:
        if outcome.kind is not TrialKind.UNLINK:
            return judgement.now(State.REFUTED, _sentence(outcome))
        reason = statement(
            "{found} This refutes the remedy only: copies that wait for something else, and a removed file "
            "that is being written already, look the same.",
            found=_sentence(outcome),
        )
        return judgement.now(State.NOT_SEPARABLE, reason)
    is_confirmed = outcome is not None and outcome.state is TrialState.CONFIRMED
    # With fidelity real, tools copy as well.
    in_copies = any(each.phase is Phase.COPY for each in rule.acts_through)
    is_about_lookups = rule.tried_by is TrialKind.LOOKUP and not (
        in_copies and case.subject.fidelity == "real"
    )
    if (
        is_about_lookups
        and not is_confirmed
        and all(map(_writing_limits, (case.slower, case.faster)))
    ):
        reason = statement(
            "The disks also write during lookups, and they limit the copies of both sides: only the "
            "trial lookup would show whether lookups make the difference."
        )
        return judgement.now(State.NOT_SEPARABLE, reason)
    return judgement


def _sentence(outcome: TrialOutcome) -> Statement:
    """Return what came out of a trial, with its number."""
    found = statement("Trial {kind}: {meaning}", kind=outcome.kind.value, meaning=outcome.meaning)
    if outcome.share is None:
        return found
    return statement(
        "{found} It explains {share} of the gap.", found=found, share=part(outcome.share)
    )


def _writing_limits(side: SideViews) -> bool:
    """Return whether the copies wait for what they write."""
    written, blocked = side.mean(_WRITTEN_SHARE), side.mean(_blocked_share)
    if written is None or blocked is None:
        return False
    return written >= _WRITES_SHARE and blocked >= WAITS_SHARE


def _blocked_share(view: View) -> float | None:
    """Return how much of a retrieve its copy is blocked, or something on the machine waits for I/O."""
    if view.blocked_ns is None or not view.mean_ns:
        return view.io_wait_share
    return view.blocked_ns / view.mean_ns


def _separate(judged: _Judged, supported: Sequence[_Judged], case: Case) -> Judgement:
    """Return a supported cause that has a rival, or no size, as not separable."""
    rule, judgement = judged
    is_sized = judgement.predicted_ratio is not None
    by_setting = judgement.by_setting_alone or (rule.by_setting_alone and not is_sized)
    if judgement.state is not State.SUPPORTED or not (by_setting or judgement.is_leftover):
        return judgement
    has_no_size = by_setting and not is_sized
    rivals = [
        rival.rule.name
        for rival in supported
        if rival.rule is not rule
        # A leftover is a rival only of a setting without a size, which may cost nothing.
        and (has_no_size or not rival.judgement.is_leftover)
        and _matters(rule.acts_through & rival.rule.acts_through, case)
    ]
    if rivals:
        reason = statement(
            "Nothing shows how much this costs, and it acts through the same part of the time as "
            "{rivals}: only a run with this alone changed would separate them.",
            rivals=", ".join(rivals),
        )
        return judgement.now(State.NOT_SEPARABLE, reason)
    if has_no_size:
        reason = statement(
            "Nothing shows how much this costs, and what no worker records, such as a cap of the cloud, "
            "acts through the same part of the time: only a run with this alone changed would show it."
        )
        return judgement.now(State.NOT_SEPARABLE, reason)
    return judgement


def _matters(parts: frozenset[Part], case: Case) -> bool:
    """Return whether the parts that two causes have in common matter for the difference."""
    share = case.share_at_most(parts) if parts else 0.0
    return share is None or is_enough(share)


def _confirm(judged: Sequence[_Judged], trials: _Outcomes) -> list[_Judged]:
    """Return the judgements, with what the first trial that confirms something confirmed."""
    for kind in _ORDER:
        outcome = trials.get(kind)
        if outcome is None or outcome.state is not TrialState.CONFIRMED:
            continue
        tried = [
            each
            for each in judged
            if each.rule.tried_by is kind and each.judgement.state in _POSSIBLE
        ]
        if tried:
            return [_confirmed(each, tried, outcome) if each in tried else each for each in judged]
    return list(judged)


def _confirmed(each: _Judged, tried: Sequence[_Judged], outcome: TrialOutcome) -> _Judged:
    rule, judgement = each
    supported = [rival for rival in tried if rival.judgement.state is State.SUPPORTED]
    if supported and each not in supported:
        return each
    judgement = replace(judgement, explanation=(*judgement.explanation, _sentence(outcome)))
    is_alone = supported == [each]
    rivals = ", ".join(rival.rule.name for rival in tried if rival is not each)
    if rivals and is_alone:
        judgement = judgement.also("The trial does not tell this from {others}.", others=rivals)
    elif rivals:
        template = (
            "The trial does not tell this from {others}: only a run with one of them changed would."
        )
        judgement = judgement.also(template, others=rivals)
    return _Judged(rule, replace(judgement, state=State.CONFIRMED) if is_alone else judgement)


def _cause(judged: _Judged, case: Case) -> Cause:
    rule, judgement = judged
    baseline_evidence, candidate_evidence = judgement.evidence.read()
    share, at_most = None, case.explained_at_most(rule.acts_through)
    measured, predicted = case.ratio, judgement.predicted_ratio
    if judgement.state.holds and measured and measured != 1 and predicted and predicted > 0:
        share = min(at_most, max(0.0, math.log(predicted) / math.log(measured)))
        template = "Predicted {predicted}, measured {measured}: this explains {share}."
        if judgement.is_part:
            template = "This makes {predicted} of the measured {measured}: {share}."
        judgement = judgement.also(
            template,
            measured=Quantity(measured, Unit.RATIO),
            predicted=Quantity(predicted, Unit.RATIO),
            share=Quantity(share, Unit.SHARE),
        )
    return Cause(
        name=rule.name,
        hypothesis=rule.hypothesis,
        state=judgement.state,
        baseline_evidence=baseline_evidence,
        candidate_evidence=candidate_evidence,
        explanation=judgement.explanation,
        predicted_ratio=predicted,
        share=share,
        share_at_most=at_most if judgement.state is State.SUPPORTED else None,
        workload=judgement.workload,
        is_shared=judgement.is_shared,
        tried_by=rule.tried_by,
    )
