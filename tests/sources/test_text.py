# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Text from outside in a line of a message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark.sources.text import LINE_LENGTH, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("Zürich → 1.92×", "Zürich → 1.92×", id="kept"),
        pytest.param("a\nb\x1b[31m\x9b\x7f", "a?b?[31m??", id="control"),
        pytest.param("a\u202eb\u2066\u2028", "a?b??", id="direction"),
        pytest.param("x\udc80", "x?", id="no-character"),
        pytest.param("a\u200bb\u2060c\ufeffd\u00ad", "a?b?c?d?", id="zero-width"),
        pytest.param("see https://me:secret@host/x", "see https://…@host/x", id="user-information"),
        pytest.param("https://me:sec/ret@host/x", "https://…@host/x", id="slash-in-a-password"),
        pytest.param("https://token@host", "https://…@host", id="user-alone"),
        pytest.param("https://host/a@b", "https://host/a@b", id="at-sign-in-a-path"),
        pytest.param("x" * 501, "x" * 499 + "…", id="long"),
    ],
)
def test_one_line(text, line):
    """Nothing that moves a terminal's cursor, ends a line or reverses it."""
    assert one_line(text) == line


@given(st.text(alphabet=st.characters(), max_size=600))
def test_any_text(text):
    """Always one line of bounded length that can be written."""
    line = one_line(text)
    assert len(line) <= LINE_LENGTH
    assert len(line.splitlines()) <= 1
    line.encode()
