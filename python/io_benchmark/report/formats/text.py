# SPDX-License-Identifier: MPL-2.0
"""Blocks as text: as wide as the terminal and with its colors, or plain."""

from collections.abc import Iterable, Iterator

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
    pieces,
    plain,
    reductions,
)
from io_benchmark.report.content.footnotes import short_marks
from io_benchmark.report.formats import Layout
from io_benchmark.report.formats.styled_text import Text
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
    if layout.details or not document.screen:
        return _Lines(layout).write(document.title, document.blocks)
    text = ""
    for number, blocks in enumerate(reductions(document.screen)):
        pointer = _pointer(document, blocks, layout)
        text = _Lines(layout).write(
            document.title + document.reason, blocks, pointer, is_spaced=number == 0
        )
        if text.count("\n") <= _SCREEN_LINES - layout.lines_below:
            break
    return text


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


class _Lines:
    """Collects whole lines without trailing spaces; never reads markup."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._lines: list[str] = []

    def write(
        self, title: str, blocks: Iterable[Block], pointer: str = "", *, is_spaced: bool = False
    ) -> str:
        """Return all lines; a screen with room has empty ones below its title and above its end."""
        self._paragraph(title, STRONG, indent="")
        if is_spaced:
            self._line()
        self._blocks(blocks)
        if is_spaced:
            self._line()
        if pointer:
            self._paragraph(pointer, QUIET, indent="")
        return "".join(f"{line}\n" for line in self._lines)

    def _blocks(self, blocks: Iterable[Block]) -> None:
        previous: Block | None = None
        for block in blocks:
            is_loose = isinstance(block, Paragraph) and isinstance(previous, Items)
            if is_loose or any(isinstance(each, _LARGE) for each in (previous, block)):
                self._gap()
            self._block(block)
            previous = block

    def _block(self, block: Block) -> None:
        match block:
            case Heading():
                self._gap()
                self._paragraph(block.line, STRONG, indent="")
            case Paragraph():
                self._paragraph(block.line, block.kind)
            case Items():
                self._items(block)
            case Table() if block.is_prose:
                self._sentences(block)
            case Table():
                self._table(block)
            case Picture():
                if block.characters:
                    width = min(self._layout.columns, _TEXT_WIDTH) - len(_INDENT)
                    for line in draw(block.characters, block.arguments[0], width):
                        self._line(_INDENT + line)
            case Fold() if block.on_page_only:
                pass
            case Fold():
                self._paragraph(f"{block.summary}:")
                self._blocks(block.blocks)

    def _line(self, *styled: str | tuple[str, str]) -> None:
        layout = self._layout
        shown = Text(*styled).shown(has_styles=layout.styles, has_colors=layout.colors)
        self._lines.append(shown)

    def _gap(self) -> None:
        """Add an empty line, unless there is one."""
        if self._lines and self._lines[-1]:
            self._line()

    def _paragraph(
        self, line: Line, kind: str = "", *, indent: str = _INDENT, first: str | None = None
    ) -> None:
        """Add wrapped text, indented below its first line."""
        width = max(min(self._layout.columns, _TEXT_WIDTH) - len(indent), 12)
        for number, styled in enumerate(Text(*_styled(line, kind)).lines(width)):
            self._line(indent if number or first is None else first, *styled)

    def _items(self, block: Items) -> None:
        if block.title:
            self._paragraph((*pieces(block.title), ":"))
        for item in block.items[: block.shown or None]:
            self._item(item)
        if block.further:
            self._item(Item(block.further, mark=block.items[-1].mark))

    def _item(self, item: Item) -> None:
        first = f"  {item.mark} "
        self._paragraph(item.line, indent=" " * len(first), first=first)
        for below in item.below:
            self._paragraph(below.line, indent="      ", first="    ")

    def _sentences(self, table: Table) -> None:
        """Add a paragraph per row, with its cells in another one below it."""
        if table.title:
            self._paragraph((*pieces(table.title), ":"))
        for row in table.rows[: table.shown or None]:
            self._paragraph(row.label, indent="    ", first=_INDENT)
            texts = [_text(cell).rstrip(".") for cell in row.cells]
            heads = zip(table.heads[1:], texts[1:], strict=True)
            parts = [texts[0], *(f"{_text(head)}: {text}" for head, text in heads if text)]
            self._paragraph(" ".join(f"{part}." for part in parts if part), indent="    ")
        if table.further:
            self._paragraph(table.further)

    def _table(self, table: Table) -> None:
        if table.title:
            self._paragraph((*pieces(table.title), ":"))
        for number, part in enumerate(_parts_that_fit(table, self._layout.columns)):
            if number:
                self._gap()
            self._grid(part)
        if table.further:
            self._paragraph(table.further)

    def _grid(self, table: Table) -> None:
        """Add a table with a column of labels at the left and right-aligned cells."""
        widths = _widths(table)
        corner = (_INDENT + set_cell_size(table.corner, widths[0]), "dim")
        heads = zip(map(_text, table.heads), widths[1:], strict=True)
        self._line(corner, *((_right(head, width), "bold dim") for head, width in heads))
        self._line((_INDENT + "─" * (sum(widths) + _GAP * len(table.heads)), "dim"))
        for row in table.rows[: table.shown or None]:
            if not row.cells:
                indent = _INDENT * (1 + row.level)
                self._paragraph(row.label, indent=indent + _INDENT * row.level, first=indent)
                continue
            cells = zip(row.cells, widths[1:], strict=True)
            self._line(
                _INDENT + set_cell_size(_label(row), widths[0]),
                *((_right(_text(cell), width), _style(cell)) for cell, width in cells),
            )


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
        return short_marks(piece.numbers)
    return piece.text + (f" {piece.link}" if piece.link else "")
