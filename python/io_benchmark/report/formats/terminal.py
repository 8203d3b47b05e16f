# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A comparison as text: as wide as the terminal and with its colors, or plain."""

from collections.abc import Sequence

from io_benchmark.analysis.report_model import Report
from io_benchmark.number_text import NOTHING
from io_benchmark.report.content import document as contents
from io_benchmark.report.content.document import Heading, ReportContent
from io_benchmark.report.content.footnotes import short_marks
from io_benchmark.report.content.hypotheses import CauseRow, DiagnosisPart
from io_benchmark.report.content.place_tables import PlacesPart
from io_benchmark.report.content.report_index import NO_VERDICT
from io_benchmark.report.content.report_sections import Section
from io_benchmark.report.content.tables import FiguresTable, MeasureRow, MeasureTable
from io_benchmark.report.content.trial_rows import TRIAL_HEADS, TrialRow
from io_benchmark.report.content.worker_rows import REPLICATION_HEADS
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.page import INDENT, STYLES, Page
from io_benchmark.report.formats.styled_text import Text
from io_benchmark.report.formats.terminal_divisions import show_divisions
from io_benchmark.report.formats.terminal_first import render_first_screen
from io_benchmark.text import name

_WORKERS_SHOWN = 30
# The columns of measurements that have the color of the verdict.
_STRONG_HEADS = ("Ratio", "Verdict")


def render_report(report: Report, layout: Layout = PLAIN) -> str:
    """Return the first screen, or with `details` the whole report."""
    content = contents.build(report, details=layout.details)
    if not layout.details:
        return render_first_screen(content.first_screen, layout, _show_figures, _show_measures)
    page = Page(layout)
    page.paragraph(content.title, "bold", indent="")
    if content.introduction:
        page.paragraph(content.introduction, indent="")
    _show_answers(page, content)
    if content.divisions is not None:
        show_divisions(page, content.divisions)
    _show_replication(page, content)
    if content.places is not None:
        _show_places(page, content.places)
    for section in content.folded.shown:
        _show_section(page, section)
    for diagnosis in content.diagnoses:
        _show_diagnosis(page, diagnosis)
    _show_workers(page, content)
    _show_notes(page, content)
    return page.text()


def _show_answers(page: Page, content: ReportContent) -> None:
    page.heading("Answer")
    if content.nothing:
        page.paragraph(content.nothing, STYLES[NO_VERDICT])
    for group in content.folded.groups:
        if len(content.sections) > 1:
            page.paragraph(f"{group.title}:")
        for answer in group.answers:
            rest = f" {answer.after_lead}{short_marks(answer.marks)}"
            page.item(Text((answer.lead, STYLES[answer.verdict]), rest))
    if content.single_workers:
        page.paragraph(f"{Heading.SINGLE_WORKERS}:")
    for answer in content.single_workers:
        page.item(Text((answer.lead, STYLES[answer.verdict]), f" {answer.after_lead}"))
    if content.workers.cost:
        page.item(content.workers.cost)
    for refusal in content.notes.refusals:
        text = Text(
            (f"REFUSED by {refusal.rule}", STYLES[NO_VERDICT]),
            f" ({refusal.where}): {refusal.message} {refusal.consequence}",
        )
        page.item(text, mark="!")


def _show_replication(page: Page, content: ReportContent) -> None:
    if not content.workers.replication:
        return
    page.heading(Heading.WORKERS)
    rows = content.workers.replication
    columns = list(zip(*(row.cells for row in rows), strict=True))
    pools = [name(row.side, max(page.width // 3, 8)) for row in rows]
    page.line()
    if page.fits([*pools, "Pool"], REPLICATION_HEADS, columns):
        page.grid("Pool", pools, REPLICATION_HEADS, columns)
    else:
        page.items(row.sentence for row in rows)
    page.items(content.workers.cautions, style="yellow", mark="!")


def _show_section(page: Page, section: Section) -> None:
    page.heading(section.title, section.marks)
    page.line()
    if section.measures is not None:
        _show_measures(page, section.measures)
    else:
        _show_figures(page, section.table)
    page.line()
    for heading, texts in (
        (Heading.WAITS, section.bottlenecks),
        (Heading.ADVICE, section.advice),
        (Heading.ASSUMPTIONS, section.certainty),
    ):
        if texts:
            page.paragraph(f"{heading}:")
            page.items(f"{side}: {words}" for side, words in texts)
    page.paragraph("Noise:")
    if section.floors:
        page.items([f"where nothing differs: {', '.join(section.floors)}"])
    page.items(f"{side}: {words}" for side, words in section.noise)


def _show_figures(page: Page, table: FiguresTable, *, noted: bool = False) -> None:
    """Print pools as columns, or as rows in several blocks where columns do not fit."""
    grid = _pools_as_columns(table, noted=noted)
    labels, heads, columns = grid
    cells = [row.cells for row in table.rows]
    styles = [[STYLES.get(verdict, "") for verdict in table.verdicts(row)] for row in table.rows]
    if page.fits(*grid):
        page.grid("", labels, heads, columns, list(zip(*styles, strict=True)))
        return
    limit = max(page.width // 3, 8)
    short = [name(head.text, limit) for head in table.heads]
    # The first block has the marks.
    pools = [text + short_marks(head.marks) for text, head in zip(short, table.heads, strict=True)]
    start = 0
    while start < len(labels):
        end = start + 1
        while end < len(labels) and page.fits(
            pools, labels[start : end + 1], cells[start : end + 1]
        ):
            end += 1
        if start:
            page.line()
        page.grid("Pool", pools, labels[start:end], cells[start:end], styles[start:end])
        start, pools = end, short


def _pools_as_columns(
    table: FiguresTable, *, noted: bool
) -> tuple[list[str], list[str], list[tuple[str, ...]]]:
    """Return the labels of the rows, with or without their notes, the heads and the columns."""
    return (
        [f"{row.label} ({row.note})" if noted and row.note else row.label for row in table.rows],
        [head.text + short_marks(head.marks) for head in table.heads],
        list(zip(*(row.cells for row in table.rows), strict=True)),
    )


def _show_places(page: Page, part: PlacesPart) -> None:
    page.heading("Places")
    noted = all(page.fits(*_pools_as_columns(table.means, noted=True)) for table in part.tables)
    if not noted and part.tables:
        page.line()
        page.items(f"{label}: {note}" for label, note in part.places)
    for table in part.tables:
        page.line()
        page.paragraph(f"{table.title}:")
        page.line()
        _show_figures(page, table.means, noted=noted)
        page.line()
        page.paragraph(f"Ratio of times to {table.first}, each worker compared with itself:")
        page.line()
        _show_figures(page, table.ratios)
        if table.notes:
            page.line()
            page.items(table.notes)
    page.line()
    if part.alike or part.counted:
        page.paragraph(" ".join(filter(None, (part.alike, part.counted))))
    page.paragraph(f"{Heading.ASSUMPTIONS}:")
    page.items(part.assumptions)


def _show_measures(page: Page, table: MeasureTable) -> None:
    """Print a line per pool below each measurement, or sentences where columns do not fit."""
    rows = [row for measure in table.measures for row in measure.rows]
    labels = [INDENT + row.pool for row in rows]
    columns = list(zip(*(row.cells for row in rows), strict=True))
    fits = page.fits(labels, table.heads, columns)
    widths = page.grid_widths("", labels, table.heads, columns)
    if fits:
        page.grid_head("", table.heads, widths)
    for measure in table.measures:
        page.paragraph(measure.label + short_marks(measure.marks))
        for row in measure.rows:
            style = STYLES.get(row.verdict, "")
            if fits:
                styles = [style if head in _STRONG_HEADS else "" for head in table.heads]
                page.grid_row(INDENT + row.pool, row.cells, widths, styles)
            else:
                page.paragraph(_sentence(table, row, style), indent="      ", first="    ")
        for detail in measure.details:
            page.paragraph(detail, "dim", indent="      ", first="    ")


def _sentence(table: MeasureTable, row: MeasureRow, style: str) -> Text:
    parts = [
        f"{cell} {head}" if at < table.figures else cell
        for at, (head, cell) in enumerate(zip(table.heads, row.cells, strict=True))
        if cell != NOTHING
    ]
    return Text(f"{row.pool}: ", (", ".join(parts), style))


def _show_diagnosis(page: Page, part: DiagnosisPart) -> None:
    page.heading(part.title)
    for at, row in enumerate(part.listed):
        if at == 0 or row.state.holds or part.listed[at - 1].state.holds:
            page.line()
        _show_cause(page, part, row)
    if part.leftover:
        page.line()
        page.paragraph(part.leftover)
    if part.counted:
        page.paragraph(part.counted)
    if part.trials:
        _show_trials(page, part.trials)
    if part.remedies:
        page.line()
        page.paragraph(f"{Heading.REMEDIES}:")
    for remedy in part.remedies:
        gain = f" ({remedy.gain})" if remedy.gain else ""
        text = Text((remedy.action, "bold"), f"{gain}, for {remedy.cause}. {remedy.evidence}")
        page.item(text)


def _show_cause(page: Page, part: DiagnosisPart, row: CauseRow) -> None:
    share = f", {row.share}" if row.share else ""
    head = Text(
        (row.state.value.upper(), STYLES[row.state]), f" {row.name}{share}: {row.hypothesis}"
    )
    page.paragraph(head, indent="    ", first=INDENT)
    evidence = [
        f"{side}: {words}"
        for side, words in (
            (part.candidate, row.candidate_evidence),
            (part.baseline, row.baseline_evidence),
        )
        if words
    ]
    if row.state.holds:
        for line in evidence:
            page.paragraph(line, indent="      ", first="    ")
        page.paragraph(row.explanation, indent="    ")
        return
    if row.candidate_evidence == row.baseline_evidence and evidence:
        evidence = [f"both: {row.baseline_evidence}"]
    shown = f" ({'; '.join(evidence)})" if evidence else ""
    page.paragraph(row.explanation + shown, indent="    ")


def _show_trials(page: Page, rows: Sequence[TrialRow]) -> None:
    page.line()
    page.paragraph(f"{Heading.TRIED}:")
    names = [row.name for row in rows]
    columns = list(zip(*(row.cells for row in rows), strict=True))
    fits = page.fits(["Trial", *names], TRIAL_HEADS, columns)
    if fits:
        page.line()
        page.grid("Trial", names, TRIAL_HEADS, columns)
        page.line()
    for row in rows:
        outcome = "" if fits else f", {row.state}"
        page.item(f"{row.name} ({row.change}){outcome}: {row.meaning}")


def _show_workers(page: Page, content: ReportContent) -> None:
    if not content.workers.rows:
        return
    page.heading("Workers")
    page.items(
        (
            f"{row.side}: worker {row.worker}{' (its machine ran several)' if row.repeated else ''}, "
            f"{row.machine}; task {row.task}, {row.state}; from {row.source}"
            + (f"; job {row.url}" if row.url else "")
            for row in content.workers.rows
        ),
        _WORKERS_SHOWN,
    )


def _show_notes(page: Page, content: ReportContent) -> None:
    if content.notes.footnotes:
        page.heading("Notes")
        for note in content.notes.footnotes:
            text = f"{note.rule}: {note.text}"
            page.paragraph(text, indent="      ", first=f"  [{note.number}] ")
    for title, lines in content.lists:
        page.heading(title)
        page.items(lines)
