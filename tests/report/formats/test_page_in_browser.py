# SPDX-License-Identifier: MPL-2.0
"""The page in a real Chromium: it loads nothing, has no errors, and is readable."""

import every_workload
import golden
import pytest
import sample_report

from io_benchmark.report.formats.output import rendered

PHONE = (360, 740)
DESKTOP = (1200, 900)
# Between margins of 14 mm, at 96 px per inch.
A4_WIDTH = 688

# For every picture, its box and how many of its marks are painted where one could see them.
PICTURES = """
[...document.querySelectorAll("svg.plot")].map(svg => {
  const box = svg.getBoundingClientRect();
  const marks = [...svg.querySelectorAll("path")].filter(path => {
    const own = path.getBBox({stroke: true});
    const style = getComputedStyle(path);
    return own.width > 0 && (style.stroke !== "none" || style.fill !== "none");
  });
  return {width: box.width, height: box.height, marks: marks.length};
})
"""
# The lightness of the colour that the page, or its text, is painted in: 0 to 255.
LIGHTNESS = """
(() => {
  const style = getComputedStyle(document.body);
  const mean = text => text.match(/[0-9.]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3;
  return {paper: mean(style.backgroundColor), ink: mean(style.color)};
})()
"""
TABLES = """
[...document.querySelectorAll(".scroll")].map(
  box => ({name: box.ariaLabel, table: box.scrollWidth, room: box.clientWidth}))
"""
# For every folded part whether it is shown.
UNFOLDED = """
[...document.querySelectorAll("details")].map(
  part => part.getBoundingClientRect().height > 2 * part.firstElementChild.offsetHeight)
"""
WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
SMALLEST_TEXT = """
Math.min(...[...document.querySelectorAll("p, td, th, li, dd, .plot text")]
  .filter(each => each.textContent.trim())
  .map(each => parseFloat(getComputedStyle(each).fontSize)))
"""


def _long_names():
    """Return a report about pools with names as names can be."""
    report = sample_report.seed_case()
    for pool in ("amd-16", "amd-30"):
        report = sample_report.renamed(report, pool, f"{pool}-{'x' * (39 - len(pool))}")
    return report


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens a report's page from a file."""

    def open_page(report):
        path = tmp_path / "report.html"
        path.write_text(rendered(report, "html"), encoding="utf-8")
        browser.open(path)
        return path.as_uri()

    return open_page


# How many pictures they have; where there are many, not all are visible.
REPORTS: dict[str, int | None] = {
    "seed-case": 5,
    "before-and-after": 2,
    "nothing-readable": 0,
    "one-disk-against-two": 5,
    **dict.fromkeys(("hostile-names", "twelve-pools", "every-workload", "five-places")),
}
# Their tables are read on a phone without scrolling sideways.
THREE_POOLS = ("seed-case", "every-workload", "one-disk-against-two")


@pytest.mark.parametrize("name", REPORTS)
def test_on_screens(browser, opened, name):
    """Only the file is loaded, the console stays empty, and all is readable at any width.

    Each picture has a size, fits the window, and something is painted in it.
    """
    count = REPORTS[name]
    address = opened(golden.REPORTS[name]())
    for width, height in (PHONE, (390, 740), DESKTOP):
        browser.look(width, height, dark=width > height)
        scrolled, window = browser.evaluate(WIDTHS)
        assert scrolled <= window == width
        assert browser.evaluate(SMALLEST_TEXT) >= 10
        pictures = browser.evaluate(PICTURES)
        assert count is None or len(pictures) == count
        for picture in pictures if count is not None else ():
            assert 150 < picture["width"] <= width
            assert picture["height"] > 60
            assert picture["marks"] >= 2
        tables = browser.evaluate(TABLES)
        too_wide = [each for each in tables if each["table"] > each["room"]]
        assert too_wide == [] or name not in THREE_POOLS or width > 390
    assert browser.requests == [address]
    assert browser.complaints == []
    assert browser.evaluate("document.scripts.length") == 0


@pytest.mark.parametrize("report", [sample_report.many_pools, _long_names])
def test_on_paper(browser, opened, report):
    """On A4 nothing is cut, the paper is white for a reader of dark pages, and folded text is open."""
    opened(report())
    browser.look(A4_WIDTH, 900, dark=True)
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.evaluate(LIGHTNESS) == {"paper": 255, "ink": 0}
    scrolled, window = browser.evaluate(WIDTHS)
    assert scrolled <= window
    assert all(browser.evaluate(UNFOLDED))


def test_pictures_of_samples_are_not_printed(browser, opened):
    """Their captions remain, because a picture per measurement would be a book."""
    opened(every_workload.report())
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert set(browser.evaluate(UNFOLDED)) == {True, False}


@pytest.mark.parametrize("dark", [False, True])
def test_dark_and_light(browser, opened, dark):
    """The page follows its reader's preference; text has contrast in light and dark."""
    opened(sample_report.seed_case(5))
    browser.look(*DESKTOP, dark=dark)
    lightness = browser.evaluate(LIGHTNESS)
    back, front = ("ink", "paper") if dark else ("paper", "ink")
    assert lightness[back] > 200
    assert lightness[front] < 60
