# SPDX-License-Identifier: MPL-2.0
"""Blocks for a comment on a bug, in the Markdown that GitHub and Bugzilla share."""

from collections.abc import Collection, Iterable, Iterator
from html import escape

from io_benchmark.analysis.model import DIFFERENT, State
from io_benchmark.report.blocks import (
    CODE,
    QUIET,
    STRONG,
    TURNED_FROM,
    WARNING,
    Block,
    Document,
    Fold,
    Heading,
    Inline,
    Items,
    Line,
    Marks,
    Paragraph,
    Picture,
    Row,
    Table,
    Words,
    pieces,
    plain,
    reductions,
)
from io_benchmark.report.content.footnotes import short_marks
from io_benchmark.report.formats import Layout
from io_benchmark.report.formats.markdown_text import prose
from io_benchmark.report.plots import draw

# GitHub and Bugzilla allow 65,535 characters in a comment.
MAXIMUM_LENGTH = 60_000
# Of a comment before its details are unfolded; a report of at most so many lines is not folded.
_FIRST_LINES, _SHORT_LINES = 40, 60
_DRAWING_WIDTH = 78
_CUT = "\n\nCut here: the rest does not fit a comment.\n"
# Every other kind of words is bold in a sentence; in a table only what differs or holds.
_PLAIN_KINDS = ("", QUIET, CODE, WARNING)
_BOLD_IN_TABLES = (*DIFFERENT, STRONG, *(state for state in State if state.holds))


def render(document: Document, layout: Layout) -> str:
    """Return the first screen with the report folded below it, or the whole report.

    Where all would not fit in a comment, its folds are closed; then it is cut.
    """
    head, end, blocks = f"## {prose(document.title)}\n", "", document.blocks
    if layout.details:
        blocks = tuple(_opened(blocks))
    elif document.screen and _written(blocks).count("\n") > _SHORT_LINES:
        screen = ""
        for reduced in reductions(document.screen):
            screen = _written(reduced)
            if screen.count("\n") < _FIRST_LINES - 2:
                break
        head = f"## {prose(document.title + document.reason)}\n\n{screen}\n\n<details>\n<summary>Details</summary>\n"
        end = "\n</details>\n"
    room = MAXIMUM_LENGTH - len(head) - len(end)
    text = ""
    for reduced in reductions(blocks):
        text = f"{_written(reduced)}\n"
        if len(text) < room:
            break
    if len(text) > room:
        text = text[: text.rindex("\n", 0, room)] + _CUT
    return f"{head}\n{text}{end}"


def _opened(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Fold):
            yield from _opened(block.blocks)
        else:
            yield block


def _written(blocks: Iterable[Block]) -> str:
    return "\n\n".join(filter(None, map(_block, blocks)))


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * (block.level + 1)} {_line(block.line)}"
        case Paragraph():
            return _line(block.line)
        case Items():
            return _items(block)
        case Table():
            return _table(block)
        case Picture() if block.characters:
            return "\n".join(
                ("```text", *draw(block.characters, block.arguments[0], _DRAWING_WIDTH), "```")
            )
        case Fold() if not block.on_page_only:
            # Markdown is not read inside of HTML.
            summary = f"<details>\n<summary>{escape(block.summary, quote=False)}</summary>"
            return f"{summary}\n\n{_written(block.blocks)}\n\n</details>"
    return ""


def _items(block: Items) -> str:
    lines = []
    for item in block.items[: block.shown]:
        lines.append(f"- {_line(item.line)}")
        lines += [f"  - {_line(below.line)}" for below in item.below]
    if block.further:
        lines.append(f"- {block.further}")
    title = f"{_line(block.title)}:\n\n" if block.title else ""
    return title + "\n".join(lines) if lines else ""


def _table(table: Table) -> str:
    if table.turned_corner and len(table.heads) >= TURNED_FROM:
        table = table.turned()
    rule = ["---", *("---" if table.is_prose else "--:" for _ in table.heads)]
    rows = table.rows[: table.shown or None]
    lines = [[table.corner, *map(_line, table.heads)], rule]
    lines += [[*_cells(row, len(table.heads))] for row in rows]
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    title = f"{_line(table.title)}:\n\n" if table.title else ""
    return title + text + (f"\n\n{table.further}" if table.further else "")


def _cells(row: Row, columns: int) -> Iterator[str]:
    if not row.cells and not row.level:
        yield f"**{_line(row.label, bold=())}**"
    else:
        yield _line(row.label, bold=_BOLD_IN_TABLES)
    for cell in row.cells or [""] * columns:
        strong = row.is_strong and plain(cell) and not isinstance(cell, Words)
        yield f"**{_line(cell)}**" if strong else _line(cell, bold=_BOLD_IN_TABLES)


def _line(line: Line, bold: Collection[str] | None = None) -> str:
    """Write a line with words of these kinds in bold; None: all kinds that sentences begin with."""
    # Neighbors that look alike are one text, because two spans of code without a blank would merge.
    groups: list[tuple[bool | None, str]] = []
    for piece in pieces(line):
        look, text = _look(piece, bold)
        if groups and look is not None and groups[-1][0] is look:
            groups[-1] = (look, groups[-1][1] + text)
        else:
            groups.append((look, text))
    written = (text if look is None else _bold(prose(text), look) for look, text in groups)
    return "".join(written)


def _look(piece: Inline, bold: Collection[str] | None) -> tuple[bool | None, str]:
    """Return whether a piece is bold, and its text; None for what is Markdown already."""
    if isinstance(piece, Marks):
        return None, short_marks(piece.numbers, mark="\\[{}\\]")
    if isinstance(piece, str):
        return False, piece
    if piece.link:
        return None, f"[{piece.text}]({piece.link})"
    return piece.kind not in _PLAIN_KINDS if bold is None else piece.kind in bold, piece.text


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold and text else text
