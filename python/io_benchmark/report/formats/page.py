# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Lines and tables of text: wrapped to a width, and never read as markup."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size

from io_benchmark.analysis.model import State
from io_benchmark.report.content.footnotes import short_marks
from io_benchmark.report.content.report_index import NO_VERDICT
from io_benchmark.report.formats import Layout
from io_benchmark.report.formats.styled_text import Text

INDENT = "  "
_GAP = 2
# Wider text is hard to read.
_TEXT_WIDTH = 110
# A longer list ends in a count; the HTML page and the JSON have all of it.
_LINES_SHOWN = 30
STYLES = {
    "slower": "bold red",
    "faster": "bold green",
    "equivalent": "bold cyan",
    "inconclusive": "bold yellow",
    NO_VERDICT: "bold magenta",
    State.CONFIRMED: "bold",
    State.SUPPORTED: "bold",
    State.NOT_SEPARABLE: "",
    State.REFUTED: "",
    State.RULED_OUT: "",
    State.NOT_JUDGED: "dim",
    State.NOT_OBSERVABLE: "dim",
}


class Page:
    """Collects whole lines without trailing spaces; never reads markup."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._lines: list[str] = []
        self.width = layout.columns

    def text(self) -> str:
        """Return everything that was added."""
        return "".join(self._lines)

    def line(self, text: Text | str = "", style: str = "") -> None:
        """Add a line, or an empty one."""
        line = Text((text, style)) if isinstance(text, str) else text
        shown = line.shown(has_styles=self._layout.styles, has_colors=self._layout.colors)
        self._lines.append(f"{shown}\n")

    def heading(self, text: str, marks: Sequence[int] = ()) -> None:
        self.line()
        self.paragraph(text + short_marks(marks), "bold", indent="")

    def paragraph(
        self, text: Text | str, style: str = "", *, indent: str = INDENT, first: str | None = None
    ) -> None:
        """Add wrapped text, indented below its first line."""
        words = Text((text, style)) if isinstance(text, str) else text
        width = max(min(self.width, _TEXT_WIDTH) - len(indent), 12)
        for at, pieces in enumerate(words.lines(width)):
            self.line(Text(indent if at or first is None else first, *pieces))

    def item(self, text: Text | str, style: str = "", *, mark: str = "-") -> None:
        self.paragraph(text, style, indent="    ", first=f"  {mark} ")

    def items(
        self, texts: Iterable[str], shown: int = _LINES_SHOWN, style: str = "", *, mark: str = "-"
    ) -> None:
        """Add a list; a longer one than `shown` ends in a count."""
        lines = list(texts)
        for line in lines[:shown]:
            self.item(line, style, mark=mark)
        if len(lines) > shown:
            self.item(f"and {len(lines) - shown:,} more", mark=mark)

    def grid(
        self,
        corner: str,
        labels: Sequence[str],
        heads: Sequence[str],
        columns: Sequence[Sequence[str]],
        styles: Sequence[Sequence[str]] = (),
        notes: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Add a table with a column of labels at the left and right-aligned cells.

        `styles` are those of each column's cells, `notes` the texts and styles behind the rows.
        """
        widths = self.grid_widths(corner, labels, heads, columns)
        self.grid_head(corner, heads, widths)
        for at, label in enumerate(labels):
            self.grid_row(
                label,
                [column[at] for column in columns],
                widths,
                [column[at] for column in styles],
                notes[at] if notes else ("", ""),
            )

    @staticmethod
    def grid_widths(
        corner: str,
        labels: Iterable[str],
        heads: Sequence[str],
        columns: Iterable[Sequence[str]],
    ) -> list[int]:
        """Return the width of the labels' column and of each further one."""
        return [
            max(map(cell_len, texts))
            for texts in (
                (corner, *labels),
                *((head, *cells) for head, cells in zip(heads, columns, strict=True)),
            )
        ]

    def grid_head(self, corner: str, heads: Sequence[str], widths: Sequence[int]) -> None:
        """Add the heads of a table; the first of the widths is that of the labels."""
        top = Text((INDENT + set_cell_size(corner, widths[0]), "dim"))
        for head, width in zip(heads, widths[1:], strict=True):
            top.append(_align_right(head, width), "bold dim")
        self.line(top)
        self.line(INDENT + "─" * (sum(widths) + _GAP * len(heads)), "dim")

    def grid_row(
        self,
        label: str,
        cells: Sequence[str],
        widths: Sequence[int],
        styles: Sequence[str] = (),
        note: tuple[str, str] = ("", ""),
    ) -> None:
        """Add a row of a table; `note` is the text behind it and its style."""
        line = Text(INDENT + set_cell_size(label, widths[0]))
        for at, (cell, width) in enumerate(zip(cells, widths[1:], strict=True)):
            line.append(_align_right(cell, width), styles[at] if styles else "")
        line.append(*note)
        self.line(line)

    def fits(
        self,
        labels: Sequence[str],
        heads: Sequence[str],
        columns: Sequence[Sequence[str]],
        *,
        room: int = 0,
    ) -> bool:
        """Is the page wide enough for the grid with these columns and `room` behind them?"""
        widths = self.grid_widths("", labels, heads, columns)
        return len(INDENT) + sum(widths) + _GAP * len(heads) + room <= self.width


def _align_right(text: str, width: int) -> str:
    """Return a cell of a table with the gap before it."""
    return " " * (_GAP + width - cell_len(text)) + text
