# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A history for a bug, in the Markdown that GitHub and Bugzilla share."""

from io_benchmark.analysis.history.history_model import History, HistorySeries
from io_benchmark.report.content import history_content as contents
from io_benchmark.report.content.history_content import ChangePart, HistoryContent, SeriesPart
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.markdown import MAXIMUM_LENGTH
from io_benchmark.report.formats.markdown_text import prose
from io_benchmark.report.plots.line_drawing import draw

_HEADS = ("Date", "Revision", "Workers", "Mean", "Ratio to previous level", "")
_ROWS_SHOWN = 60
_LINES_SHOWN = 30
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
    blocks += _notes(content)
    text = "\n\n".join(block for block in blocks if block) + "\n"
    if len(text) > MAXIMUM_LENGTH:
        end = text.rindex("\n", 0, MAXIMUM_LENGTH)
        text = text[:end] + "\n\nCut here: the rest does not fit a comment.\n"
    return text


def _answer(part: SeriesPart, *, several: bool) -> str:
    lines = [f"{prose(part.apart)}:\n"] if several else []
    for change in part.changes:
        more = [prose(text) for text in (change.rest, change.summary) if text]
        if change.nothing:
            more.append(f"{prose(change.nothing)}.")
        lines.append(f"- **{prose(change.lead)}** {' '.join(more)}")
    if part.steady:
        lines.append(f"- **{prose(part.steady)}**.")
    lines.append(f"- {prose(part.now)}.")
    return "\n".join(lines)


def _series(part: SeriesPart, series: HistorySeries) -> list[str]:
    rows = part.rows[-_ROWS_SHOWN:]
    drawing = "\n".join(draw(series, _DRAWING_WIDTH))
    table = [_cells(_HEADS), "| --- | --- | ---: | ---: | ---: | --- |"]
    table += [
        _cells(
            (
                row.date,
                prose(row.revision),
                row.workers,
                row.mean,
                row.ratio,
                f"change {row.change}" if row.change else "",
            )
        )
        for row in rows
    ]
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


def _cells(texts: tuple[str, ...]) -> str:
    return f"| {' | '.join(texts)} |"


def _change(change: ChangePart) -> list[str]:
    return [
        f"#### {prose(change.title)}",
        _list("Changed here:", change.changed),
        _list("Changed close by:", change.near),
        f"{prose(change.nothing)}." if change.nothing else "",
        _list("Varied before or after the change, so not an explanation by itself:", change.varied),
    ]


def _notes(content: HistoryContent) -> list[str]:
    return [
        _list(title, lines)
        for title, lines in (
            ("### Left out", content.left_out),
            ("### Not read", content.unreadable),
            ("### Remarks", content.remarks),
        )
    ]


def _list(title: str, lines: tuple[str, ...]) -> str:
    if not lines:
        return ""
    shown = [f"- {prose(line)}" for line in lines[:_LINES_SHOWN]]
    if len(lines) > _LINES_SHOWN:
        shown.append(f"- and {len(lines) - _LINES_SHOWN:,} more")
    return f"{title}\n\n" + "\n".join(shown)
