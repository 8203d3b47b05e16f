# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Where the time went, as text: a sentence per candidate, then the tables."""

from io_benchmark.number_text import NOTHING
from io_benchmark.report.content.divisions import DividedDifference, DivisionsPart
from io_benchmark.report.content.document import Heading
from io_benchmark.report.content.part_rows import PartRow
from io_benchmark.report.formats.page import INDENT, STYLES, Page
from io_benchmark.report.formats.styled_text import Text
from io_benchmark.text import name


def show_divisions(page: Page, part: DivisionsPart) -> None:
    page.heading(Heading.PARTS)
    for divided in part.leading:
        page.item(Text((divided.lead, STYLES[divided.verdict]), f" {divided.sentence}"))
    for divided in part.shown:
        page.line()
        page.paragraph(f"{divided.title}:")
        page.line()
        _show_table(page, divided)
    if part.counted:
        page.line()
        page.paragraph(part.counted)


def _show_table(page: Page, divided: DividedDifference) -> None:
    """Print a line per part below its phase, or sentences where columns do not fit."""
    rows = [*divided.rows.shown, divided.rows.whole]
    heads = [name(head, max(page.width // 6, 8)) for head in divided.heads]
    columns = list(zip(*(row.cells for row in rows), strict=True))
    short = [(INDENT if row.phase else "") + row.kind for row in rows]
    noted = [label + row.explanation for label, row in zip(short, rows, strict=True)]
    labels = noted if page.fits(noted, heads, columns) else short
    if not page.fits(labels, heads, columns):
        page.items(f"{row.name}: {_cells_text(divided, row)}" for row in rows)
        return
    widths = page.grid_widths("", labels, heads, columns)
    page.grid_head("", heads, widths)
    phase = ""
    for row, label in zip(rows, labels, strict=True):
        if row.phase not in ("", phase):
            page.paragraph(row.phase)
        phase = row.phase
        page.grid_row(label, row.cells, widths)
    if labels != noted:
        meanings = dict.fromkeys(f"{row.kind}: {row.meaning}" for row in rows if row.meaning)
        for meaning in meanings:
            page.paragraph(meaning, "dim")


def _cells_text(divided: DividedDifference, row: PartRow) -> str:
    pairs = zip(divided.heads, row.cells, strict=True)
    return ", ".join(f"{head} {cell}" for head, cell in pairs if cell != NOTHING)
