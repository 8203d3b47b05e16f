# SPDX-License-Identifier: MPL-2.0
"""A report as blocks: a section returns them, and each format has one function per kind.

All text in blocks is harmless (`make_harmless`), and still unescaped: a format escapes its own
markup.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.prediction.prediction_model import WrittenOverTime
from io_benchmark.number_text import NOTHING, digits
from io_benchmark.report.drawn import AmountRow, StripRow
from io_benchmark.results.parts import NS_PER_S

Written = TypeVar("Written")

# Kinds of words besides verdicts and the states of causes.
STRONG, QUIET, CODE, WARNING, BAR = "strong", "quiet", "code", "warning", "bar"
TRY = "try"  # leads what to do
BASELINE, NO_VERDICT, NOISE = "baseline", "no verdict", "noise"
# What is never left out. Lower ranks, from 0 on, are left out first where there is no room.
ALWAYS = 12
# With so many columns a table that may be turned is turned; a narrow terminal needs it earlier.
TURNED_FROM = 7


class Words(Struct, frozen=True):
    """Text with a kind, which decides how it looks, or with the address that it leads to."""

    text: str
    kind: str = ""
    link: str = ""
    page_link: str = ""  # the same, where only the page leads there


class Sketch(Words, frozen=True, kw_only=True):
    """A line over time, small enough for a cell: its text is it in characters."""

    label: str  # what it shows, for those who do not see it
    # Both are parts of the width; heights are parts of the height, from the bottom up.
    spots: Sequence[tuple[float, float]] = ()
    changes: Sequence[float] = ()


Inline: TypeAlias = str | Words
Line: TypeAlias = Inline | tuple[Inline, ...]


SECTION, SUBSECTION = 2, 3  # levels of headings; the title is above both


class Heading(Struct, frozen=True):
    line: Line
    level: int = SECTION


class Paragraph(Struct, frozen=True):
    line: Line
    kind: str = ""


class Item(Struct, frozen=True):
    line: Line
    below: Sequence["Item"] = ()
    kind: str = ""  # a verdict, by which the page colors it
    mark: str = "-"
    rank: int = ALWAYS

    @classmethod
    def led(cls, lead: str, rest: str, *, rank: int = ALWAYS) -> "Item":
        """Begin with a few strong words: 'Cause: …'."""
        return cls((Words(lead, STRONG), f" {rest}"), rank=rank)

    @classmethod
    def to_try(cls, action: str, *, rank: int = ALWAYS) -> "Item":
        return cls((Words("Try:", TRY), f" {action}"), rank=rank)

    @classmethod
    def answer(
        cls,
        verdict: str,
        lead: str,
        rest: str = "",
        below: Sequence["Item"] = (),
        rank: int = ALWAYS,
    ) -> "Item":
        """Begin with a verdict, of which the whole item is."""
        return cls((Words(lead, verdict), rest), below, verdict, rank=rank)


class Items(Struct, frozen=True):
    """A list; without items it is nothing."""

    items: Sequence[Item]
    title: Line = ""
    noun: str = ""  # of what has no room, if that is counted
    shown: int = 30  # on a terminal and in Markdown, where a count follows; 0: all
    left_out: int = 0

    @classmethod
    def of(cls, lines: Iterable[Line], title: Line = "") -> "Items":
        return cls([Item(line) for line in lines], title)

    @classmethod
    def lists(cls, *pairs: tuple[str, Sequence[str]]) -> Iterator["Block"]:
        """Yield the lists that have any lines, below their headings."""
        for title, lines in pairs:
            if lines:
                yield from (Heading(title), cls.of(lines))


class Row(Struct, frozen=True):
    """A row of a table; one without cells has its label across all columns."""

    label: Line
    cells: Sequence[Line] = ()
    is_strong: bool = False
    level: int = 0  # 1: it belongs to a row above that has no cells
    rank: int = ALWAYS
    address: str = ""  # of its results; the page's script writes commands with it


class Table(Struct, frozen=True):
    """A table; the page folds a long one of those that are cut elsewhere."""

    corner: str  # the head of the labels
    heads: Sequence[Line]
    rows: Sequence[Row]
    title: Line = ""
    drop: Sequence[Line] = ()  # heads of columns that are left out first where there is no room
    turned_corner: str = ""  # rows and columns may change places; then this is the corner
    is_prose: bool = False  # cells are sentences: paragraphs on a terminal
    shown: int = 0
    noun: str = ""  # what further rows are
    left_out: int = 0

    def turned_if_wide(self) -> "Table":
        return self.turned() if self.turned_corner and len(self.heads) >= TURNED_FROM else self

    def turned(self) -> "Table":
        columns = zip(self.heads, *(row.cells for row in self.rows), strict=True)
        rows = [Row(head, cells) for head, *cells in columns]
        return Table(self.turned_corner, [row.label for row in self.rows], rows, self.title)

    def without_empty_columns(self) -> "Table":
        columns = enumerate(zip(*(row.cells for row in self.rows), strict=True))
        return self.keep_columns([index for index, cells in columns if {*cells} - {"", NOTHING}])

    def keep_columns(self, positions: Sequence[int]) -> "Table":
        rows = [
            replace(row, cells=[row.cells[position] for position in positions] if row.cells else ())
            for row in self.rows
        ]
        return replace(self, heads=[self.heads[position] for position in positions], rows=rows)


class Picture(Struct, frozen=True):
    """A picture, which only the page has: the function in `pictures`, and its arguments."""

    caption: Line
    plot: str
    arguments: tuple[Any, ...]

    @classmethod
    def forest(
        cls, caption: Line, rows: Mapping[str, object], margin_ratio: float
    ) -> list["Picture"]:
        """Draw a ratio with its interval for each name; nothing without any."""
        return [cls(caption, "forest", ([*rows.values()], [*rows], margin_ratio))] if rows else []

    @classmethod
    def strip(cls, caption: Line, rows: Sequence[StripRow], margin_ratio: float) -> list["Picture"]:
        """Draw a row per pool with a dot per worker; nothing without any pool."""
        return [cls(caption, "strip", (rows, margin_ratio))] if rows else []

    @classmethod
    def amounts(cls, caption: Line, rows: Sequence[AmountRow]) -> list["Picture"]:
        """Draw an amount with its interval for each name; nothing without any."""
        return [cls(caption, "amounts", (rows, plain(caption)))] if rows else []

    @classmethod
    def demand(cls, written: WrittenOverTime | None) -> list["Picture"]:
        """Draw what a task wrote over time, and the most that the pools' disks write."""
        if written is None or not written.ceilings_bytes_per_s or not any(written.bytes_per_s):
            return []
        step_s = digits(written.step_ns / NS_PER_S)
        caption = (
            f"What the task wrote to the disks of {written.place} in each {step_s} s, and the "
            "most that each pool's disks write: where that is less, they are the limit"
        )
        return [cls(caption, "demand", (written,))]

    @classmethod
    def costs(cls, baseline: str, rows: Mapping[str, tuple[object, object]]) -> list["Picture"]:
        """Draw the ratios of time and of cost for each name; nothing without any."""
        caption = f"Cost of a task against its time, both divided by those of {baseline}"
        return [cls(caption, "costs", (rows,))] if rows else []


class Fold(Struct, frozen=True):
    """Blocks that the page and Markdown show when they are asked for; a terminal has them open."""

    summary: str
    blocks: "Sequence[Block]"
    on_page_only: bool = False  # elsewhere only its summary is shown
    is_named_in_text: bool = True  # otherwise a terminal shows no summary

    @property
    def has_pictures_alone(self) -> bool:
        return all(isinstance(block, Picture) for block in self.blocks)


class Code(Struct, frozen=True):
    """Lines that are shown as they are, such as those of a patch."""

    text: str
    language: str = ""


Block: TypeAlias = Heading | Paragraph | Items | Table | Picture | Fold | Code


class Document(Struct, frozen=True):
    """A report: facts about it, its answer, and the evidence; and a first screen, if it is for one.

    The answer has what a reader needs to act, without a heading: the page shows it first.
    """

    title: str
    blocks: Sequence[Block]  # the evidence; the page lists its headings as contents
    screen: Sequence[Block] = ()
    reason: str = ""  # behind the title: why these sides are compared so
    facts: Sequence[Line] = ()  # what was compared, when, and with what
    answer: Sequence[Block] = ()
    # Where rows can be picked, what the page's script writes for two of them; see `fleet_page.js`.
    command: str = ""

    @property
    def headline(self) -> str:
        return self.title + self.reason

    @property
    def facts_line(self) -> Line:
        """Return all facts as one line."""
        parts = [piece for fact in self.facts for piece in (" · ", *pieces(fact))]
        return tuple(parts[1:])

    @property
    def whole(self) -> list[Block]:
        """Return the answer below a heading, if it is apart, then the evidence."""
        answer = [Heading("Answer"), *self.answer] if self.answer else []
        return [*answer, *self.blocks]


def pieces(line: Line) -> tuple[Inline, ...]:
    return line if isinstance(line, tuple) else (line,)


def plain(line: Line) -> str:
    return "".join(piece.text if isinstance(piece, Words) else piece for piece in pieces(line))


def cut(block: Items | Table) -> tuple[Sequence[Any], str]:
    """Return what a terminal and Markdown show of a list or a table, and 'and 3 more pools'."""
    lines = block.items if isinstance(block, Items) else block.rows
    visible = lines[: block.shown or None]
    count = len(lines) - len(visible) + (block.left_out if block.noun else 0)
    return visible, f"and {count:,} more{block.noun}" if count else ""


def fitting(
    blocks: Sequence[Block],
    write: Callable[[Sequence[Block]], Written],
    fits: Callable[[Written], bool],
) -> Written:
    """Write the blocks, of which as little is left out as it needs to fit."""
    for reduced in _reductions(blocks):
        written = write(reduced)
        if fits(written):
            break
    return written


def _reductions(blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    """Yield the blocks, then with less and less: folds close first, then the lowest ranks go."""
    closed = [
        Paragraph(block.summary, QUIET) if isinstance(block, Fold) else block for block in blocks
    ]
    yield from (blocks, closed)
    for rank in range(ALWAYS):
        yield [*_above(closed, rank)]


def _above(blocks: Iterable[Block], rank: int) -> Iterator[Block]:
    """Yield what is above a rank; a table without rows goes, and with it its title."""
    for block in blocks:
        match block:
            case Items():
                items = [
                    replace(item, below=[step for step in item.below if step.rank > rank])
                    for item in block.items
                    if item.rank > rank
                ]
                left_out = block.left_out + len(block.items) - len(items)
                yield replace(block, items=items, left_out=left_out)
            case Table():
                rows = [row for row in block.rows if row.rank > rank]
                if rows:
                    left_out = block.left_out + len(block.rows) - len(rows)
                    yield replace(block, rows=rows, left_out=left_out)
            case _:
                yield block
