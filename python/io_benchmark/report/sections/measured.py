# SPDX-License-Identifier: MPL-2.0
"""A report's measurements, each with everything that is written about its sides.

The report is searched here alone. Sections take these records, not the report.
"""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

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
from io_benchmark.analysis.report_model import Report, SubjectReport
from io_benchmark.number_text import agree
from io_benchmark.report.blocks import BASELINE, NO_VERDICT
from io_benchmark.report.content.confirming import how_to_confirm
from io_benchmark.report.content.footnotes import ProblemNotes
from io_benchmark.report.content.statement_text import text_of


class Side(Struct, frozen=True):
    """One side of one measurement."""

    name: str
    subject: Subject
    baseline: str
    verdict: str  # BASELINE, a Verdict's value or NO_VERDICT
    marks: tuple[int, ...]  # footnotes about this side
    answer_marks: tuple[int, ...]  # footnotes about this side or its baseline
    figures: Figures | None = None  # None: refused altogether
    comparison: Comparison | None = None
    diagnosis: Diagnosis | None = None  # explains the difference
    to_confirm: str = ""  # how to confirm a cause of it
    median_ratio: float | None = None  # where medians vary less than means
    division: Division | None = None  # of the difference into parts, if there are several
    refused_by: tuple[str, ...] = ()
    within_zones: str = ""  # the ratio there, in a sentence
    is_before_after: bool = False  # its baseline is the same pool before a change

    @property
    def differs(self) -> bool:
        return self.verdict in DIFFERENT

    @property
    def difference(self) -> float:
        """Return how far the ratio is from 1, on a logarithmic scale."""
        return 0.0 if self.comparison is None else abs(math.log(self.comparison.ratio))

    @property
    def rank(self) -> tuple[bool, float]:
        """Explained differences come first, then large ones."""
        return self.diagnosis is not None, self.difference


class Measurement(Struct, frozen=True):
    """One measurement with all its sides."""

    position: int  # in the report
    part: SubjectReport
    baseline: str
    marks: tuple[int, ...]  # footnotes about every side
    all_sides: tuple[Side, ...]

    @property
    def subject(self) -> Subject:
        return self.part.subject

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that have figures."""
        return tuple(side for side in self.all_sides if side.figures is not None)

    @property
    def candidates(self) -> tuple[Side, ...]:
        return tuple(side for side in self.all_sides if side.verdict != BASELINE)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return self.part.comparisons

    @property
    def compared_ns(self) -> dict[str, tuple[float, ...]]:
        """Return by side the means that ratios are of; none where the averages give the same ratios."""
        averages_ns = {side.name: side.figures.mean_ns for side in self.sides if side.figures}
        by_side: dict[str, dict[float, None]] = {}
        agreed = True
        for comparison in self.comparisons:
            names = (comparison.candidate, comparison.baseline)
            for name, mean_ns in zip(names, comparison.means_ns or (), strict=False):
                by_side.setdefault(name, {})[mean_ns] = None
            over, under = (averages_ns[name] for name in names)
            agreed &= comparison.means_ns is None or agree(over / under, comparison.ratio)
        return {} if agreed else {side: tuple(means) for side, means in by_side.items()}

    @property
    def is_undecided(self) -> bool:
        """Return whether no pool is slower, faster or refused."""
        return not any(side.differs or side.verdict == NO_VERDICT for side in self.candidates)


def measurements_of(report: Report, notes: ProblemNotes) -> tuple[Measurement, ...]:
    """Return the report's measurements, in its order."""
    explained: dict[tuple[Subject, str], Diagnosis] = {}
    for diagnosis in report.diagnoses:
        comparison = explained_comparison(report, diagnosis)
        if comparison is not None and comparison.verdict in DIFFERENT:
            explained[comparison.subject, diagnosis.candidate] = diagnosis
    return tuple(
        _measurement(report, position, notes, explained) for position in range(len(report.subjects))
    )


def leading_of(sides: Sequence[Side]) -> Side:
    """Return what is said first about a pool: of the first workload that differs, the most different.

    A difference that is explained comes before larger ones.
    """
    different = [side for side in sides if side.differs]
    if different:
        workload = different[0].subject.workload
        same = (side for side in different if side.subject.workload == workload)
        return max(same, key=lambda side: side.rank)
    return next((side for side in sides if side.comparison is not None), sides[0])


def explained_comparison(report: Report, diagnosis: Diagnosis) -> Comparison | None:
    """Return the comparison that a diagnosis is about; None if there is none."""
    return next(
        (
            comparison
            for part in report.subjects
            for comparison in part.comparisons
            if comparison.candidate == diagnosis.candidate
            and diagnosis.subject in (None, part.subject)
        ),
        None,
    )


def _measurement(
    report: Report,
    position: int,
    notes: ProblemNotes,
    explained: Mapping[tuple[Subject, str], Diagnosis],
) -> Measurement:
    part = report.subjects[position]
    refused = [
        problem
        for problem in report.problems
        if problem.severity is Severity.REFUSED and problem.subject in (None, part.subject)
    ]
    names = dict.fromkeys([*part.figures, *(side for problem in refused for side in problem.sides)])
    comparisons = {comparison.candidate: comparison for comparison in part.comparisons}
    divisions = {each.candidate: each for each in part.divisions if len(each.parts) > 1}
    # Before and after: each pool has a separate baseline.
    baselines = {comparison.baseline for comparison in part.comparisons} | {report.baseline}

    def side(name: str) -> Side:
        comparison, marks = comparisons.get(name), notes.marks(part.subject, name)
        baseline = report.baseline if comparison is None else comparison.baseline
        verdict = BASELINE if name in baselines else NO_VERDICT
        side = Side(name, part.subject, baseline, verdict, marks, marks, part.figures.get(name))
        if comparison is None:
            rules = (
                problem.rule
                for problem in refused
                if not problem.sides or {name, baseline}.intersection(problem.sides)
            )
            return replace(side, refused_by=tuple(dict.fromkeys(rules)))
        diagnosis = explained.get((part.subject, name))
        return replace(
            side,
            verdict=comparison.verdict.value,
            answer_marks=notes.marks(part.subject, name, baseline),
            comparison=comparison,
            diagnosis=diagnosis,
            to_confirm="" if diagnosis is None else how_to_confirm(report, diagnosis, comparison),
            median_ratio=_median_ratio(part, comparison),
            division=divisions.get(name),
            within_zones=_within_zones(report.problems, comparison),
            is_before_after=baseline != report.baseline,
        )

    sides = tuple(map(side, names))
    return Measurement(position, part, report.baseline, notes.marks(part.subject), sides)


def _within_zones(problems: Sequence[Problem], comparison: Comparison) -> str:
    sides = (comparison.baseline, comparison.candidate)
    texts = (
        text_of(problem.explanation)
        for problem in problems
        if problem.rule == zones.RULE and problem.sides == sides and problem.explanation is not None
        if problem.subject in (None, comparison.subject)
    )
    return next(texts, "")


def _median_ratio(part: SubjectReport, comparison: Comparison) -> float | None:
    """Return candidate over baseline, where medians vary little on every side."""
    if not part.median_is_steady:
        return None
    baseline_ns = part.figures[comparison.baseline].percentiles_ns[MEDIAN]
    candidate_ns = part.figures[comparison.candidate].percentiles_ns[MEDIAN]
    return candidate_ns / baseline_ns if baseline_ns else None
