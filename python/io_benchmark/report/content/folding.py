# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a report of many measurements tells in full, and what it tells in a line.

From five measurements on, the answer takes a workload's places and destinations together, and only
those in which a pool is slower, faster or refused have a table of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from io_benchmark.analysis import workloads
from io_benchmark.analysis.model import Comparison, Subject, Verdict
from io_benchmark.analysis.report_model import Report, SubjectReport
from io_benchmark.report.content import measures, together
from io_benchmark.report.content.answers import DIFFERENT, LEVEL, NO_VERDICT, Answer
from io_benchmark.report.content.footnotes import Footnotes
from io_benchmark.report.content.measures import (
    WITHOUT_PLACE,
    Measure,
    MeasureRow,
    MeasureTable,
    label,
)
from io_benchmark.report.content.sections import Section, build
from io_benchmark.report.content.together import Naming
from io_benchmark.report.content.units import NOTHING, interval, percent, ratio
from io_benchmark.text import name

# From so many on the report also says that some verdict may be chance.
FOLDED_FROM = 5
TOLD = (*(verdict.value for verdict in DIFFERENT), NO_VERDICT)
UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.EQUIVALENT)
POOLS_NAMED = 6
NOT_COMPARED = "not compared"

Spoken = Sequence[tuple[Answer, ...]]


@dataclass(frozen=True)
class Group:
    """The answers of one section, or of one workload wherever it was measured."""

    title: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Line:
    """One workload's pools of which nothing is decided."""

    text: str
    marks: tuple[int, ...]


@dataclass(frozen=True)
class Folded:
    groups: tuple[Group, ...]
    told: tuple[Section, ...]  # in full, with those of their measurements that are
    lines: tuple[Line, ...] = ()
    undecided: frozenset[int] = frozenset()  # sections without any such, by their positions
    table: MeasureTable | None = None  # the measurements that have no table of their own
    folds: bool = False


def folds(report: Report) -> bool:
    return len(report.subjects) >= FOLDED_FROM


def is_told(spoken: Sequence[Answer]) -> bool:
    """Is a pool slower, faster or refused on this measurement?"""
    return any(answer.verdict in TOLD for answer in spoken)


def nothing(sections: Sequence[Section]) -> Folded:
    groups = tuple(Group(one.title, one.answers) for one in sections if one.answers)
    return Folded(groups, tuple(sections))


def of(report: Report, sections: Sequence[Section], spoken: Spoken, footnotes: Footnotes) -> Folded:
    groups, lines = _answers(report, sections, spoken)
    kept = [tuple(at for at in one.subjects if is_told(spoken[at])) for one in sections]
    undecided = [
        part for part, own in zip(report.subjects, spoken, strict=True) if not is_told(own)
    ]
    return Folded(
        groups=tuple(groups),
        told=tuple(build(report, members, footnotes, spoken) for members in kept if members),
        lines=tuple(lines),
        undecided=frozenset(at for at, members in enumerate(kept) if not members),
        table=_table(undecided, footnotes) if undecided else None,
        folds=True,
    )


def _answers(
    report: Report, sections: Sequence[Section], spoken: Spoken
) -> tuple[list[Group], list[Line]]:
    """A group a workload with what is told of its pools, and a line with the others."""
    by_workload: dict[str, list[Section]] = {}
    for section in sections:
        workload = report.subjects[section.subjects[0]].subject.workload
        by_workload.setdefault(workload, []).append(section)
    groups, lines = [], []
    for own in by_workload.values():
        members = [at for section in own for at in section.subjects]
        parts = [report.subjects[at] for at in members]
        heard = [spoken[at] for at in members]
        subjects = [part.subject for part in parts]
        naming = names_among(subjects)
        title, said = own[0].title, own[0].answers
        if len(own) > 1:
            workload = parts[0].subject.workload
            title = f"{name(workload)}{_scope(subjects, naming)} {measures.unit(workload)}"
            said = together.answers(parts, heard, naming)
        told = {one.candidate for answers in heard for one in answers if one.verdict in TOLD}
        kept = tuple(answer for answer in said if answer.candidate in told)
        groups += [Group(title, kept)] if kept else []
        rest = [answer for answer in said if answer.candidate not in told]
        lines += [_line(parts, rest, naming)] if rest else []
    return groups, lines


def names_among(subjects: Sequence[Subject]) -> Naming:
    """How one of a workload's measurements is told from the others: 'on stat, 2 at once in container'."""
    placed = subjects[0].workload not in WITHOUT_PLACE and len({one.place for one in subjects}) > 1
    labels = len({label(one) for one in subjects})
    fidelities = len({one.fidelity for one in subjects}) > 1

    def named(subject: Subject) -> str:
        text = f"on {label(subject)}" if labels > 1 or not placed or fidelities else ""
        text += f", fidelity {name(subject.fidelity)}" if fidelities and subject.fidelity else ""
        text += f" in {name(subject.place)}" if placed else ""
        return text.strip()

    return named


def _scope(subjects: Sequence[Subject], naming: Naming) -> str:
    """' in 3 places × 3 destinations', ' on 11 measurements', ' on stat, 2 at once in container'."""
    places = 1 if subjects[0].workload in WITHOUT_PLACE else len({each.place for each in subjects})
    labels = len({label(each) for each in subjects})
    if len(subjects) == 1:
        return f" {naming(subjects[0])}"
    if places * labels != len(subjects):
        return f" on {len(subjects):,} measurements"
    what = "destinations" if subjects[0].destination else "measurements"
    if places == 1:
        return f" {'to' if subjects[0].destination else 'on'} {labels:,} {what}"
    return f" in {places:,} places" + (f" × {labels:,} {what}" if labels > 1 else "")


def _line(parts: Sequence[SubjectReport], answers: Sequence[Answer], naming: Naming) -> Line:
    """'spawn: amd-16, amd-30 inconclusive on posix-spawn, 1.00× to 1.06×'."""
    found: dict[tuple[Verdict, str], dict[str, list[Comparison]]] = {}
    for answer in answers:
        for verdict in UNDECIDED:
            compared = [
                (part, one)
                for part in parts
                for one in part.comparisons
                if one.candidate == answer.candidate and one.verdict is verdict
            ]
            if compared:
                scope = _scope([part.subject for part, _ in compared], naming)
                pools = found.setdefault((verdict, scope), {})
                pools[answer.candidate] = [one for _, one in compared]
    said = [
        f"{_pools([*pools])} {verdict}{scope}, {_range(list(chain(*pools.values())))}"
        for (verdict, scope), pools in found.items()
    ]
    marks = tuple(sorted({mark for answer in answers for mark in answer.marks}))
    return Line(f"{name(parts[0].subject.workload)}: {'; '.join(said)}.", marks)


def _pools(sides: Sequence[str]) -> str:
    rest = len(sides) - POOLS_NAMED
    return ", ".join(map(name, sides[:POOLS_NAMED])) + (f" and {rest:,} more" if rest > 0 else "")


def _range(compared: Sequence[Comparison]) -> str:
    """Of several the ratios alone: an interval over all of them would say nothing."""
    if len(compared) == 1:
        (one,) = compared
        return f"{ratio(one.ratio)} ({interval(one.interval.low_ratio, one.interval.high_ratio)})"
    return _ratios(compared)


def _ratios(compared: Sequence[Comparison]) -> str:
    ratios = [one.ratio for one in compared]
    return " to ".join(dict.fromkeys((ratio(min(ratios)), ratio(max(ratios)))))


def _table(parts: Sequence[SubjectReport], footnotes: Footnotes) -> MeasureTable:
    """A line a measurement, over its pools; cache-retrieve's share a heading, others' a place's."""
    found: dict[str, list[SubjectReport]] = {}
    for part in parts:
        batches = part.subject.workload in workloads.IN_BATCHES
        title = measures.where(part.subject) if batches else name(part.subject.workload)
        found.setdefault(title, []).append(part)
    return MeasureTable(
        ("Ratio", f"{percent(LEVEL)} interval", "Verdict"),
        tuple(
            Measure(
                title,
                _marks(members, footnotes),
                tuple(_row(part, _row_name(part.subject)) for part in members),
                (),
            )
            for title, members in found.items()
        ),
        figures=0,
    )


def _row_name(subject: Subject) -> str:
    if subject.workload in workloads.IN_BATCHES:
        return label(subject)
    return f"{label(subject)} in {name(subject.place)}"


def _marks(parts: Sequence[SubjectReport], footnotes: Footnotes) -> tuple[int, ...]:
    found: set[int] = set()
    for part in parts:
        found.update(footnotes.of_subject(part.subject))
        found.update(footnotes.of_sides(part.subject, *part.figures))
    return tuple(sorted(found))


def _row(part: SubjectReport, text: str) -> MeasureRow:
    compared = part.comparisons
    if not compared:
        return MeasureRow(text, NOT_COMPARED, (NOTHING, NOTHING, NOT_COMPARED))
    verdicts = [one.verdict for one in compared]
    kinds = [verdict for verdict in UNDECIDED if verdict in verdicts]
    words = ", ".join(f"{verdicts.count(one)} {one}" for one in kinds)
    ends = interval(
        min(one.interval.low_ratio for one in compared),
        max(one.interval.high_ratio for one in compared),
    )
    return MeasureRow(
        text,
        kinds[0].value,
        (
            _ratios(compared),
            ends,
            words if len(kinds) > 1 else kinds[0].value,
        ),
    )
