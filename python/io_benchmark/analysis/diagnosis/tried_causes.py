# SPDX-License-Identifier: MPL-2.0
"""What trials show about causes: they refute some, and confirm those that facts already support.

A trial shows through what the difference arises, such as write bandwidth, and not which setting lies
behind it. So a cause is confirmed only where it alone is supported among those that the trial tries.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import part
from io_benchmark.analysis.diagnosis.evidence import written_share
from io_benchmark.analysis.diagnosis.separation import Judged
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.observed.worker_view import WAITS_SHARE, View
from io_benchmark.analysis.parts.time_parts import Phase
from io_benchmark.analysis.statements import Statement, statement
from io_benchmark.analysis.trials.trial_model import TrialOutcome, TrialState
from io_benchmark.results.trials import TrialKind

# Less than this of the bytes copied is what the page cache absorbs.
_WRITES_SHARE = 0.2
_ONLY_REMEDY = (
    "{found} This refutes the remedy only: copies that wait for something else, and a removed file that is "
    "being written already, look the same."
)
# Where the destination's flush is the cause, a pace adds to the faster side what it does not do.
_ORDER = (TrialKind.LOOKUP, TrialKind.UNLINK, TrialKind.PACE)

Outcomes = Mapping[TrialKind, TrialOutcome]


def refute(judged: Sequence[Judged], trials: Outcomes, case: Case) -> list[Judged]:
    """Return the judgements, with the causes that a trial refuted and lookups that need one."""
    return [_refuted(each, trials, case) for each in judged]


def _refuted(each: Judged, trials: Outcomes, case: Case) -> Judged:
    judgement, kind = each.judgement, each.rule.tried_by
    if kind is None or judgement.state not in (State.SUPPORTED, State.NOT_SEPARABLE):
        return each
    outcome = trials.get(kind)
    if outcome is not None and outcome.state is TrialState.REFUTED:
        if kind is TrialKind.UNLINK:
            return each.now(State.NOT_SEPARABLE, statement(_ONLY_REMEDY, found=_sentence(outcome)))
        return each.now(State.REFUTED, _sentence(outcome))
    is_confirmed = outcome is not None and outcome.state is TrialState.CONFIRMED
    if _is_about_lookups(each, case) and not is_confirmed and _writing_limits_both(case):
        reason = statement(
            "The disks also write during lookups, and they limit the copies of both sides: only the "
            "trial lookup would show whether lookups make the difference."
        )
        return each.now(State.NOT_SEPARABLE, reason)
    return each


def confirm(judged: Sequence[Judged], trials: Outcomes) -> list[Judged]:
    """Return the judgements, with what each trial confirmed."""
    result = list(judged)
    for kind in _ORDER:
        outcome = trials.get(kind)
        if outcome is None or outcome.state is not TrialState.CONFIRMED:
            continue
        tried = [
            each
            for each in result
            if each.rule.tried_by is kind
            and each.judgement.state in (State.SUPPORTED, State.NOT_SEPARABLE)
        ]
        result = [_confirmed(each, tried, outcome) if each in tried else each for each in result]
        if tried:
            break
    return result


def _confirmed(each: Judged, tried: Sequence[Judged], outcome: TrialOutcome) -> Judged:
    judgement = each.judgement
    supported = [other for other in tried if other.judgement.state is State.SUPPORTED]
    if supported and each not in supported:
        return each
    others = ", ".join(other.rule.name for other in tried if other is not each)
    is_alone = supported == [each]
    explanation = [*judgement.explanation, _sentence(outcome)]
    if others:
        template = "The trial does not tell this from {others}"
        if not is_alone:
            template += ": only a run with one of them changed would"
        explanation.append(statement(f"{template}.", others=others))
    judgement = replace(judgement, explanation=tuple(explanation))
    if is_alone:
        judgement = replace(judgement, state=State.CONFIRMED)
    return each._replace(judgement=judgement)


def _sentence(outcome: TrialOutcome) -> Statement:
    """Return what came out of a trial, with its number."""
    found = statement("Trial {kind}: {meaning}", kind=outcome.kind.value, meaning=outcome.meaning)
    if outcome.share is None:
        return found
    return statement(
        "{found} It explains {share} of the gap.", found=found, share=part(outcome.share)
    )


def _is_about_lookups(each: Judged, case: Case) -> bool:
    """Return whether the cause acts through lookups; with fidelity real, tools copy as well."""
    in_copies = any(part.phase is Phase.COPY for part in each.rule.acts_through)
    is_tried = each.rule.tried_by is TrialKind.LOOKUP
    return is_tried and not (in_copies and case.subject.fidelity == "real")


def _writing_limits_both(case: Case) -> bool:
    return _writing_limits(case.slower) and _writing_limits(case.faster)


def _writing_limits(side: SideViews) -> bool:
    """Return whether the copies wait for what they write."""
    written, blocked = side.mean(written_share), side.mean(_blocked_share)
    if written is None or blocked is None:
        return False
    return written >= _WRITES_SHARE and blocked >= WAITS_SHARE


def _blocked_share(view: View) -> float | None:
    """Return how much of a retrieve its copy is blocked, or something on the machine waits for I/O."""
    if view.blocked_ns is None or not view.mean_ns:
        return view.io_wait_share
    return view.blocked_ns / view.mean_ns
