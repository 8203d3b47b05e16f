# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A history for a bug, in the Markdown that GitHub and Bugzilla share."""

from io_benchmark.analysis.history.history_model import History, HistorySeries
from io_benchmark.report.content import history_content as contents
from io_benchmark.report.content.history_content import POINT_HEADS, ChangePart, SeriesPart
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.markdown_text import (
    cut_for_comment,
    prose,
    table_row,
    titled_items,
)
from io_benchmark.report.plots.line_drawing import draw

_ROWS_SHOWN = 60
_DRAWING_WIDTH = 78


def render_history(history: History, _layout: Layout = PLAIN) -> str:
    """Return the whole history, or as much as fits in a comment."""
    content = contents.build(history)
    blocks = [
        f"## {prose(content.title)}",
        f"**{prose(content.nothing)}**" if content.nothing else "",
        *(_answer(part, several=len(content.series) > 1) for part in content.series),
        prose(content.introduction),
    ]
    for part, series in zip(content.series, history.series, strict=True):
        blocks += _series(part, series)
    blocks += [titled_items(f"### {title}", lines) for title, lines in content.lists]
    return cut_for_comment("\n\n".join(block for block in blocks if block) + "\n")


def _answer(part: SeriesPart, *, several: bool) -> str:
    lines = [f"{prose(part.apart)}:\n"] if several else []
    for change in part.changes:
        more = [prose(text) for text in (change.rest, change.summary) if text]
        if change.nothing:
            more.append(f"{prose(change.nothing)}.")
        lines.append(f"- **{prose(change.lead)}** {' '.join(more)}")
    lines += [f"- **{prose(lead)}** {prose(rest)}." for lead, rest in part.effects]
    if part.unclear:
        lines.append(f"- **{prose(part.unclear)}**.")
    if part.steady:
        lines.append(f"- **{prose(part.steady)}**.")
    lines.append(f"- {prose(part.now)}.")
    return "\n".join(lines)


def _series(part: SeriesPart, series: HistorySeries) -> list[str]:
    rows = part.rows[-_ROWS_SHOWN:]
    drawing = "\n".join(draw(series, _DRAWING_WIDTH))
    table = [table_row((*POINT_HEADS, "")), "| --- | --- | ---: | ---: | ---: | --- |"]
    for row in rows:
        change = f"change {row.change}" if row.change else ""
        table.append(table_row((*map(prose, row.cells), change)))
    older = len(part.rows) - len(rows)
    return [
        f"### {prose(part.title)}",
        f"{prose(part.figure)}.",
        f"{prose(part.conditions)}.",
        f"```text\n{drawing}\n```",
        "\n".join(table),
        f"{older:,} older points are not listed." if older else "",
        *(block for change in part.changes for block in _change(change)),
    ]


def _change(change: ChangePart) -> list[str]:
    return [
        f"#### {prose(change.title)}",
        titled_items("Changed here:", change.changed),
        titled_items("Changed close by:", change.near),
        f"{prose(change.nothing)}." if change.nothing else "",
        titled_items(
            "Varied before or after the change, so not an explanation by itself:", change.varied
        ),
    ]
