# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The page of a history is harmless, and readable in a real Chromium."""

import re

import pytest
import sample_history

from io_benchmark.report.formats.html import render_history

PHONE = (360, 740)
DESKTOP = (1200, 900)
WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
PAPER = "getComputedStyle(document.body).backgroundColor"
# The picture's box, and how many points, workers, levels and changes have a place in it.
PICTURE = """
(() => {
  const svg = document.querySelector("svg.plot");
  const box = svg.getBoundingClientRect();
  const count = what => svg.querySelectorAll(what).length;
  const workers = svg.querySelector("path.worker");
  return {
    width: box.width, left: box.left, right: box.right, height: box.height,
    points: count(".mark.mean"), levels: count("line.level"), changes: count("line.change"),
    workers: workers ? (workers.getAttribute("d").match(/M/g) || []).length : 0,
    stroke: getComputedStyle(svg.querySelector("line.level")).strokeWidth,
  };
})()
"""


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens a history's page from a file."""

    def open_page(history):
        path = tmp_path / "history.html"
        path.write_text(render_history(history), encoding="utf-8")
        browser.open(path)
        return path.as_uri()

    return open_page


def test_hostile_texts_are_text():
    """Names full of markup are shown, and make no element."""
    page = render_history(sample_history.hostile())
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7*7 }}" in page
    assert re.findall(r'(?:href|src)="([^"]*)"', page) == ["data:,"]


def test_many_points_are_folded():
    """Sixty rows are shown; more than a year is folded away."""
    assert "<summary>69 points</summary>" in render_history(sample_history.steady())
    assert "points</summary>" not in render_history(sample_history.one_change())


@pytest.mark.parametrize(
    "size", [pytest.param(PHONE, id="phone"), pytest.param(DESKTOP, id="desktop")]
)
def test_the_picture(browser, opened, size):
    """Every push, its workers, both levels and the change are in it, and it fits the window."""
    address = opened(sample_history.one_change())
    browser.look(*size, dark=False)
    picture = browser.evaluate(PICTURE)
    counts = {key: picture[key] for key in ("points", "workers", "levels", "changes", "stroke")}
    assert counts == {"points": 30, "workers": 90, "levels": 2, "changes": 1, "stroke": "2.5px"}
    assert picture["width"] > 150
    assert 0 <= picture["left"] < picture["right"] <= size[0]
    scrolled, window = browser.evaluate(WIDTHS)
    assert scrolled <= window == size[0]
    assert browser.requests == [address]
    assert browser.complaints == []


@pytest.mark.parametrize("make", [sample_history.hostile, sample_history.steady])
def test_phone(browser, opened, make):
    """At 360 px the page does not scroll sideways, whatever is in it."""
    opened(make())
    browser.look(*PHONE, dark=True)
    scrolled, window = browser.evaluate(WIDTHS)
    assert scrolled <= window == PHONE[0]
    assert browser.complaints == []


def test_dark_and_light(browser, opened):
    """The page follows its reader's preference."""
    opened(sample_history.one_change())
    browser.look(*DESKTOP, dark=True)
    dark = browser.evaluate(PAPER)
    browser.look(*DESKTOP, dark=False)
    assert (dark, browser.evaluate(PAPER)) == ("rgb(20, 22, 26)", "rgb(253, 253, 252)")
