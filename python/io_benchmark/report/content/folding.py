# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which measurements a report shows in full, and which it sums up in a line.

From five measurements on, the answer combines a workload's places and destinations, and only
measurements in which a pool is slower, faster or refused have a table of figures.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject, Verdict
from io_benchmark.number_text import NOTHING, interval, ratio_range
from io_benchmark.report.content.answers import AnsweredSubject, PoolAnswer
from io_benchmark.report.content.report_index import NO_VERDICT, MeasuredSubject
from io_benchmark.report.content.report_sections import Section
from io_benchmark.report.content.subject_text import (
    Distinction,
    place_of,
    table_title,
    unit_text,
)
from io_benchmark.report.content.tables import INTERVAL_HEAD, Measure, MeasureRow, MeasureTable
from io_benchmark.results import workloads

# From this many measurements on the report also says that some verdict may be chance.
FOLDED_FROM = 5
_SHOWN_IN_FULL = (*(verdict.value for verdict in DIFFERENT), NO_VERDICT)
_UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.EQUIVALENT)
_POOLS_NAMED = 6
_NOT_COMPARED = "not compared"


class _AnswerGroup(Struct, frozen=True):
    """The answers of one section, or of one workload wherever it was measured."""

    title: str
    answers: tuple[PoolAnswer, ...]


class _UndecidedLine(Struct, frozen=True):
    """One workload's pools that are neither slower nor faster."""

    text: str
    marks: tuple[int, ...]


class Folded(Struct, frozen=True):
    groups: tuple[_AnswerGroup, ...]
    shown: tuple[Section, ...]  # in full, with those of their measurements that are
    lines: tuple[_UndecidedLine, ...] = ()
    undecided: frozenset[int] = frozenset()  # positions of sections with no measurement in full
    table: MeasureTable | None = None  # the other measurements

    @classmethod
    def of(
        cls,
        sections: Sequence[Section],
        members: Sequence[tuple[AnsweredSubject, ...]],
        *,
        details: bool,
    ) -> Self:
        """Show in full what differs or is refused; `members` has each section's measurements.

        Few measurements, and with `details` all, are shown in full.
        """
        if details or sum(map(len, members)) < FOLDED_FROM:
            groups = [_AnswerGroup(each.title, each.answers) for each in sections if each.answers]
            return cls(tuple(groups), tuple(sections))
        by_workload: dict[str, list[AnsweredSubject]] = {}
        groups, lines = [], []
        for each in chain(*members):
            by_workload.setdefault(each.part.subject.workload, []).append(each)
        for measured in by_workload.values():
            group, line = _sum_up(measured, sections)
            groups += [group] if group.answers else []
            lines += [line] if line is not None else []
        in_full = [tuple(each for each in section if _is_shown(each)) for section in members]
        others = [each.part for section in members for each in section if not _is_shown(each)]
        others.sort(key=lambda part: part.position)
        return cls(
            groups=tuple(groups),
            shown=tuple(Section.of(section) for section in in_full if section),
            lines=tuple(lines),
            undecided=frozenset(at for at, section in enumerate(in_full) if not section),
            table=_undecided_table(others) if others else None,
        )


def _is_shown(answered: AnsweredSubject) -> bool:
    """Is a pool slower, faster or refused on this measurement?"""
    return any(answer.verdict in _SHOWN_IN_FULL for answer in answered.answers)


def _sum_up(
    measured: Sequence[AnsweredSubject], sections: Sequence[Section]
) -> tuple[_AnswerGroup, _UndecidedLine | None]:
    """Return one workload's answers about pools shown in full, and a line about the others."""
    subjects = [each.part.subject for each in measured]
    distinction = Distinction.between(subjects)
    positions = {each.part.position for each in measured}
    its_sections = [section for section in sections if positions.issuperset(section.subjects)]
    if len(its_sections) == 1:
        title, answers = its_sections[0].title, its_sections[0].answers
    else:
        workload = subjects[0].workload
        title = f"{workload}{_scope(subjects, distinction)} {unit_text(workload)}"
        answers = AnsweredSubject.combine(measured, distinction)
    pools = {
        answer.candidate
        for each in measured
        for answer in each.answers
        if answer.verdict in _SHOWN_IN_FULL
    }
    group = _AnswerGroup(title, tuple(answer for answer in answers if answer.candidate in pools))
    rest = [answer for answer in answers if answer.candidate not in pools]
    return group, _undecided_line(measured, rest, distinction) if rest else None


def _scope(subjects: Sequence[Subject], distinction: Distinction) -> str:
    """Return ' in 3 places × 3 destinations', ' on 11 measurements', ' on stat in container'."""
    if len(subjects) == 1:
        return f" {distinction.phrase(subjects[0])}"
    places = len({place_of(subject) for subject in subjects})
    labels = len({(subject.variant, subject.destination, subject.threads) for subject in subjects})
    if places * labels != len(subjects):
        return f" on {len(subjects):,} measurements"
    to_destinations = bool(subjects[0].destination)
    unit = "destinations" if to_destinations else "measurements"
    if places == 1:
        return f" {'to' if to_destinations else 'on'} {labels:,} {unit}"
    return f" in {places:,} places" + (f" × {labels:,} {unit}" if labels > 1 else "")


def _undecided_line(
    measured: Sequence[AnsweredSubject], answers: Sequence[PoolAnswer], distinction: Distinction
) -> _UndecidedLine:
    """Write 'spawn: amd-16, amd-30 inconclusive on posix-spawn, 1.00× to 1.06×.'"""
    groups: dict[tuple[Verdict, str], dict[str, list[Comparison]]] = {}
    for candidate, verdict in (
        (each.candidate, verdict) for each in answers for verdict in _UNDECIDED
    ):
        compared = [
            comparison
            for each in measured
            for comparison in each.part.comparisons
            if (comparison.candidate, comparison.verdict) == (candidate, verdict)
        ]
        if compared:
            scope = _scope([comparison.subject for comparison in compared], distinction)
            groups.setdefault((verdict, scope), {})[candidate] = compared
    texts = [
        f"{_pools_text([*pools])} {verdict}{scope}, {_range_text([*chain(*pools.values())])}"
        for (verdict, scope), pools in groups.items()
    ]
    marks = tuple(sorted({mark for answer in answers for mark in answer.marks}))
    return _UndecidedLine(f"{measured[0].part.subject.workload}: {'; '.join(texts)}.", marks)


def _pools_text(pools: Sequence[str]) -> str:
    rest = len(pools) - _POOLS_NAMED
    return ", ".join(pools[:_POOLS_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _range_text(compared: Sequence[Comparison]) -> str:
    """Write the ratios; an interval only of one, because one over several would say nothing."""
    text = ratio_range([comparison.ratio for comparison in compared])
    if len(compared) > 1:
        return text
    bounds = compared[0].interval
    return f"{text} ({interval(bounds.low_ratio, bounds.high_ratio)})"


def _undecided_table(parts: Sequence[MeasuredSubject]) -> MeasureTable:
    """Make a table with a row per measurement, over its pools."""
    groups: dict[str, list[tuple[str, MeasuredSubject]]] = {}
    for part in parts:
        if part.subject.workload in workloads.IN_BATCHES:
            title, row = table_title(part.subject), part.subject.label
        else:
            title, row = part.subject.workload, f"{part.subject.label} in {part.subject.place}"
        groups.setdefault(title, []).append((row, part))
    return MeasureTable(
        ("Ratio", INTERVAL_HEAD, "Verdict"),
        tuple(
            Measure(
                title,
                tuple(sorted({mark for _, part in members for mark in part.every_mark})),
                tuple(_undecided_row(row, part.comparisons) for row, part in members),
                (),
            )
            for title, members in groups.items()
        ),
        figures=0,
    )


def _undecided_row(text: str, compared: Sequence[Comparison]) -> MeasureRow:
    if not compared:
        return MeasureRow(text, _NOT_COMPARED, (NOTHING, NOTHING, _NOT_COMPARED))
    verdicts = [comparison.verdict for comparison in compared]
    kinds = [verdict for verdict in _UNDECIDED if verdict in verdicts]
    counts = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in kinds)
    low = min(comparison.interval.low_ratio for comparison in compared)
    high = max(comparison.interval.high_ratio for comparison in compared)
    return MeasureRow(
        text,
        kinds[0].value,
        (
            ratio_range([comparison.ratio for comparison in compared]),
            interval(low, high),
            counts if len(kinds) > 1 else kinds[0].value,
        ),
    )
