# SPDX-License-Identifier: MPL-2.0
"""The picture of a difference, part by part."""

import re

import pytest

from io_benchmark.number_text import TimeScale
from io_benchmark.report.content.part_rows import PartRow, PartRows
from io_benchmark.report.plots.waterfall import draw

MS = 1e6
UNIT = TimeScale(1_000_000, "ms", 1)
BAR = re.compile(r'<rect x="([0-9.]+)%" y="([0-9.]+)" width="([0-9.]+)%" height="12" class="(.+?)"')


def drawn(*steps: PartRow, start_ms: float = 70, end_ms: float = 130) -> str:
    whole = PartRow("", "all parts", start_ms * MS, end_ms * MS, None, is_sum=True)
    rows = PartRows(steps, steps, whole, UNIT)
    return str(draw(rows, "intel", "amd-16", "parts-0"))


def step(
    difference_ms: float,
    *,
    is_certain: bool = True,
    phase: str = "copies",
    kind: str = "blocked",
) -> PartRow:
    bounds = (None, None) if is_certain else (-MS, MS)
    return PartRow(phase, kind, 0.0, difference_ms * MS, None, *bounds)


def test_bars_follow_each_other():
    """Each bar begins where the one before it ended, and has the kind of its difference."""
    picture = drawn(step(70), step(-20, is_certain=False), step(10))
    bars = [(float(left), float(width), kind) for left, _, width, kind in BAR.findall(picture)]
    assert [kind for _, _, kind in bars] == ["step slower", "step faster open", "step slower"]
    (first, second, third) = bars
    assert second[1] / first[1] == pytest.approx(20 / 70, abs=0.001)
    assert second[0] + second[1] == pytest.approx(first[0] + first[1], abs=0.02)
    assert third[0] == pytest.approx(second[0], abs=0.02)


def test_description():
    """Who does not see the picture reads the same: both sides and each part."""
    picture = drawn(
        step(70), step(-10, is_certain=False, phase="lookups", kind="on a CPU in the kernel")
    )
    assert '<title id="parts-0-t">From intel to amd-16, part by part</title>' in picture
    assert (
        '<desc id="parts-0-d">intel 70.0 ms; copies blocked +70.0 ms; '
        "lookups on a CPU in the kernel −10.0 ms, not certain; amd-16 130.0 ms</desc>"
    ) in picture


def test_no_time_is_negative():
    """The axis begins at zero where its margin would reach below."""
    picture = drawn(step(99), start_ms=1, end_ms=100)
    assert "-" not in "".join(re.findall(r'class="tick">(.*?)<', picture))


def test_nothing_differs():
    """A picture without a difference has an axis."""
    assert 'class="tick"' in drawn(step(0), start_ms=1, end_ms=1)
