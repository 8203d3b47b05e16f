# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A table of measurements on a terminal."""

from collections.abc import Callable, Mapping, Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from io_benchmark.number_text import NOTHING
from io_benchmark.report.content.tables import Measure, MeasureRow, MeasureTable
from io_benchmark.report.formats.page import GAP, INDENT, Page, marks_in_words

# The columns that have the color of the verdict.
_STRONG_HEADS = ("Ratio", "Verdict")


def show(
    page: Page,
    table: MeasureTable,
    styles: Mapping[str, str],
    marks: Callable[[Sequence[int]], str] = marks_in_words,
) -> None:
    """Print a line per pool below each measurement, or sentences where columns do not fit."""
    rows = [row for measure in table.measures for row in measure.rows]
    first = max((cell_len(INDENT + row.pool) for row in rows), default=0)
    columns = zip(*(row.cells for row in rows), strict=True)
    widths = [
        max(cell_len(text) for text in (head, *column))
        for head, column in zip(table.heads, columns, strict=True)
    ]
    grid = first + sum(GAP + width for width in widths)
    fits = len(INDENT) + grid <= page.width
    if fits:
        top = Text(INDENT + " " * first, "dim")
        for head, width in zip(table.heads, widths, strict=True):
            top.append(_right(head, width), "bold")
        page.line(top)
        page.line(Text(INDENT + "─" * grid, "dim"))
    for measure in table.measures:
        page.paragraph(Text(measure.label + marks(measure.marks)))
        for row in measure.rows:
            style = styles.get(row.verdict, "")
            if fits:
                page.line(_line(table, row, first, widths, style))
            else:
                page.paragraph(_sentence(table, row, style), indent="      ", first="    ")
        _show_details(page, measure)


def _show_details(page: Page, measure: Measure) -> None:
    for words in measure.details:
        page.paragraph(Text(words, "dim"), indent="      ", first="    ")


def _line(table: MeasureTable, row: MeasureRow, first: int, widths: list[int], style: str) -> Text:
    line = Text(INDENT + set_cell_size(INDENT + row.pool, first))
    for head, cell, width in zip(table.heads, row.cells, widths, strict=True):
        line.append(_right(cell, width), style if head in _STRONG_HEADS else "")
    return line


def _sentence(table: MeasureTable, row: MeasureRow, style: str) -> Text:
    parts = [
        f"{cell} {head}" if at < table.figures else cell
        for at, (head, cell) in enumerate(zip(table.heads, row.cells, strict=True))
        if cell != NOTHING
    ]
    return Text.assemble(f"{row.pool}: ", (", ".join(parts), style))


def _right(text: str, width: int) -> str:
    return " " * (GAP + width - cell_len(text)) + text
