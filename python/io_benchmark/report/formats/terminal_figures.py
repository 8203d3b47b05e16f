# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Tables of figures on a terminal, pools as columns or as rows, and those of places."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from io_benchmark.report.content.document import Heading
from io_benchmark.report.content.place_tables import PlacesPart, PlacesTable
from io_benchmark.report.content.tables import FiguresTable
from io_benchmark.report.formats.page import (
    GAP,
    INDENT,
    Page,
    column_widths,
    marks_in_words,
    print_grid,
)
from io_benchmark.text import name

_Styles = Mapping[str, str]


def show(page: Page, table: FiguresTable, styles: _Styles, *, noted: bool = False) -> None:
    """Print pools as columns, or as rows in several blocks where columns do not fit."""
    names = _heads(table)
    labels = _labels(table, noted=noted)
    cell_styles = [
        [styles.get(verdict, "") for verdict in table.verdicts(row)] for row in table.rows
    ]
    cells = [row.cells for row in table.rows]
    columns = list(zip(*cells, strict=True)) or []
    if width(labels, names, columns) <= page.width:
        print_grid(page, "", labels, names, columns, list(zip(*cell_styles, strict=True)))
        return
    limit = max(page.width // 3, 8)
    short = [name(head.text, limit) for head in table.heads]
    marked = [
        text + marks_in_words(head.marks) for text, head in zip(short, table.heads, strict=True)
    ]
    start = 0
    while start < len(labels):
        end = start + 1
        while end < len(labels) and (
            width(short if start else marked, labels[start : end + 1], cells[start : end + 1])
            <= page.width
        ):
            end += 1
        if start:
            page.line(Text())
        pools = short if start else marked
        print_grid(page, "Pool", pools, labels[start:end], cells[start:end], cell_styles[start:end])
        start = end


def _heads(table: FiguresTable) -> list[str]:
    return [head.text + marks_in_words(head.marks) for head in table.heads]


def _labels(table: FiguresTable, *, noted: bool) -> list[str]:
    """Return the labels of the rows, with or without their notes."""
    return [f"{row.label} ({row.note})" if noted and row.note else row.label for row in table.rows]


def width(labels: Sequence[str], heads: Sequence[str], columns: Sequence[Sequence[str]]) -> int:
    """Return the width of the grid with these columns."""
    first = max((cell_len(label) for label in labels), default=0)
    return len(INDENT) + first + sum(GAP + column for column in column_widths(heads, columns))


def show_places(page: Page, part: PlacesPart, styles: _Styles) -> None:
    page.heading("Places")
    noted = all(
        width(
            _labels(table.means, noted=True),
            _heads(table.means),
            list(zip(*(row.cells for row in table.means.rows), strict=True)),
        )
        <= page.width
        for table in part.tables
    )
    if not noted and part.tables:
        page.line(Text())
        page.items(f"{label}: {note}" for label, note in part.places)
    for table in part.tables:
        page.line(Text())
        _show_place(page, table, styles, noted=noted)
    page.line(Text())
    if part.alike or part.counted:
        page.paragraph(Text(" ".join(filter(None, (part.alike, part.counted)))))
    page.paragraph(Text(f"{Heading.ASSUMPTIONS}:"))
    page.items(part.assumptions)


def _show_place(page: Page, table: PlacesTable, styles: _Styles, *, noted: bool) -> None:
    page.paragraph(Text(f"{table.title}:"))
    page.line(Text())
    show(page, table.means, styles, noted=noted)
    page.line(Text())
    page.paragraph(Text(f"Ratio of times to {table.first}, each worker compared with itself:"))
    page.line(Text())
    show(page, table.ratios, styles)
    if table.notes:
        page.line(Text())
        page.items(table.notes)
