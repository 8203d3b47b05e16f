# SPDX-License-Identifier: MPL-2.0
"""Text with styles for a terminal: wrapped to a width, and never read as markup.

rich could do this, but importing its console takes longer than reading the results of three pools.
"""

import itertools
import re
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells

# What a style consists of, such as "bold red", and the codes of terminals (ECMA-48, SGR).
_EMPHASIS = {"bold": "1", "dim": "2"}
_COLORS = {"red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}
_WORD = re.compile(r"\s*\S+\s*")
# A number and its unit stay in one line: the space between them is another character while text is
# wrapped, one that no text has.
_UNIT = re.compile("(?<=[0-9]) (?=(?:%|[nµm]?s|[KMGT]?i?B)(?![A-Za-z]))")
_TOGETHER = "\ue000"


_Piece = tuple[str, str]  # a text and its style


class Text:
    """Pieces of text, each with or without a style."""

    def __init__(self, *pieces: str | _Piece) -> None:
        self._pieces = [(piece, "") if isinstance(piece, str) else piece for piece in pieces]

    def lines(self, width: int) -> Iterator[list[_Piece]]:
        """Return the pieces of each line, which is at most `width` cells wide."""
        start = 0
        for line in _UNIT.sub(_TOGETHER, self._plain()).split("\n"):
            for ends in itertools.pairwise((0, *_breaks(line, width), len(line))):
                yield self._between(*(start + end for end in ends))
            start += len(line) + 1

    def shown(self, *, has_styles: bool, has_colors: bool) -> str:
        """Return it without spaces at its end, with what switches styles on and off."""
        codes = {**_EMPHASIS, **(_COLORS if has_colors else {})} if has_styles else {}
        pieces = self._between(0, len(self._plain().rstrip()))
        return "".join(_shown(text, style, codes) for text, style in pieces)

    def _plain(self) -> str:
        return "".join(text for text, _ in self._pieces)

    def _between(self, start: int, end: int) -> list[_Piece]:
        pieces = []
        for text, style in self._pieces:
            pieces.append((text[max(start, 0) : max(end, 0)], style))
            start, end = start - len(text), end - len(text)
        return pieces


def _shown(text: str, style: str, known: dict[str, str]) -> str:
    codes = ";".join(code for word, code in known.items() if word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


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
