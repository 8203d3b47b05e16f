# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Lines and tables of text: wrapped to a width, and never read as markup."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from io_benchmark.report.content import footnotes
from io_benchmark.report.formats import Layout

INDENT = "  "
GAP = 2
# Wider text is hard to read.
_TEXT_WIDTH = 110
# A longer list ends in a count; the HTML page and the JSON have all of it.
LINES_SHOWN = 30
# COLUMNS=0 and similar settings would leave nothing to read.
_LEAST_COLUMNS = 20


def terminal_console(stream: TextIO, environment: Mapping[str, str]) -> Console:
    """Return the terminal behind a stream, wide enough for a word."""
    console = Console(file=stream, _environ=environment)
    console.width = max(console.width, _LEAST_COLUMNS)
    return console


def terminal_layout(stream: TextIO, environment: Mapping[str, str], *, details: bool) -> Layout:
    """Return the width and the colors of the terminal behind a stream, if it is one."""
    console = terminal_console(stream, environment)
    return Layout(
        details=details,
        columns=console.width,
        color_system=console.color_system,
        no_color=console.no_color,
    )


class Page:
    """Collects whole lines without trailing spaces; never reads markup."""

    def __init__(self, layout: Layout) -> None:
        self._stream = io.StringIO()
        color_system: Any = layout.color_system
        self._console = Console(
            file=self._stream,
            width=layout.columns,
            force_terminal=layout.color_system is not None,
            color_system=color_system,
            no_color=layout.no_color,
            legacy_windows=False,
            _environ={},
        )
        self.width = layout.columns

    def text(self) -> str:
        """Return everything that was printed."""
        return self._stream.getvalue()

    def line(self, text: Text) -> None:
        """Add a line."""
        text.rstrip()
        self._console.print(text, soft_wrap=True, highlight=False)

    def heading(self, text: str, marks: Sequence[int] = ()) -> None:
        self.line(Text())
        self.paragraph(Text(text + marks_in_words(marks), "bold"), indent="")

    def paragraph(self, text: Text, indent: str = INDENT, first: str | Text | None = None) -> None:
        """Add wrapped text, indented below its first line."""
        width = max(min(self.width, _TEXT_WIDTH) - len(indent), 12)
        for at, wrapped in enumerate(text.wrap(self._console, width)):
            start = indent if at or first is None else first
            self.line(Text.assemble(start, wrapped))

    def items(self, texts: Iterable[str], shown: int = LINES_SHOWN) -> None:
        lines = list(texts)
        for line in lines[:shown]:
            self.paragraph(Text(line), indent="    ", first="  - ")
        if len(lines) > shown:
            self.paragraph(Text(f"and {len(lines) - shown:,} more"), indent="    ", first="  - ")


def marks_in_words(numbers: Sequence[int]) -> str:
    return "".join(f" [{number}]" for number in numbers)


def short_marks(numbers: Sequence[int]) -> str:
    return footnotes.short_marks(numbers, "[{}]")


def column_widths(heads: Sequence[str], columns: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(cell_len(text) for text in (head, *column))
        for head, column in zip(heads, columns, strict=True)
    ]


def print_grid(
    page: Page,
    corner: str,
    labels: Sequence[str],
    heads: Sequence[str],
    columns: Sequence[Sequence[str]],
    styles: Sequence[Sequence[str]],
) -> None:
    """Add a table with a column of labels at the left and right-aligned cells."""
    widths = column_widths(heads, columns)
    first = max((cell_len(label) for label in (corner, *labels)), default=0)

    def right(text: str, width: int) -> str:
        return " " * (GAP + width - cell_len(text)) + text

    top = Text(INDENT + set_cell_size(corner, first), "dim")
    for head, width in zip(heads, widths, strict=True):
        top.append(right(head, width), "bold")
    page.line(top)
    page.line(Text(INDENT + "─" * (first + sum(GAP + width for width in widths)), "dim"))
    for at, label in enumerate(labels):
        line = Text(INDENT + set_cell_size(label, first))
        for column, width, style in zip(columns, widths, styles, strict=True):
            line.append(right(column[at], width), style[at])
        page.line(line)
