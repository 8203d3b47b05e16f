# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A report about real tasks as text: at most 23 lines for a terminal, or everything."""

from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.tasks.task_model import TaskReport
from io_benchmark.report.content.report_index import NO_VERDICT
from io_benchmark.report.content.task_content import TaskContent
from io_benchmark.report.content.task_tables import TaskTable
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.page import STYLES, Page
from io_benchmark.report.formats.styled_text import Text
from io_benchmark.text import name

_LINES = 23
_NOTES, _NOTE_LENGTH = 2, 220
# Rows that are left out first where the screen is full, then what answers say further.
_ROWS = ("Stopped runs", "Failed runs", "Tear-down", "Set-up", "Pending", "Workers")
_BELOW = ("To settle it", "Where", "Expected", "Benchmark", "Money")


class _Room(NamedTuple):
    """How much of the content is shown."""

    rows_left_out: int = 0  # of the names above
    below_left_out: int = 0
    answers: int = 4
    rows: int = 100


_ROOMS = (
    *(_Room(number) for number in range(len(_ROWS) + 1)),
    *(_Room(len(_ROWS), number) for number in range(1, len(_BELOW) + 1)),
    _Room(len(_ROWS), len(_BELOW), 4, 8),
    _Room(len(_ROWS), len(_BELOW), 2, 6),
    _Room(len(_ROWS), len(_BELOW), 1, 3),
)


def render_tasks(report: TaskReport, layout: Layout = PLAIN) -> str:
    content = TaskContent.of(report)
    if layout.details:
        return _whole(content, layout)
    text = _screen(content, layout, _Room(), spaced=True)
    for room in _ROOMS:
        if text.count("\n") <= _LINES - layout.lines_below:
            break
        text = _screen(content, layout, room)
    return text


def _screen(content: TaskContent, layout: Layout, room: _Room, *, spaced: bool = False) -> str:
    page = Page(layout)
    page.paragraph(content.title, "bold", indent="")
    if spaced:
        page.line()
    without = _BELOW[: room.below_left_out]
    answers = tuple(
        replace(answer, below=tuple(each for each in answer.below if each[0] not in without))
        for answer in content.answers[: room.answers]
    )
    _answers(page, replace(content, answers=answers))
    if len(content.answers) > len(answers):
        page.item(f"and {len(content.answers) - len(answers):,} more pools")
    notes = [
        *content.notes,
        *(f"Not read: {line}" for line in content.unreadable),
        *content.remarks,
    ]
    for note in notes[:_NOTES]:
        page.item(name(note, _NOTE_LENGTH), "yellow", mark="!")
    if len(notes) > _NOTES:
        page.item(f"and {len(notes) - _NOTES:,} more; tasks --details shows them", mark="!")
    rows = [row for row in content.times.rows if row[0] not in _ROWS[: room.rows_left_out]]
    _table(page, replace(content.times, rows=tuple(rows[: room.rows])))
    if len(rows) > room.rows:
        page.paragraph(f"and {len(rows) - room.rows:,} more")
    if spaced:
        page.line()
    page.paragraph("Each label and all notes: tasks --details.", "dim", indent="")
    return page.text()


def _whole(content: TaskContent, layout: Layout) -> str:
    page = Page(layout)
    page.paragraph(content.title, "bold", indent="")
    page.line()
    _answers(page, content)
    _table(page, content.times)
    for table in content.labels:
        page.heading(table.title)
        _table(page, table)
    for title, lines in (
        ("Notes", content.notes),
        ("Not read", content.unreadable),
        ("Messages about the runs", content.remarks),
    ):
        if lines:
            page.heading(title)
            page.items(lines)
    return page.text()


def _answers(page: Page, content: TaskContent) -> None:
    if content.nothing:
        page.item(content.nothing, STYLES[NO_VERDICT])
    for answer in content.answers:
        page.item(Text((answer.lead, STYLES[answer.verdict]), " ", answer.text))
        for title, text in answer.below:
            words = Text((f"{title}:", "bold"), " ", text)
            page.paragraph(words, indent="      ", first="    ")


def _table(page: Page, table: TaskTable) -> None:
    if not table.rows:
        return
    labels, *columns = table.columns
    heads = list(table.heads)
    # What comes last matters least.
    while len(heads) > 2 and not page.fits(labels, heads, columns):
        heads.pop()
        columns.pop()
    page.line()
    page.grid("", labels, heads, columns)
