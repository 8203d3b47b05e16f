# SPDX-License-Identifier: MPL-2.0
"""The sides of a report's measurements, each with everything that is written about it."""

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from io_benchmark.analysis.model.cause import Diagnosis
from io_benchmark.analysis.model.comparison import DIFFERENT, Comparison, Severity
from io_benchmark.analysis.model.figures import Division
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.report.blocks import BASELINE, NO_VERDICT, NOISE

_ROUNDING = 0.01  # two ratios of figures with three digits each may differ by this much


class SideResult(Struct, frozen=True):
    name: str
    part: SubjectReport
    baseline: str
    verdict: str  # BASELINE, a Verdict's value, NO_VERDICT or NOISE
    comparison: Comparison | None = None
    diagnosis: Diagnosis | None = None  # explains the difference
    division: Division | None = None  # of the difference into parts, if there are several
    refused_by: tuple[str, ...] = ()  # rules; empty where it is compared

    @property
    def subject(self) -> Subject:
        return self.part.subject

    @property
    def differs(self) -> bool:
        return self.verdict in DIFFERENT

    @property
    def workers(self) -> Sequence[int]:
        """Return the workers of the candidate and the baseline at the look that decides."""
        at_look = None if self.comparison is None else self.comparison.workers
        return at_look or [self.part.workers(name) for name in (self.name, self.baseline)]

    @property
    def rank(self) -> tuple[bool, float]:
        """Explained differences come first, then large ones, on a logarithmic scale."""
        difference = 0.0 if self.comparison is None else abs(math.log(self.comparison.ratio))
        return self.diagnosis is not None, difference


def leader(sides: Sequence[SideResult]) -> SideResult:
    """Return the first statement about a pool: the largest difference of the first workload.

    A difference that is explained comes before larger ones.
    """
    different = [side for side in sides if side.differs]
    if different:
        workload = different[0].subject.workload
        same = (side for side in different if side.subject.workload == workload)
        return max(same, key=lambda side: side.rank)
    return next((side for side in sides if side.comparison is not None), sides[0])


def sides_of(report: Report) -> list[SideResult]:
    """Return the sides of all measurements, in the order of the report."""
    compared = ((explained_by(line, report), line) for line in report.diagnoses)
    explained = {
        (comparison.subject, diagnosis.candidate): diagnosis
        for comparison, diagnosis in compared
        if comparison is not None and comparison.verdict in DIFFERENT
    }
    return [side for part in report.subjects for side in _sides(report, part, explained)]


def explained_by(diagnosis: Diagnosis, report: Report) -> Comparison | None:
    """Return the comparison that a diagnosis is about; None if there is none."""
    comparisons = (
        comparison
        for part in report.subjects
        if diagnosis.subject in (None, part.subject)
        for comparison in part.comparisons
        if comparison.candidate == diagnosis.candidate
    )
    return next(comparisons, None)


def by_pool(sides: Sequence[SideResult]) -> list[list[SideResult]]:
    candidates = (side for side in sides if side.verdict != BASELINE)
    return list(grouped(candidates, lambda side: side.name).values())


def compared_ns(part: SubjectReport) -> dict[str, tuple[float, ...]]:
    """Return the means that ratios are of, by side; none where the averages give the same."""
    by_side: dict[str, dict[float, None]] = {}
    agreed = True
    for comparison in part.comparisons:
        if comparison.means_ns is not None:
            names = (comparison.candidate, comparison.baseline)
            for name, mean_ns in zip(names, comparison.means_ns, strict=True):
                by_side.setdefault(name, {})[mean_ns] = None
            over, under = (part.figures[name].mean_ns for name in names)
            agreed &= abs(over / under / comparison.ratio - 1) <= _ROUNDING
    return {} if agreed else {side: tuple(means) for side, means in by_side.items()}


def _sides(
    report: Report, part: SubjectReport, explained: Mapping[tuple[Subject, str], Diagnosis]
) -> Iterator[SideResult]:
    refused = [
        problem
        for problem in report.problems
        if problem.severity is Severity.REFUSED and problem.subject in (None, part.subject)
    ]
    comparisons = {comparison.candidate: comparison for comparison in part.comparisons}
    divisions = {line.candidate: line for line in part.divisions if len(line.parts) > 1}
    # Before and after: each pool has a separate baseline.
    baselines = {comparison.baseline for comparison in part.comparisons} | {report.baseline}
    for name in dict.fromkeys([*part.figures, *(side for line in refused for side in line.sides)]):
        comparison = comparisons.get(name)
        if comparison is not None:
            baseline = comparison.baseline
            verdict = NOISE if report.is_only_noise else comparison.verdict.value
            diagnosis, division = explained.get((part.subject, name)), divisions.get(name)
            yield SideResult(name, part, baseline, verdict, comparison, diagnosis, division)
        else:
            rules = dict.fromkeys(
                problem.rule
                for problem in refused
                if not problem.sides or {name, report.baseline}.intersection(problem.sides)
            )
            verdict = BASELINE if name in baselines else NO_VERDICT
            yield SideResult(name, part, report.baseline, verdict, refused_by=tuple(rules))
