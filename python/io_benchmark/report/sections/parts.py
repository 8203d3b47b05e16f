# SPDX-License-Identifier: MPL-2.0
"""Where the time went: the parts of each difference, as a sentence and as a table.

Each candidate has a sentence about its leading measurement: the one that the answer names first.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import chain

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import Subject
from io_benchmark.analysis.parts.division import Division
from io_benchmark.analysis.report_model import Report
from io_benchmark.number_text import NOTHING, number_of, percent, signed_percent
from io_benchmark.report.blocks import (
    QUIET,
    STRONG,
    Block,
    Fold,
    Heading,
    Item,
    Items,
    Paragraph,
    Picture,
    Row,
    Table,
    Words,
)
from io_benchmark.report.content.part_rows import SMALL, PartRow, PartRows
from io_benchmark.report.content.subject_text import Distinction, grouped
from io_benchmark.report.sections.measured import Measurement, leading_of
from io_benchmark.results import workloads
from io_benchmark.text import name

# The differences of this many candidates have a table; the sentences are about all.
_TABLES_SHOWN = 3
_NAME_CELLS = 22


def parts(measurements: Sequence[Measurement], report: Report) -> Iterator[Block]:
    """Write the parts of all differences; nothing where no difference was divided."""
    subjects = [part.subject for part in report.subjects]
    sides = [side for measurement in measurements for side in measurement.all_sides]
    divided = [side for side in sides if side.differs and side.division is not None]
    by_candidate = grouped(divided, lambda side: side.name).values()
    leading = [leading_of(same) for same in by_candidate]
    further = [side for same in by_candidate for side in same if side not in leading]
    told = [(side.division, side.subject, side.verdict) for side in leading if side.division]
    told += (
        (worker.division, worker.subject, worker.verdict.value)
        for worker in report.single_workers
        if worker.diagnosis is not None and len(worker.division.parts) > 1
    )
    if not told:
        return
    yield Heading("Where the time went")
    yield Items(
        [
            Item(_sentence(division, verdict, _phrase(subject, subjects), subject), kind=verdict)
            for division, subject, verdict in told
        ]
    )
    tables = [(division, subject) for division, subject, _ in told]
    tables += [(side.division, side.subject) for side in further if side.division]
    written = [
        [*_table(division, _phrase(subject, subjects), subject, number)]
        for number, (division, subject) in enumerate(tables)
    ]
    shown = min(len(told), _TABLES_SHOWN)
    yield from chain(*written[:shown])
    if written[shown:]:
        summary = f"The parts of {number_of(len(tables) - shown, 'further difference')}"
        yield Fold(summary, [*chain(*written[shown:])])


def where(division: Division, subject: Subject) -> tuple[str, str]:
    """Return '+70.1 ms per retrieve', and the parts that make it up."""
    rows = PartRows.of(division)
    operation = workloads.of(subject.workload).operation
    whole = f"{rows.difference_text(rows.whole.difference_ns)} per {operation}"
    return whole, _sentence_of_parts(rows)


def _phrase(subject: Subject, subjects: Sequence[Subject]) -> str:
    """Return ' on overwrite in workspace', if the workload has other measurements."""
    siblings = [sibling for sibling in subjects if sibling.workload == subject.workload]
    return "" if len(siblings) == 1 else f" {Distinction.between(siblings).phrase(subject)}"


def _sentence(
    division: Division, verdict: str, phrase: str, subject: Subject
) -> tuple[Words | str, ...]:
    difference, text = where(division, subject)
    lead = f"{division.candidate}, {difference} against {division.baseline}{phrase}:"
    phases = dict.fromkeys(row.phase for row in PartRows.of(division).shown if not row.is_recorded)
    if phases:
        waiting = " and ".join(filter(None, phases)) or "operations"
        text += f"; the results do not record what the {waiting} waited for"
    return Words(lead, verdict), f" {text}."


def _sentence_of_parts(rows: PartRows) -> str:
    """Name the parts that make up the difference, the largest first, and what is left over."""
    whole = rows.whole
    least_ns = SMALL * abs(whole.difference_ns)
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
    rest_ns = whole.difference_ns - math.fsum(row.difference_ns for row in named)
    rest_percent = None
    is_nothing = abs(rest_ns) < least_ns
    if whole.percent is not None:
        rest_percent = whole.percent - sum(row.percent or 0 for row in named)
        is_nothing = rest_percent == 0
    has_more = len(named) < len(large)
    if has_more or not is_nothing:
        uncertain = ", of which no part alone is certain" if has_more else ""
        texts.append(f"the rest {rows.difference_text(rest_ns, rest_percent)}{uncertain}")
    return ", ".join(texts)


def _name(row: PartRow, parts: Sequence[PartRow]) -> str:
    """Return the part's name, or its phase where nothing else of the phase is recorded."""
    is_only = [part.phase for part in parts].count(row.phase) == 1
    if is_only and not row.is_recorded:
        return row.phase
    return row.name + (f" ({row.meaning})" if row.meaning else "")


def _table(division: Division, phrase: str, subject: Subject, number: int) -> Iterator[Block]:
    """Write a row per part below its phase, then what the parts mean and their picture."""
    rows = PartRows.of(division)
    candidate, baseline = division.candidate, division.baseline
    has_intervals = any(row.low_ns is not None for row in rows.parts)
    interval = [f"{percent(LEVEL)} interval"] if has_intervals else []
    operation = workloads.of(subject.workload).operation
    title = f"{candidate} against {baseline}{phrase}, {rows.scale.unit} per {operation}"
    heads = (baseline, candidate, "Difference", *interval, "Share")
    yield Table("", heads, [*_rows(rows, has_intervals=has_intervals)], title)
    for meaning in dict.fromkeys(f"{row.kind}: {row.meaning}" for row in rows.shown if row.meaning):
        yield Paragraph(meaning, QUIET)
    is_certain = all(row.is_certain for row in rows.shown)
    uncertain = "" if is_certain else " Not filled: the interval of the part includes zero."
    title = f"From {baseline} to {candidate}"
    sides = (name(side, _NAME_CELLS) for side in (baseline, candidate))
    caption = (Words(title, STRONG), f", part by part.{uncertain}")
    yield Picture(caption, "waterfall", (rows, *sides, f"parts-{number}"))


def _rows(rows: PartRows, *, has_intervals: bool) -> Iterator[Row]:
    scale, phase = rows.scale, ""
    for row in (*rows.shown, rows.whole):
        if row.phase not in ("", phase):
            yield Row(row.phase)
        phase = row.phase
        ends = NOTHING
        if row.low_ns is not None and row.high_ns is not None:
            ends = f"{scale.signed(row.low_ns)} to {scale.signed(row.high_ns)}"
        cells = (
            scale.plain(row.baseline_ns),
            scale.plain(row.candidate_ns),
            scale.signed(row.difference_ns),
            *([ends] if has_intervals else []),
            NOTHING if row.percent is None else signed_percent(row.percent),
        )
        yield Row(row.kind, cells, row is rows.whole, level=1 if phase else 0)
