# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A comparison as text: as wide as the terminal and with its colors, or plain."""

from rich.text import Text

from io_benchmark.analysis.model import State
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content import document as contents
from io_benchmark.report.content.document import Heading, ReportContent
from io_benchmark.report.content.footnotes import all_marks, short_marks
from io_benchmark.report.content.hypotheses import CauseRow, DiagnosisPart
from io_benchmark.report.content.report_index import NO_VERDICT
from io_benchmark.report.content.report_sections import Section
from io_benchmark.report.content.worker_rows import REPLICATION_HEADS
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.page import INDENT, STYLES, Page
from io_benchmark.report.formats.terminal_tables import show_figures, show_measures, show_places
from io_benchmark.text import name

_WORKERS_SHOWN = 30


def render_report(report: Report, layout: Layout = PLAIN) -> str:
    content = contents.build(report, details=layout.details)
    page = Page(layout)
    page.paragraph(content.title, "bold", indent="")
    if content.introduction:
        page.paragraph(content.introduction, indent="")
    _show_answers(page, content)
    _show_replication(page, content)
    if content.places is not None:
        show_places(page, content.places)
    for section in content.folded.shown:
        _show_section(page, section)
    if content.folded.table is not None:
        page.heading(contents.UNDECIDED)
        page.paragraph(contents.UNDECIDED_MEANS)
        page.line()
        show_measures(page, content.folded.table, short_marks)
    for diagnosis in content.diagnoses:
        _show_diagnosis(page, diagnosis)
    _show_workers(page, content)
    _show_notes(page, content)
    return page.text()


def _show_answers(page: Page, content: ReportContent) -> None:
    page.heading("Answer")
    if content.nothing:
        page.paragraph(content.nothing, STYLES[NO_VERDICT])
    marks = short_marks if content.folded.folds else all_marks
    for group in content.folded.groups:
        if len(content.sections) > 1:
            page.paragraph(f"{group.title}:")
        for answer in group.answers:
            rest = f" {answer.after_lead}{marks(answer.marks)}"
            page.item(Text.assemble((answer.lead, STYLES[answer.verdict]), rest))
    if content.folded.lines:
        page.paragraph(f"{contents.NEITHER}:")
    for line in content.folded.lines:
        page.item(line.text + short_marks(line.marks))
    for refusal in content.notes.refusals:
        text = Text.assemble(
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
        show_measures(page, section.measures)
    else:
        show_figures(page, section.table)
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


def _show_diagnosis(page: Page, part: DiagnosisPart) -> None:
    page.heading(part.title)
    for at, row in enumerate(part.listed):
        if at == 0 or State.SUPPORTED in (row.state, part.listed[at - 1].state):
            page.line()
        _show_cause(page, part, row)
    if part.counted:
        page.paragraph(part.counted)
    if part.remedies:
        page.line()
        page.paragraph(f"{Heading.REMEDIES}:")
    for remedy in part.remedies:
        gain = f" ({remedy.gain})" if remedy.gain else ""
        text = Text.assemble(
            (remedy.action, "bold"), f"{gain}, for {remedy.cause}. {remedy.evidence}"
        )
        page.item(text)


def _show_cause(page: Page, part: DiagnosisPart, row: CauseRow) -> None:
    share = f", {row.share}" if row.share else ""
    head = Text.assemble(
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
    if row.state is State.SUPPORTED:
        for line in evidence:
            page.paragraph(line, indent="      ", first="    ")
        page.paragraph(row.explanation, indent="    ")
        return
    if row.candidate_evidence == row.baseline_evidence and evidence:
        evidence = [f"both: {row.baseline_evidence}"]
    shown = f" ({'; '.join(evidence)})" if evidence else ""
    page.paragraph(row.explanation + shown, indent="    ")


def _show_workers(page: Page, content: ReportContent) -> None:
    if not content.workers.rows:
        return
    page.heading("Workers")
    page.items(
        (
            f"{row.side}: worker {row.worker}{' (ran more than once)' if row.repeated else ''}, "
            f"{row.machine}; task {row.task}, {row.state}; from {row.source}"
            for row in content.workers.rows
        ),
        _WORKERS_SHOWN,
    )


def _show_notes(page: Page, content: ReportContent) -> None:
    if content.notes.footnotes:
        page.heading("Notes")
        for note in content.notes.footnotes:
            page.paragraph(
                Text(f"{note.rule}: {note.text}"), indent="      ", first=f"  [{note.number}] "
            )
    for title, lines in content.lists:
        page.heading(title)
        page.items(lines)
