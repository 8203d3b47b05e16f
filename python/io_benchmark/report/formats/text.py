# SPDX-License-Identifier: MPL-2.0
"""Blocks as text: as wide as the terminal and with its colors, or plain."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace
from rich.cells import cell_len, set_cell_size

from io_benchmark.analysis.model import State
from io_benchmark.report.blocks import (
    NO_VERDICT,
    QUIET,
    STRONG,
    WARNING,
    Block,
    Document,
    Fold,
    Heading,
    Item,
    Items,
    Line,
    Marks,
    Paragraph,
    Picture,
    Row,
    Table,
    Words,
    fitting,
    pieces,
    plain,
)
from io_benchmark.report.formats import Layout
from io_benchmark.report.formats.styled_text import Piece, shown, wrapped
from io_benchmark.report.plots import draw
from io_benchmark.text import name

# So that the prompt has the last line of a terminal with 24.
_SCREEN_LINES = 23
_INDENT = "  "
_GAP = 2
# Wider text is hard to read.
_TEXT_WIDTH = 110
# An empty line is above and below these.
_LARGE = (Table, Picture)
_STYLES = {
    "slower": "bold red",
    "faster": "bold green",
    "equivalent": "bold cyan",
    "inconclusive": "bold yellow",
    NO_VERDICT: "bold magenta",
    State.CONFIRMED: "bold",
    State.SUPPORTED: "bold",
    State.NOT_JUDGED: "dim",
    State.NOT_OBSERVABLE: "dim",
    STRONG: "bold",
    QUIET: "dim",
    WARNING: "yellow",
}


def render(document: Document, layout: Layout) -> str:
    """Return the first screen, or with `details` and where there is none the whole report."""
    columns = layout.columns
    if layout.details or not document.screen:
        title = _paragraph(document.title, columns, STRONG, indent="")
        return _joined([*title, *_blocks(document.blocks, columns)], layout)

    def written(blocks: Sequence[Block]) -> str:
        # Only a screen with room has an empty line below its title and above its end.
        empty: list[list[Piece]] = [[]] if blocks is document.screen else []
        title = _paragraph(document.title + document.reason, columns, STRONG, indent="")
        end = _paragraph(_pointer(document, blocks, layout), columns, QUIET, indent="")
        return _joined([*title, *empty, *_blocks(blocks, columns), *empty, *end], layout)

    room = _SCREEN_LINES - layout.lines_below
    return fitting(document.screen, written, lambda text: text.count("\n") <= room)


def _joined(lines: Iterable[Sequence[Piece]], layout: Layout) -> str:
    """Return whole lines without trailing spaces; of several empty ones only the first."""
    texts = [shown(line, has_styles=layout.styles, has_colors=layout.colors) for line in lines]
    pairs = itertools.pairwise(("", *texts))
    return "".join(f"{text}\n" for before, text in pairs if before or text)


def _pointer(document: Document, blocks: Iterable[Block], layout: Layout) -> str:
    """Write where the rest of a first screen is."""
    hides_warnings = _warnings(blocks) < _warnings(document.screen)
    rest = "Warnings and all else" if hides_warnings else "Everything else"
    if layout.page:
        return f"{rest}: {layout.page}, or {document.command} --details."
    return f"{rest}: {document.command} --details, or as a page with --write html=FILE."


def _warnings(blocks: Iterable[Block]) -> int:
    lists = (block.items for block in blocks if isinstance(block, Items))
    return sum(item.mark == "!" for items in lists for item in items)


def _blocks(blocks: Iterable[Block], columns: int) -> Iterator[list[Piece]]:
    previous: Block | None = None
    for block in blocks:
        is_loose = isinstance(block, Paragraph) and isinstance(previous, Items)
        if is_loose or any(isinstance(each, _LARGE) for each in (previous, block)):
            yield []
        yield from _block(block, columns)
        previous = block


def _block(block: Block, columns: int) -> Iterator[list[Piece]]:
    match block:
        case Heading():
            yield []
            yield from _paragraph(block.line, columns, STRONG, indent="")
        case Paragraph():
            yield from _paragraph(block.line, columns, block.kind)
        case Items():
            yield from _items(block, columns)
        case Table():
            yield from _table(block, columns)
        case Picture() if block.characters:
            width = min(columns, _TEXT_WIDTH) - len(_INDENT)
            for line in draw(block.characters, block.arguments[0], width):
                yield [(_INDENT + line, "")]
        case Fold() if not block.on_page_only:
            yield from _paragraph(f"{block.summary}:", columns)
            yield from _blocks(block.blocks, columns)


def _paragraph(
    line: Line, columns: int, kind: str = "", *, indent: str = _INDENT, first: str | None = None
) -> Iterator[list[Piece]]:
    """Yield wrapped text, indented below its first line."""
    width = max(min(columns, _TEXT_WIDTH) - len(indent), 12)
    for number, styled in enumerate(wrapped(_styled(line, kind), width)):
        yield [(indent if number or first is None else first, ""), *styled]


def _items(block: Items, columns: int) -> Iterator[list[Piece]]:
    if block.title:
        yield from _paragraph((*pieces(block.title), ":"), columns)
    items = [*block.items[: block.shown or None]]
    if block.further:
        items.append(Item(block.further, mark=block.items[-1].mark))
    for item in items:
        first = f"  {item.mark} "
        yield from _paragraph(item.line, columns, indent=" " * len(first), first=first)
        for below in item.below:
            yield from _paragraph(below.line, columns, indent="      ", first="    ")


def _table(table: Table, columns: int) -> Iterator[list[Piece]]:
    if table.title:
        yield from _paragraph((*pieces(table.title), ":"), columns)
    if table.is_prose:
        yield from _sentences(table, columns)
    else:
        for number, part in enumerate(_parts_that_fit(table, columns)):
            yield from [[]] if number else []
            yield from _grid(part, columns)
    if table.further:
        yield from _paragraph(table.further, columns)


def _sentences(table: Table, columns: int) -> Iterator[list[Piece]]:
    """Yield a paragraph per row, with its cells in another one below it."""
    for row in table.rows[: table.shown or None]:
        yield from _paragraph(row.label, columns, indent="    ", first=_INDENT)
        texts = [_text(cell).rstrip(".") for cell in row.cells]
        heads = zip(table.heads[1:], texts[1:], strict=True)
        parts = [texts[0], *(f"{_text(head)}: {text}" for head, text in heads if text)]
        sentences = " ".join(f"{part}." for part in parts if part)
        yield from _paragraph(sentences, columns, indent="    ")


def _grid(table: Table, columns: int) -> Iterator[list[Piece]]:
    """Yield a table with a column of labels at the left and right-aligned cells."""
    widths = _widths(table)
    heads = zip(map(_text, table.heads), widths[1:], strict=True)
    corner = (_INDENT + set_cell_size(table.corner, widths[0]), "dim")
    yield [corner, *((_right(head, width), "bold dim") for head, width in heads)]
    yield [(_INDENT + "─" * (sum(widths) + _GAP * len(table.heads)), "dim")]
    for row in table.rows[: table.shown or None]:
        if row.cells:
            cells = zip(row.cells, widths[1:], strict=True)
            label = (_INDENT + set_cell_size(_label(row), widths[0]), "")
            yield [label, *((_right(_text(cell), width), _style(cell)) for cell, width in cells)]
        else:
            indent = _INDENT * (1 + row.level)
            below = indent + _INDENT * row.level
            yield from _paragraph(row.label, columns, indent=below, first=indent)


def _parts_that_fit(table: Table, columns: int) -> Iterator[Table]:
    """Yield the table, or where it is too wide, less of it, turned or in several parts."""
    for head in table.drop:
        if _is_narrow(table, columns):
            break
        positions = [number for number, text in enumerate(table.heads) if plain(text) != head]
        table = table.keep_columns(positions)
    if _is_narrow(table, columns):
        yield table
        return
    if table.turned_corner:
        table = table.turned()
    limit = max(columns // 3, 8)
    rows = tuple(
        replace(row, label=name(_text(row.label), limit)) if row.cells else row
        for row in table.rows
    )
    table = replace(table, rows=rows, heads=tuple(name(_text(head), limit) for head in table.heads))
    start = 0
    while start < len(table.heads):
        end = start + 1
        while end < len(table.heads) and _is_narrow(
            table.keep_columns(range(start, end + 1)), columns
        ):
            end += 1
        yield table.keep_columns(range(start, end))
        start = end


def _is_narrow(table: Table, columns: int) -> bool:
    return len(_INDENT) + sum(_widths(table)) + _GAP * len(table.heads) <= columns


def _widths(table: Table) -> list[int]:
    """Return the width of the labels' column and of each further one."""
    rows = [row for row in table.rows if row.cells]
    texts = [[table.corner, *map(_label, rows)]]
    for number, head in enumerate(table.heads):
        texts.append([_text(head), *(_text(row.cells[number]) for row in rows)])
    return [max(map(cell_len, column)) for column in texts]


def _label(row: Row) -> str:
    return _INDENT * row.level + _text(row.label)


def _right(text: str, width: int) -> str:
    """Return a cell of a table with the gap before it."""
    return " " * (_GAP + width - cell_len(text)) + text


def _styled(line: Line, kind: str = "") -> list[tuple[str, str]]:
    return [
        (_text(piece), _STYLES.get(piece.kind if isinstance(piece, Words) else kind, ""))
        for piece in pieces(line)
    ]


def _style(cell: Line) -> str:
    return next((style for _, style in _styled(cell) if style), "")


def _text(line: Line) -> str:
    """Return a line with the numbers of its footnotes."""
    return "".join(_piece_text(piece) for piece in pieces(line))


def _piece_text(piece: str | Words | Marks) -> str:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Marks):
        return piece.listed()
    return piece.text + (f" {piece.link}" if piece.link else "")
