# SPDX-License-Identifier: MPL-2.0
"""Why one side is slower: hypotheses judged by what both sides' workers observed.

A cause is supported where its fact differs between the sides in the direction of the measured
ratio, ruled out where both sides were seen and that is not so, and otherwise not observable.
Each module declares its causes in `RULES`, and in `ORDER` their position in reports: what is most
often the reason comes first. taskcluster/docs/causes.md has what each cause reads.
"""

import math
import pkgutil
from collections.abc import Sequence
from importlib import import_module

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule
from io_benchmark.analysis.diagnosis.separation import Judged, separate
from io_benchmark.analysis.diagnosis.tried_causes import confirm, refute
from io_benchmark.analysis.diagnosis.worker_facts import hold_to_workers
from io_benchmark.analysis.model import Cause, State
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.analysis.trials.trial_model import TrialOutcome


def _declared() -> tuple[CauseRule, ...]:
    """Return the causes of all modules in this package, in the order of reports."""
    modules = [import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]
    return tuple(
        rule for module in sorted(modules, key=lambda each: each.ORDER) for rule in module.RULES
    )


def judge(case: Case, trials: Sequence[TrialOutcome] = ()) -> tuple[Cause, ...]:
    """Judge every cause that may explain the case; without a ratio none is supported."""
    judged = [
        Judged(rule, hold_to_workers(rule.hold_to_parts(rule.judge(case), case), rule, case))
        for rule in RULES
        if case.subject.workload in rule.explains
    ]
    tried = {outcome.kind: outcome for outcome in trials}
    separated = separate(refute(judged, tried, case), case)
    return tuple(_cause(each, case) for each in confirm(separated, tried))


def _cause(judged: Judged, case: Case) -> Cause:
    rule, judgement = judged
    baseline_evidence, candidate_evidence = judgement.evidence.read()
    share = _share(judged, case)
    return Cause(
        name=rule.name,
        hypothesis=rule.hypothesis,
        state=judgement.state,
        baseline_evidence=baseline_evidence,
        candidate_evidence=candidate_evidence,
        explanation=judgement.explanation + _share_sentences(case.ratio, judgement, share),
        predicted_ratio=judgement.predicted_ratio,
        share=share,
        share_at_most=case.explained_at_most(rule.acts_through)
        if judgement.state is State.SUPPORTED
        else None,
        workload=judgement.workload,
        is_shared=judgement.is_shared,
        tried_by=rule.tried_by,
    )


def _share(judged: Judged, case: Case) -> float | None:
    """Return the part of the difference that is explained, ln(explained) over ln(measured)."""
    ratio, explained = case.ratio, judged.judgement.predicted_ratio
    if not judged.judgement.state.holds or ratio is None or explained is None:
        return None
    if explained <= 0 or ratio == 1:
        return None
    at_most = case.explained_at_most(judged.rule.acts_through)
    return min(at_most, max(0.0, math.log(explained) / math.log(ratio)))


def _share_sentences(
    ratio: float | None, judgement: CauseJudgement, share: float | None
) -> tuple[Statement, ...]:
    if share is None or ratio is None or judgement.predicted_ratio is None:
        return ()
    template = "Predicted {predicted}, measured {measured}: this explains {share}."
    if judgement.is_part:
        template = "This makes {predicted} of the measured {measured}: {share}."
    return (
        statement(
            template,
            measured=Quantity(ratio, Unit.RATIO),
            predicted=Quantity(judgement.predicted_ratio, Unit.RATIO),
            share=Quantity(share, Unit.SHARE),
        ),
    )


RULES = _declared()
