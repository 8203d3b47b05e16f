# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A history as text: as wide as the terminal and with its colors, or plain."""

from collections.abc import Sequence

from io_benchmark.analysis.history.history_model import History, HistorySeries
from io_benchmark.report.content import history_content as contents
from io_benchmark.report.content.history_content import (
    FASTER,
    POINT_HEADS,
    SLOWER,
    STEADY,
    ChangePart,
    SeriesPart,
)
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.page import INDENT, Page
from io_benchmark.report.formats.styled_text import Text
from io_benchmark.report.plots.line_drawing import draw

_STYLES = {SLOWER: "bold red", FASTER: "bold green", STEADY: "bold cyan"}
# Columns are left out in this order where there is no room.
_DROPPED = ("Revision", "Workers", "Ratio to previous level")
_NOTE = "  change"
# The newest points; the HTML page and the JSON have all.
ROWS_SHOWN = 60
# A wider drawing is not clearer.
_DRAWING_WIDTH = 110


def render_history(history: History, layout: Layout = PLAIN) -> str:
    content = contents.build(history)
    page = Page(layout)
    page.paragraph(content.title, "bold", indent="")
    if content.introduction:
        page.paragraph(content.introduction, indent="")
    page.heading("Answer")
    if content.nothing:
        page.paragraph(content.nothing, "bold magenta")
    for part in content.series:
        _show_answer(page, part, several=len(content.series) > 1)
    for part, series in zip(content.series, history.series, strict=True):
        _show_series(page, part, series)
    for title, lines in content.lists:
        page.heading(title)
        page.items(lines)
    return page.text()


def _show_answer(page: Page, part: SeriesPart, *, several: bool) -> None:
    if several:
        page.paragraph(f"{part.apart}:")
    for change in part.changes:
        words = " ".join(
            filter(None, (change.rest, change.summary, change.nothing and f"{change.nothing}."))
        )
        text = Text((change.lead, _STYLES[change.kind]), f" {words}")
        page.item(text)
    for lead, rest in part.effects:
        page.item(Text((lead, _STYLES[STEADY]), f" {rest}."))
    if part.unclear:
        page.item(Text((part.unclear, "bold magenta"), "."))
    if part.steady:
        text = Text((part.steady, _STYLES[STEADY]), ".")
        page.item(text)
    page.item(f"{part.now}.")


def _show_series(page: Page, part: SeriesPart, series: HistorySeries) -> None:
    page.heading(part.title)
    page.paragraph(f"{part.figure}.")
    page.paragraph(f"{part.conditions}.")
    page.line()
    for line in draw(series, min(page.width, _DRAWING_WIDTH) - len(INDENT)):
        page.line(INDENT + line)
    page.line()
    _show_points(page, part)
    for change in part.changes:
        _show_change(page, change)


def _show_points(page: Page, part: SeriesPart) -> None:
    rows = part.rows[-ROWS_SHOWN:]
    if len(rows) < len(part.rows):
        page.paragraph(f"The newest {len(rows)} of {len(part.rows):,} points:")
    kinds = {change.number: change.kind for change in part.changes}
    notes = [
        (f"{_NOTE} {row.change}", _STYLES[kinds[row.change]]) if row.change else ("", "")
        for row in rows
    ]
    (date, dates), *columns = _fitting(page, [row.cells for row in rows])
    page.grid(
        date, dates, [head for head, _ in columns], [cells for _, cells in columns], notes=notes
    )


def _fitting(page: Page, rows: Sequence[tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the heads and cells of the columns that fit next to the numbers of changes."""
    columns = dict(zip(POINT_HEADS, zip(*rows, strict=True), strict=True))
    for dropped in _DROPPED:
        date, *cells = columns.values()
        if page.fits(date, [*columns][1:], cells, room=len(_NOTE) + 3):
            break
        del columns[dropped]
    return list(columns.items())


def _show_change(page: Page, change: ChangePart) -> None:
    page.heading(change.title)
    if change.changed:
        page.paragraph("Changed here:")
        page.items(change.changed)
    if change.near:
        page.paragraph("Changed close by:")
        page.items(change.near)
    if change.nothing:
        page.paragraph(f"{change.nothing}.")
    if change.varied:
        page.paragraph("Varied before or after the change, so not an explanation by itself:")
        page.items(change.varied)
