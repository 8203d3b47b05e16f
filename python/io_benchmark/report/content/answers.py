# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The answer in words: a sentence for each candidate, its cause, and what to try."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from io_benchmark.analysis.model import (
    Cause,
    Comparison,
    Diagnosis,
    Problem,
    Remedy,
    Severity,
    State,
    Subject,
    Verdict,
)
from io_benchmark.analysis.report_model import Report, SubjectReport
from io_benchmark.report.content import bottleneck_rows
from io_benchmark.report.content.footnotes import Footnotes, concerns
from io_benchmark.report.content.units import interval, percent, ratio
from io_benchmark.text import clean, name

NO_VERDICT = "no verdict"
# Longer evidence would hide the sentence that it stands in; the table of hypotheses has it.
EVIDENCE_LENGTH = 120
# What evidence says first is what it is about; machine types, figures and counts of workers follow.
_DETAIL = re.compile(r"\s*\([^()]*\)")
_FURTHER = re.compile(r";|, machine type | on [0-9,]+ of [0-9,]+ workers")
# By definition; what each interval is taken at is higher where there are several candidates.
LEVEL = 0.95
DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)


@dataclass(frozen=True)
class Answer:
    """`lead` is what to read if one reads nothing else; `verdict` is NO_VERDICT where refused."""

    candidate: str
    verdict: str
    lead: str
    rest: str
    attempt: str  # "Try: …", or nothing
    marks: tuple[int, ...]
    explained: bool = False  # the rest has a cause

    @property
    def sentence(self) -> str:
        return " ".join(part for part in (self.lead, self.rest, self.attempt) if part)


def of_report(report: Report, footnotes: Footnotes) -> tuple[tuple[Answer, ...], ...]:
    """The answers of each subject, in the report's order."""
    explained = _explained(report)
    refused = tuple(problem for problem in report.problems if problem.severity is Severity.REFUSED)
    return tuple(
        _of_subject(report.baseline, part, at, explained, refused, footnotes, report.margin_ratio)
        for at, part in enumerate(report.subjects)
    )


def _of_subject(
    baseline: str,
    part: SubjectReport,
    at: int,
    explained: Mapping[tuple[int, str], Diagnosis],
    refused: Sequence[Problem],
    footnotes: Footnotes,
    margin_ratio: float,
) -> tuple[Answer, ...]:
    here = [problem for problem in refused if concerns(problem, part.subject)]
    comparisons = {comparison.candidate: comparison for comparison in part.comparisons}
    baselines = {comparison.baseline for comparison in part.comparisons} | {baseline}
    sides = [*part.figures, *(side for problem in here for side in problem.sides)]
    answers = []
    for side in dict.fromkeys(sides):
        if side in comparisons:
            comparison = comparisons[side]
            marks = footnotes.of_sides(part.subject, side, comparison.baseline)
            diagnosis = explained.get((at, side))
            median = bottleneck_rows.median_ratio(part, side, comparison.baseline)
            answers.append(_decided(comparison, diagnosis, margin_ratio, marks, median))
        elif side not in baselines:
            marks = footnotes.of_sides(part.subject, side)
            answers.append(_refused(side, baseline, part, here, marks))
    return tuple(answers)


def _decided(
    comparison: Comparison,
    diagnosis: Diagnosis | None,
    margin_ratio: float,
    marks: tuple[int, ...],
    median: float | None,
) -> Answer:
    lead, rest = _verdict_in_words(comparison, margin_ratio)
    if median is not None:
        rest += f", {ratio(median)} {bottleneck_rows.STEADY_MEDIAN}"
    attempt = ""
    if diagnosis is not None:
        rest += f": {_cause_in_words(diagnosis)}."
        if diagnosis.remedies:
            attempt = f"Try: {_remedy_in_words(diagnosis.remedies[0])}."
    elif comparison.verdict is Verdict.INCONCLUSIVE and comparison.advice is not None:
        added = comparison.advice.workers_to_add
        rest += (
            "; repetition would not decide it."
            if added is None
            else f"; {added:,} more {'worker' if added == 1 else 'workers'} a side should decide it."
        )
    else:
        rest += "."
    explained = diagnosis is not None
    verdict = comparison.verdict.value
    return Answer(comparison.candidate, verdict, lead, rest, attempt, marks, explained)


def _verdict_in_words(comparison: Comparison, margin_ratio: float) -> tuple[str, str]:
    candidate, baseline = name(comparison.candidate), name(comparison.baseline)
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
            return f"{candidate} against {baseline} is inconclusive", f"at {times} {around}"


def _cause_in_words(diagnosis: Diagnosis) -> str:
    supported = by_share(
        [cause for cause in diagnosis.causes if cause.state is State.SUPPORTED],
    )
    if not supported:
        return "no cause is supported by what was observed"
    first, others = supported[0], supported[1:]
    words = f"{_difference(first)} {share_in_words(first)}"
    if others:
        words += "; also supported: " + ", ".join(name(cause.name) for cause in others)
    return words


def _difference(cause: Cause) -> str:
    """The gist of both sides' evidence, or where it does not differ or is long, the hypothesis."""
    candidate, baseline = _gist(cause.candidate_evidence), _gist(cause.baseline_evidence)
    short = len(candidate) + len(baseline) <= EVIDENCE_LENGTH
    if candidate and baseline and candidate != baseline and short:
        return f"{candidate} against {baseline}"
    return clean(cause.hypothesis).rstrip(".") or name(cause.name)


def _gist(evidence: str) -> str:
    return _DETAIL.sub("", _FURTHER.split(clean(evidence))[0])


def share_in_words(cause: Cause) -> str:
    if cause.share is None or not math.isfinite(cause.share):
        return f"({name(cause.name)}, supported)"
    if round(cause.share, 2) > 1:
        return f"explains {percent(cause.share)} (over-explained)"
    return f"explains {percent(cause.share)}"


def by_share(causes: Sequence[Cause]) -> list[Cause]:
    """The largest share first; those without one after them, in the order given."""
    return sorted(causes, key=lambda cause: math.inf if cause.share is None else -cause.share)


def _remedy_in_words(remedy: Remedy) -> str:
    return f"{clean(remedy.action).rstrip('.')}{gain_in_words(remedy)}"


def gain_in_words(remedy: Remedy) -> str:
    if remedy.gain_ratio is None or not math.isfinite(remedy.gain_ratio):
        return ""
    return f" ({ratio(remedy.gain_ratio)} faster, {'measured' if remedy.measured else 'predicted'})"


def _refused(
    side: str,
    baseline: str,
    part: SubjectReport,
    refused: Sequence[Problem],
    marks: tuple[int, ...],
) -> Answer:
    rules = dict.fromkeys(
        name(problem.rule)
        for problem in refused
        if not problem.sides or side in problem.sides or baseline in problem.sides
    )
    lead = f"{name(side)} against {name(baseline)}: {NO_VERDICT}"
    if rules:
        rest = f"refused by {', '.join(rules)}."
    elif baseline not in part.figures:
        rest = f"because {name(baseline)} has no samples of this."
    else:
        rest = "because they were not compared."
    return Answer(side, NO_VERDICT, lead + ",", rest, "", marks)


def _explained(report: Report) -> dict[tuple[int, str], Diagnosis]:
    """The answer by whose subject causes were judged has them; else the candidate's first one."""
    found: dict[tuple[int, str], Diagnosis] = {}
    for diagnosis in report.diagnoses:
        compared = compared_on(report, diagnosis)
        if compared is not None and compared[1].verdict in DIFFERENT:
            found[compared[0], diagnosis.candidate] = diagnosis
    return found


def compared_on(report: Report, diagnosis: Diagnosis) -> tuple[int, Comparison] | None:
    """Where the comparison stands that a diagnosis explains, and the comparison."""
    return next(
        (
            (at, comparison)
            for at, part in enumerate(report.subjects)
            for comparison in part.comparisons
            if comparison.candidate == diagnosis.candidate
            and diagnosis.subject in (None, part.subject)
        ),
        None,
    )


def subject_title(subject: Subject) -> str:
    return clean(str(subject))
