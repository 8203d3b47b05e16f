# SPDX-License-Identifier: MPL-2.0
"""Blocks as text: as wide as the terminal and with its colors, or plain."""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from msgspec.structs import replace
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from io_benchmark.analysis.model.cause import State
from io_benchmark.report import blocks
from io_benchmark.report.formats import Layout
from io_benchmark.text import name

_LEAST_COLUMNS = 20  # COLUMNS=0 and similar settings would leave nothing to read
_SCREEN_LINES = 23  # so that the prompt has the last line of a terminal with 24
_INDENT = "  "
_GAP = 2
_TEXT_WIDTH = 110  # wider text is hard to read
# A number and its unit stay in one line: the space between them is another character while text is
# wrapped, one that no text has.
_UNIT = re.compile("(?<=[0-9]) (?=(?:%|[nµm]?s|[KMGT]?i?B)(?![A-Za-z]))")
_TOGETHER = "\ue000"
# So does a command that is to be copied.
_CODE = re.compile("`[^`]+`")
_CONSOLE = Console(_environ={})
_STYLES = {
    "slower": "bold red",
    "faster": "bold green",
    "equivalent": "bold cyan",
    "inconclusive": "bold yellow",
    blocks.NO_VERDICT: "bold magenta",
    State.CONFIRMED: "bold",
    State.SUPPORTED: "bold",
    State.NOT_JUDGED: "dim",
    State.NOT_OBSERVABLE: "dim",
    blocks.STRONG: "bold",
    blocks.TRY: "bold",
    blocks.QUIET: "dim",
    blocks.WARNING: "yellow",
}


def on_terminal(layout: Layout, stream: TextIO, environment: Mapping[str, str]) -> Layout:
    """Return the layout for the terminal behind a stream, by the variables that Rich knows."""
    console = Console(file=stream, _environ=environment)
    has_styles = console.is_terminal and not console.is_dumb_terminal
    return layout._replace(
        columns=max(console.width, _LEAST_COLUMNS),
        styles=has_styles,
        colors=has_styles and not console.no_color,
    )


def render(document: blocks.Document, layout: Layout) -> str:
    """Return the first screen, or with `details` and where there is none the whole report."""
    stream, columns = io.StringIO(), layout.columns
    console = Console(
        file=stream,
        width=columns,
        force_terminal=layout.styles,
        color_system="standard" if layout.styles else None,
        no_color=not layout.colors,
        _environ={},
    )
    if layout.details or not document.screen:
        title = _paragraph(document.headline, columns, blocks.STRONG, indent="")
        facts = _paragraph(document.facts_line, columns, blocks.QUIET) if document.facts else ()
        lines = _single_gaps([*title, *facts, *_blocks(document.whole, columns)])
    else:
        lines = blocks.fitting(
            document.screen,
            lambda content: _screen(document, content, layout),
            lambda lines: len(lines) <= _SCREEN_LINES - layout.lines_below,
        )
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)
    return stream.getvalue()


def _screen(
    document: blocks.Document, content: Sequence[blocks.Block], layout: Layout
) -> list[Text]:
    # Only a screen with room has an empty line below its title and above its end.
    empty = [Text()] if content is document.screen else []
    columns, title = layout.columns, document.headline
    head = _paragraph(title, columns, blocks.STRONG, indent="")
    hides_warnings = _warnings(content) < _warnings(document.screen)
    rest = "Warnings and all else" if hides_warnings else "Everything else"
    whole = f"`{layout.whole}`" if layout.whole else "add --details"
    page = layout.page
    if page or layout.whole:
        pointer = f"{rest}: {', or '.join(filter(None, (page, whole)))}."
    else:
        pointer = f"{rest}: {whole}, or --write html=FILE for a page."
    end = _paragraph(pointer, columns, blocks.QUIET, indent="")
    return _single_gaps([*head, *empty, *_blocks(content, columns), *empty, *end])


def _single_gaps(lines: Sequence[Text]) -> list[Text]:
    """Return the lines without spaces at their ends, and without empty ones that follow another."""
    for line in lines:
        line.rstrip()
    return [line for before, line in zip((Text(), *lines), lines, strict=False) if before or line]


def _warnings(content: Iterable[blocks.Block]) -> int:
    lists = (block.items for block in content if isinstance(block, blocks.Items))
    return sum(item.mark == "!" for items in lists for item in items)


def _blocks(content: Iterable[blocks.Block], columns: int) -> Iterator[Text]:
    visible = [block for block in content if not isinstance(block, blocks.Picture)]
    visible = [block for block in visible if not isinstance(block, blocks.Items) or block.items]
    for previous, block in zip((None, *visible), visible, strict=False):
        is_loose = isinstance(block, blocks.Paragraph) and isinstance(previous, blocks.Items)
        is_loose |= isinstance(block, blocks.Fold)
        if is_loose or blocks.Table in (type(previous), type(block)):
            yield Text()
        yield from _block(block, columns)


def _block(block: blocks.Block, columns: int) -> Iterator[Text]:
    match block:
        case blocks.Heading():
            yield Text()
            yield from _paragraph(block.line, columns, blocks.STRONG, indent="")
        case blocks.Paragraph():
            yield from _paragraph(block.line, columns, block.kind)
        case blocks.Items() | blocks.Table():
            if block.title:
                yield from _paragraph((*blocks.pieces(block.title), ":"), columns)
            if isinstance(block, blocks.Items):
                yield from _items(block, columns)
            else:
                yield from _table(block, columns)
        case blocks.Code():
            yield from (Text(_INDENT + line) for line in block.text.splitlines())
        case blocks.Fold(on_page_only=True):
            if not block.has_pictures_alone:
                yield from _paragraph(f"{block.summary}.", columns, blocks.QUIET)
        case blocks.Fold():
            if block.is_named_in_text:
                yield from _paragraph(f"{block.summary}:", columns)
            yield from _blocks(block.blocks, columns)


def _paragraph(
    line: blocks.Line,
    columns: int,
    kind: str = "",
    *,
    indent: str = _INDENT,
    first: str | None = None,
) -> Iterator[Text]:
    """Yield wrapped text, indented below its first line."""
    width = max(min(columns, _TEXT_WIDTH) - len(indent), 12)
    styled = ((_kept_together(words, width), style) for words, style in _styled(line, kind))
    for number, part in enumerate(Text.assemble(*styled).wrap(_CONSOLE, width)):
        part.plain = part.plain.replace(_TOGETHER, " ")
        yield Text(indent if number or first is None else first) + part


def _kept_together(words: str, width: int) -> str:
    """Mark the blanks in which no line may end."""

    def marked(code: re.Match[str]) -> str:
        fits = cell_len(code[0]) <= width
        return code[0].replace(" ", _TOGETHER) if fits else code[0]

    return _CODE.sub(marked, _UNIT.sub(_TOGETHER, words))


def _items(block: blocks.Items, columns: int) -> Iterator[Text]:
    kept, further = blocks.cut(block)
    items = list(kept)
    if further:
        items.append(blocks.Item(further, mark=block.items[-1].mark))
    for item in items:
        first = f"  {item.mark} "
        yield from _paragraph(item.line, columns, indent=" " * len(first), first=first)
        for below in item.below:
            yield from _paragraph(below.line, columns, indent="      ", first="    ")


def _table(table: blocks.Table, columns: int) -> Iterator[Text]:
    rows, further = blocks.cut(table)
    table = replace(table, rows=rows)
    if table.is_prose:
        yield from _sentences(table, columns)
    else:
        for number, part in enumerate(_parts_that_fit(table, columns)):
            if number > 0:
                yield Text()
            yield from _grid(part, columns)
    if further:
        yield from _paragraph(further, columns)


def _sentences(table: blocks.Table, columns: int) -> Iterator[Text]:
    """Yield a paragraph per row, with its cells in another one below it."""
    for row in table.rows:
        yield from _paragraph(row.label, columns, indent="    ", first=_INDENT)
        first, *rest = (_written(cell).rstrip(".") for cell in row.cells)
        pairs = zip(table.heads[1:], rest, strict=True)
        sentences = [first, *(f"{_written(head)}: {cell}" for head, cell in pairs if cell)]
        prose = " ".join(f"{sentence}." for sentence in sentences if sentence)
        yield from _paragraph(prose, columns, indent="    ")


def _grid(table: blocks.Table, columns: int) -> Iterator[Text]:
    """Yield a table with a column of labels at the left and right-aligned cells."""
    first, *widths = _widths(table)
    heads = (
        (_right(head, width), "bold dim") for head, width in zip(table.heads, widths, strict=True)
    )
    yield Text.assemble((_INDENT + set_cell_size(table.corner, first), "dim"), *heads)
    yield Text(_INDENT + "─" * (first + sum(widths) + _GAP * len(widths)), "dim")
    for row in table.rows:
        if row.cells:
            cells = (
                (_right(cell, width), _styled(cell)[0][1])
                for cell, width in zip(row.cells, widths, strict=True)
            )
            yield Text.assemble(_INDENT + set_cell_size(_label(row), first), *cells)
        else:
            indent = _INDENT * (1 + row.level)
            below = indent + _INDENT * row.level
            yield from _paragraph(row.label, columns, indent=below, first=indent)


def _parts_that_fit(table: blocks.Table, columns: int) -> Iterator[blocks.Table]:
    """Yield the table, or where it is too wide, less of it, turned or in several parts."""
    for head in table.drop:
        if _is_narrow(table, columns):
            break
        kept = [number for number, line in enumerate(table.heads) if blocks.plain(line) != head]
        table = table.keep_columns(kept)
    if _is_narrow(table, columns):
        yield table
        return
    if table.turned_corner:
        table = table.turned()
    limit = max(columns // 3, 8)
    rows = [
        replace(row, label=name(_written(row.label), limit)) if row.cells else row
        for row in table.rows
    ]
    table = replace(table, rows=rows, heads=[name(_written(head), limit) for head in table.heads])
    start = 0
    for end in range(1, len(table.heads) + 1):
        part = table.keep_columns(range(start, end + 1)) if end < len(table.heads) else None
        if part is None or not _is_narrow(part, columns):
            yield table.keep_columns(range(start, end))
            start = end


def _is_narrow(table: blocks.Table, columns: int) -> bool:
    return len(_INDENT) + sum(_widths(table)) + _GAP * len(table.heads) <= columns


def _widths(table: blocks.Table) -> list[int]:
    rows = [row for row in table.rows if row.cells]
    columns = [(table.corner, *map(_label, rows))]
    columns += zip(table.heads, *(row.cells for row in rows), strict=True)
    return [max(cell_len(_written(line)) for line in column) for column in columns]


def _label(row: blocks.Row) -> str:
    return _INDENT * row.level + _written(row.label)


def _right(cell: blocks.Line, width: int) -> str:
    return " " * (_GAP + width - cell_len(_written(cell))) + _written(cell)


def _styled(line: blocks.Line, kind: str = "") -> list[tuple[str, str]]:
    return [
        (_written(piece), _STYLES.get(piece.kind if isinstance(piece, blocks.Words) else kind, ""))
        for piece in blocks.pieces(line)
    ]


def _written(line: blocks.Line) -> str:
    """Return a line with the addresses of its links."""
    return "".join(
        f"{piece.text} {piece.link}"
        if isinstance(piece, blocks.Words) and piece.link
        else blocks.plain(piece)
        for piece in blocks.pieces(line)
    )
