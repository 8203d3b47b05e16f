# SPDX-License-Identifier: MPL-2.0
"""Pages as a browser lays them out: their sizes, and that everybody can read all of them."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import golden
import msgspec
import once
import pytest

from io_benchmark.report.formats import rendered

from . import browser, sample_pages
from .browser import DARK, LIGHT, Figures, View

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason=browser.MISSING)

DESKTOP, PHONE = 1280, 390
WIDTHS = (DESKTOP, PHONE)


class Sizes(NamedTuple):
    """The most that a page may have, with closed folds: pixels at each width, and words."""

    desktop: int
    phone: int
    words: int


class Sample(NamedTuple):
    make: Callable[[], Any]
    most: Sizes


ANSWER_ENDS = {DESKTOP: 900, PHONE: 1500}
# A report of each kind, and some with more than is usual or with hostile names.
SAMPLES: Mapping[str, Sample] = {
    "three pools": Sample(sample_pages.three_pools, Sizes(2600, 4200, 700)),
    "20 pools": Sample(sample_pages.many_pools_and_workloads, Sizes(6000, 6000, 700)),
    "seed case": Sample(golden.ALL["seed-case"], Sizes(2600, 4200, 700)),
    "before and after": Sample(golden.ALL["before-and-after"], Sizes(2000, 3000, 480)),
    "several workloads": Sample(golden.ALL["few-measurements"], Sizes(3300, 4500, 780)),
    "refused": Sample(golden.ALL["refused"], Sizes(1400, 1800, 260)),
    "hostile names": Sample(golden.ALL["hostile-names"], Sizes(4500, 7000, 950)),
    "history": Sample(golden.ALL["history: one-change"], Sizes(1400, 1750, 290)),
    "tasks": Sample(golden.ALL["tasks: the seed's"], Sizes(1550, 1950, 320)),
    "tasks on four pools": Sample(
        golden.ALL["tasks: labels that differ, on four pools"], Sizes(1650, 2400, 460)
    ),
    "prediction": Sample(sample_pages.prediction, Sizes(1600, 2000, 360)),
    "prediction of 60 pools": Sample(golden.ALL["prediction: sixty pools"], Sizes(2900, 4300, 780)),
    "ranking": Sample(sample_pages.ranking, Sizes(1450, 2500, 440)),
    "machines": Sample(golden.ALL["machines: several pools"], Sizes(1950, 3100, 520)),
    "investigation": Sample(golden.ALL["investigation: a change"], Sizes(1700, 2200, 360)),
    "gate": Sample(golden.ALL["gate: failed"], Sizes(900, 1300, 270)),
    "gate of a mixed pool": Sample(golden.ALL["gate: a mixed pool"], Sizes(1000, 1550, 330)),
    "fleet": Sample(golden.ALL["fleet: six pools"], Sizes(2500, 4000, 900)),
    "fleet of 60 pools": Sample(golden.ALL["fleet: 60 pools"], Sizes(5000, 7000, 9000)),
    "hostile fleet": Sample(golden.ALL["fleet: hostile"], Sizes(4000, 6000, 1500)),
    "phases": Sample(golden.ALL["phases: one run"], Sizes(1400, 1900, 400)),
    "phases of two pools": Sample(golden.ALL["phases: two pools"], Sizes(1900, 2600, 500)),
}
WITH_ANSWER = (
    "three pools",
    "seed case",
    "before and after",
    "several workloads",
    "refused",
    "history",
    "tasks",
    "tasks on four pools",
    "prediction",
    "prediction of 60 pools",
    "ranking",
    "machines",
    "investigation",
    "gate",
    "gate of a mixed pool",
    "fleet",
)
# Names of 300 letters and of no letters do not break as words do.
HOSTILE = {"hostile names", "hostile fleet"}
# axe takes long for a large page, and what it checks there is in others as well.
WITHOUT_AXE = {"20 pools", "fleet of 60 pools"}
VIEWS = {
    f"{width} px, {'open' if is_open else 'closed'}": {"width": width, "is_open": is_open}
    for width in WIDTHS
    for is_open in (False, True)
}
AXE_VIEWS = {
    f"axe, {scheme}": {"width": width, "scheme": scheme, "is_open": True, "has_axe": True}
    for width, scheme in ((DESKTOP, LIGHT), (PHONE, DARK))
}
all_samples = pytest.mark.parametrize("name", SAMPLES)


def page_of(name: str) -> str:
    return once.text_of(f"{name}.html", lambda: rendered(SAMPLES[name].make(), "html"))


def figures_of(name: str) -> Mapping[str, Figures]:
    """Return what each view of a page measures; it is measured once."""

    def measured() -> str:
        views = VIEWS if name in WITHOUT_AXE else VIEWS | AXE_VIEWS
        figures = browser.measure([View(page_of(name), **view) for view in views.values()])
        return msgspec.json.encode(dict(zip(views, figures, strict=True))).decode()

    text = once.text_of(f"{name}.figures", measured)
    return msgspec.json.decode(text, type=dict[str, Figures])


def texts_that(fault: str, name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the texts with this fault, by view."""
    figures = {view: getattr(figures_of(name)[view], fault) for view in VIEWS}
    return {view: texts for view, texts in figures.items() if texts}


@all_samples
def test_sizes(name):
    """A page with closed folds is no longer than what a reader takes in, on each width."""
    desktop, phone = (figures_of(name)[f"{width} px, closed"] for width in WIDTHS)
    most = SAMPLES[name].most
    assert desktop.height <= most.desktop
    assert phone.height <= most.phone
    assert desktop.words <= most.words
    assert (desktop.inner_width, phone.inner_width) == WIDTHS


@pytest.mark.parametrize("name", WITH_ANSWER)
def test_the_answer_ends_early(name):
    """The answer, the picture and what to try are what a reader sees first."""
    ends = {width: figures_of(name)[f"{width} px, closed"].ends for width in WIDTHS}
    assert {
        width: sections
        for width, sections in ends.items()
        if max(sections["answer"], sections.get("picture", 0)) > ANSWER_ENDS[width]
    } == {}


@all_samples
def test_nothing_is_wider_than_the_page(name):
    """What is wider is in a box that scrolls; the page itself does not, with any folds open."""
    assert texts_that("wide", name) == {}
    assert [
        view for view in VIEWS if figures_of(name)[view].scroll_width > VIEWS[view]["width"]
    ] == []


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in HOSTILE])
@pytest.mark.parametrize("fault", ["broken", "narrow", "overlapping"])
def test_texts_are_whole(name, fault):
    """No word is broken, no text breaks after each word, and no label is on another."""
    assert texts_that(fault, name) == {}


@all_samples
def test_boxes_that_scroll(name):
    """The keyboard reaches each box that scrolls, and it has a name."""
    boxes = [box for view in VIEWS for box in figures_of(name)[view].scroll_boxes]
    assert [box for box in boxes if not box.has_keyboard or not box.name] == []


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in WITHOUT_AXE])
def test_accessibility(name):
    """axe finds nothing in a page with open folds: light and wide, dark and narrow."""
    light, dark = (figures_of(name)[view] for view in AXE_VIEWS)
    assert (light.violations, dark.violations) == ((), ())
    assert (light.is_dark, dark.is_dark) == (False, True)


def test_size_of_the_file():
    """The page of three pools with 2,000 retrieves has at most 200 KB."""
    report = sample_pages.three_pools(workers=3, retrieves=2000)
    assert len(rendered(report, "html").encode()) <= 200_000
