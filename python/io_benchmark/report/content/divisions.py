# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Where the time went: the parts of each difference, as a sentence and as a table.

Each candidate has a sentence about its leading measurement: the one that the answer names first.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject, Verdict
from io_benchmark.analysis.parts.division import Division
from io_benchmark.analysis.report_model import SingleWorker
from io_benchmark.report.content.part_rows import SMALL, PartRow, PartRows
from io_benchmark.report.content.report_index import MeasuredSubject
from io_benchmark.report.content.subject_text import Distinction
from io_benchmark.report.content.tables import INTERVAL_HEAD
from io_benchmark.results import workloads

# The differences of this many candidates have a table; the sentences are about all.
_TABLES_SHOWN = 3


class DividedDifference(Struct, frozen=True):
    """One candidate's difference on one measurement."""

    candidate: str
    baseline: str
    verdict: str
    lead: str  # "amd-16, +70.1 ms per retrieve against intel:"
    parts: str  # those that make it up, the largest first: "copies +70.1 ms (100 %)"
    unknown: str  # what the results do not record, or nothing
    title: str  # "amd-16 against intel, ms per retrieve"
    difference: str  # "+70.1 ms per retrieve"
    rows: PartRows

    @property
    def sentence(self) -> str:
        return f"{'; '.join(filter(None, (self.parts, self.unknown)))}."

    @property
    def heads(self) -> tuple[str, ...]:
        """Return the heads of the columns behind the part's."""
        interval = (INTERVAL_HEAD,) if self.rows.has_intervals else ()
        return (self.baseline, self.candidate, "Difference", *interval, "Share")

    @classmethod
    def of(
        cls, division: Division, verdict: Verdict, subject: Subject, subjects: Sequence[Subject]
    ) -> Self:
        """Write one difference; `subjects` are all measurements of the report."""
        candidate, baseline = division.candidate, division.baseline
        operation = workloads.of(subject.workload).operation
        rows = PartRows.of(division)
        phrase = _measurement(subject, subjects)
        difference = f"{rows.difference_text(rows.whole.difference_ns)} per {operation}"
        return cls(
            candidate,
            baseline,
            verdict.value,
            f"{candidate}, {difference} against {baseline}{phrase}:",
            _largest_parts(rows),
            _not_recorded(rows.shown),
            f"{candidate} against {baseline}{phrase}, {rows.scale.unit} per {operation}",
            difference,
            rows,
        )


class DivisionsPart(Struct, frozen=True):
    leading: tuple[DividedDifference, ...]  # each has a sentence
    shown: tuple[DividedDifference, ...]  # each has a table
    further: tuple[DividedDifference, ...]  # folded, or only counted

    @property
    def without_table(self) -> tuple[DividedDifference, ...]:
        """Return those of which only the sentence is shown."""
        return self.leading[len(self.shown) :]

    @property
    def counted(self) -> str:
        if not self.further:
            return ""
        differences = "difference" if len(self.further) == 1 else "differences"
        return (
            f"--details, the HTML page and the JSON have the parts of {len(self.further):,} further "
            f"{differences}."
        )

    @classmethod
    def of(
        cls,
        measured: Sequence[MeasuredSubject],
        single_workers: Sequence[SingleWorker],
        *,
        details: bool,
    ) -> Self | None:
        """Write the divisions of all differences; None where no difference was divided."""
        by_candidate: dict[str, list[_Divided]] = {}
        for each in _divided(measured):
            by_candidate.setdefault(each.comparison.candidate, []).append(each)
        singles = [
            each
            for each in single_workers
            if each.diagnosis is not None and len(each.division.parts) > 1
        ]
        if not by_candidate and not singles:
            return None
        subjects = [part.subject for part in measured]
        first = [_leading(each) for each in by_candidate.values()]
        others = [each for same in by_candidate.values() for each in same if each not in first]
        leading = (
            *(_written_difference(each, subjects) for each in first),
            *(_written_single(each, subjects) for each in singles),
        )
        further = tuple(_written_difference(each, subjects) for each in others)
        if details:
            return cls((*leading, *further), (*leading, *further), ())
        return cls(leading, leading[:_TABLES_SHOWN], (*leading[_TABLES_SHOWN:], *further))


class _Divided(Struct, frozen=True):
    comparison: Comparison
    division: Division
    is_explained: bool

    @property
    def rank(self) -> tuple[bool, float]:
        return self.is_explained, abs(math.log(self.comparison.ratio))


def _divided(measured: Iterable[MeasuredSubject]) -> Iterable[_Divided]:
    """Yield each difference that has several parts."""
    for part in measured:
        for side in part.all_sides:
            comparison, division = side.comparison, side.division
            if comparison is None or division is None or len(division.parts) < 2:
                continue
            if comparison.verdict in DIFFERENT:
                yield _Divided(comparison, division, side.diagnosis is not None)


def _leading(same: Sequence[_Divided]) -> _Divided:
    """Return what the answer names first: of the first workload, what is explained or largest."""
    workload = same[0].comparison.subject.workload
    return max(
        (each for each in same if each.comparison.subject.workload == workload),
        key=lambda each: each.rank,
    )


def _written_difference(divided: _Divided, subjects: Sequence[Subject]) -> DividedDifference:
    comparison = divided.comparison
    return DividedDifference.of(divided.division, comparison.verdict, comparison.subject, subjects)


def _written_single(worker: SingleWorker, subjects: Sequence[Subject]) -> DividedDifference:
    return DividedDifference.of(worker.division, worker.verdict, worker.subject, subjects)


def _measurement(subject: Subject, subjects: Sequence[Subject]) -> str:
    """Return ' on overwrite in workspace', if the workload has other measurements."""
    siblings = [each for each in subjects if each.workload == subject.workload]
    return "" if len(siblings) == 1 else f" {Distinction.between(siblings).phrase(subject)}"


def _largest_parts(rows: PartRows) -> str:
    """Name the parts that make up the difference, the largest first, and what is left over."""
    least_ns = SMALL * abs(rows.whole.difference_ns)
    large = [row for row in rows.shown if not row.is_sum and abs(row.difference_ns) >= least_ns]
    named = sorted(
        (row for row in large if row.is_certain), key=lambda row: -abs(row.difference_ns)
    )
    if not named:
        return "no part alone is certain"
    texts = [
        f"{_name(row, rows.parts)} {rows.difference_text(row.difference_ns, row.percent)}"
        for row in named
    ]
    rest = _rest(rows, named, has_large=len(named) < len(large))
    return ", ".join([*texts, *rest])


def _name(row: PartRow, parts: Sequence[PartRow]) -> str:
    """Return the part's name, or its phase where nothing else of the phase is recorded."""
    only = [each.phase for each in parts].count(row.phase) == 1
    return row.phase if only and not row.is_recorded else row.name


def _rest(rows: PartRows, named: Sequence[PartRow], *, has_large: bool) -> list[str]:
    """Return what the named parts leave over, unless it is nothing."""
    difference_ns = rows.whole.difference_ns - math.fsum(row.difference_ns for row in named)
    percent = None
    is_nothing = abs(difference_ns) < SMALL * abs(rows.whole.difference_ns)
    if rows.whole.percent is not None:
        percent = rows.whole.percent - sum(row.percent or 0 for row in named)
        is_nothing = percent == 0
    if is_nothing and not has_large:
        return []
    uncertain = ", of which no part alone is certain" if has_large else ""
    return [f"the rest {rows.difference_text(difference_ns, percent)}{uncertain}"]


def _not_recorded(rows: Iterable[PartRow]) -> str:
    phases = dict.fromkeys(row.phase for row in rows if not row.is_recorded)
    if not phases:
        return ""
    waiting = " and ".join(filter(None, phases)) or "operations"
    return f"the results do not record what the {waiting} waited for"
