# SPDX-License-Identifier: MPL-2.0
"""The page as text: its policy, its pictures and its size, whatever is in names."""

import re
from importlib.resources import files

import many_measurements
import pytest
import sample_history
import sample_report
from golden import ALL
from msgspec.structs import replace
from page import Page, assert_harmless

from io_benchmark.report.formats import rendered


def page(report: object) -> str:
    return rendered(report, "html")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [make for name, make in ALL.items() if "hostile" in name])
def test_hostile_texts_are_text(make) -> None:
    """Names full of markup are shown as they are, and make no element."""
    assert_harmless(Page(page(make())))


def test_policy_and_style() -> None:
    """The page's policy allows only its own styles, which load nothing."""
    text = page(sample_report.empty())
    (policy,) = [value for _, value in Page(text).attributes if value.startswith("default-src")]
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    (styles,) = re.findall("<style>\n(.*?)</style>", text, re.DOTALL)
    assert styles == (files("io_benchmark.report.formats") / "page.css").read_text()
    assert not re.search(r"url\(|@import|<", styles)


def test_a_thousand_results() -> None:
    """They make a page of less than a megabyte; a few workers are drawn, and all are listed."""
    text = page(sample_report.large(1000))
    assert len(text.encode()) < 1_000_000
    assert "6 of 334 workers" in text
    assert "<summary>1,000 workers</summary>" in text


def test_many_sides() -> None:
    """Of many sides only the first are drawn, and the caption says so."""
    text = page(sample_report.many_pools(20))
    assert "Only the first 4 of 20 sides are drawn." in text


def test_hundreds_of_measurements() -> None:
    """Anyone's task may name as many as a result may hold: the first ones are drawn."""
    report = many_measurements.every_workload()
    part = report.subjects[10]
    subjects = [replace(part.subject, variant=f"variant-{at}") for at in range(400)]
    one = next(each for each in report.series if each.subject == part.subject)
    parts = tuple(replace(part, subject=subject, comparisons=()) for subject in subjects)
    series = tuple(replace(one, subject=subject) for subject in subjects)
    text = page(replace(report, subjects=parts, series=series, diagnoses=(), problems=()))
    assert text.count("Samples of variant-") == 60
    assert len(text.encode()) < 2_000_000


def test_many_points_of_a_history() -> None:
    """Sixty rows are shown; more are folded away."""
    assert "<summary>70 points</summary>" in page(sample_history.steady())
    assert "points</summary>" not in page(sample_history.one_change())
