# SPDX-License-Identifier: MPL-2.0
"""Every kind of block in every format: nothing is lost or escaped twice, and all has room."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from page import Page

from io_benchmark.report.blocks import (
    Block,
    Document,
    Fold,
    Heading,
    Item,
    Items,
    Paragraph,
    Row,
    Table,
    Words,
    cut,
    fitting,
)
from io_benchmark.report.formats import Layout, markdown, page, text

KINDS = st.sampled_from(["", "slower", "supported", "strong", "quiet", "code", "warning"])
# One word each, so that wrapping and tables keep it whole.
TEXTS = st.from_regex(r"[a-z<&*_`|\\]{1,12}", fullmatch=True)
LINES = st.one_of(
    TEXTS,
    st.builds(Words, TEXTS, KINDS),
    st.tuples(TEXTS, st.just(" "), st.builds(Words, TEXTS, KINDS)),
)
ITEMS = st.builds(Item, LINES, st.lists(st.builds(Item, LINES), max_size=2).map(tuple), KINDS)


@st.composite
def drawn_tables(draw: st.DrawFn) -> Table:
    columns = draw(st.integers(1, 9))
    cells = st.lists(LINES, min_size=columns, max_size=columns).map(tuple)
    rows = draw(st.lists(st.builds(Row, LINES, cells, st.booleans()), min_size=1, max_size=4))
    heads = draw(cells)
    turned = draw(st.sampled_from(["", "pool"]))
    prose = draw(st.booleans())
    return Table("corner", heads, tuple(rows), draw(TEXTS), (), turned, prose)


LEAVES = st.one_of(
    st.builds(Heading, LINES, st.sampled_from([2, 3])),
    st.builds(Paragraph, LINES, KINDS),
    st.builds(Items, st.lists(ITEMS, min_size=1, max_size=4).map(tuple), TEXTS),
    drawn_tables(),
)
BLOCKS = st.lists(
    st.one_of(LEAVES, st.builds(Fold, TEXTS, st.lists(LEAVES, max_size=3).map(tuple))), max_size=4
).map(tuple)


def words(part: object) -> list[str]:
    """Every piece of text in blocks."""
    match part:
        case Words():
            return [part.text]
        case Heading() | Paragraph():
            return words(part.line)
        case Items():
            return words((part.title, *part.items))
        case Item():
            return words((part.line, *part.below))
        case Table():
            return words((part.title, () if part.is_prose else part.heads, *part.rows))
        case Row():
            return words((part.label, *part.cells))
        case Fold():
            return words((part.summary, *part.blocks))
        case tuple():
            return [word for piece in part for word in words(piece)]
    return [str(part)]


# Code is shown as such, and Markdown's code cannot hold these.
IN_CODE = str.maketrans({"`": None, "'": None, "|": "¦"})


def squeezed(shown: str) -> str:
    """Text without white space, which formats may add and remove."""
    return re.sub(r"\s", "", shown)


@settings(max_examples=20, deadline=None)
@given(BLOCKS)
def test_every_format_has_everything(blocks: tuple[Block, ...]) -> None:
    """Each word is there, escaped once.

    Markdown has others for two characters that code cannot hold.
    """
    document, expected = Document("title", blocks), list(map(squeezed, words(blocks)))
    shown = squeezed(text.render(document, Layout(columns=400)))
    assert [word for word in expected if word.rstrip(".") not in shown] == []
    shown = squeezed("".join(Page(page.render(document, Layout())).text)).replace("`", "")
    assert [word for word in expected if word.replace("`", "") not in shown] == []
    # As GitHub reads it.
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    read = Page(parser.render(markdown.render(document, Layout()))).text
    shown = squeezed("".join(read)).translate(IN_CODE)
    assert [word for word in expected if word.translate(IN_CODE) not in shown] == []


RANKED = (
    Items((Item("first"), Item("second", rank=2, below=(Item("below", rank=1),))), noun=" pools"),
    Table("", ("head",), (Row("low", ("1",), rank=3), Row("high", ("2",)))),
    Fold("folded", (Paragraph("inside"),)),
)


def test_what_is_left_out_first() -> None:
    """Folds close, then the lowest ranks go; what is above all of them stays."""
    reduced: list[Sequence[Block]] = []
    fitting(RANKED, reduced.append, lambda _: False)
    whole, closed, *ranked = reduced
    assert whole == RANKED
    assert closed[2] == Paragraph("folded", "quiet")
    kept = []
    for items, table, *_ in ranked[:4]:
        assert isinstance(items, Items)
        assert isinstance(table, Table)
        below = sum(len(item.below) for item in items.items)
        kept.append((len(items.items), below, len(table.rows), cut(items)[1]))
    one_gone = "and 1 more pools"
    assert kept == [(2, 1, 2, ""), (2, 0, 2, ""), (1, 0, 2, one_gone), (1, 0, 1, one_gone)]
    assert ranked[3] == ranked[-1]


def test_what_was_left_out_before_counts_too() -> None:
    """A list or a table that has only its first lines still counts the others."""
    items = Items((Item("a"), Item("b", rank=0)), noun=" pools", left_out=5)
    table = Table("", (), (Row("a"), Row("b", rank=0)), noun=" labels", left_out=5)
    reduced: list[Sequence[Block]] = []
    fitting((items, table), reduced.append, lambda _: False)
    counted = [cut(block)[1] for block in reduced[-1] if isinstance(block, Items | Table)]
    assert counted == ["and 6 more pools", "and 6 more labels"]


@pytest.mark.parametrize(("length", "lowest"), [(21, 0), (22, 1), (25, 4)])
def test_a_screen(length: int, lowest: int) -> None:
    """It has 23 lines at most: empty lines go first, then what has the lowest rank."""
    items = tuple(Item(f"line {number}", rank=min(number, 5)) for number in range(length))
    document = Document("title", (), (Items(items),))
    shown = text.render(document, Layout()).splitlines()
    assert len(shown) == 23
    assert next(line for line in shown if "line" in line) == f"  - line {lowest}"
    assert shown[-1] == "Everything else: add --details, or --write html=FILE for a page."
    shown = text.render(document, Layout(page="report.html", lines_below=1)).splitlines()
    assert len(shown) == 22
    assert shown[-1] == "Everything else: report.html, or add --details."


def test_the_rest_of_a_screen_of_a_command_without_details() -> None:
    """It names the command that shows everything, and the page where there is one."""
    document, whole = Document("title", (), (Items((Item("line"),)),)), "io-benchmark compare a"
    for file, pointer in (("", f"`{whole}`"), ("a.html", f"a.html, or `{whole}`")):
        shown = text.render(document, Layout(page=file, whole=whole)).splitlines()
        assert shown[-1] == f"Everything else: {pointer}."


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("text", "run `a --b` or `c|d`, (`e f`) it's `g"),
        ("markdown", "run `a --b` or `c¦d`, (`e f`) it's `'g`"),
        ("page", "run <code>a --b</code> or <code>c|d</code>, (<code>e f</code>) it&#39;s `g"),
    ],
)
def test_marked_code(form: str, written: str) -> None:
    """What a sentence marks as code is code, and no quotes are added."""
    document = Document("title", (Paragraph("run `a --b` or `c|d`, (`e f`) it's `g"),))
    render = {"text": text, "markdown": markdown, "page": page}[form].render
    assert written in render(document, Layout(details=True))


def test_a_command_stays_in_one_line() -> None:
    """A terminal that is wide enough for it does not break it, so that it can be copied."""
    command = "`io-benchmark submit --baseline intel --confirm Fqm6GL_zRPurCmd1rRuTRQ`"
    document = Document("title", (Paragraph(f"To confirm a cause, run {command}, then wait."),))
    for columns in (len(command) + 2, 100):
        assert command in text.render(document, Layout(details=True, columns=columns))
    narrow = text.render(document, Layout(details=True, columns=len(command) + 1))
    assert command not in narrow
    assert command in " ".join(narrow.split())


WIDE = Table("corner", tuple(f"head-{n}" for n in range(9)), (Row("row", tuple("123456789")),))


def test_a_table_that_is_too_wide() -> None:
    """Columns that may go do; then it is turned, or continued below with its labels again."""
    dropped = Table("corner", WIDE.heads, WIDE.rows, drop=tuple(map(str, WIDE.heads[1:])))
    turned = Table("corner", WIDE.heads, WIDE.rows, turned_corner="pool")

    def shown(table: Table) -> list[str]:
        return text.render(Document("title", (table,)), Layout(columns=40)).splitlines()[2:]

    assert shown(dropped)[0] == "  corner  head-0  head-6  head-7  head-8"
    assert [line.split()[0] for line in shown(turned)[2:]] == list(WIDE.heads)
    assert [line.split() for line in shown(WIDE) if "row" in line] == [
        ["row", "1", "2", "3", "4"],
        ["row", "5", "6", "7", "8"],
        ["row", "9"],
    ]
