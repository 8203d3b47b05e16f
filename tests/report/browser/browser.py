# SPDX-License-Identifier: MPL-2.0
"""Measure pages with headless Chromium: one start for several widths and schemes."""

import html
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "Chromium is not installed (on Debian: apt-get install chromium)"
LIGHT, DARK = "light", "dark"
# Far longer than it takes; the page that measures never waits.
TIMEOUT_S = 300
_SCRIPT = Path(__file__).with_name("measure.js")
_PAGE = """\
<!DOCTYPE html>
<meta charset="utf-8">
<script type="application/json" id="given">{given}</script>
<script>{script}</script>
<body></body>
"""
_BODY = re.compile("<body>(.*)</body>", re.DOTALL)


class View(Struct, frozen=True):
    """A page in a window of this width, with this scheme of colours."""

    html: str
    width: int
    scheme: str = LIGHT
    is_open: bool = False  # all folds are opened
    has_axe: bool = False  # accessibility is checked, and nothing is measured


class ScrollBox(Struct, frozen=True):
    """A box whose content is wider: its accessible name, and whether the keyboard reaches it."""

    name: str
    has_keyboard: bool


class Figures(Struct, frozen=True):
    """What a view measures, in CSS pixels, and the texts that are not as they should be."""

    inner_width: int
    is_dark: bool
    height: int = 0
    scroll_width: int = 0
    words: int = 0
    ends: dict[str, int] = {}
    broken: tuple[str, ...] = ()  # words that go on in the next line
    narrow: tuple[str, ...] = ()  # texts that break after nearly every word
    overlapping: tuple[str, ...] = ()  # labels of pictures
    wide: tuple[str, ...] = ()  # what ends outside of the page, and in no box that scrolls
    scroll_boxes: tuple[ScrollBox, ...] = ()
    violations: tuple[str, ...] = ()


def measure(views: Sequence[View]) -> list[Figures]:
    """Return each view's figures."""
    given = {
        "views": [_checkable(view) if view.has_axe else view for view in views],
        "axe": (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"),
    }
    return msgspec.convert(json.loads(result_of(_SCRIPT, given)), list[Figures])


def result_of(script: Path, given: Mapping[str, Any]) -> str:
    """Return what a script writes into its page, from what it is given."""
    page = _PAGE.format(
        # No text in the JSON may end the element that has it.
        given=msgspec.json.encode(given).decode().replace("<", "\\u003c"),
        script=script.read_text(encoding="utf-8"),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measure.html"
        path.write_text(page, encoding="utf-8")
        return _text_when_loaded(path, Path(folder) / "profile")


def _checkable(view: View) -> View:
    """Let the page, which allows no script or only its own, have the one that checks it."""
    none, hashed = "default-src 'none';", "script-src 'sha"
    allowed = view.html.replace(hashed, "script-src 'unsafe-eval' 'sha")
    if hashed not in view.html:
        allowed = view.html.replace(none, f"{none} script-src 'unsafe-eval';")
    return replace(view, html=allowed)


def _text_when_loaded(path: Path, profile: Path) -> str:
    assert CHROMIUM is not None
    options = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        f"--user-data-dir={profile}",
        # Timers do not wait; the page is printed when none is left.
        "--virtual-time-budget=600000",
        "--dump-dom",
    )
    command = [CHROMIUM, *options, path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    body = _BODY.search(done.stdout)
    assert body is not None, done.stderr
    return html.unescape(body[1])
