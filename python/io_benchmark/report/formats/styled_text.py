# SPDX-License-Identifier: MPL-2.0
"""Text with styles for a terminal: wrapped to a width, and never read as markup.

rich could do this, but importing its console takes longer than reading the results of three pools.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells

# What a style consists of, such as "bold red", and the codes of terminals (ECMA-48, SGR).
_EMPHASIS = {"bold": "1", "dim": "2"}
_COLORS = {"red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}
_WORD = re.compile(r"\s*\S+\s*")
# A number and its unit stay in one line: the space between them is another character while text is
# wrapped, one that no text has.
_UNIT = re.compile("(?<=[0-9]) (?=(?:%|[nµm]?s|[KMGT]?i?B)(?![A-Za-z]))")
_TOGETHER = "\ue000"

Piece = tuple[str, str]  # a text and its style, or no style


def wrapped(pieces: Sequence[Piece], width: int) -> Iterator[list[Piece]]:
    """Return the pieces of each line, which is at most `width` cells wide."""
    start = 0
    for line in _UNIT.sub(_TOGETHER, _plain(pieces)).split("\n"):
        for ends in itertools.pairwise((0, *_breaks(line, width), len(line))):
            yield _between(pieces, *(start + end for end in ends))
        start += len(line) + 1


def shown(pieces: Sequence[Piece], *, has_styles: bool, has_colors: bool) -> str:
    """Return a line without spaces at its end, with what switches styles on and off."""
    known = {**_EMPHASIS, **(_COLORS if has_colors else {})} if has_styles else {}
    texts = []
    for text, style in _between(pieces, 0, len(_plain(pieces).rstrip())):
        codes = ";".join(code for word, code in known.items() if word in style.split())
        texts.append(f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text)
    return "".join(texts)


def _plain(pieces: Sequence[Piece]) -> str:
    return "".join(text for text, _ in pieces)


def _between(pieces: Sequence[Piece], start: int, end: int) -> list[Piece]:
    cut = []
    for text, style in pieces:
        cut.append((text[max(start, 0) : max(end, 0)], style))
        start, end = start - len(text), end - len(text)
    return cut


def _breaks(line: str, width: int) -> Iterator[int]:
    """Return where a line is broken: before words without room, and within words that are too long."""
    used = 0
    for match in _WORD.finditer(line):
        start, word = match.start(), match[0]
        length = cell_len(word.rstrip())
        if length <= width - used:
            used += cell_len(word)
        elif length <= width:
            yield start
            used = cell_len(word)
        else:
            for piece in chop_cells(word, width):
                if start:
                    yield start
                start += len(piece)
                used = cell_len(piece)
