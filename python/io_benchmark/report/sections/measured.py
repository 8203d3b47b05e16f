# SPDX-License-Identifier: MPL-2.0
"""A report's measurements and footnotes, each with everything that is written about it.

The report is searched here alone. Sections take these records, not the report.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from io_benchmark.analysis.diagnosis_model import Diagnosis
from io_benchmark.analysis.model import DIFFERENT, MEDIAN, Comparison, Problem, Severity, Subject
from io_benchmark.analysis.observed.machines import grouped
from io_benchmark.analysis.report_model import Report, SubjectReport
from io_benchmark.analysis.side_times import Division
from io_benchmark.number_text import agree, listed, number_of
from io_benchmark.report.blocks import BASELINE, NO_VERDICT, Line, Words
from io_benchmark.report.content import text_of
from io_benchmark.results import workloads

_SIDES_SHOWN = 6


class Footnote(Struct, frozen=True):
    """A warning, about one or more measurements."""

    number: int
    rule: str
    full: str  # with the measurements that it is about, and its explanation
    brief: str
    is_allowed: bool  # by the reader, where the rule refuses
    subjects: frozenset[Subject | None]  # None: every one
    sides: tuple[str, ...]  # empty: all


def _footnotes_of(report: Report) -> list[Footnote]:
    """Return the warnings in the order of the report, numbered."""
    several = len(report.subjects) > 1
    groups = _group_alike(report, is_refused=False)
    return [_footnote(number, alike, several) for number, alike in enumerate(groups, 1)]


def refusals_of(report: Report) -> list[Line]:
    """Return the refusing rules with what they are about, and the message with its consequence."""
    several = len(report.subjects) > 1
    lines: list[Line] = []
    for alike in _group_alike(report, is_refused=True):
        lead = Words(f"REFUSED by {alike[0].rule}", NO_VERDICT)
        lines.append((lead, f" ({_where(alike, several)}): {_refusal(alike[0], report.subjects)}"))
    return lines


def _marks(footnotes: Sequence[Footnote], subject: Subject, *sides: str) -> tuple[int, ...]:
    """Return the numbers of the footnotes that name any of these sides, or without one none."""
    return tuple(
        note.number
        for note in footnotes
        if not note.subjects.isdisjoint((None, subject))
        if (not set(note.sides).isdisjoint(sides) if sides else not note.sides)
    )


class Side(Struct, frozen=True):
    """One side of one measurement."""

    name: str
    subject: Subject
    baseline: str
    verdict: str  # BASELINE, a Verdict's value or NO_VERDICT
    marks: tuple[int, ...]  # footnotes about this side
    answer_marks: tuple[int, ...]  # footnotes about this side or its baseline
    refused_by: tuple[str, ...]  # rules; empty where it is compared
    comparison: Comparison | None = None
    diagnosis: Diagnosis | None = None  # explains the difference
    median_ratio: float | None = None  # where medians vary less than means
    division: Division | None = None  # of the difference into parts, if there are several

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
    all_sides: Sequence[Side]

    @property
    def subject(self) -> Subject:
        return self.part.subject

    @property
    def sides(self) -> list[Side]:
        """Return the sides that have figures, in their order."""
        return [side for side in self.all_sides if side.name in self.part.figures]

    @property
    def candidates(self) -> list[Side]:
        return [side for side in self.all_sides if side.verdict != BASELINE]

    @property
    def compared_ns(self) -> dict[str, tuple[float, ...]]:
        """Return by side the means that ratios are of; none where the averages give the same ratios."""
        by_side: dict[str, dict[float, None]] = {}
        agreed = True
        for comparison in self.part.comparisons:
            if comparison.means_ns is not None:
                names = (comparison.candidate, comparison.baseline)
                for name, mean_ns in zip(names, comparison.means_ns, strict=True):
                    by_side.setdefault(name, {})[mean_ns] = None
                over, under = (self.part.figures[name].mean_ns for name in names)
                agreed &= agree(over / under, comparison.ratio)
        return {} if agreed else {side: tuple(means) for side, means in by_side.items()}

    @property
    def is_undecided(self) -> bool:
        """Return whether no pool is slower, faster or refused."""
        return not any(side.differs or side.verdict == NO_VERDICT for side in self.candidates)


def pools_of(measurements: Sequence[Measurement]) -> list[list[Side]]:
    """Return the measurements of each candidate."""
    sides = [side for measurement in measurements for side in measurement.candidates]
    return list(grouped(sides, lambda side: side.name).values())


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
    comparisons = (
        comparison
        for part in report.subjects
        if diagnosis.subject in (None, part.subject)
        for comparison in part.comparisons
        if comparison.candidate == diagnosis.candidate
    )
    return next(comparisons, None)


def measurements_of(report: Report) -> tuple[list[Measurement], list[Footnote]]:
    """Return the report's measurements, in its order, and the footnotes that they have."""
    footnotes = _footnotes_of(report)
    explained: dict[tuple[Subject, str], Diagnosis] = {}
    for diagnosis in report.diagnoses:
        comparison = explained_comparison(report, diagnosis)
        if comparison is not None and comparison.verdict in DIFFERENT:
            explained[comparison.subject, diagnosis.candidate] = diagnosis
    measurements = [
        Measurement(
            position,
            part,
            report.baseline,
            _marks(footnotes, part.subject),
            _sides(report, part, footnotes, explained),
        )
        for position, part in enumerate(report.subjects)
    ]
    return measurements, footnotes


def _sides(
    report: Report,
    part: SubjectReport,
    footnotes: Sequence[Footnote],
    explained: Mapping[tuple[Subject, str], Diagnosis],
) -> list[Side]:
    refused = [
        problem
        for problem in report.problems
        if problem.severity is Severity.REFUSED and problem.subject in (None, part.subject)
    ]
    comparisons = {comparison.candidate: comparison for comparison in part.comparisons}
    divisions = {
        division.candidate: division for division in part.divisions if len(division.parts) > 1
    }
    # Before and after: each pool has a separate baseline.
    baselines = {comparison.baseline for comparison in part.comparisons} | {report.baseline}
    sides = []
    names = dict.fromkeys([*part.figures, *(side for problem in refused for side in problem.sides)])
    for name in names:
        comparison, baseline, rules = comparisons.get(name), report.baseline, {}
        marks = answer_marks = _marks(footnotes, part.subject, name)
        if comparison is None:
            verdict = BASELINE if name in baselines else NO_VERDICT
            rules = dict.fromkeys(
                problem.rule
                for problem in refused
                if not problem.sides or {name, baseline}.intersection(problem.sides)
            )
        else:
            verdict, baseline = comparison.verdict.value, comparison.baseline
            answer_marks = _marks(footnotes, part.subject, name, baseline)
        sides.append(
            Side(
                *(name, part.subject, baseline, verdict, marks, answer_marks, tuple(rules)),
                comparison,
                explained.get((part.subject, name)),
                _median_ratio(part, comparison),
                divisions.get(name),
            )
        )
    return sides


def _median_ratio(part: SubjectReport, comparison: Comparison | None) -> float | None:
    """Return candidate over baseline, where medians vary little on every side."""
    if comparison is None or not part.median_is_steady:
        return None
    candidate_ns, baseline_ns = (
        part.figures[side].percentiles_ns[MEDIAN]
        for side in (comparison.candidate, comparison.baseline)
    )
    return candidate_ns / baseline_ns if baseline_ns else None


def _refusal(problem: Problem, subjects: Sequence[SubjectReport]) -> str:
    """Return the message, and what follows: without one run, the others of its side are compared."""
    compared = {
        side
        for part in subjects
        if problem.subject in (None, part.subject)
        for comparison in part.comparisons
        for side in (comparison.candidate, comparison.baseline)
    }
    left_out = len(problem.sides) == 1 and compared.issuperset(problem.sides)
    consequence = "This run is left out." if left_out else "No verdict is given."
    return f"{text_of(problem.message).rstrip('.')}. {consequence}"


def _group_alike(report: Report, *, is_refused: bool) -> list[list[Problem]]:
    """Group problems with the same rule, sides and message, which differ in their subject alone.

    Workloads in batches have dozens of measurements, so there one warning represents all of a rule.
    """

    def key(problem: Problem) -> tuple[object, ...]:
        workload = problem.subject.workload if problem.subject is not None else ""
        same = (problem.rule, problem.severity, problem.sides)
        if problem.severity is Severity.WARNING and workload in workloads.IN_BATCHES:
            return same
        return (*same, problem.message, problem.explanation)

    problems = (
        problem
        for problem in report.problems
        if (problem.severity is Severity.REFUSED) is is_refused
    )
    return list(grouped(problems, key).values())


def _footnote(number: int, alike: Sequence[Problem], several_subjects: bool) -> Footnote:
    problem = alike[0]
    is_allowed = problem.severity is Severity.ALLOWED
    allowed = f"allowed by --allow {problem.rule}, " if is_allowed else ""
    message = text_of(problem.message)
    further = len({similar.message for similar in alike}) - 1
    if further:
        message += f", and {number_of(further, 'similar message')}"
    brief = f"{allowed}{_where(alike, several_subjects=False)}: {message}"
    if all(side in message for side in problem.sides):
        brief = allowed + message
    full = f"{allowed}{_where(alike, several_subjects)}: {message}" if several_subjects else brief
    if problem.explanation is not None:
        full += f". {text_of(problem.explanation)}"
    subjects = frozenset(similar.subject for similar in alike)
    return Footnote(number, problem.rule, full, brief, is_allowed, subjects, problem.sides)


def _where(alike: Sequence[Problem], several_subjects: bool) -> str:
    """Return the sides that these problems are about, and the measurements if there are several."""
    sides = listed(alike[0].sides, _SIDES_SHOWN) or "all"
    subjects = list(dict.fromkeys(problem.subject for problem in alike if problem.subject))
    if not several_subjects or not subjects:
        return sides
    if len(subjects) == 1:
        return f"{sides}; {subjects[0]}"
    counts = Counter(subject.workload for subject in subjects).items()
    measurements = (
        f"{workload} ({count:,} measurements)" if count > 1 else workload
        for workload, count in counts
    )
    return f"{sides}; {', '.join(measurements)}"
