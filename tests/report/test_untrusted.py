# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Text from result files, made harmless."""

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark.report.untrusted import NAME_LENGTH, TEXT_LENGTH, clean, name


@given(
    st.one_of(st.text(), st.text(st.characters(categories=["Cc", "Cf", "Cs", "Co", "Zl", "Mn"])))
)
def test_harmless(text):
    """One line, no control, format, surrogate or private characters, not longer than allowed."""
    for made, limit in ((clean(text), TEXT_LENGTH), (name(text), NAME_LENGTH)):
        assert len(made) <= limit
        assert [
            one for one in made if category(one)[0] == "C" or category(one) in ("Zl", "Zp")
        ] == []
        made.encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("amd-16", "amd-16", id="plain"),
        pytest.param("Grüße 表 1.92×", "Grüße 表 1.92×", id="letters-of-any-script"),
        pytest.param(" a\n b\tc\r\n", "a b c", id="one-line"),
        pytest.param("\x1b[31mred\x9b2J", "\ufffd[31mred\ufffd2J", id="escape-sequences"),
        pytest.param("a\u202eb\u200bc", "a\ufffdb\ufffdc", id="direction-and-invisible"),
        pytest.param("e" + "\u0301" * 5, "e" + "\u0301" * 3 + "\ufffd" * 2, id="heaped-accents"),
        pytest.param("\ud800", "\ufffd", id="half-a-character"),
        pytest.param("x" * 1001, "x" * 999 + "…", id="too-long"),
    ],
)
def test_clean(text, expected):
    """What is harmless stays, what is not is shown as such."""
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a" * 40, "a" * 40, id="fits"),
        pytest.param("a" * 30 + "z" * 30, "a" * 20 + "…" + "z" * 19, id="cut-in-the-middle"),
        pytest.param("\n", "(no name)", id="nothing-left"),
    ],
)
def test_name(text, expected):
    """Both ends of a long name stay: pools often differ at the end."""
    assert name(text) == expected
