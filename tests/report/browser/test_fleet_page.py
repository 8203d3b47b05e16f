# SPDX-License-Identifier: MPL-2.0
"""The script on the page of all pools: it filters rows, and writes a command about two of them."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import sample_fleet
from msgspec.structs import replace

from io_benchmark.report.formats import rendered

from . import browser

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason=browser.MISSING)

FLEET = sample_fleet.ordinary()
PLAIN = f"{sample_fleet.ROOT}/tasks/"
QUOTED = "past/it's $(here) <b>$&ADDRESS_B"
SCRIPT = Path(__file__).with_name("pick.js")


def used(html: str, picks: list[int], words: str = "") -> dict[str, Any]:
    """What a reader sees who picks these rows, one after the other, then filters by words."""
    given = {"html": html, "picks": picks, "filter": words}
    seen: dict[str, Any] = json.loads(browser.result_of(SCRIPT, given))
    return seen


def page(*addresses: str) -> str:
    """The page, on which the first pools have these addresses."""
    first = (
        replace(row, address=address) for row, address in zip(FLEET.pools, addresses, strict=False)
    )
    pools = (*first, *FLEET.pools[len(addresses) :])
    return rendered(replace(FLEET, pools=pools), "html")


def test_picking() -> None:
    """Two pools make a command, in the order in which they were picked; a third replaces one."""
    seen = used(page(), [3, 0, 1])
    addresses = [FLEET.pools[number].address for number in (3, 0, 1)]
    commands = [line.removeprefix("Compare them: ") for line in seen["commands"][1:]]
    assert commands == [
        f"io-benchmark compare {addresses[0]} {addresses[1]}",
        f"io-benchmark compare {addresses[1]} {addresses[2]}",
    ]
    assert seen["start"] == "Pick two pools to get the command that compares them."
    assert seen["commands"][0] == seen["start"]
    assert seen["checked"] == [True, True, False, False, False, False]
    assert seen["boxes"][0] == "Compare intel-30"


def test_a_hostile_address() -> None:
    """It is one word of the command and only text; one like an option cannot be picked."""
    seen = used(page(QUOTED, "--allow=x"), [0, 1])
    assert seen["boxes"][:2] == ["Compare intel-30", "Compare intel-16"]
    command = seen["commands"][1].removeprefix("Compare them: ")
    assert shlex.split(command)[2:] == [QUOTED, FLEET.pools[2].address]
    assert seen["elements"] == 1


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("AMD spot", ["amd-16-spot"]),
        ("not measured", ["hardware"]),
        ("no such pool", []),
        (" ", [row.pool for row in FLEET.pools]),
    ],
)
def test_filtering(words: str, rows: list[str]) -> None:
    """Rows that have all words stay, whatever their case; the count says how many."""
    seen = used(page(), [], words)
    assert seen["rows"] == rows
    assert seen["count"] == f"{len(rows)} of 6 pools"


def test_hostile_names() -> None:
    """The script works among them, and shows them as text."""
    seen = used(rendered(sample_fleet.hostile(), "html"), [0, 1])
    assert seen["boxes"][0] == "Compare <script>alert(1)</script>"
    assert shlex.split(seen["commands"][1])[-2:] == ["=cmd|' /C calc'!A0"] * 2
