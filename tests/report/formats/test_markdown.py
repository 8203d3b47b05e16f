# SPDX-License-Identifier: MPL-2.0
"""The report as Markdown: readers see its text, and no text becomes markup."""

import re

import pytest
import sample_report
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from io_benchmark.report.blocks import Document, Item, Items
from io_benchmark.report.formats import Layout, markdown, rendered
from io_benchmark.report.formats.markdown import MAXIMUM_LENGTH, _prose
from io_benchmark.text import clean

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# Pieces that are markup, links, mentions or references somewhere.
PIECES = st.sampled_from(
    [
        *"`*_~[]()<>#|\\!-+=&@:.\"'${}^ ",
        "](x)",
        "![",
        "https://e.example",
        "www.e.example",
        "@user",
        "#1",
        "GH-1",
        "bug 1",
        "<b>",
        "<!--",
        "&amp;",
        "1. ",
        "- ",
        "```",
        "~~",
        "**",
        "a@b.example",
        "deadbeef",
        "\n",
        "\r",
        "\t",
        "\x1b[1m",
        "\u202e",
        "\u2028",
        "x",
        "Ab",
        "été",
        "表",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))
LINKED = re.compile(
    r"@\w|://|www\.|#[0-9]|\bgh-[0-9]|\b(?:bug|comment|attachment)s?\s|\b[0-9a-f]{7,}\b",
    re.IGNORECASE,
)


def inline(text: str):
    """Return the flat tokens of a document with one paragraph."""
    tokens = PARSER.parse(text)
    kinds = [token.type for token in tokens]
    assert kinds in (["paragraph_open", "inline", "paragraph_close"], [])
    return [] if not tokens else tokens[1].children


@given(TEXTS)
def test_text_stays_text(text):
    """A paragraph of text and code shows the text, except the two characters that code cannot hold.

    What GitHub or Bugzilla would turn into links and mentions is in code only.
    """
    cleaned = clean(text)
    tokens = inline(_prose(cleaned))
    assert {token.type for token in tokens} <= {"text", "code_inline"}
    shown = "".join(token.content for token in tokens)
    assert shown == cleaned.replace("`", "'").replace("|", "¦")
    outside = "\n".join(token.content for token in tokens if token.type == "text")
    assert LINKED.search(outside) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("amd-16 takes 1.92× (146 ms).", "amd-16 takes 1.92× (146 ms).", id="plain"),
        pytest.param("on nvme0n1_x, not", "on `nvme0n1_x`, not", id="one-word"),
        pytest.param("a_b c_d e", "`a_b c_d` e", id="neighbours-share-a-span"),
        pytest.param("(data=writeback)", "(`data=writeback`)", id="brackets-outside"),
        pytest.param("1. x", "`1`. x", id="list-mark"),
        pytest.param("−14 %", "−14 %", id="negative"),
        pytest.param("+x", "`+x`", id="sign-of-a-word"),
    ],
)
def test_prose(text, expected):
    """Plain words stay as they are."""
    assert _prose(text) == expected


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(sample_report.large, id="1000-workers"),
        pytest.param(sample_report.verbose, id="much-to-say"),
    ],
)
def test_fits_a_comment(report):
    """A large report fits in a comment, and says that something is left out."""
    text = rendered(report(), "markdown")
    assert len(text) <= MAXIMUM_LENGTH + 100
    assert text.startswith("## ")
    assert "and 970 more runs" in text or "does not fit a comment" in text


def report_of(answer: int, evidence: int, on_screen: int = 0) -> str:
    """The Markdown of a report with so many lines of each; a screen may leave out most of its."""

    def lines(count: int, text: str) -> tuple[Items]:
        return (Items([Item(f"{text} {at}", rank=at % 9) for at in range(count)], shown=0),)

    screen = lines(on_screen, "line") if on_screen else ()
    evidence_blocks, answer_blocks = lines(evidence, "evidence"), lines(answer, "line")
    document = Document("title", evidence_blocks, screen, "", ("fact",), answer_blocks)
    return markdown.render(document, Layout())


def test_lines_before_the_first_fold():
    """There are at most 40, in the order of the page; a report that has no more is not folded."""
    # A title, a fact, a heading and the gaps take seven lines more.
    assert "<details>" not in report_of(4, 29)
    folded = report_of(4, 30)
    assert folded.startswith("## title\n\nfact\n\n- line 0\n")
    assert "evidence" not in folded.partition("<details>")[0]
    cut = report_of(50, 9, on_screen=50).partition("<details>")[0].splitlines()
    assert 30 < len(cut) <= 40


def test_the_answer_is_not_repeated():
    """The fold has the answer only if the screen leaves out something of it."""
    counts = [report_of(4, 40, on_screen).count("line 0") for on_screen in (0, 3, 4, 5)]
    assert counts == [1, 2, 1, 1]
