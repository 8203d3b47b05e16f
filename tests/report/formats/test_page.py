# SPDX-License-Identifier: MPL-2.0
"""The page as text: its policy, its pictures and its size, whatever is in names."""

import base64
import hashlib
import re
from collections.abc import Callable
from functools import partial
from importlib.resources import files

import many_measurements
import pytest
import sample_fleet
import sample_history
import sample_report
from golden import ALL
from msgspec.structs import replace
from page import Page, assert_harmless

from io_benchmark.report.blocks import Document, Heading, Paragraph, Row, Table, Words
from io_benchmark.report.formats import Layout, page, rendered


def page_of(report: object) -> str:
    return rendered(report, "html")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [name for name in ALL if "hostile" in name])
def test_hostile_texts_are_text(name: str) -> None:
    """Names full of markup are shown as they are, and make no element."""
    assert_harmless(Page(page_of(ALL[name]())), scripts=1 if name.startswith("fleet") else 0)


def test_script() -> None:
    """Only the page of all pools has a script: a small one, which its policy allows by its hash."""
    page = page_of(ALL["fleet: hostile"]())
    ((text, rest),) = re.findall("<script>(.*?)</script>(.*)", page, re.DOTALL)
    assert text == (files("io_benchmark.report.formats") / "fleet_page.js").read_text()
    assert len(text.encode()) < 8_000
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none';" in policy
    assert re.findall("script-src ([^;]*);", policy) == [f"'sha256-{digest}'"]
    assert "script" not in rest
    # What would make markup or code of a text
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(", text
    )
    others = [page_of(ALL[name]()) for name in ("seed-case", "fleet: nothing")]
    assert [page for page in others if "<script" in page or "script-src" in page] == []


def test_rows_that_can_be_picked() -> None:
    """A row has the address of its results, and the page the form of the command."""
    page = Page(page_of(sample_fleet.ordinary()))
    addresses = [value for key, value in page.attributes if key == "data-address"]
    assert addresses == [row.address for row in sample_fleet.ordinary().pools]
    form = "io-benchmark compare ADDRESS_A ADDRESS_B"
    assert ("data-command", form) in page.attributes
    assert form in page.text


def test_style() -> None:
    """The page has the style sheet, which loads nothing; golden pages have its policy."""
    (styles,) = re.findall("<style>\n(.*?)</style>", page_of(sample_report.empty()), re.DOTALL)
    assert styles == (files("io_benchmark.report.formats") / "page.css").read_text()
    assert not re.search(r"url\(|@import|<", styles)


@pytest.mark.parametrize(
    ("make", "texts"),
    [
        (sample_report.large, ["6 of 334 workers", "<summary>1,000 runs</summary>"]),
        (partial(sample_report.many_pools, 20), ["Only the first 4 of 20 sides are drawn."]),
        (sample_history.steady, ["<summary>70 points</summary>"]),
    ],
    ids=["a thousand results", "many sides", "many points"],
)
def test_large_reports(make: Callable[[], object], texts: list[str]) -> None:
    """A few of many are drawn, all are listed, and the page is smaller than a megabyte."""
    written = page_of(make())
    assert [text for text in texts if text not in written] == []
    assert len(written.encode()) < 1_000_000


def test_hundreds_of_measurements() -> None:
    """Anyone's task may name as many as a result may hold: the first ones are drawn."""
    report = many_measurements.every_workload()
    part = report.subjects[10]
    subjects = [replace(part.subject, variant=f"variant-{at}") for at in range(400)]
    one = next(each for each in report.series if each.subject == part.subject)
    parts = tuple(replace(part, subject=subject, comparisons=()) for subject in subjects)
    series = tuple(replace(one, subject=subject) for subject in subjects)
    text = page_of(replace(report, subjects=parts, series=series, diagnoses=(), problems=()))
    assert text.count("Samples of variant-") == 60
    assert len(text.encode()) < 2_000_000


def test_contents() -> None:
    """They lead to the sections; anchors have letters and digits, and each is used once."""
    hostile = ('"><script>', Words("É & 2", "slower"))
    lines = ("Where the time went", hostile, "x" * 99, "Where the time went", "!")
    headings = tuple(Heading(line) for line in lines)
    written = page.render(Document("title", (*headings, Heading("below", 3))), Layout())
    anchors = re.findall('<h2 id="(.*?)">', written)
    time_went = "at-where-the-time-went"
    assert anchors == [
        f"{time_went}-1",
        "at-script-2-1",
        f"at-{'x' * 40}-1",
        f"{time_went}-2",
        "at-1",
    ]
    for contents in re.findall("<nav.*?</nav>", written, re.DOTALL):
        assert re.findall('href="#(.*?)"', contents) == anchors
    assert written.count("<nav") == 2
    assert "<nav" not in page.render(Document("title", headings[:2]), Layout())


def test_facts_and_answer() -> None:
    """Facts are below the title, then the answer, then the evidence."""
    facts = (Words("Rehearsal", "warning"), ("push ", Words("a<b", link="https://x")))
    document = Document("title", (Heading("Evidence"),), (), "", facts, (Paragraph("answer"),))
    written = page.render(document, Layout())
    assert '<li><strong class="warning">Rehearsal</strong></li>' in written
    assert (
        '<li>push <a href="https://x" rel="external nofollow noreferrer">a&lt;b</a></li>' in written
    )
    places = [written.index(text) for text in ("<h1>", "Rehearsal", "answer</p>", "Evidence</h2>")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("heads", "cells", "kind"),
    [
        pytest.param(["x" * 18, "y"], ["1", "z" * 18], "figures", id="48 letters"),
        pytest.param(["x" * 18, "y"], ["1", "z" * 19], "figures two-lines", id="49 letters"),
        pytest.param(["x " * 30, "y"], ["1", "z" * 35], "figures", id="a head in many lines"),
        pytest.param(["y"] * 6, ["1"] * 6, "figures", id="six columns"),
        pytest.param(["y"] * 7, ["1"] * 7, "figures wide", id="seven columns"),
    ],
)
def test_tables_on_a_phone(heads: list[str], cells: list[str], kind: str) -> None:
    """A row has one line where a phone has room for it, and scrolls where it has many columns."""
    table = Table("", heads, [Row("a label-of words", cells), Row("x" * 60)])
    assert f'<table class="{kind}"' in page.render(Document("title", (table,)), Layout())


@pytest.mark.parametrize(("rows", "is_folded"), [(8, False), (9, True)])
def test_a_long_list_in_a_table(rows: int, is_folded: bool) -> None:
    """Of those that are cut elsewhere, one of more than eight rows is folded."""
    table = Table("", ("head",), [Row("row", ("cell",))] * rows, shown=30, noun=" rows")
    for drawn, expected in ((table, is_folded), (replace(table, shown=0), False)):
        written = page.render(Document("title", (drawn,)), Layout())
        assert ("<summary>9 rows</summary>" in written) is expected
