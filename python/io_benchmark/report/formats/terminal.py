# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A comparison as text: as wide as the terminal and with its colors, or plain."""

from rich.text import Text

from io_benchmark.analysis.model import State
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content import document as contents
from io_benchmark.report.content.answers import PoolAnswer
from io_benchmark.report.content.document import Heading, ReportContent
from io_benchmark.report.content.hypotheses import CauseRow, DiagnosisPart
from io_benchmark.report.content.report_index import NO_VERDICT
from io_benchmark.report.content.report_sections import Section
from io_benchmark.report.content.worker_rows import REPLICATION_HEADS, WorkerRow
from io_benchmark.report.formats import PLAIN, Layout, terminal_figures, terminal_measures
from io_benchmark.report.formats.page import (
    INDENT,
    LINES_SHOWN,
    Page,
    marks_in_words,
    print_grid,
    short_marks,
)
from io_benchmark.text import name

_WORKERS_SHOWN = 30
STYLES = {
    "slower": "bold red",
    "faster": "bold green",
    "equivalent": "bold cyan",
    "inconclusive": "bold yellow",
    NO_VERDICT: "bold magenta",
    State.SUPPORTED: "bold",
    State.RULED_OUT: "",
    State.NOT_OBSERVABLE: "dim",
}


def render_report(report: Report, layout: Layout = PLAIN) -> str:
    content = contents.build(report, details=layout.details)
    page = Page(layout)
    page.paragraph(Text(content.title, "bold"), indent="")
    if content.introduction:
        page.paragraph(Text(content.introduction), indent="")
    _show_answers(page, content)
    _show_replication(page, content)
    if content.places is not None:
        terminal_figures.show_places(page, content.places, STYLES)
    for section in content.folded.shown:
        _show_section(page, section)
    if content.folded.table is not None:
        page.heading(contents.UNDECIDED)
        page.paragraph(Text(contents.UNDECIDED_MEANS))
        page.line(Text())
        terminal_measures.show(page, content.folded.table, STYLES, short_marks)
    for diagnosis in content.diagnoses:
        _show_diagnosis(page, diagnosis)
    _show_workers(page, content)
    _show_notes(page, content)
    return page.text()


def _show_answers(page: Page, content: ReportContent) -> None:
    page.heading("Answer")
    if content.nothing:
        page.paragraph(Text(content.nothing, STYLES[NO_VERDICT]))
    for group in content.folded.groups:
        if len(content.sections) > 1:
            page.paragraph(Text(f"{group.title}:"))
        for answer in group.answers:
            marks = (short_marks if content.folded.folds else marks_in_words)(answer.marks)
            page.paragraph(_answer(answer, marks), indent="    ", first="  - ")
    if content.folded.lines:
        page.paragraph(Text(f"{contents.NEITHER}:"))
    for line in content.folded.lines:
        text = Text(line.text + short_marks(line.marks))
        page.paragraph(text, indent="    ", first="  - ")
    for refusal in content.refusals:
        text = Text.assemble(
            (f"REFUSED by {refusal.rule}", STYLES[NO_VERDICT]),
            f" ({refusal.where}): {refusal.message} {refusal.consequence}",
        )
        page.paragraph(text, indent="    ", first="  ! ")


def _answer(answer: PoolAnswer, marks: str) -> Text:
    rest = " ".join(part for part in (answer.rest, answer.attempt) if part)
    return Text.assemble((answer.lead, STYLES[answer.verdict]), f" {rest}{marks}")


def _show_replication(page: Page, content: ReportContent) -> None:
    if not content.replication:
        return
    page.heading(Heading.WORKERS)
    rows = content.replication
    columns = list(zip(*(row.cells for row in rows), strict=True))
    pools = [name(row.side, max(page.width // 3, 8)) for row in rows]
    page.line(Text())
    if terminal_figures.width([*pools, "Pool"], REPLICATION_HEADS, columns) <= page.width:
        styles = [[""] * len(rows)] * len(columns)
        print_grid(page, "Pool", pools, REPLICATION_HEADS, columns, styles)
    else:
        page.items(row.sentence for row in rows)
    for line in content.cautions[:LINES_SHOWN]:
        page.paragraph(Text(line, "yellow"), indent="    ", first="  ! ")
    left_out = len(content.cautions) - LINES_SHOWN
    if left_out > 0:
        page.paragraph(Text(f"and {left_out:,} more"), indent="    ", first="  ! ")


def _show_section(page: Page, section: Section) -> None:
    page.heading(section.title, section.marks)
    page.line(Text())
    if section.measures is not None:
        terminal_measures.show(page, section.measures, STYLES)
    else:
        terminal_figures.show(page, section.table, STYLES)
    page.line(Text())
    if section.bottlenecks:
        page.paragraph(Text(f"{Heading.WAITS}:"))
        page.items(f"{side}: {words}" for side, words in section.bottlenecks)
    if section.advice:
        page.paragraph(Text(f"{Heading.ADVICE}:"))
        page.items(f"{candidate}: {message}" for candidate, message in section.advice)
    if section.certainty:
        page.paragraph(Text(f"{Heading.ASSUMPTIONS}:"))
        page.items(f"{candidate}: {words}" for candidate, words in section.certainty)
    page.paragraph(Text("Noise:"))
    if section.floors:
        page.items([f"where nothing differs: {', '.join(section.floors)}"])
    page.items(f"{side}: {words}" for side, words in section.noise)


def _show_diagnosis(page: Page, part: DiagnosisPart) -> None:
    page.heading(part.title)
    for at, row in enumerate(part.listed):
        if at == 0 or State.SUPPORTED in (row.state, part.listed[at - 1].state):
            page.line(Text())
        _show_cause(page, part, row)
    if part.counted:
        page.paragraph(Text(part.counted))
    if part.remedies:
        page.line(Text())
        page.paragraph(Text(f"{Heading.REMEDIES}:"))
    for remedy in part.remedies:
        gain = f" ({remedy.gain})" if remedy.gain else ""
        text = Text.assemble(
            (remedy.action, "bold"), f"{gain}, for {remedy.cause}. {remedy.evidence}"
        )
        page.paragraph(text, indent="    ", first="  - ")


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
            page.paragraph(Text(line), indent="      ", first="    ")
        page.paragraph(Text(row.explanation), indent="    ")
        return
    if row.candidate_evidence == row.baseline_evidence and evidence:
        evidence = [f"both: {row.baseline_evidence}"]
    shown = f" ({'; '.join(evidence)})" if evidence else ""
    page.paragraph(Text(row.explanation + shown), indent="    ")


def _show_workers(page: Page, content: ReportContent) -> None:
    if not content.workers:
        return
    page.heading("Workers")
    page.items((_worker(row) for row in content.workers), _WORKERS_SHOWN)


def _worker(row: WorkerRow) -> str:
    repeated = " (ran more than once)" if row.repeated else ""
    return (
        f"{row.side}: worker {row.worker}{repeated}, {row.machine}; "
        f"task {row.task}, {row.state}; from {row.source}"
    )


def _show_notes(page: Page, content: ReportContent) -> None:
    if content.footnotes:
        page.heading("Notes")
        for note in content.footnotes:
            page.paragraph(
                Text(f"{note.rule}: {note.text}"), indent="      ", first=f"  [{note.number}] "
            )
    if content.unreadable:
        page.heading("Not read")
        page.items(content.unreadable)
    if content.remarks:
        page.heading("Remarks")
        page.items(content.remarks)
