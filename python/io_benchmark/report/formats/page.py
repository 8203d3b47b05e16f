# SPDX-License-Identifier: MPL-2.0
"""Blocks as one HTML page that loads nothing: no fonts, no network, and a script on one page."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files

from markupsafe import Markup, escape

from io_benchmark.report import blocks
from io_benchmark.report.formats import (
    Layout,
    amounts,
    bars,
    fleet_page,
    pictures,
    sketches,
    strips,
)

_PLOTS: Mapping[str, Callable[..., Markup]] = {
    "amounts": amounts.amounts,
    "bars": bars.bars,
    "forest": pictures.forest,
    "costs": pictures.costs,
    "demand": pictures.demand,
    "distribution": pictures.distribution,
    "history": pictures.history,
    "strip": strips.strip,
}
_LINES_SHOWN = 200
_ROWS_OPEN, _SENTENCES_OPEN = 8, 1  # a longer list in a table is folded
_MARKED_CODE = re.compile("`([^`]+)`")
_PAGE = Markup("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';{policy} \
style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{document.title}</title>
<style>
{style}</style>
</head>
<body{body}>
{side}<main>
<h1>{document.headline}</h1>
{facts}{folded}{answer}{evidence}
</main>
{script}</body>
</html>
""")
# One list at the side of wide windows, and one that is folded in narrow ones: no script moves it.
_NAVIGATION = Markup('<nav class="contents {}" aria-label="Contents">\n{}</nav>\n')
_SIDE = _NAVIGATION.format("side", Markup("<div>\n<p>Contents</p>\n{}</div>\n"))
_FOLDED = _NAVIGATION.format("folded", Markup("<details><summary>Contents</summary>\n{}</details>"))
# Of a table on a phone: letters in a row, between columns, and those that a label may have.
_PHONE_LETTERS, _GAP_LETTERS, _LABEL_LETTERS = 48, 1, 10
_BREAK = re.compile(r"\s|(?<=-)")
_LEAST_CONTENTS = 3  # fewer headings need no list
_NO_WORD = re.compile("[^a-z0-9]+")
_ANCHOR_LENGTH = 40
_LINK = Markup('<a href="{}" rel="external nofollow noreferrer">{}</a>')
_SCROLLING = Markup(
    '<div class="scroll" tabindex="0" role="group" aria-label="{}">\n'
    '<table class="{}" style="--columns: {}">\n{}</table>\n</div>'
)
_SCROLLING_CODE = Markup(
    '<div class="scroll" tabindex="0" role="group" aria-label="Code">\n<pre>{}</pre>\n</div>'
)


def render(document: blocks.Document, _layout: Layout) -> str:
    css = (files("io_benchmark.report.formats") / "page.css").read_text(encoding="utf-8")
    style = Markup(css)  # noqa: S704 - the style sheet is a part of the program
    sections = _sections(document.blocks)
    heading = Markup('<h2 id="{}">{}</h2>')
    parts = (
        heading.format(*sections[number]) if number in sections else _block(block)
        for number, block in enumerate(document.blocks)
    )
    contents = _contents(list(sections.values()))
    body = script = Markup()
    if document.command:
        body = Markup(' class="fleet" data-command="{}"').format(document.command)
        script = Markup("<script>{}</script>\n").format(fleet_page.script())
    return str(
        _PAGE.format(
            document=document,
            style=style,
            policy=fleet_page.policy() if script else "",
            body=body,
            script=script,
            facts=_facts(document.facts),
            side=_SIDE.format(contents) if contents and not body else "",
            folded=_FOLDED.format(contents) if contents else "",
            answer=_answer(document.answer),
            evidence=Markup("\n").join(filter(None, parts)),
        )
    )


def _facts(facts: Sequence[blocks.Line]) -> Markup:
    lines = Markup().join(Markup("<li>{}</li>\n").format(_line(fact)) for fact in facts)
    return Markup('<ul class="facts">\n{}</ul>\n').format(lines) if facts else Markup()


def _answer(answer: Sequence[blocks.Block]) -> Markup:
    """Write the answer; only those who do not see where it is need its heading."""
    section = Markup('<section class="answer">\n<h2 class="unseen">Answer</h2>\n{}\n</section>\n')
    return section.format(_written(answer)) if answer else Markup()


def _sections(content: Sequence[blocks.Block]) -> dict[int, tuple[str, Markup]]:
    """Return the anchor and the text of each section's heading, by its number in the content.

    An anchor is made of letters and digits, whatever else the heading has.
    """
    sections: dict[int, tuple[str, Markup]] = {}
    uses: Counter[str] = Counter()
    for number, block in enumerate(content):
        if isinstance(block, blocks.Heading) and block.level == blocks.SECTION:
            words = _NO_WORD.sub("-", blocks.plain(block.line).lower())[:_ANCHOR_LENGTH]
            anchor = f"at-{words.strip('-')}".strip("-")
            uses[anchor] += 1
            sections[number] = f"{anchor}-{uses[anchor]}", _line(block.line)
    return sections


def _contents(sections: Sequence[tuple[str, Markup]]) -> Markup:
    if len(sections) < _LEAST_CONTENTS:
        return Markup()
    entry = Markup('<li><a href="#{}">{}</a></li>\n')
    entries = Markup().join(entry.format(*section) for section in sections)
    return Markup("<ul>\n{}</ul>\n").format(entries)


def _written(content: Iterable[blocks.Block]) -> Markup:
    return Markup("\n").join(filter(None, map(_block, content)))


def _block(block: blocks.Block) -> Markup:
    match block:
        case blocks.Heading():
            return Markup("<h{0}>{1}</h{0}>").format(block.level, _line(block.line))
        case blocks.Paragraph():
            return Markup('<p class="{}">{}</p>').format(_class(block.kind), _line(block.line))
        case blocks.Items():
            return _items(block)
        case blocks.Table():
            return _table(block)
        case blocks.Picture():
            drawn = _PLOTS[block.plot](*block.arguments)
            figure = Markup("<figure>\n<figcaption>{}</figcaption>\n{}\n</figure>")
            return figure.format(_line(block.caption), drawn)
        case blocks.Code():
            return _SCROLLING_CODE.format(block.text)
        case blocks.Fold():
            # The style sheet does not print what has pictures alone.
            kind = "samples" if block.has_pictures_alone else ""
            fold = Markup('<details class="{}">\n<summary>{}</summary>\n{}\n</details>')
            return fold.format(kind, _escaped(block.summary), _written(block.blocks))


def _items(block: blocks.Items) -> Markup:
    if not block.items:
        return Markup()
    kind = "answers" if any(item.kind for item in block.items) else ""
    below = Markup('<p class="below">{}</p>')
    lines = [
        Markup('<li class="{}"><p>{}</p>{}</li>\n').format(
            _class(item.kind),
            _line(item.line),
            Markup().join(below.format(_line(step.line)) for step in item.below),
        )
        for item in block.items[:_LINES_SHOWN]
    ]
    left_out = block.left_out + len(block.items) - len(lines)
    if left_out:
        lines.append(Markup("<li>and {:,} more</li>\n").format(left_out))
    title = Markup("<h3>{}</h3>\n").format(_line(block.title)) if block.title else ""
    return Markup('{}<ul class="{}">\n{}</ul>').format(title, kind, Markup().join(lines))


def _table(table: blocks.Table) -> Markup:
    """Write a table in a box that scrolls; one with many rows is folded."""
    kind = "prose stacked" if table.is_prose else "figures"
    table = table.turned_if_wide()
    if len(table.heads) >= blocks.TURNED_FROM:
        kind = "figures wide"
    elif not table.is_prose and not _fits_a_phone(table):
        kind = "figures two-lines"
    head_cell, heads = Markup('<th scope="col">{}</th>'), (table.corner, *table.heads)
    head_cells = Markup().join(head_cell.format(_line(head)) for head in heads)
    rows = Markup().join(_row(row, table.heads) for row in table.rows)
    lines = Markup("<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n").format(head_cells, rows)
    title = Markup('<p class="quiet">{}:</p>\n').format(_line(table.title)) if table.title else ""
    label = blocks.plain(table.title) or table.corner or "Figures"
    box = title + _SCROLLING.format(label, kind, len(table.heads), lines)
    most = _SENTENCES_OPEN if table.is_prose else _ROWS_OPEN
    if not table.shown or len(table.rows) <= most:
        return box
    count = f"{len(table.rows):,}{table.noun}"
    return Markup("<details>\n<summary>{}</summary>\n{}\n</details>").format(count, box)


def _fits_a_phone(table: blocks.Table) -> bool:
    """Return whether a phone has room for a row's label and its cells in one line.

    Labels and heads may break between their words.
    """
    rows = [row for row in table.rows if row.cells]
    columns = zip(table.heads, *(row.cells for row in rows), strict=True)
    labels = [word for row in rows for word in _parts(row.label)]
    letters = max(_LABEL_LETTERS, max(map(len, labels), default=0))
    for head, *cells in columns:
        letters += _GAP_LETTERS + max(map(len, [*_parts(head), *map(blocks.plain, cells)]))
    return letters <= _PHONE_LETTERS


def _parts(line: blocks.Line) -> list[str]:
    """Return what of a text stays in one line, however narrow its column is."""
    return _BREAK.split(blocks.plain(line))


def _row(row: blocks.Row, heads: Sequence[blocks.Line]) -> Markup:
    if not row.cells:
        return Markup('<tr class="{}"><th scope="rowgroup" colspan="{}">{}</th></tr>\n').format(
            "detail" if row.level else "group", len(heads) + 1, _line(row.label)
        )
    kind = "strong" if row.is_strong else _kind(row.label)
    cells = (
        Markup('<td class="{}" data-label="{}">{}</td>').format(
            _class(_kind(cell)), blocks.plain(head), _line(cell)
        )
        for head, cell in zip(heads, row.cells, strict=True)
    )
    address = Markup(' data-address="{}"').format(row.address) if row.address else ""
    return Markup('<tr class="{}"{}><th scope="row">{}</th>{}</tr>\n').format(
        _class(kind), address, _line(row.label), Markup().join(cells)
    )


def _kind(line: blocks.Line) -> str:
    kinds = (piece.kind for piece in blocks.pieces(line) if isinstance(piece, blocks.Words))
    return next(kinds, "")


def _class(kind: str) -> str:
    return kind.replace(" ", "-")


def _line(line: blocks.Line) -> Markup:
    return Markup().join(map(_piece, blocks.pieces(line)))


def _piece(piece: blocks.Inline) -> Markup:
    match piece:
        case blocks.Sketch():
            return sketches.sketch(piece)
        case blocks.Words(link=link, page_link=page_link) if link or page_link:
            return _LINK.format(link or page_link, _escaped(piece.text))
        case blocks.Words(kind=kind) if kind == blocks.CODE:
            return Markup("<code>{}</code>").format(_escaped(piece.text))
        case blocks.Words(kind=kind) if kind:
            element = "span" if kind == blocks.QUIET else "strong"
            styled = Markup('<{0} class="{1}">{2}</{0}>')
            return styled.format(element, _class(kind), _prose(piece.text))
    return _prose(blocks.plain(piece))


def _prose(words: str) -> Markup:
    """Escape a sentence; what it marks as code is code."""
    parts = _MARKED_CODE.split(words)
    # Every second part is what the expression found.
    return Markup().join(
        Markup("<code>{}</code>").format(_escaped(part)) if number % 2 else _escaped(part)
        for number, part in enumerate(parts)
    )


def _escaped(words: str) -> Markup:
    """Escape text; a number stays in one line with its percent sign."""
    return escape(words.replace(" %", "\N{NO-BREAK SPACE}%"))
