# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The report on a terminal: coloured and as wide as it is, plain when piped."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from io_benchmark.analysis.model import Report, State
from io_benchmark.report import content as contents
from io_benchmark.report import terminal_measures
from io_benchmark.report.answers import NO_VERDICT, Answer
from io_benchmark.report.content import Content, Section, WorkerRow
from io_benchmark.report.hypotheses import CauseRow, DiagnosisPart
from io_benchmark.report.tables import FiguresTable
from io_benchmark.report.untrusted import name

INDENT = "  "
GAP = 2
# Text wider than this is hard to read, however wide the terminal is.
TEXT_WIDTH = 110
# The rest of a long list is counted; the HTML page and the JSON have all of it.
WORKERS_SHOWN = 30
LINES_SHOWN = 30
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


def show(console: Console, report: Report) -> None:
    content = contents.build(report)
    page = _Page(console)
    page.paragraph(Text(content.title, "bold"), indent="")
    if content.introduction:
        page.paragraph(Text(content.introduction), indent="")
    _show_answers(page, content)
    for section in content.sections:
        _show_section(page, section)
    for diagnosis in content.diagnoses:
        _show_diagnosis(page, diagnosis)
    _show_workers(page, content)
    _show_notes(page, content)


class _Page:
    """Prints whole lines without trailing spaces; never reads markup."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.width = console.width

    def line(self, text: Text) -> None:
        text.rstrip()
        self._console.print(text, soft_wrap=True, highlight=False)

    def heading(self, text: str, marks: Sequence[int] = ()) -> None:
        self.line(Text())
        self.paragraph(Text(text + _marks(marks), "bold"), indent="")

    def paragraph(self, text: Text, indent: str = INDENT, first: str | Text | None = None) -> None:
        """Wrapped, and indented below what stands first."""
        width = max(min(self.width, TEXT_WIDTH) - len(indent), 12)
        for at, wrapped in enumerate(text.wrap(self._console, width)):
            start = indent if at or first is None else first
            self.line(Text.assemble(start, wrapped))

    def items(self, texts: Iterable[str], shown: int = LINES_SHOWN) -> None:
        lines = list(texts)
        for line in lines[:shown]:
            self.paragraph(Text(line), indent="    ", first="  - ")
        if len(lines) > shown:
            self.paragraph(Text(f"and {len(lines) - shown:,} more"), indent="    ", first="  - ")


def _marks(numbers: Sequence[int]) -> str:
    return "".join(f" [{number}]" for number in numbers)


def _show_answers(page: _Page, content: Content) -> None:
    page.heading("Answer")
    if content.nothing:
        page.paragraph(Text(content.nothing, STYLES[NO_VERDICT]))
    for section in content.sections:
        if len(content.sections) > 1 and section.answers:
            page.paragraph(Text(f"{section.title}:"))
        for answer in section.answers:
            page.paragraph(_answer(answer), indent="    ", first="  - ")
    for refusal in content.refusals:
        text = Text.assemble(
            (f"REFUSED by {refusal.rule}", STYLES[NO_VERDICT]),
            f" ({refusal.where}): {refusal.message} No verdict is given.",
        )
        page.paragraph(text, indent="    ", first="  ! ")


def _answer(answer: Answer) -> Text:
    rest = " ".join(part for part in (answer.rest, answer.attempt) if part)
    return Text.assemble((answer.lead, STYLES[answer.verdict]), f" {rest}{_marks(answer.marks)}")


def _show_section(page: _Page, section: Section) -> None:
    page.heading(section.title, section.marks)
    page.line(Text())
    if section.measures is not None:
        terminal_measures.show(page, section.measures, STYLES)
    else:
        _show_figures(page, section.table)
    page.line(Text())
    if section.advice:
        page.paragraph(Text("What would decide it:"))
        page.items(f"{candidate}: {message}" for candidate, message in section.advice)
    if section.certainty:
        page.paragraph(Text("What the intervals rest on:"))
        page.items(f"{candidate}: {words}" for candidate, words in section.certainty)
    page.paragraph(Text("Noise:"))
    if section.floors:
        page.items([f"between equals: {', '.join(section.floors)}"])
    page.items(f"{side}: {words}" for side, words in section.noise)


def _show_figures(page: _Page, table: FiguresTable) -> None:
    """Pools as columns; as rows, in as many blocks as needed, where they do not fit."""
    names = [head.text + _marks(head.marks) for head in table.heads]
    labels = [row.label for row in table.rows]
    strong = [row.strong for row in table.rows]
    verdicts = [STYLES.get(head.verdict, "") for head in table.heads]
    cells = [row.cells for row in table.rows]
    columns = list(zip(*cells, strict=True)) or []
    if _width(labels, names, columns) <= page.width:
        styles = [[verdicts[at] if bold else "" for bold in strong] for at in range(len(names))]
        _print_grid(page, "", labels, names, columns, styles)
        return
    limit = max(page.width // 3, 8)
    short = [name(head.text, limit) for head in table.heads]
    marked = [text + _marks(head.marks) for text, head in zip(short, table.heads, strict=True)]
    start = 0
    while start < len(labels):
        end = start + 1
        while end < len(labels) and (
            _width(short if start else marked, labels[start : end + 1], cells[start : end + 1])
            <= page.width
        ):
            end += 1
        if start:
            page.line(Text())
        chosen = [verdicts if bold else [""] * len(names) for bold in strong[start:end]]
        pools = short if start else marked
        _print_grid(page, "Pool", pools, labels[start:end], cells[start:end], chosen)
        start = end


def _widths(heads: Sequence[str], columns: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(cell_len(text) for text in (head, *column))
        for head, column in zip(heads, columns, strict=True)
    ]


def _width(labels: Sequence[str], heads: Sequence[str], columns: Sequence[Sequence[str]]) -> int:
    first = max((cell_len(label) for label in labels), default=0)
    return len(INDENT) + first + sum(GAP + width for width in _widths(heads, columns))


def _print_grid(
    page: _Page,
    corner: str,
    labels: Sequence[str],
    heads: Sequence[str],
    columns: Sequence[Sequence[str]],
    styles: Sequence[Sequence[str]],
) -> None:
    """A label column on the left, the others set flush right."""
    widths = _widths(heads, columns)
    first = max((cell_len(label) for label in (corner, *labels)), default=0)

    def right(text: str, width: int) -> str:
        return " " * (GAP + width - cell_len(text)) + text

    top = Text(INDENT + set_cell_size(corner, first), "dim")
    for head, width in zip(heads, widths, strict=True):
        top.append(right(head, width), "bold")
    page.line(top)
    page.line(Text(INDENT + "─" * (first + sum(GAP + width for width in widths)), "dim"))
    for at, label in enumerate(labels):
        line = Text(INDENT + set_cell_size(label, first))
        for column, width, style in zip(columns, widths, styles, strict=True):
            line.append(right(column[at], width), style[at])
        page.line(line)


def _show_diagnosis(page: _Page, part: DiagnosisPart) -> None:
    page.heading(part.title)
    for at, row in enumerate(part.told):
        if at == 0 or State.SUPPORTED in (row.state, part.told[at - 1].state):
            page.line(Text())
        _show_cause(page, part, row)
    if part.counted:
        page.paragraph(Text(part.counted))
    if part.remedies:
        page.line(Text())
        page.paragraph(Text("What to try:"))
    for remedy in part.remedies:
        gain = f" ({remedy.gain})" if remedy.gain else ""
        text = Text.assemble(
            (remedy.action, "bold"), f"{gain}, for {remedy.cause}. {remedy.evidence}"
        )
        page.paragraph(text, indent="    ", first="  - ")


def _show_cause(page: _Page, part: DiagnosisPart, row: CauseRow) -> None:
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


def _show_workers(page: _Page, content: Content) -> None:
    if not content.workers:
        return
    page.heading("Workers")
    page.items((_worker(row) for row in content.workers), WORKERS_SHOWN)
    for line in content.repeated[:LINES_SHOWN]:
        page.paragraph(Text(line, "yellow"), indent="    ", first="  ! ")


def _worker(row: WorkerRow) -> str:
    repeated = " (ran more than once)" if row.repeated else ""
    return (
        f"{row.side}: worker {row.worker}{repeated}, {row.machine}; "
        f"task {row.task}, {row.state}; from {row.source}"
    )


def _show_notes(page: _Page, content: Content) -> None:
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
