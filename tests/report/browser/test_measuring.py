# SPDX-License-Identifier: MPL-2.0
"""What measures pages finds what is wrong with one, and nothing in one that is right."""

from collections.abc import Mapping

import msgspec
import once
import pytest

from . import browser
from .browser import DARK, Figures, ScrollBox, View

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason=browser.MISSING)

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A page</title>
<style>
body {{ margin: 0; font: 16px/20px sans-serif; }}
p, figure {{ margin: 0; }}
.scroll {{ width: 200px; overflow-x: auto; }}
</style>
</head>
<body><main><h1>A page</h1>{content}</main></body>
</html>
"""
SVG = '<svg role="img" aria-label="two labels" width="300" height="40">{}</svg>'
WIDE_TABLE = "<table><tr><td>{}</td></tr></table>".format("much&nbsp;" * 60)
UNREADABLE = "@media (prefers-color-scheme: dark) { p { color: #333; background: #222; } }"


CONTENTS_AND_FAULTS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "no fault": ("<p>All is well here, and breaks between its words.</p>", {}),
    "a word in two lines": (
        '<p style="width: 4em; overflow-wrap: anywhere">Disproportionately</p>',
        {"broken": ("Disproportionately: Disproportionately",)},
    ),
    "a name that is longer than words": (
        f'<p style="width: 5em; overflow-wrap: anywhere">{"long" * 7}</p>',
        {},
    ),
    "words below each other": (
        '<p style="width: 4em">four lines with words</p>',
        {"narrow": ("four lines with words",)},
    ),
    "a label on another": (
        SVG.format('<text x="9" y="20">left label</text><text x="40" y="20">right</text>'),
        {"overlapping": ("left label | right",)},
    ),
    "text beyond the end": (
        '<p style="margin-left: 380px; white-space: nowrap">beyond the end</p>',
        {"wide": ("beyond the end",), "scroll_width": True},
    ),
    "a table that is cut": (
        f'<div style="overflow-x: clip">{WIDE_TABLE}</div>',
        {"wide": ("much " * 12, '<table class="">')},
    ),
    "a box without a name": (
        f'<div class="scroll">{WIDE_TABLE}</div>',
        {"scroll_boxes": (ScrollBox("", has_keyboard=False),)},
    ),
    "a box with a name": (
        f'<div class="scroll" role="group" aria-label="Times" tabindex="0">{WIDE_TABLE}</div>',
        {"scroll_boxes": (ScrollBox("Times", has_keyboard=True),)},
    ),
    "a closed fold": (f"<details><summary>Times</summary>{WIDE_TABLE}</details>", {}),
}


def figures_of(name: str) -> Figures:
    """Return what a page with this content measures; all are measured at once."""

    def measured() -> str:
        pages = [PAGE.format(content=content) for content, _ in CONTENTS_AND_FAULTS.values()]
        return msgspec.json.encode(browser.measure([View(page, 390) for page in pages])).decode()

    all_figures = msgspec.json.decode(once.text_of("faults", measured), type=list[Figures])
    return all_figures[list(CONTENTS_AND_FAULTS).index(name)]


@pytest.mark.parametrize("name", CONTENTS_AND_FAULTS)
def test_faults(name):
    """Each fault of a page is found where it is, with its text."""
    figures, (_, faults) = figures_of(name), CONTENTS_AND_FAULTS[name]
    seen = {
        fault: getattr(figures, fault)
        for fault in ("broken", "narrow", "overlapping", "wide", "scroll_boxes")
        if getattr(figures, fault)
    }
    if figures.scroll_width > figures.inner_width:
        seen["scroll_width"] = True
    assert seen == faults


def test_sizes():
    """Words that are seen are counted, and heights are in pixels of the page."""
    unseen = '<p style="position: absolute; clip-path: inset(50%)">Not seen</p>'
    fold = "<details><summary>Closed fold</summary><p>Not seen either</p></details>"
    picture = f'<figure style="height: 100px">{SVG.format("<title>Not seen</title>")}</figure>'
    answer = f'<section class="answer" style="height: 300px">{picture}{unseen}</section>'
    content = f"<style>h1 {{ margin: 0; height: 50px }}</style>{answer}{fold}"
    closed, opened = browser.measure(
        [
            View(PAGE.format(content=content), 1280),
            View(PAGE.format(content=content), 1280, is_open=True),
        ]
    )
    assert (closed.words, opened.words) == (4, 7)
    assert (closed.height, opened.height) == (370, 390)
    assert closed.ends == {"answer": 350, "picture": 150}


def test_accessibility_by_scheme():
    """What nobody can read with dark colours alone is found in the dark view alone."""
    html = PAGE.format(content=f"<style>{UNREADABLE}</style><p>Grey words</p>")
    views = [View(html, 390, has_axe=True), View(html, 390, DARK, has_axe=True)]
    light, dark = browser.measure(views)
    assert light.violations == ()
    (violation,) = dark.violations
    assert violation.startswith("color-contrast: <p>Grey words</p>")
