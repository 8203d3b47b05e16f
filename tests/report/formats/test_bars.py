# SPDX-License-Identifier: MPL-2.0
"""The picture of phases: its bars, its words, and names that would become markup."""

import re

from io_benchmark.report.drawn import BarPart, BarRow
from io_benchmark.report.formats.bars import bars

PARTS = [BarPart(3, "disks", "Image load: 3 s"), BarPart(6, "own work", "Own work: 6 s")]


def test_parts_follow_each_other() -> None:
    """A bar is as long as what it stands for: the longest one ends at the end of the axis."""
    rows = [
        BarRow("slow", "p/slow", "9 s", PARTS),
        BarRow("fast", "p/fast", "3 s", PARTS[:1]),
    ]
    drawn = str(bars(rows, ["disks", "own work"], "s", "Phases"))
    ends = re.findall(r'<rect x="([0-9.]+)%" width="([0-9.]+)%" [^>]*class="part ([a-z-]+)"', drawn)
    assert ends == [
        ("0", "33.33", "disks"),
        ("33.33", "66.67", "own-work"),
        ("0", "33.33", "disks"),
    ]


def test_in_words() -> None:
    """Who does not see the picture hears each part, and each part has its title."""
    drawn = str(bars([BarRow("slow", "p/slow", "9 s", PARTS)], ["disks"], "s", "Phases"))
    assert 'aria-label="slow: Image load: 3 s; Own work: 6 s"' in drawn
    assert "<title>Image load: 3 s</title>" in drawn
    assert '<span class="outcome">9 s</span>' in drawn


def test_names_are_escaped() -> None:
    """A label is what anybody wrote."""
    hostile = BarRow("<b>", "<i>", "<u>", [BarPart(1, "disks", "<s>")])
    assert not re.search("<[bius]>", str(bars([hostile], ["disks"], "s", "Phases")))
