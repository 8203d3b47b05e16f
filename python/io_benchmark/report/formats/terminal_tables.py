# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Tables on a terminal: of figures, of places and of measurements."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from io_benchmark.number_text import NOTHING
from io_benchmark.report.content.document import Heading
from io_benchmark.report.content.footnotes import all_marks
from io_benchmark.report.content.place_tables import PlacesPart
from io_benchmark.report.content.tables import FiguresTable, MeasureRow, MeasureTable
from io_benchmark.report.formats.page import (
    GAP,
    INDENT,
    STYLES,
    Page,
    align_right,
    column_widths,
)
from io_benchmark.text import name

# The columns of measurements that have the color of the verdict.
_STRONG_HEADS = ("Ratio", "Verdict")


def show_figures(page: Page, table: FiguresTable, *, noted: bool = False) -> None:
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
    pools = [text + all_marks(head.marks) for text, head in zip(short, table.heads, strict=True)]
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
        [head.text + all_marks(head.marks) for head in table.heads],
        list(zip(*(row.cells for row in table.rows), strict=True)),
    )


def show_places(page: Page, part: PlacesPart) -> None:
    page.heading("Places")
    noted = all(page.fits(*_pools_as_columns(table.means, noted=True)) for table in part.tables)
    if not noted and part.tables:
        page.line()
        page.items(f"{label}: {note}" for label, note in part.places)
    for table in part.tables:
        page.line()
        page.paragraph(f"{table.title}:")
        page.line()
        show_figures(page, table.means, noted=noted)
        page.line()
        page.paragraph(f"Ratio of times to {table.first}, each worker compared with itself:")
        page.line()
        show_figures(page, table.ratios)
        if table.notes:
            page.line()
            page.items(table.notes)
    page.line()
    if part.alike or part.counted:
        page.paragraph(" ".join(filter(None, (part.alike, part.counted))))
    page.paragraph(f"{Heading.ASSUMPTIONS}:")
    page.items(part.assumptions)


def show_measures(
    page: Page, table: MeasureTable, marks: Callable[[Sequence[int]], str] = all_marks
) -> None:
    """Print a line per pool below each measurement, or sentences where columns do not fit."""
    rows = [row for measure in table.measures for row in measure.rows]
    first = max((cell_len(INDENT + row.pool) for row in rows), default=0)
    widths = column_widths(table.heads, zip(*(row.cells for row in rows), strict=True))
    grid = first + sum(GAP + width for width in widths)
    fits = len(INDENT) + grid <= page.width
    if fits:
        top = Text(INDENT + " " * first, "dim")
        for head, width in zip(table.heads, widths, strict=True):
            top.append(align_right(head, width), "bold")
        page.line(top)
        page.line(INDENT + "─" * grid, "dim")
    for measure in table.measures:
        page.paragraph(measure.label + marks(measure.marks))
        for row in measure.rows:
            style = STYLES.get(row.verdict, "")
            if fits:
                page.line(_line(table, row, first, widths, style))
            else:
                page.paragraph(_sentence(table, row, style), indent="      ", first="    ")
        for detail in measure.details:
            page.paragraph(detail, "dim", indent="      ", first="    ")


def _line(table: MeasureTable, row: MeasureRow, first: int, widths: list[int], style: str) -> Text:
    line = Text(INDENT + set_cell_size(INDENT + row.pool, first))
    for head, cell, width in zip(table.heads, row.cells, widths, strict=True):
        line.append(align_right(cell, width), style if head in _STRONG_HEADS else "")
    return line


def _sentence(table: MeasureTable, row: MeasureRow, style: str) -> Text:
    parts = [
        f"{cell} {head}" if at < table.figures else cell
        for at, (head, cell) in enumerate(zip(table.heads, row.cells, strict=True))
        if cell != NOTHING
    ]
    return Text.assemble(f"{row.pool}: ", (", ".join(parts), style))
