# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The answer: a sentence for each candidate, with its cause and what to try."""

from dataclasses import dataclass

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import Comparison, Verdict
from io_benchmark.number_text import interval, percent, ratio
from io_benchmark.report.content.hypotheses import explain
from io_benchmark.report.content.report_index import (
    BASELINE,
    NO_VERDICT,
    MeasuredSide,
    MeasuredSubject,
)


@dataclass(frozen=True)
class PoolAnswer:
    """`lead` is what to read if one reads nothing else; `verdict` is NO_VERDICT where refused."""

    candidate: str
    verdict: str
    lead: str
    rest: str
    attempt: str  # "Try: …", or nothing
    marks: tuple[int, ...]
    comparison: Comparison | None = None
    explained: bool = False  # the rest has a cause
    reason: str = ""  # why there is no verdict

    @property
    def after_lead(self) -> str:
        return " ".join(filter(None, (self.rest, self.attempt)))


@dataclass(frozen=True)
class AnsweredSubject:
    """One measurement and its answers."""

    part: MeasuredSubject
    answers: tuple[PoolAnswer, ...]


def answer(part: MeasuredSubject, margin_ratio: float) -> AnsweredSubject:
    """Write an answer for each candidate of one measurement."""
    has_baseline = any(side.side == part.baseline for side in part.sides)
    return AnsweredSubject(
        part,
        tuple(
            _refused(side, part.baseline, has_baseline)
            if side.comparison is None
            else _decided(side, side.comparison, margin_ratio)
            for side in part.all_sides
            if side.verdict != BASELINE
        ),
    )


def _decided(side: MeasuredSide, comparison: Comparison, margin_ratio: float) -> PoolAnswer:
    lead, rest = _verdict_text(comparison, margin_ratio)
    if side.median_ratio is not None:
        rest += (
            f", {ratio(side.median_ratio)} by the median, which varies less where nothing waits for "
            "a disk"
        )
    attempt = ""
    if side.diagnosis is not None:
        cause, attempt = explain(side.diagnosis)
        rest += f": {cause}."
    elif comparison.verdict is Verdict.INCONCLUSIVE and comparison.advice is not None:
        rest += f"; {_advice_text(comparison.advice.workers_to_add)}."
    else:
        rest += "."
    return PoolAnswer(
        side.side,
        side.verdict,
        lead,
        rest,
        attempt,
        side.answer_marks,
        comparison,
        explained=side.diagnosis is not None,
    )


def _advice_text(workers_to_add: int | None) -> str:
    if workers_to_add is None:
        return "more workers would not settle it"
    workers = "worker" if workers_to_add == 1 else "workers"
    return f"{workers_to_add:,} more {workers} per pool should settle it"


def _verdict_text(comparison: Comparison, margin_ratio: float) -> tuple[str, str]:
    candidate, baseline = comparison.candidate, comparison.baseline
    times = ratio(comparison.ratio)
    bounds = interval(comparison.interval.low_ratio, comparison.interval.high_ratio)
    around = f"({percent(LEVEL)} interval {bounds})"
    match comparison.verdict:
        case Verdict.SLOWER:
            return f"{candidate} is {times} slower than {baseline}", around
        case Verdict.FASTER:
            return f"{candidate} is faster than {baseline}", f"at {times} its time {around}"
        case Verdict.EQUIVALENT:
            lead = f"{candidate} is equivalent to {baseline}"
            return lead, f"within ±{percent(margin_ratio)}: {times} its time {around}"
        case Verdict.INCONCLUSIVE:
            return f"{candidate} compared with {baseline} is inconclusive", f"at {times} {around}"


def _refused(side: MeasuredSide, baseline: str, has_baseline: bool) -> PoolAnswer:
    lead = f"{side.side} compared with {baseline}: {NO_VERDICT},"
    if side.refused_by:
        reason = f"refused by {', '.join(side.refused_by)}"
    elif not has_baseline:
        reason = f"because {baseline} has no samples of this"
    else:
        reason = "because they were not compared"
    return PoolAnswer(
        side.side, NO_VERDICT, lead, f"{reason}.", "", side.answer_marks, reason=reason
    )
