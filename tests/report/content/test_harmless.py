# SPDX-License-Identifier: MPL-2.0
"""Records whose texts are made harmless."""

from unicodedata import category

import sample_report
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model import Verdict
from io_benchmark.report.content.harmless import make_harmless


class Sample(Struct, frozen=True):
    side: str
    message: str
    verdict: Verdict
    counts: dict[str, int]
    nested: tuple["Sample", ...] = ()


def sample(side: str, message: str = "", nested: tuple[Sample, ...] = ()) -> Sample:
    return Sample(side, message, Verdict.SLOWER, {side: 1}, nested)


def test_every_text_is_cleaned() -> None:
    """Texts in fields, keys and nested records are; enumerations and numbers stay as they are."""
    cleaned = make_harmless(sample("a\x1b[31m", "two\nlines", (sample("b\u202ec"),)))
    assert cleaned == sample("a\ufffd[31m", "two lines", (sample("b\ufffdc"),))


def test_names_are_cut_in_the_middle_and_messages_at_the_end() -> None:
    """Names of pools often differ at the end."""
    cleaned = make_harmless(sample("a" * 30 + "z" * 30, "m" * 1001))
    assert cleaned.side == "a" * 20 + "…" + "z" * 19
    assert cleaned.message == "m" * 999 + "…"


def test_names_that_differ_still_differ() -> None:
    """Names that look alike once they are cut show where they differ; the same name is the same."""
    first, second = "x" * 50 + "1" + "y" * 50, "x" * 50 + "2" + "y" * 50
    cleaned = make_harmless(sample(first, nested=(sample(second), sample(first))))
    assert cleaned.side == "x" * 20 + "…" + "y" * 19
    assert cleaned.nested[0].side == "…" + "x" * 8 + "2" + "y" * 10 + "…" + "y" * 19
    assert cleaned.nested[1] == replace(cleaned, nested=())
    controls = make_harmless(sample("a\x01", nested=(sample("a\x02"),)))
    assert (controls.side, controls.nested[0].side) == ("a\ufffd", "a\ufffd (2)")


def test_nothing_is_changed_in_an_ordinary_report() -> None:
    """What is harmless stays."""
    report = sample_report.seed_case(5)
    assert replace(make_harmless(report), series=(), timelines=()) == replace(
        report, series=(), timelines=()
    )


@given(st.text(), st.text())
def test_no_text_steers_a_terminal(side: str, message: str) -> None:
    """No control, format, surrogate or private characters and no line breaks are left."""
    cleaned = make_harmless(sample(side, message))
    for text in (cleaned.side, cleaned.message, *cleaned.counts):
        assert [each for each in text if category(each)[0] == "C" or category(each) == "Zl"] == []
