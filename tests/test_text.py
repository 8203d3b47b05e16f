# SPDX-License-Identifier: MPL-2.0
"""Untrusted text, made safe to show."""

import re
import time
from unicodedata import category

import pytest
from checkout import ROOT
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark.text import (
    LINE_LENGTH,
    NAME_CELLS,
    capitalized,
    clean,
    clean_lines,
    clean_name,
    ending_in_words,
    name,
)

ANY_TEXT = st.one_of(
    st.text(),
    st.text(st.characters(), max_size=1200),
    st.text(st.characters(categories=["Cc", "Cf", "Cs", "Co", "Zl", "Mn"])),
)


@given(ANY_TEXT)
def test_any_text(text):
    """Every text becomes one line of bounded length, or its lines, that can be written anywhere."""
    for line, limit in ((clean(text), LINE_LENGTH), (clean_name(text), 200), (name(text), 40)):
        assert len(line) <= limit
        assert len(line.splitlines()) <= 1
        assert [
            character
            for character in line
            if category(character)[0] == "C" or category(character) in ("Zl", "Zp")
        ] == []
        line.encode()
    shown = clean_lines(text)
    assert shown.count("\n") == text.count("\n")
    assert all(line.isprintable() for line in shown.replace("\t", "").split("\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Grüße 表 → 1.92×", "Grüße 表 → 1.92×", id="letters-of-any-script"),
        pytest.param("\x1b[31mred\x9b2J\x7f", "\ufffd[31mred\ufffd2J\ufffd", id="escapes"),
        pytest.param("a\u202eb\u2066c", "a\ufffdb\ufffdc", id="direction"),
        pytest.param("a\u200bb\u2060\ufeff\u00ad", "a\ufffdb\ufffd\ufffd\ufffd", id="zero-width"),
        pytest.param("e" + "\u0301" * 5, "e" + "\u0301" * 3 + "\ufffd" * 2, id="heaped-accents"),
        pytest.param("\ud800 x\udc80", "\ufffd x\ufffd", id="half-a-character"),
        pytest.param("see https://me:secret@host/x", "see https://…@host/x", id="user-information"),
        pytest.param("https://me:sec/ret@host/x", "https://…@host/x", id="slash-in-a-password"),
        pytest.param("https://host/a@b", "https://host/a@b", id="at-sign-in-a-path"),
        pytest.param("a ##vso[task.x]b", "a # #vso[task.x]b", id="command-of-azure"),
        pytest.param("::error file=a::b", ": :error file=a::b", id="command-of-github"),
        pytest.param("x::stop-commands::b", "x: :stop-commands::b", id="inside-a-word"),
        pytest.param("fe80::1 a.py::test_b", "fe80::1 a.py::test_b", id="other-colons"),
        pytest.param("x" * 1000, "x" * 1000, id="as-long-as-a-line"),
        pytest.param("x" * 1001, "x" * 999 + "…", id="too-long"),
        pytest.param("\x00" * 10**6, "\ufffd" * 999 + "…", id="a-hostile-megabyte"),
    ],
)
def test_clean(text, expected):
    """Nothing moves a terminal's cursor, ends a line, reverses it or shows a password."""
    assert clean(text) == expected


def test_hostile_text_costs_no_time():
    """A megabyte that nearly holds addresses is not searched as a whole."""
    text = "@" + "//:" * 350_000
    start_s = time.process_time()
    assert len(clean(text)) == LINE_LENGTH
    assert time.process_time() - start_s < 1


@pytest.mark.parametrize(
    ("write", "given", "expected"),
    [
        # Both ends of a long name stay: pools often differ at the end.
        (name, ("a" * NAME_CELLS,), "a" * 40),
        (name, ("a" * 30 + "z" * 30,), "a" * 20 + "…" + "z" * 19),
        (name, ("表" * 40,), "表" * 10 + "…" + "表" * 9),
        (name, ("\n",), "(no name)"),
        # A reason of the queue has its own words; one that is not known stays as it is.
        (ending_in_words, ("exception", "worker-shutdown"), "was preempted (worker-shutdown)"),
        (ending_in_words, ("exception", "some-new-reason"), "is exception (some-new-reason)"),
        (ending_in_words, ("exception", None), "is exception"),
        (ending_in_words, ("failed", "failed"), "failed"),
        (ending_in_words, ("failed", None), "failed"),
        (ending_in_words, ("running", None), "is running"),
        (ending_in_words, ("completed", "worker-shutdown"), "is completed (worker-shutdown)"),
    ],
)
def test_names_and_endings(write, given, expected):
    """Names fit a table, and every state of a run has words."""
    assert write(*given) == expected


def test_capitals() -> None:
    """A word gets a capital letter; an address or a name at the start stays as it is."""
    changed = {"wait for it": "Wait for it", "not, if": "Not, if", "": "", "1 disk": "1 disk"}
    assert {words: capitalized(words) for words in changed} == changed
    for words in ("http://h refuses", "amd-16 has no results", "ext4 is slow", "task:A1 ends"):
        assert capitalized(words) == words


def test_one_function_capitalizes() -> None:
    """No other module makes a letter a capital one: it could be that of a name."""
    package = ROOT / "python/io_benchmark"
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"capitalize\(|\]\.upper\(", path.read_text(encoding="utf-8"))
    }
    assert found == {"text.py"}
