# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The page as text: its content, its policy and its size."""

import re
from importlib.resources import files

import pytest
import sample_history
import sample_report
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from page import Page, assert_harmless

from io_benchmark.report.formats.html import render_history, render_report

SMALL = replace(sample_report.seed_case(5), timelines=())


def test_hostile_texts_are_text():
    """Names full of markup are shown as they are, and make no element."""
    page = Page(render_report(sample_report.hostile(50)))
    assert_harmless(page)
    assert "<script>alert(1)</script>" in "".join(page.text)
    assert "{{ 7*7 }}" in "".join(page.text)


@settings(max_examples=25, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.lists(
            st.sampled_from(["<", ">", "&", '"', "'", "</title>", "</style>", "]]>", "-->", "x"])
        ).map("".join),
    )
)
def test_any_name_is_text(name):
    """Any name of a pool is text in tables, pictures and titles."""
    assert_harmless(Page(render_report(sample_report.renamed(SMALL, "amd-16", name))))


def test_policy():
    """The page's policy allows only its own styles."""
    page = Page(render_report(sample_report.empty()))
    (policy,) = [value for _, value in page.attributes if value.startswith("default-src")]
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def test_every_difference_is_divided():
    """Each sentence is visible; the pictures and tables of some candidates are folded."""
    page = render_report(sample_report.many_pools(10))
    head, _, folded = page.partition("<summary>3 further differences</summary>")
    leads = [f"pool-{number:02d}, " for number in (2, 3, 6, 7, 10, 11)]
    assert [lead for lead in leads if f"<strong>{lead}" in head] == leads
    assert head.count('id="parts-') == 2 * 3
    assert folded.count('id="parts-') == 2 * 3


def test_pictures_are_described():
    """Every picture refers to its own title and description."""
    page = Page(render_report(sample_report.seed_case(50)))
    ids = {value for key, value in page.attributes if key == "id"}
    named = [
        value for key, value in page.attributes if key in ("aria-labelledby", "aria-describedby")
    ]
    # Parts, forest, distribution, scatter, and three timelines, each with two.
    assert len(named) == 14
    assert set(named) <= ids
    assert len(ids) == len([value for key, value in page.attributes if key == "id"])


@pytest.mark.parametrize(
    ("retrieves", "mentioned"),
    [
        pytest.param(700, False, id="all-drawn"),
        pytest.param(701, True, id="thinned"),
    ],
)
def test_thinning_is_mentioned(retrieves, mentioned):
    """The caption says where not every retrieve is drawn."""
    text = render_report(sample_report.seed_case(retrieves))
    assert ("Only every 2nd retrieve and the slowest hundredth are drawn." in text) is mentioned


def test_size():
    """A thousand results make a page of less than a megabyte."""
    text = render_report(sample_report.large(1000, 2000))
    assert len(text.encode()) < 1_000_000
    assert "typical of 334 workers" in text
    assert "6 of 334 workers" in text


def test_many_sides():
    """Of many sides only the first are drawn, and the caption says so."""
    text = render_report(sample_report.many_pools(20, pools=20))
    assert "Only the first 12 of 20 sides are drawn." in text


@pytest.mark.parametrize(
    ("page", "sheets"),
    [
        pytest.param(render_report(sample_report.empty()), ["report.css"], id="comparison"),
        pytest.param(
            render_history(sample_history.nothing()), ["report.css", "history.css"], id="history"
        ),
    ],
)
def test_styles(page, sheets):
    """The style sheets are in the page as they are, and load nothing."""
    (styles,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    texts = [(files("io_benchmark.report") / "templates" / sheet).read_text() for sheet in sheets]
    assert styles.split() == " ".join(texts).split()
    assert not re.search(r"url\(|@import|<", styles)
