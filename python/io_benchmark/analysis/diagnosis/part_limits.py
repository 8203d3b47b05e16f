# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A cause explains at most the part of the difference that it acts through.

Each cause declares its parts of an operation's time. Where the workers recorded those parts, a cause
whose parts hardly differ, or differ the other way, is ruled out with the number, whatever fact
differs. What was not recorded may belong to any cause.
"""

import math

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule, is_enough, part
from io_benchmark.analysis.model import State
from io_benchmark.analysis.parts.time_parts import Kind, Part, Phase
from io_benchmark.analysis.statements import Quantity, Unit, share, statement


def hold_to_parts(judgement: CauseJudgement, rule: CauseRule, case: Case) -> CauseJudgement:
    """Rule a supported cause out where its parts of the time, or its prediction, make up too little."""
    if judgement.state is not State.SUPPORTED:
        return judgement
    at_most = case.share_at_most(rule.acts_through) if rule.acts_through else None
    if at_most is None or is_enough(at_most):
        return _hold_to_size(judgement, case)
    reason = statement(
        "The sides differ in this, but the parts of the time that it acts through ({parts}) make up "
        "{share} of the difference.",
        parts=_named(case.parts_of_workload(rule.acts_through)),
        share=share(at_most),
    )
    return judgement.now(State.RULED_OUT, reason)


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
