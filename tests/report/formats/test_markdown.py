# SPDX-License-Identifier: MPL-2.0
"""The report as Markdown: readers see its text, and no text becomes markup."""

import re

import pytest
import sample_report
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from io_benchmark.report.formats import rendered
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
