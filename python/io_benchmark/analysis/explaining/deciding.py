# SPDX-License-Identifier: MPL-2.0
"""The state of each cause: by its rule, then by the first row of a table that speaks against it.

Some causes are known by a setting alone: one value is slower, but nobody knows by how much. Such a
setting may cost much or nothing, so it is never supported: another cause of the same part may
explain all of the difference, and so may something that no worker can record, such as a cap of the
cloud. Other causes are supported only because nothing else differs. They are the first ones to be
withdrawn.

A trial shows through what the difference arises, such as write bandwidth, and not which setting
lies behind it. So a cause is confirmed only where it alone is supported among those that the trial
tries.
"""

import math
from collections.abc import Mapping, Sequence

from io_benchmark.analysis.explaining.against import Judged
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.causes import RULES
from io_benchmark.analysis.explaining.effects import Fact, Proof, is_enough
from io_benchmark.analysis.model.cause import Cause, State, TrialOutcome, TrialState
from io_benchmark.analysis.model.statements import Statement, ratio_of, share, statement
from io_benchmark.analysis.model.time_parts import Part
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.workloads.cache_retrieve import TrialKind

# Where the destination's flush is the cause, a pace adds to the faster side what it does not do.
_ORDER = (TrialKind.EXCLUDED, TrialKind.LOOKUP, TrialKind.UNLINK, TrialKind.PACE)
_POSSIBLE = (State.SUPPORTED, State.NOT_SEPARABLE)


def judge(case: Case, trials: Sequence[TrialOutcome] = ()) -> tuple[Cause, ...]:
    """Judge every cause that may explain the case; without a ratio none is supported."""
    # A pace limits what is written.
    left_out = (TrialKind.PACE,) if case.mostly_reads else ()
    outcomes: Mapping[TrialKind | None, TrialOutcome] = {
        trial.kind: trial for trial in trials if trial.kind not in left_out
    }
    judged = [Judged.alone(rule, case, outcomes) for rule in RULES if rule.applies(case)]
    supported = [cause for cause in judged if cause.is_supported]
    separated = [_separate(cause, supported) for cause in judged]
    return tuple(map(_cause, _confirm(separated)))


def _separate(judged: Judged, supported: Sequence[Judged]) -> Judged:
    """Return a supported cause that has a rival, or no size, as not separable."""
    if not judged.is_supported or judged.proof is Proof.COST:
        return judged
    # Only this trial changes nothing but one cause.
    is_tried = judged.rule.tried_by is TrialKind.EXCLUDED
    if is_tried and judged.shown(TrialState.CONFIRMED) is not None:
        return judged
    has_no_size = judged.proof is Proof.SETTING and judged.effect.size is None
    rivals = [
        rival.rule.name
        for rival in supported
        if rival.rule is not judged.rule
        # A leftover is a rival only of a setting without a size, which may cost nothing.
        and (has_no_size or rival.proof is not Proof.LEFTOVER)
        and _matters(judged.rule.acts_through & rival.rule.acts_through, judged.case)
    ]
    if not rivals and not has_no_size:
        return judged
    reason = (
        "it acts through the same part of the time as {rivals}: only a run with this alone changed "
        "would separate them."
        if rivals
        else "what no worker records, such as a cap of the cloud, acts through the same part of "
        "the time: only a run with this alone changed would show it."
    )
    template = f"Nothing shows how much this costs, and {reason}"
    return judged.now(State.NOT_SEPARABLE, statement(template, rivals=", ".join(rivals)))


def _matters(parts: frozenset[Part], case: Case) -> bool:
    at_most = case.share_at_most(parts) if parts else 0.0
    return at_most is None or is_enough(at_most)


def _confirm(judged: Sequence[Judged]) -> Sequence[Judged]:
    """Return the causes, with what the first trial that confirms something confirmed."""
    for kind in _ORDER:
        alike = [cause for cause in judged if cause.rule.tried_by is kind]
        possible = [cause for cause in alike if cause.state in _POSSIBLE]
        outcome = possible[0].shown(TrialState.CONFIRMED) if possible else None
        if outcome is not None:
            return [_confirmed(cause, possible, outcome) for cause in judged]
    return judged


def _confirmed(judged: Judged, possible: Sequence[Judged], outcome: Statement) -> Judged:
    supported = [rival for rival in possible if rival.is_supported]
    if judged not in (supported or possible):
        return judged
    is_alone = supported == [judged]
    judged = judged.now(State.CONFIRMED if is_alone else judged.state, outcome)
    rivals = ", ".join(rival.rule.name for rival in possible if rival.rule is not judged.rule)
    if not rivals:
        return judged
    template = "The trial does not tell this from {others}"
    template += "." if is_alone else ": only a run with one of them changed would."
    return judged.now(judged.state, statement(template, others=rivals))


def _cause(judged: Judged) -> Cause:
    rule, effect, case, state = judged.rule, judged.effect, judged.case, judged.state
    baseline_evidence, candidate_evidence = effect.evidence.read()
    explained, predicted, reasons = None, None, judged.reasons
    at_most = case.explained_at_most(rule.acts_through)
    size = effect.size if state.holds else None
    if size is not None and case.ratio is not None:
        predicted = case.in_direction(size.times)
        explained = min(at_most, max(0.0, math.log(predicted) / math.log(case.ratio)))
        template = "Predicted {predicted}, measured {measured}: this explains {share}."
        if size.is_measured:
            template = "This makes {predicted} of the measured {measured}: {share}."
        sentence = statement(
            template,
            measured=ratio_of(case.ratio),
            predicted=ratio_of(predicted),
            share=share(explained),
        )
        reasons = (*reasons, sentence)
    return Cause(
        name=rule.name,
        hypothesis=(case.system == WINDOWS and rule.on_windows) or rule.hypothesis,
        state=state,
        baseline_evidence=baseline_evidence,
        candidate_evidence=candidate_evidence,
        explanation=reasons,
        predicted_ratio=predicted,
        share=explained,
        share_at_most=at_most if state is State.SUPPORTED else None,
        workload=effect.workload if state is State.NOT_OBSERVABLE else None,
        is_shared=effect.fact is Fact.SHARED and state is State.RULED_OUT,
        tried_by=rule.tried_by,
    )
