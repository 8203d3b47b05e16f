# SPDX-License-Identifier: MPL-2.0
"""The report as Markdown: readers see its text, and no text becomes markup."""

import re

import pytest
import sample_report
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from io_benchmark.report.formats import Layout, rendered
from io_benchmark.report.formats.markdown import MAXIMUM_LENGTH, prose
from io_benchmark.text import clean

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# Pieces that are markup, links, mentions or references somewhere.
PIECES = st.sampled_from(
    [
        *"`*_~[]()<>#|\\!-+=&@:.\"'${}^ ",
        *("](x)", "![", "https://e.example", "www.e.example", "@user", "#1", "GH-1", "bug 1"),
        *("<b>", "<!--", "&amp;", "1. ", "- ", "```", "~~", "**", "a@b.example", "deadbeef"),
        *("\n", "\r", "\t", "\x1b[1m", "\u202e", "\u2028", "x", "Ab", "été", "表"),
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
    """A paragraph of text and code shows the text, except the two characters that code cannot hold."""
    cleaned = clean(text)
    tokens = inline(prose(cleaned))
    assert {token.type for token in tokens} <= {"text", "code_inline"}
    shown = "".join(token.content for token in tokens)
    assert shown == cleaned.replace("`", "'").replace("|", "¦")


@given(TEXTS)
def test_nothing_becomes_a_link(text):
    """Text that GitHub or Bugzilla would turn into links and mentions is in code only."""
    tokens = inline(prose(clean(text)))
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
    assert prose(text) == expected


def test_hostile_document():
    """The whole document has no HTML, links or images, and all rows of a table have the same width."""
    tokens = PARSER.parse(rendered(sample_report.hostile(), "markdown", Layout(details=True)))
    children = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *children)}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "em_open", "fence"}
    widths = set()
    cells = 0
    for token in tokens:
        if token.type in ("th_open", "td_open"):
            cells += 1
        elif token.type == "tr_close":
            widths.add(cells)
            cells = 0
    assert widths == {4, 5, 6}


def test_the_details_are_the_only_html():
    """The answer's 40 lines come first; whatever names have, nothing else is HTML."""
    text = rendered(sample_report.hostile(), "markdown")
    blocks = [token.content for token in PARSER.parse(text) if token.type == "html_block"]
    assert blocks == ["<details>\n<summary>Details</summary>\n", "</details>\n"]
    assert text.partition("<details>")[0].count("\n") <= 40
    assert text.endswith("\n\n</details>\n")


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
    assert "and 970 more workers" in text or "does not fit a comment" in text
