# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A comparison for a bug, in the Markdown that GitHub and Bugzilla share."""

from collections.abc import Iterable, Sequence
from functools import partial

from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content import document as contents
from io_benchmark.report.content.divisions import DivisionsPart
from io_benchmark.report.content.document import Heading, ReportContent
from io_benchmark.report.content.first_screen import FirstScreen
from io_benchmark.report.content.footnotes import short_marks
from io_benchmark.report.content.hypotheses import DiagnosisPart
from io_benchmark.report.content.place_tables import PlacesPart
from io_benchmark.report.content.report_sections import Section
from io_benchmark.report.content.tables import FiguresTable, MeasureTable
from io_benchmark.report.content.trial_rows import TRIAL_HEADS
from io_benchmark.report.content.worker_rows import REPLICATION_HEADS
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.markdown_text import (
    LINES_SHOWN,
    MAXIMUM_LENGTH,
    cut_for_comment,
    items,
    prose,
    table_row,
)

_POOLS_AS_COLUMNS = 6
# Bold in a table of measurements.
_STRONG_VERDICTS = ("slower", "faster")
# Of a comment before its details are unfolded.
_FIRST_LINES = 40
_BRIEF_LINES_SHOWN = 10
_marks = partial(short_marks, mark="\\[{}\\]")


def render_report(report: Report, layout: Layout = PLAIN) -> str:
    """Return the answer in a few lines with the report folded below it, or the whole report.

    Where all would not fit in a comment, the report has only its main parts.
    """
    content = contents.build(report, details=layout.details)
    head = f"## {prose(content.title)}\n"
    if not layout.details:
        answer = content.first_screen.that_fits(_first_screen, _FIRST_LINES)
        head = f"{answer}\n<details>\n<summary>Details</summary>\n"
    room = MAXIMUM_LENGTH - len(head)
    text = _document(content, brief=False)
    if len(text) > room:
        text = _document(content, brief=True)
    end = "" if layout.details else "\n</details>\n"
    return f"{head}\n{cut_for_comment(text, room)}{end}"


def _first_screen(screen: FirstScreen) -> str:
    lines = (
        ("- " if line.mark else "  - ")
        + " ".join(filter(None, (line.lead and _strong(line.lead), prose(line.text))))
        for line in screen.lines
    )
    blocks = [f"## {prose(screen.title)}", "\n".join(lines)]
    blocks += [f"{prose(screen.table_title)}:"] if screen.table_title else []
    blocks += [_figures(screen.figures)] if screen.figures is not None else []
    blocks += _measures(screen.measures) if screen.measures is not None else []
    return "\n\n".join(filter(None, blocks)) + "\n"


def _document(content: ReportContent, *, brief: bool) -> str:
    blocks = [
        *_answers(content),
        *_divisions(content.divisions, brief=brief),
        *_replication(content),
        prose(content.introduction),
    ]
    blocks += _places(content.places)
    for section in content.folded.shown:
        blocks += _section(section, brief=brief)
    if content.folded.table is not None:
        blocks += [f"### {contents.UNDECIDED}", prose(contents.UNDECIDED_MEANS)]
        blocks += _measures(content.folded.table, ("Workload", "Measurement"))
    for diagnosis in content.diagnoses:
        blocks += _diagnosis(diagnosis, brief=brief)
    blocks += _workers(content, brief=brief)
    blocks += _notes(content, _BRIEF_LINES_SHOWN if brief else LINES_SHOWN)
    if brief:
        blocks.append(
            "Shortened to fit a comment: hypotheses that are not supported, tables of parts, noise "
            "and workers are left out."
        )
    return "\n\n".join(block for block in blocks if block) + "\n"


def _answers(content: ReportContent) -> list[str]:
    blocks = [f"**{prose(content.nothing)}**"] if content.nothing else []
    for group in content.folded.groups:
        if len(content.sections) > 1:
            blocks.append(prose(group.title) + ":")
        blocks.append(
            _items(
                f"**{prose(answer.lead)}** {prose(answer.after_lead)}{_marks(answer.marks)}"
                for answer in group.answers
            )
        )
    if content.folded.lines:
        blocks.append(f"{contents.NEITHER}:")
        blocks.append(
            _items(prose(line.text) + _marks(line.marks) for line in content.folded.lines)
        )
    if content.single_workers:
        lines = (
            f"**{prose(each.lead)}** {prose(each.after_lead)}" for each in content.single_workers
        )
        blocks += [f"{Heading.SINGLE_WORKERS}:", _items(lines)]
    blocks.append(prose(content.workers.cost))
    blocks.append(
        _items(
            f"**Refused by {prose(refusal.rule)}** ({prose(refusal.where)}): "
            f"{prose(refusal.message)} {refusal.consequence}"
            for refusal in content.notes.refusals
        )
    )
    return blocks


def _divisions(part: DivisionsPart | None, *, brief: bool) -> list[str]:
    if part is None:
        return []
    blocks = [
        f"### {Heading.PARTS}",
        _items(f"**{prose(each.lead)}** {prose(each.sentence)}" for each in part.leading),
    ]
    if brief:
        return blocks
    for each in part.shown:
        rows = [
            [prose(row.name), *map(prose, row.cells)] for row in (*each.rows.shown, each.rows.whole)
        ]
        heads = ["Part", *map(prose, each.heads)]
        blocks += [f"{prose(each.title)}:", _table(heads, rows, numbers=True)]
    return [*blocks, prose(part.counted)]


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _section(section: Section, *, brief: bool) -> list[str]:
    blocks = [f"### {prose(section.title)}{_marks(section.marks)}"]
    if section.measures is not None:
        blocks += _measures(section.measures)
    else:
        blocks.append(_figures(section.table))
    lists = [(Heading.ADVICE, section.advice)]
    if not brief:
        lists += [(Heading.WAITS, section.bottlenecks), (Heading.ASSUMPTIONS, section.certainty)]
    for heading, texts in lists:
        if texts:
            blocks += [f"{heading}:", _items(_named(texts))]
    if not brief:
        noise = (
            [f"where nothing differs: {prose(', '.join(section.floors))}"] if section.floors else []
        )
        blocks += ["Noise:", _items([*noise, *_named(section.noise)])]
    return blocks


def _named(texts: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{prose(name)}: {prose(text)}" for name, text in texts]


def _places(part: PlacesPart | None) -> list[str]:
    if part is None:
        return []
    blocks = ["### Places"]
    for table in part.tables:
        blocks += [
            f"{prose(table.title)}:",
            _figures(table.means, "Place"),
            f"Ratio of times to {prose(table.first)}, each worker compared with itself:",
            _figures(table.ratios, "Place"),
            _items(map(prose, table.notes)),
        ]
    blocks.append(" ".join(map(prose, filter(None, (part.alike, part.counted)))))
    return [*blocks, f"{Heading.ASSUMPTIONS}:", _items(map(prose, part.assumptions))]


def _figures(table: FiguresTable, rows_are: str = "Metric") -> str:
    names = [prose(head.text) + _marks(head.marks) for head in table.heads]
    labels = [
        prose(row.label) + (f" ({prose(row.note)})" if row.note else "") for row in table.rows
    ]
    if len(names) <= _POOLS_AS_COLUMNS:
        rows = [
            [text, *map(_strong if row.strong else prose, row.cells)]
            for text, row in zip(labels, table.rows, strict=True)
        ]
        return _table([rows_are, *names], rows, numbers=True)
    columns = zip(*(row.cells for row in table.rows), strict=True)
    rows = [[pool, *map(prose, cells)] for pool, cells in zip(names, columns, strict=True)]
    return _table(["Pool", *labels], rows, numbers=True)


def _measures(table: MeasureTable, first: tuple[str, str] = ("Measurement", "Pool")) -> list[str]:
    """Make a row per pool; the first row of a measurement has its label."""
    rows = []
    for measure in table.measures:
        label = prose(measure.label) + _marks(measure.marks)
        for row in measure.rows:
            strong = row.verdict in _STRONG_VERDICTS
            cells = [*map(prose, row.cells[:-1]), (_strong if strong else prose)(row.cells[-1])]
            rows.append([label, prose(row.pool), *cells])
            label = ""
    details = _named((each.label, text) for each in table.measures for text in each.details)
    heads = [*first, *map(prose, table.heads)]
    return [_table(heads, rows, numbers=True), _items(details)]


def _strong(text: str) -> str:
    return f"**{prose(text)}**"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False) -> str:
    rule = ["---", *(["--:" if numbers else "---"] * (len(heads) - 1))]
    return "\n".join(map(table_row, (heads, rule, *rows)))


def _diagnosis(part: DiagnosisPart, *, brief: bool) -> list[str]:
    blocks = [f"### {prose(part.title)}"]
    causes = [row for row in part.listed if not brief or row.state.holds]
    if causes:
        candidate, baseline = prose(part.candidate), prose(part.baseline)
        heads = ["Verdict", "Hypothesis", f"On {candidate}", f"On {baseline}", "Why", "Share"]
        blocks.append(
            _table(
                heads,
                [
                    [
                        _strong(row.state) if row.state.holds else row.state.value,
                        f"{prose(row.name)}: {prose(row.hypothesis)}",
                        prose(row.candidate_evidence),
                        prose(row.baseline_evidence),
                        prose(row.explanation),
                        prose(row.share),
                    ]
                    for row in causes
                ],
            )
        )
    blocks += [prose(part.leftover), prose(part.counted)]
    if part.trials:
        heads = ["Trial", "What was changed", *TRIAL_HEADS, "Meaning"]
        rows = [
            [row.name, row.change, *map(prose, row.cells), prose(row.meaning)]
            for row in part.trials
        ]
        blocks += [f"{Heading.TRIED}:", _table(heads, rows)]
    if part.remedies:
        blocks.append(f"{Heading.REMEDIES}:")
        blocks.append(
            _items(
                f"**{prose(remedy.action)}**"
                + (f" ({prose(remedy.gain)})" if remedy.gain else "")
                + f", for {prose(remedy.cause)}. {prose(remedy.evidence)}"
                for remedy in part.remedies
            )
        )
    return blocks if len(blocks) > 1 else []


def _replication(content: ReportContent) -> list[str]:
    if not content.workers.replication:
        return []
    rows = [
        [prose(cell) for cell in (row.side, *row.cells)]
        for row in content.workers.replication[:LINES_SHOWN]
    ]
    left_out = len(content.workers.replication) - LINES_SHOWN
    return [
        f"### {Heading.WORKERS}",
        _table(["Pool", *REPLICATION_HEADS], rows, numbers=True),
        f"And {left_out:,} more." if left_out > 0 else "",
        items(content.workers.cautions, _BRIEF_LINES_SHOWN),
    ]


def _workers(content: ReportContent, *, brief: bool) -> list[str]:
    blocks = []
    if content.workers.rows and not brief:
        rows = [
            [
                prose(row.side),
                prose(row.worker) + (" (its machine ran several)" if row.repeated else ""),
                prose(row.machine),
                prose(row.task) + (f" ([job on {row.host}]({row.url}))" if row.url else ""),
                prose(row.state),
                prose(row.source),
            ]
            for row in content.workers.rows[:LINES_SHOWN]
        ]
        heads = ["Pool", "Worker", "Machine", "Task", "State", "Read from"]
        blocks += ["### Workers", _table(heads, rows)]
        if len(content.workers.rows) > LINES_SHOWN:
            blocks.append(f"And {len(content.workers.rows) - LINES_SHOWN:,} more.")
    return blocks


def _notes(content: ReportContent, shown: int) -> list[str]:
    blocks = []
    if content.notes.footnotes:
        notes = (
            f"\\[{note.number}\\] {prose(note.rule)}: {prose(note.text)}"
            for note in content.notes.footnotes
        )
        blocks += ["### Notes", _items(notes)]
    for title, lines in content.lists:
        blocks += [f"### {title}", items(lines, shown)]
    return blocks
