# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A cause explains at most the part of the difference that it acts through.

Each cause declares its parts of an operation's time. Where the workers recorded those parts, a cause
whose parts hardly differ, or differ the other way, is ruled out with the number, whatever fact
differs. What was not recorded may belong to any cause.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule
from io_benchmark.analysis.diagnosis.ranking import is_enough
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, Part, Phase
from io_benchmark.analysis.statements import Quantity, Unit, statement


def hold_to_parts(judgement: CauseJudgement, rule: CauseRule, case: Case) -> CauseJudgement:
    """Rule a supported cause out where the parts that it acts through make up too little."""
    if judgement.state is not State.SUPPORTED or not rule.acts_through:
        return judgement
    share = share_at_most(rule.acts_through, case)
    if share is None or is_enough(share):
        return judgement
    reason = statement(
        "The sides differ in this, but the parts of the time that it acts through ({parts}) make up "
        "{share} of the difference.",
        parts=_named(rule.acts_through, case),
        share=Quantity(share, Unit.SHARE),
    )
    return replace(
        judgement, state=State.RULED_OUT, explanation=(reason,), predicted_ratio=None, is_part=False
    )


def hold_to_size(judgement: CauseJudgement, case: Case) -> CauseJudgement:
    """Rule a supported cause out where its prediction is far too small for the difference."""
    predicted, ratio = judgement.predicted_ratio, case.ratio
    if judgement.state is not State.SUPPORTED or judgement.is_part or not predicted or not ratio:
        return judgement
    share = math.log(predicted) / math.log(ratio)
    if is_enough(share):
        return judgement
    reason = statement(
        "The sides differ in this, but it predicts {predicted} of the measured {measured}: {share} of "
        "the difference.",
        predicted=Quantity(predicted, Unit.RATIO),
        measured=Quantity(ratio, Unit.RATIO),
        share=Quantity(max(share, 0.0), Unit.SHARE),
    )
    return replace(judgement, state=State.RULED_OUT, explanation=(reason,), predicted_ratio=None)


def share_at_most(acts_through: frozenset[Part], case: Case) -> float | None:
    """Return the share of the difference in these parts and in what was not recorded of their phases."""
    division = case.division
    if division is None or not division.difference_ns:
        return None
    if (division.difference_ns > 0) != case.candidate_is_slower:
        return None
    parts = parts_of_workload(acts_through, case)
    unknown = {Part(part.phase, Kind.UNEXPLAINED) for part in parts}
    recorded = division.of(*parts) / division.difference_ns
    return recorded + max(0.0, division.of(*unknown - parts) / division.difference_ns)


def explained_at_most(acts_through: frozenset[Part], case: Case) -> float:
    """Return the share that these parts can explain, as ln(explained) over ln(measured)."""
    share, division = share_at_most(acts_through, case), case.division
    if not acts_through or share is None or division is None:
        return 1.0
    slower_ns = math.fsum(
        part.candidate_ns if case.candidate_is_slower else part.baseline_ns
        for part in division.parts
    )
    whole_ns = abs(division.difference_ns)
    explained_ns = min(max(share, 0.0), 1.0) * whole_ns
    if not 0 < whole_ns < slower_ns:
        return 1.0
    return math.log1p(-explained_ns / slower_ns) / math.log1p(-whole_ns / slower_ns)


def time_in_parts(acts_through: frozenset[Part], case: Case, runs: Sequence[View]) -> float:
    """Return what these parts take of an operation on one machine; all of it where one is unknown."""
    known = [set(view.entry.parts_ns) for view in case.views if view.entry is not None]
    parts = parts_of_workload(acts_through, case)
    if not parts or not all(parts <= each for each in known):
        parts = frozenset().union(*known)
    return fmean(
        math.fsum(view.entry.parts_ns.get(part, 0.0) for part in parts)
        for view in runs
        if view.entry is not None
    )


def parts_of_workload(acts_through: frozenset[Part], case: Case) -> frozenset[Part]:
    """Return the parts of this workload: all but cache-retrieve have a single phase."""
    if case.subject.workload == "cache-retrieve":
        return acts_through
    return frozenset(Part(Phase.OPERATION, part.kind) for part in acts_through)


def _named(acts_through: frozenset[Part], case: Case) -> str:
    parts = parts_of_workload(acts_through, case)
    ordered = [Part(phase, kind) for phase in Phase for kind in Kind]
    return ", ".join(f"{part.phase} {part.kind}" for part in ordered if part in parts)
