# SPDX-License-Identifier: MPL-2.0
"""One measurement on its way through a comparison; each stage returns it with more filled in."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from io_benchmark.analysis.model.comparison import (
    DIFFERENT,
    Comparison,
    Problem,
    PushVariation,
    Verdict,
    WorkerVariation,
)
from io_benchmark.analysis.model.figures import Division, Figures, SideStorage
from io_benchmark.analysis.model.looks import Look, Schedule
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.subject import Subject


class SubjectReport(Struct, frozen=True):
    subject: Subject
    figures: Mapping[str, Figures]  # by side, baseline first
    comparisons: tuple[Comparison, ...]  # one per candidate, in the order of `figures`
    # By side; empty for all workloads but cache-retrieve.
    storage: dict[str, SideStorage] = field(default_factory=dict)
    divisions: tuple[Division, ...] = ()  # one per comparison, in the same order
    # How people know the workload's figure.
    operation: str = "retrieve"  # what is done once
    unit: str = "ms"
    higher_is_better: bool = False

    def workers(self, side: str) -> int:
        return self.figures[side].workers if side in self.figures else 0

    def workers_wanted(self, comparison: Comparison) -> int | None:
        """Return the workers that each side needs in total; None where more would not decide it."""
        advice = comparison.advice
        if advice is None or advice.workers_to_add is None:
            return None
        # The advice counts from the side that has fewer.
        fewer = min(map(self.workers, (comparison.candidate, comparison.baseline)))
        return fewer + advice.workers_to_add

    @staticmethod
    def not_by_repetition(subjects: Sequence["SubjectReport"]) -> dict[str, Statement | None]:
        """Return the candidates whose comparison more workers would not decide, and why not."""
        never: dict[str, Statement | None] = {}
        for part in subjects:
            for comparison in part.comparisons:
                is_open = comparison.verdict is Verdict.INCONCLUSIVE
                if is_open and part.workers_wanted(comparison) is None:
                    obstacle = comparison.advice.obstacle if comparison.advice else None
                    never.setdefault(comparison.candidate, obstacle)
        return never


class OtherMeasurement(Struct, frozen=True):
    """A measurement of the same pair of sides, with both sides' figures."""

    comparison: Comparison
    baseline: Figures
    candidate: Figures

    @property
    def subject(self) -> Subject:
        return self.comparison.subject

    @property
    def is_decided(self) -> bool:
        return self.comparison.verdict in DIFFERENT


class ComparedSides(Struct, frozen=True, eq=False, dict=True):
    """What is compared of a candidate and its baseline at one look."""

    candidate: Side
    baseline: Side
    variation: WorkerVariation  # assumed where a side has one or two workers
    look: Look
    schedule: Schedule
    pushes: PushVariation | None  # where the sides are of different pushes

    @property
    def counts(self) -> tuple[int, int]:
        return self.candidate.count, self.baseline.count

    @property
    def names(self) -> tuple[str, str]:
        return self.candidate.name, self.baseline.name


class Measurement(SubjectReport, frozen=True, eq=False, kw_only=True):
    """A measurement with what its report is based on, which is not published."""

    sides: Mapping[str, Side]  # what may be compared
    pairs: tuple[ComparedSides, ...] = ()  # one per comparison, in the same order
    problems: tuple[Problem, ...] = ()

    def published(self) -> SubjectReport:
        """Return what a report shows and JSON publishes, without the sides' samples."""
        names = SubjectReport.__struct_fields__
        return SubjectReport(**{name: getattr(self, name) for name in names})
