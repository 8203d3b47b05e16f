# SPDX-License-Identifier: MPL-2.0
"""Blocks for a comment on a bug, in the Markdown that GitHub and Bugzilla share.

No text of a result file is trusted to be prose. A word with more than letters, digits and ordinary
punctuation becomes code, in which nothing is markup, a link, a mention or a reference.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from html import escape
from itertools import groupby
from operator import itemgetter

from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.model.comparison import DIFFERENT
from io_benchmark.report import blocks
from io_benchmark.report.formats import Layout

MAXIMUM_LENGTH = 60_000  # GitHub and Bugzilla allow 65,535 characters in a comment
# A comment's lines before its first fold; a report with fewer is not folded as a whole.
_FIRST_LINES = 40
_FOLD = "<details>"
_CUT = "\n\nCut here: the rest does not fit a comment.\n"
# Every other kind of words is bold in a sentence; in a table only what differs or holds.
_PLAIN_KINDS = ("", blocks.QUIET, blocks.CODE, blocks.WARNING)
_BOLD_IN_TABLES = (*DIFFERENT, blocks.STRONG, *(state for state in State if state.holds))

_SYMBOLS = frozenset(("%", "\N{EN DASH}", "±", "÷", "×", "·", "→", "∞"))
# What a sentence may have alone before or behind words of another kind.
_BETWEEN_PIECES = ("", ",", ".", ":", ";", "(", ")")
# A word: brackets and quotes, the core, then brackets, quotes and punctuation.
_PARTS = re.compile(r"""\A([("'±]*)(.*?)([)"',;:.!?%×…]*)\Z""", re.DOTALL)
# A sign is part of its number.
_PLAIN = re.compile(r"(?:[+\u2212](?=[0-9]))?[^\W_]+(?:[-'\u2019.,/×][^\W_]+)*")
# GitHub or Bugzilla would make links of these words, which have no special punctuation.
_REFERENCE = re.compile(
    r"www\.|\bgh-[0-9]|\b[0-9a-f]{7,}\b|\b(?:bug|comment|attachment)s?\b", re.IGNORECASE
)
# What a sentence marks as code, as a word of its own
_MARKED_CODE = re.compile(r"""(?<!\S)([("']*)`(\S|\S[^`]*\S)`([)"',;:.!?]*)(?!\S)""")
_LIST_MARK = re.compile(r"[0-9]+[.)]+")


def render(document: blocks.Document, layout: Layout) -> str:
    """Return facts and the first screen with the evidence folded below it, or the whole report.

    An answer of which the screen leaves out something is folded as well. Where all would not fit in
    a comment, its folds are closed; then it is cut.
    """
    head, end, content = f"## {_prose(document.headline)}\n", "", document.whole
    first = document.screen or document.answer
    if document.facts:
        head += f"\n{_line(document.facts_line)}\n"
    if layout.details:
        content = [*_opened(content)]
    elif first and _lines_before_fold(f"{head}\n{_written(content)}") > _FIRST_LINES:
        room = _FIRST_LINES - len(head.splitlines()) - 2
        screen = blocks.fitting(first, _written, lambda screen: _lines_before_fold(screen) <= room)
        if _written(document.answer) in screen:
            content = [*document.blocks]
        head = f"{head}\n{screen}\n\n{_FOLD}\n<summary>Details</summary>\n"
        end = "\n</details>\n"
    room = MAXIMUM_LENGTH - len(head) - len(end) - 1
    report = blocks.fitting(content, _written, lambda report: len(report) < room) + "\n"
    if len(report) > room + 1:
        report = report[: report.rindex("\n", 0, room + 1)] + _CUT
    return f"{head}\n{report}{end}"


def _lines_before_fold(text: str) -> int:
    return len(text.partition(_FOLD)[0].splitlines())


def _opened(content: Iterable[blocks.Block]) -> Iterator[blocks.Block]:
    for block in content:
        yield from _opened(block.blocks) if isinstance(block, blocks.Fold) else [block]


def _written(content: Iterable[blocks.Block]) -> str:
    return "\n\n".join(filter(None, map(_block, content)))


def _block(block: blocks.Block) -> str:
    match block:
        case blocks.Heading():
            return f"{'#' * (block.level + 1)} {_line(block.line)}"
        case blocks.Paragraph():
            return _line(block.line)
        case blocks.Items() | blocks.Table():
            content = _items(block) if isinstance(block, blocks.Items) else _table(block)
            return f"{_line(block.title)}:\n\n{content}" if content and block.title else content
        case blocks.Code():
            # Longer than any fence in the text.
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
            return f"{fence}{block.language}\n{block.text.rstrip()}\n{fence}"
        case blocks.Fold(on_page_only=True) if not block.has_pictures_alone:
            return _line(f"{block.summary}.")
        case blocks.Fold(on_page_only=False):
            # Markdown is not read inside of HTML.
            summary = f"{_FOLD}\n<summary>{escape(block.summary, quote=False)}</summary>"
            return f"{summary}\n\n{_written(block.blocks)}\n\n</details>"
    return ""


def _items(block: blocks.Items) -> str:
    items, further = blocks.cut(block)
    lines = [
        f"{mark} {_line(line.line)}"
        for item in items
        for mark, line in (("-", item), *(("  -", below) for below in item.below))
    ]
    return "\n".join([*lines, f"- {further}"] if further else lines)


def _table(table: blocks.Table) -> str:
    table = table.turned_if_wide()
    rule = ["---", *("---" if table.is_prose else "--:" for _ in table.heads)]
    rows, further = blocks.cut(table)
    cells = (_cells(row, len(table.heads)) for row in rows)
    lines = ([table.corner, *map(_line, table.heads)], rule, *cells)
    grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{grid}\n\n{further}" if further else grid


def _cells(row: blocks.Row, columns: int) -> Iterator[str]:
    is_group = not row.cells and not row.level
    label = _line(row.label, bold=() if is_group else _BOLD_IN_TABLES)
    yield f"**{label}**" if is_group else label
    for cell in row.cells or [""] * columns:
        strong = row.is_strong and blocks.plain(cell) and not isinstance(cell, blocks.Words)
        yield f"**{_line(cell)}**" if strong else _line(cell, bold=_BOLD_IN_TABLES)


def _line(line: blocks.Line, bold: Collection[str] | None = None) -> str:
    """Write a line with words of these kinds in bold; None: all kinds that sentences begin with."""
    looks = (_look(piece, bold) for piece in blocks.pieces(line))
    written = ""
    # Neighbors that look alike are one text, because two spans of code without a blank would merge.
    for look, group in groupby(looks, itemgetter(0)):
        words = "".join(words for _, words in group)
        source = words if look is None else _prose(words)
        written += f"**{source}**" if look and source else source
    return written


def _look(piece: blocks.Inline, bold: Collection[str] | None) -> tuple[bool | None, str]:
    """Return whether a piece is bold, and its text; None for what is Markdown already."""
    if isinstance(piece, str):
        return False, piece
    if piece.link:
        return None, f"[{piece.text}]({piece.link})"
    return piece.kind not in _PLAIN_KINDS if bold is None else piece.kind in bold, piece.text


def _prose(text: str) -> str:
    """Return Markdown that shows exactly this text, and as code what it marks as code."""
    written, end = "", 0
    for marked in _MARKED_CODE.finditer(text):
        before, code, after = marked.groups()
        written += f"{_words(text[end : marked.start()])}{before}{_code(code)}{after}"
        end = marked.end()
    return written + _words(text[end:])


def _words(text: str) -> str:
    """Return Markdown that shows exactly this text; neighbors that need code share a span."""
    first, *words = text.split(" ")
    flags = [(first, _is_plain(first) and not _LIST_MARK.fullmatch(first))]
    flags += ((word, _is_plain(word)) for word in words)
    groups = (
        (is_plain, " ".join(word for word, _ in group))
        for is_plain, group in groupby(flags, itemgetter(1))
    )
    return " ".join(alike if is_plain else _code_with_ends(alike) for is_plain, alike in groups)


def _is_plain(word: str) -> bool:
    if word in _BETWEEN_PIECES or word.rstrip(".,;:)") in _SYMBOLS:
        return True
    core = _PARTS.sub(r"\2", word)
    return bool(_PLAIN.fullmatch(core)) and not _REFERENCE.search(core)


def _code_with_ends(text: str) -> str:
    """Make a code span; the brackets and punctuation around it stay prose."""
    ((start, core, end),) = _PARTS.findall(text)
    # A bracket that is opened inside the span is closed inside it.
    while end.startswith(")") and core.count("(") > core.count(")"):
        core, end = core + ")", end[1:]
    return f"{start}{_code(core)}{end}" if core else _code(text)


def _code(text: str) -> str:
    """Make a code span; no escape of these two inside of it works in all renderers."""
    code = text.replace("`", "'").replace("|", "¦")
    return f"`{code}`"
