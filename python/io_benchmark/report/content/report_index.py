# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A report's measurements and diagnoses, each with everything that is written about it.

The report is searched here alone. Tables and sentences take one of these records, not the report.
"""

from collections.abc import Mapping, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.inference import zones
from io_benchmark.analysis.model import (
    DIFFERENT,
    MEDIAN,
    Comparison,
    Diagnosis,
    Figures,
    Problem,
    Severity,
    Subject,
)
from io_benchmark.analysis.parts.division import Division
from io_benchmark.analysis.report_model import NoiseFloor, Report, SideBottleneck, SubjectReport
from io_benchmark.number_text import agree
from io_benchmark.report.content.confirming import how_to_confirm
from io_benchmark.report.content.footnotes import ProblemNotes
from io_benchmark.report.content.statement_text import text_of

BASELINE, NO_VERDICT = "baseline", "no verdict"


class DiagnosedCandidate(Struct, frozen=True):
    """A diagnosis and the comparison that it explains."""

    diagnosis: Diagnosis
    baseline: str
    comparison: Comparison | None
    siblings: tuple[Subject, ...]  # all measurements of the same workload
    leading: bool  # the candidate's first diagnosis

    @classmethod
    def of_report(cls, report: Report) -> tuple[Self, ...]:
        """Return the report's diagnoses, in its order."""
        diagnosed: list[Self] = []
        for diagnosis in report.diagnoses:
            comparison = _explained_comparison(report.subjects, diagnosis)
            leading = all(each.diagnosis.candidate != diagnosis.candidate for each in diagnosed)
            if comparison is None:
                diagnosed.append(cls(diagnosis, report.baseline, None, (), leading))
                continue
            siblings = tuple(
                part.subject
                for part in report.subjects
                if part.subject.workload == comparison.subject.workload
            )
            diagnosed.append(cls(diagnosis, comparison.baseline, comparison, siblings, leading))
        return tuple(diagnosed)


class MeasuredSide(Struct, frozen=True):
    """One side of one measurement."""

    side: str
    verdict: str  # BASELINE, a Verdict's value or NO_VERDICT
    marks: tuple[int, ...]  # footnotes about this side
    answer_marks: tuple[int, ...]  # footnotes about this side or its baseline
    figures: Figures | None = None  # None: refused altogether
    comparison: Comparison | None = None
    diagnosis: Diagnosis | None = None  # explains the difference
    to_confirm: str = ""  # how to confirm a cause of it
    median_ratio: float | None = None  # where medians vary less than means
    division: Division | None = None  # of the difference into parts
    refused_by: tuple[str, ...] = ()
    within_zones: str = ""  # the ratio there, in a sentence


class MeasuredSubject(Struct, frozen=True):
    """One measurement with all its sides."""

    position: int  # in the report
    subject: Subject
    baseline: str
    marks: tuple[int, ...]  # footnotes about every side
    all_sides: tuple[MeasuredSide, ...]
    noise: tuple[NoiseFloor, ...]
    bottlenecks: Mapping[str, SideBottleneck]
    median_is_steady: bool

    @property
    def sides(self) -> tuple[MeasuredSide, ...]:
        """The sides that have figures."""
        return tuple(side for side in self.all_sides if side.figures is not None)

    @property
    def every_mark(self) -> tuple[int, ...]:
        """The footnotes about every side or any that has figures."""
        return tuple(sorted({*self.marks, *(mark for side in self.sides for mark in side.marks)}))

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return tuple(side.comparison for side in self.all_sides if side.comparison is not None)

    @property
    def compared_ns(self) -> dict[str, tuple[float, ...]]:
        """Return by side the means that ratios are of; none where the sides' averages give the same."""
        averages_ns = {side.side: side.figures.mean_ns for side in self.sides if side.figures}
        by_side: dict[str, dict[float, None]] = {}
        agreed = True
        for each in self.comparisons:
            sides = (each.candidate, each.baseline)
            for side, mean_ns in zip(sides, each.means_ns or (), strict=False):
                by_side.setdefault(side, {})[mean_ns] = None
            over, under = (averages_ns[side] for side in sides)
            agreed &= each.means_ns is None or agree(over / under, each.ratio)
        return {} if agreed else {side: tuple(means) for side, means in by_side.items()}

    @staticmethod
    def of_report(
        report: Report, notes: ProblemNotes, diagnosed: Sequence[DiagnosedCandidate]
    ) -> tuple["MeasuredSubject", ...]:
        """Return the report's measurements, in its order."""
        refused = [each for each in report.problems if each.severity is Severity.REFUSED]
        explained = {
            (each.comparison.subject, each.diagnosis.candidate): each.diagnosis
            for each in diagnosed
            if each.comparison is not None and each.comparison.verdict in DIFFERENT
        }
        return tuple(
            _measured_subject(
                report,
                position,
                notes,
                [each for each in refused if each.subject in (None, part.subject)],
                explained,
            )
            for position, part in enumerate(report.subjects)
        )


def _explained_comparison(
    parts: Sequence[SubjectReport], diagnosis: Diagnosis
) -> Comparison | None:
    return next(
        (
            comparison
            for part in parts
            for comparison in part.comparisons
            if comparison.candidate == diagnosis.candidate
            and diagnosis.subject in (None, part.subject)
        ),
        None,
    )


def _measured_subject(
    report: Report,
    position: int,
    notes: ProblemNotes,
    refused: Sequence[Problem],
    explained: Mapping[tuple[Subject, str], Diagnosis],
) -> MeasuredSubject:
    part, baseline = report.subjects[position], report.baseline
    comparisons = {comparison.candidate: comparison for comparison in part.comparisons}
    divisions = {division.candidate: division for division in part.divisions}
    # Before and after: each pool has a separate baseline.
    baselines = {comparison.baseline for comparison in part.comparisons} | {baseline}

    def measured_side(side: str) -> MeasuredSide:
        comparison, marks = comparisons.get(side), notes.marks(part.subject, side)
        if comparison is None:
            return MeasuredSide(
                side,
                BASELINE if side in baselines else NO_VERDICT,
                marks,
                marks,
                part.figures.get(side),
                refused_by=_rules(refused, side, baseline),
            )
        diagnosis = explained.get((part.subject, side))
        return MeasuredSide(
            side,
            comparison.verdict.value,
            marks,
            notes.marks(part.subject, side, comparison.baseline),
            part.figures.get(side),
            comparison,
            diagnosis,
            "" if diagnosis is None else how_to_confirm(report, diagnosis, comparison),
            _median_ratio(part, comparison),
            divisions.get(side),
            within_zones=_within_zones(report.problems, comparison),
        )

    sides = dict.fromkeys([*part.figures, *(side for each in refused for side in each.sides)])
    return MeasuredSubject(
        position=position,
        subject=part.subject,
        baseline=baseline,
        marks=notes.marks(part.subject),
        all_sides=tuple(map(measured_side, sides)),
        noise=part.noise,
        bottlenecks=part.bottlenecks,
        median_is_steady=part.median_is_steady,
    )


def _within_zones(problems: Sequence[Problem], comparison: Comparison) -> str:
    sides = (comparison.baseline, comparison.candidate)
    found = (
        text_of(each.explanation)
        for each in problems
        if each.rule == zones.RULE and each.sides == sides and each.explanation is not None
        if each.subject in (None, comparison.subject)
    )
    return next(found, "")


def _rules(refused: Sequence[Problem], side: str, baseline: str) -> tuple[str, ...]:
    """Return the rules that refuse the comparison of a side with the baseline."""
    rules = (
        problem.rule
        for problem in refused
        if not problem.sides or side in problem.sides or baseline in problem.sides
    )
    return tuple(dict.fromkeys(rules))


def _median_ratio(part: SubjectReport, comparison: Comparison) -> float | None:
    """Return candidate over baseline, where medians vary little on every side."""
    if not part.median_is_steady:
        return None
    baseline_ns = part.figures[comparison.baseline].percentiles_ns[MEDIAN]
    candidate_ns = part.figures[comparison.candidate].percentiles_ns[MEDIAN]
    return candidate_ns / baseline_ns if baseline_ns else None
