# SPDX-License-Identifier: MPL-2.0
"""Blocks as one HTML page that loads nothing: no scripts, fonts or network."""

from collections.abc import Iterable
from importlib.resources import files

from markupsafe import Markup, escape

from io_benchmark.report.blocks import (
    CODE,
    QUIET,
    TURNED_FROM,
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
)
from io_benchmark.report.formats import Layout
from io_benchmark.report.plots import draw

_LINES_SHOWN = 200
_PAGE = Markup("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{sections}
</main>
</body>
</html>
""")
_MARK = Markup('&#8288;<sup><a href="#note-{0}">[{0}]</a></sup>')
_LINK = Markup('<a href="{}" rel="external nofollow noreferrer">{}</a>')
_SCROLLING = Markup(
    '<div class="scroll" tabindex="0" role="region" aria-label="{}">\n<table class="{}">\n{}</table>\n</div>'
)


def render(document: Document, _layout: Layout) -> str:
    style = (files("io_benchmark.report.formats") / "page.css").read_text(encoding="utf-8")
    sections = Markup("\n").join(map(_section, _sections(document.blocks)))
    # The style sheet is a part of the program.
    page = _PAGE.format(title=document.title, style=Markup(style), sections=sections)  # noqa: S704
    return str(page)


def _sections(blocks: Iterable[Block]) -> list[list[Block]]:
    """Return the blocks before the first heading, then those below each."""
    sections: list[list[Block]] = [[]]
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2 and sections[-1]:
            sections.append([])
        sections[-1].append(block)
    return sections


def _section(blocks: Iterable[Block]) -> Markup:
    return Markup("<section>\n{}\n</section>\n").format(_written(blocks))


def _written(blocks: Iterable[Block]) -> Markup:
    return Markup("\n").join(map(_block, blocks))


def _block(block: Block) -> Markup:
    match block:
        case Heading():
            return Markup("<h{0}>{1}</h{0}>").format(block.level, _line(block.line))
        case Paragraph():
            return Markup('<p class="{}">{}</p>').format(_class(block.kind), _line(block.line))
        case Items():
            return _items(block)
        case Table():
            return _table(block)
        case Picture():
            figure = Markup("<figure>\n<figcaption>{}</figcaption>\n{}\n</figure>")
            return figure.format(_line(block.caption), draw(block.plot, *block.arguments))
        case Fold():
            # The style sheet does not print what has pictures alone.
            kind = "samples" if all(isinstance(each, Picture) for each in block.blocks) else ""
            fold = Markup('<details class="{}">\n<summary>{}</summary>\n{}\n</details>')
            return fold.format(kind, _text(block.summary), _written(block.blocks))


def _items(block: Items) -> Markup:
    """Write a list: of answers, which have colors; of notes, which marks lead to; or of lines."""
    kind = ""
    if any(item.kind for item in block.items):
        kind = "answers"
    elif any(item.mark.startswith("[") for item in block.items):
        kind = "notes"
    lines = []
    for item in block.items[:_LINES_SHOWN]:
        note = item.mark.strip("[]")
        target = Markup(' id="note-{}"').format(note) if kind == "notes" else ""
        line = (f"{item.mark} ", *pieces(item.line)) if kind == "notes" else item.line
        below = (Markup('<p class="below">{}</p>').format(_line(each.line)) for each in item.below)
        lines.append(
            Markup('<li class="{}"{}><p>{}</p>{}</li>\n').format(
                _class(item.kind), target, _line(line), Markup().join(below)
            )
        )
    left_out = block.left_out + len(block.items) - len(lines)
    if left_out:
        lines.append(Markup("<li>and {:,} more</li>\n").format(left_out))
    title = Markup("<h3>{}</h3>\n").format(_line(block.title)) if block.title else ""
    return Markup('{}<ul class="{}">\n{}</ul>').format(title, kind, Markup().join(lines))


def _table(table: Table) -> Markup:
    """Write a table in a box that scrolls; one with many rows is folded."""
    kind = "prose stacked" if table.is_prose else "figures two-lines"
    if table.turned_corner and len(table.heads) >= TURNED_FROM:
        table = table.turned()
    if len(table.heads) >= TURNED_FROM:
        kind = "figures wide"
    head_cells = Markup().join(
        Markup('<th scope="col">{}</th>').format(_line(head))
        for head in (table.corner, *table.heads)
    )
    head = Markup("<thead><tr>{}</tr></thead>\n").format(head_cells)
    body = Markup("<tbody>\n{}</tbody>\n").format(
        Markup().join(_row(row, table.heads) for row in table.rows)
    )
    title = Markup('<p class="quiet">{}:</p>\n').format(_line(table.title)) if table.title else ""
    label = plain(table.title) or "Figures"
    text = title + _SCROLLING.format(label, kind, head + body)
    if not table.shown or len(table.rows) <= table.shown:
        return text
    fold = Markup("<details>\n<summary>{:,}{}</summary>\n{}\n</details>")
    return fold.format(len(table.rows), table.noun, text)


def _row(row: Row, heads: Iterable[Line]) -> Markup:
    if not row.cells:
        across = Markup('<tr class="{}"><th scope="rowgroup" colspan="{}">{}</th></tr>\n')
        return across.format(
            "detail" if row.level else "group", len([*heads]) + 1, _line(row.label)
        )
    kind = "strong" if row.is_strong else _kind(row.label)
    cells = (
        Markup('<td class="{}" data-label="{}">{}</td>').format(
            _class(_kind(cell)), plain(head), _line(cell)
        )
        for head, cell in zip(heads, row.cells, strict=True)
    )
    line = Markup('<tr class="{}"><th scope="row">{}</th>{}</tr>\n')
    return line.format(_class(kind), _line(row.label), Markup().join(cells))


def _kind(line: Line) -> str:
    return next((piece.kind for piece in pieces(line) if isinstance(piece, Words)), "")


def _class(kind: str) -> str:
    return kind.replace(" ", "-")


def _line(line: Line) -> Markup:
    return Markup().join(map(_piece, pieces(line)))


def _piece(piece: Inline) -> Markup:
    match piece:
        case Marks():
            return Markup().join(map(_MARK.format, piece.numbers))
        case Words(link=link) if link:
            return _LINK.format(link, _text(piece.text))
        case Words(kind=kind) if kind == CODE:
            return Markup("<code>{}</code>").format(_text(piece.text))
        case Words(kind=kind) if kind:
            element = "span" if kind == QUIET else "strong"
            text = Markup('<{0} class="{1}">{2}</{0}>')
            return text.format(element, _class(kind), _text(piece.text))
        case Words():
            return _text(piece.text)
    return _text(piece)


def _text(text: str) -> Markup:
    """Escape text; a number stays in one line with its percent sign."""
    return escape(text.replace(" %", "\N{NO-BREAK SPACE}%"))
