# SPDX-License-Identifier: MPL-2.0
"""A report's measurements and their sides, each with everything that is written about it."""

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

# Two ratios of figures with three digits each may differ by this much.
_ROUNDING = 0.01


class SideResult(Struct, frozen=True):
    name: str
    subject: Subject
    baseline: str
    verdict: str  # BASELINE, a Verdict's value, NO_VERDICT or NOISE
    refused_by: tuple[str, ...]  # rules; empty where it is compared
    comparison: Comparison | None = None
    diagnosis: Diagnosis | None = None  # explains the difference
    division: Division | None = None  # of the difference into parts, if there are several

    @property
    def differs(self) -> bool:
        return self.verdict in DIFFERENT

    @property
    def rank(self) -> tuple[bool, float]:
        """Explained differences come first, then large ones, on a logarithmic scale."""
        difference = 0.0 if self.comparison is None else abs(math.log(self.comparison.ratio))
        return self.diagnosis is not None, difference

    @staticmethod
    def leading(sides: "Sequence[SideResult]") -> "SideResult":
        """Return the first statement about a pool: the largest difference of the first workload.

        A difference that is explained comes before larger ones.
        """
        different = [side for side in sides if side.differs]
        if different:
            workload = different[0].subject.workload
            same = (side for side in different if side.subject.workload == workload)
            return max(same, key=lambda side: side.rank)
        return next((side for side in sides if side.comparison is not None), sides[0])


class MeasurementResult(Struct, frozen=True):
    position: int  # in the report
    part: SubjectReport
    all_sides: Sequence[SideResult]

    @classmethod
    def all_of(cls, report: Report) -> "list[MeasurementResult]":
        compared = ((cls.explained_by(line, report), line) for line in report.diagnoses)
        explained = {
            (comparison.subject, diagnosis.candidate): diagnosis
            for comparison, diagnosis in compared
            if comparison is not None and comparison.verdict in DIFFERENT
        }
        return [
            cls(position, part, [*_sides(report, part, explained)])
            for position, part in enumerate(report.subjects)
        ]

    @staticmethod
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

    @staticmethod
    def pools(measurements: "Sequence[MeasurementResult]") -> list[list[SideResult]]:
        sides = (side for measurement in measurements for side in measurement.all_sides)
        candidates = (side for side in sides if side.verdict != BASELINE)
        return list(grouped(candidates, lambda side: side.name).values())

    @property
    def subject(self) -> Subject:
        return self.part.subject

    @property
    def sides(self) -> list[SideResult]:
        return [side for side in self.all_sides if side.name in self.part.figures]

    @property
    def compared_ns(self) -> dict[str, tuple[float, ...]]:
        """Return the means that ratios are of, by side; none where the averages give the same."""
        by_side: dict[str, dict[float, None]] = {}
        agreed = True
        for comparison in self.part.comparisons:
            if comparison.means_ns is not None:
                names = (comparison.candidate, comparison.baseline)
                for name, mean_ns in zip(names, comparison.means_ns, strict=True):
                    by_side.setdefault(name, {})[mean_ns] = None
                over, under = (self.part.figures[name].mean_ns for name in names)
                agreed &= abs(over / under / comparison.ratio - 1) <= _ROUNDING
        return {} if agreed else {side: tuple(means) for side, means in by_side.items()}

    @property
    def is_undecided(self) -> bool:
        """Return whether no pool is slower, faster or refused."""
        return not any(side.differs or side.verdict == NO_VERDICT for side in self.all_sides)


def _sides(
    report: Report, part: SubjectReport, explained: Mapping[tuple[Subject, str], Diagnosis]
) -> Iterator[SideResult]:
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
    for name in dict.fromkeys([*part.figures, *(side for line in refused for side in line.sides)]):
        comparison, baseline = comparisons.get(name), report.baseline
        if comparison is not None:
            verdict, baseline = comparison.verdict.value, comparison.baseline
            if report.is_only_noise:
                verdict = NOISE
            yield SideResult(
                name,
                part.subject,
                baseline,
                verdict,
                refused_by=(),
                comparison=comparison,
                diagnosis=explained.get((part.subject, name)),
                division=divisions.get(name),
            )
        else:
            rules = dict.fromkeys(
                problem.rule
                for problem in refused
                if not problem.sides or {name, baseline}.intersection(problem.sides)
            )
            verdict = BASELINE if name in baselines else NO_VERDICT
            yield SideResult(name, part.subject, baseline, verdict, tuple(rules))
