# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A history as text: as wide as the terminal and with its colors, or plain."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from io_benchmark.analysis.history.history_model import History, HistorySeries
from io_benchmark.report.content import history_content as contents
from io_benchmark.report.content.history_content import (
    FASTER,
    SLOWER,
    STEADY,
    ChangePart,
    PointRow,
    SeriesPart,
)
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.page import GAP, INDENT, Page, column_widths
from io_benchmark.report.plots.line_drawing import draw

_STYLES = {SLOWER: "bold red", FASTER: "bold green", STEADY: "bold cyan"}
# A column's head, and its cell for a point.
_Column = tuple[str, Callable[[PointRow], str]]
_COLUMNS: tuple[_Column, ...] = (
    ("Date", lambda row: row.date),
    ("Revision", lambda row: row.revision),
    ("Workers", lambda row: row.workers),
    ("Mean", lambda row: row.mean),
    ("Ratio to previous level", lambda row: row.ratio),
)
# Left out in this order where there is no room.
_DROPPED = ("Revision", "Workers", "Ratio to previous level")
_NOTE = "  change"
# The newest points; the HTML page and the JSON have all.
ROWS_SHOWN = 60
# A wider drawing is not clearer.
_DRAWING_WIDTH = 110


def render_history(history: History, layout: Layout = PLAIN) -> str:
    content = contents.build(history)
    page = Page(layout)
    page.paragraph(Text(content.title, "bold"), indent="")
    if content.introduction:
        page.paragraph(Text(content.introduction), indent="")
    page.heading("Answer")
    if content.nothing:
        page.paragraph(Text(content.nothing, "bold magenta"))
    for part in content.series:
        _show_answer(page, part, several=len(content.series) > 1)
    for part, series in zip(content.series, history.series, strict=True):
        _show_series(page, part, series)
    for title, lines in (
        ("Left out", content.left_out),
        ("Not read", content.unreadable),
        ("Remarks", content.remarks),
    ):
        if lines:
            page.heading(title)
            page.items(lines)
    return page.text()


def _show_answer(page: Page, part: SeriesPart, *, several: bool) -> None:
    if several:
        page.paragraph(Text(f"{part.apart}:"))
    for change in part.changes:
        words = " ".join(
            filter(None, (change.rest, change.summary, change.nothing and f"{change.nothing}."))
        )
        text = Text.assemble((change.lead, _STYLES[change.kind]), f" {words}")
        page.paragraph(text, indent="    ", first="  - ")
    if part.steady:
        text = Text.assemble((part.steady, _STYLES[STEADY]), ".")
        page.paragraph(text, indent="    ", first="  - ")
    page.paragraph(Text(f"{part.now}."), indent="    ", first="  - ")


def _show_series(page: Page, part: SeriesPart, series: HistorySeries) -> None:
    page.heading(part.title)
    page.paragraph(Text(f"{part.figure}."))
    page.paragraph(Text(f"{part.conditions}."))
    page.line(Text())
    for line in draw(series, min(page.width, _DRAWING_WIDTH) - len(INDENT)):
        page.line(Text(INDENT + line))
    page.line(Text())
    _show_points(page, part)
    for change in part.changes:
        _show_change(page, change)


def _show_points(page: Page, part: SeriesPart) -> None:
    rows = part.rows[-ROWS_SHOWN:]
    if len(rows) < len(part.rows):
        page.paragraph(Text(f"The newest {len(rows)} of {len(part.rows):,} points:"))
    columns = _fitting(rows, page.width)
    cells = [[cell(row) for _, cell in columns] for row in rows]
    heads = [head for head, _ in columns]
    widths = column_widths(heads, list(zip(*cells, strict=True)))
    kinds = {change.number: change.kind for change in part.changes}
    page.line(Text(INDENT + _row_text(heads, widths), "bold"))
    page.line(Text(INDENT + "─" * (sum(widths) + GAP * (len(widths) - 1)), "dim"))
    for row, texts in zip(rows, cells, strict=True):
        line = Text(INDENT + _row_text(texts, widths))
        if row.change:
            line.append(f"{_NOTE} {row.change}", _STYLES[kinds[row.change]])
        page.line(line)


def _fitting(rows: Sequence[PointRow], width: int) -> list[_Column]:
    """Return the columns that fit next to the numbers of changes."""
    columns = list(_COLUMNS)
    for dropped in _DROPPED:
        texts = [[cell(row) for row in rows] for _, cell in columns]
        widths = column_widths([head for head, _ in columns], texts)
        if len(INDENT) + sum(widths) + GAP * (len(widths) - 1) + len(_NOTE) + 3 <= width:
            break
        columns = [column for column in columns if column[0] != dropped]
    return columns


def _row_text(texts: Sequence[str], widths: Sequence[int]) -> str:
    """Align the date left and the other cells right."""
    first, *rest = texts
    # By cells: a wide character takes two.
    flush = [
        " " * (width - cell_len(text)) + text for text, width in zip(rest, widths[1:], strict=True)
    ]
    return (" " * GAP).join([set_cell_size(first, widths[0]), *flush])


def _show_change(page: Page, change: ChangePart) -> None:
    page.heading(change.title)
    if change.changed:
        page.paragraph(Text("Changed here:"))
        page.items(change.changed)
    if change.near:
        page.paragraph(Text("Changed close by:"))
        page.items(change.near)
    if change.nothing:
        page.paragraph(Text(f"{change.nothing}."))
    if change.varied:
        page.paragraph(Text("Varied before or after the change, so not an explanation by itself:"))
        page.items(change.varied)
