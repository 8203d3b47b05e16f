# SPDX-License-Identifier: MPL-2.0
"""The picture of pools and workers: what is drawn of each pool, and what is said of it."""

import re

import pytest

from io_benchmark.analysis.model.comparison import Interval, Verdict
from io_benchmark.analysis.statistics.levels import margin_bounds
from io_benchmark.report.drawn import Dot, StripRow
from io_benchmark.report.formats.strips import _MARKS, strip

SLOWER = StripRow(
    name="amd-16",
    verdict="slower",
    chip="slower",
    ratio=1.92,
    interval=Interval(1.68, 2.19, 0.95),
    interval_90=Interval(1.75, 2.1, 0.9),
    dots=(Dot(1.8, "worker one", "https://ci.example/1"), Dot(2.0, "worker <two>")),
)
REFUSED = StripRow(
    name="amd-30",
    detail="random-io",
    verdict="no verdict",
    chip="no verdict: copy-method",
    is_compared=False,
    dots=(Dot(1.5, "worker three"),),
)


def lanes(*rows: StripRow) -> list[str]:
    """The drawing of each row, without the axis below them."""
    return re.findall("<li.*?</li>", strip(rows, 0.05), re.DOTALL)


def places(lane: str, pattern: str) -> list[float]:
    return [float(value) for value in re.findall(pattern, lane)]


def test_a_pool() -> None:
    """A worker is a dot at its ratio with a title; the mean is at the pool's, between its ends."""
    (lane,) = lanes(SLOWER)
    first, second = places(lane, r'cx="([\d.]+)%"')
    (mean,) = places(lane, r'<svg x="([\d.]+)%"')
    lines = re.findall(r'<line x1="([\d.]+)%" y1="[\d.]+" x2="([\d.]+)%" [^>]*"interval', lane)
    (low, high), (low_90, high_90) = ((float(start), float(end)) for start, end in lines)
    assert low < low_90 < first < mean < second < high_90 < high
    assert "<title>worker &lt;two&gt;</title>" in lane
    assert re.findall(r'<a href="([^"]*)" tabindex="-1">', lane) == ["https://ci.example/1"]


def test_words() -> None:
    """All that a row draws is in its text and its label."""
    slower, refused = lanes(SLOWER, REFUSED)
    words = [
        " ".join(re.sub("<[^>]*>", "", lane.partition("<svg")[0]).split())
        for lane in lanes(SLOWER, REFUSED)
    ]
    assert words == [
        "amd-16 2 workers ▲ slower 1.92× (1.68 to 2.19)",
        "amd-30 random-io 1 worker × no verdict: copy-method",
    ]
    labels = [re.findall('aria-label="([^"]*)"', lane) for lane in (slower, refused)]
    assert labels == [
        ["amd-16: slower, 1.92×, 95 % interval 1.68 to 2.19, 2 workers at 1.80× to 2.00×"],
        ["amd-30: no verdict: copy-method, 1 worker at 1.50×"],
    ]


def test_what_is_not_compared() -> None:
    """Its workers are hollow, and it has no mean and no interval."""
    slower, refused = lanes(SLOWER, REFUSED)
    assert 'class="dot hollow"' in refused
    assert "hollow" not in slower
    assert "interval" not in refused.replace("interval 1", "")
    assert "mark" not in refused


def test_one_axis() -> None:
    """Every row has the margin and 1× at the same places, whatever it shows."""
    rows = lanes(SLOWER, REFUSED)
    bands = {re.findall(r'<rect x="([\d.]+)%" width="([\d.]+)%"', lane)[0] for lane in rows}
    ones = {re.findall(r'<line x1="([\d.]+)%"[^>]*class="one"', lane)[0] for lane in rows}
    assert len(bands) == len(ones) == 1
    ((left, width),), (one,) = bands, ones
    assert float(left) < float(one) < float(left) + float(width)
    low, high = margin_bounds(0.05)
    assert low < 1 < high


@pytest.mark.parametrize(("pools", "height"), [(12, 40), (13, 27)])
def test_many_pools(pools: int, height: int) -> None:
    """More than 12 pools have low rows."""
    drawn = lanes(*[SLOWER] * pools)
    assert {
        re.findall(r'<svg class="plot" width="100%" height="(\d+)', lane)[0] for lane in drawn
    } == {str(height)}


def test_many_workers() -> None:
    """Those without titles are one path of points; each takes few bytes."""
    points = [1 + number / 1000 for number in range(1000)]
    few, many = (
        strip(
            [StripRow(name="a", verdict="noise", chip="noise", dots=SLOWER.dots, points=part)], 0.05
        )
        for part in (points[:1], points)
    )
    assert re.findall(r'd="([^"]*)" class="points worker"', many)[0].count("M") == 1000
    assert (len(many) - len(few)) / 999 < 16


def test_dots_that_would_cover_each_other() -> None:
    """They are at different heights; a single one is in the middle."""
    row = StripRow(name="a", verdict="noise", chip="noise", dots=[Dot(1.0)] * 3 + [Dot(1.5)])
    heights = places(lanes(row)[0], r'cy="([\d.]+)"')
    assert len(set(heights[:3])) == 3
    assert heights[3] == heights[0] == pytest.approx(12)


def test_shapes() -> None:
    """Each verdict has a symbol and a shape, so that it is told without its color."""
    assert {verdict.value for verdict in Verdict} < set(_MARKS)
    for marks in zip(*_MARKS.values(), strict=True):
        assert len(set(marks)) == len(_MARKS)


def test_a_worker_far_away() -> None:
    """The axis ends at 20×, so that the others can still be told apart."""
    far = StripRow(name="far", verdict="slower", chip="slower", ratio=5000.0, dots=[Dot(5000.0)])
    assert places(lanes(far)[0], r'cx="([\d.]+)%"') == [100.0]
    (near, _) = lanes(SLOWER, far)
    assert places(near, r'cx="([\d.]+)%"')[0] > 50
