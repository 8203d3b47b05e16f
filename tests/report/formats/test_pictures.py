# SPDX-License-Identifier: MPL-2.0
"""The pictures: their axes, what they draw of many samples, and the drawing with characters."""

import math
import re
from array import array

import pytest
import sample_history
import sample_report
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from predicted_tasks import MIB

from io_benchmark.analysis.model import Interval
from io_benchmark.analysis.prediction import WrittenOverTime
from io_benchmark.report.blocks import DrawnRatio
from io_benchmark.report.formats import drawing, pictures

POSITIVE = st.floats(1e-3, 1e15)


@given(st.lists(POSITIVE, min_size=1, max_size=5), st.booleans())
def test_scale_holds_its_values(values, logarithmic):
    """Every value has a place inside the axis, in its order; what is beyond is at an end."""
    scale = drawing.Scale.around(values, logarithmic=logarithmic)
    places = [scale.place(value) for value in (-math.inf, *sorted(values), math.inf)]
    assert places == sorted(places)
    assert [places[0], places[-1]] == pytest.approx([0, 1], abs=1e-9)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        pytest.param(drawing.Scale(0.9, 2.2, True), [1.0, 1.5, 2.0], id="ratios"),
        pytest.param(drawing.Scale(4e6, 3e8, True), [5e6, 1e7, 2e7, 5e7, 1e8, 2e8], id="decades"),
        pytest.param(drawing.Scale(0, 430), [0, 100, 200, 300, 400], id="linear"),
        pytest.param(drawing.Scale(1, 1e9, True), [1, 1e2, 1e4, 1e6, 1e8], id="every second"),
    ],
)
def test_ticks(scale, expected):
    """Ticks are round numbers."""
    assert scale.ticks(6) == pytest.approx(expected)


def test_few_of_many_workers():
    """The fastest, the slowest and some between are drawn."""
    (first, *_) = sample_report.seed_case().series
    many = [
        replace(
            first,
            worker=f"{number:03d}",
            total_ns=array("q", [time_ns + 1000 * number for time_ns in first.total_ns]),
        )
        for number in range(101)
    ]
    drawn = [worker.worker for worker in pictures._spread(many[::-1])]
    assert drawn == ["000", "020", "040", "060", "080", "100"]
    assert [worker.worker for worker in pictures._spread(many[2:0:-1])] == ["001", "002"]


@given(st.text(), st.text())
def test_elements_escape(words, value):
    """Neither text nor an attribute can become markup."""
    made = drawing._element("text", words, class_=value)
    inside = made.removeprefix("<text").removesuffix("</text>")
    assert "<" not in inside
    assert inside.count(">") == 1
    assert inside.count('"') == 2


def test_one_point():
    """A history with one point can be drawn, on an axis with 10 % around it, so that noise looks small."""
    (series,) = sample_history.too_few().series
    level = replace(series.levels[0], end=1, variation_ratio=None)
    first = {"points": series.points[:1], "expected_ns": series.expected_ns[:1]}
    single = str(pictures.history(replace(series, levels=(level,), **first), "title"))
    assert single.count('class="mark mean"') == 1
    assert [float(value) for value in re.findall(r'class="tick">(\d+\.\d)<', single)] == [
        *(70.0, 75.0, 80.0, 85.0)
    ]


def attribute(drawn: str, name: str, *, kind: str) -> list[str]:
    """Return an attribute of all elements of a kind."""
    return re.findall(rf'<[^>]* {name}="([^"%]*)%?"[^>]* class="{kind}"', drawn)


def test_demand():
    """A curve as high as the lines of pools whose disks write as much, the fastest of them first."""
    ceilings = {"slow": 50 * MIB, "fast": 100 * MIB}
    rates = (50.0 * MIB, 100.0 * MIB)
    written = WrittenOverTime("workspace", 30e9, 5e8, (0.0, 60.0 * MIB), rates, ceilings)
    drawn = str(pictures.demand(written))
    assert re.findall(r">([a-z, .0-9]+): ([^<]+)<", drawn) == [
        ("the task, most in 0.500 s", "up to 100 MiB/s"),
        ("the task, average", "30.0 MiB/s"),
        ("fast", "100 MiB/s"),
        ("slow", "50.0 MiB/s"),
    ]
    (curve,) = attribute(drawn, "d", kind="curve")
    ((first, last),) = re.findall(r"^M0 (\d+)L500 \1L500 (\d+)L1000 \2$", curve)
    top = 4 * 19 + 14
    for number, height in enumerate((last, first), start=1):
        assert float(attribute(drawn, "y1", kind=f"average side-{number}")[-1]) == pytest.approx(
            top + int(height), abs=0.6
        )


def test_costs():
    """A dot per pool at its two ratios, with a number, on a line between the ends of both intervals."""
    time = DrawnRatio(1.2, Interval(1.1, 1.3, 0.9))
    drawn = str(pictures.costs({"amd-16": (time, time.times(0.5))}))
    assert "1: amd-16, 1.20× the time, 0.60× the cost<" in drawn
    ((dot, height),) = re.findall(r'<svg x="([^"]*)%" y="([^"]*)" [^>]*class="point"', drawn)
    at = {words: place for place, words in re.findall(r'x="([^"]*)%"[^>]*>([^<]*×)<', drawn)}
    assert dot == at["1.2×"]
    (level,) = re.findall(r'y="([^"]*)"[^>]*>0.6×<', drawn)
    assert float(level) - 4 == pytest.approx(float(height))
    assert attribute(drawn, "x1", kind="interval") == [at["1.1×"]]
    assert attribute(drawn, "x2", kind="interval") == [at["1.3×"]]


@pytest.mark.parametrize(("count", "is_drawn"), [(1, False), (2, True)])
def test_workers_of_a_point(count, is_drawn):
    """They are drawn where a point has several."""
    (series,) = sample_history.one_change().series
    points = tuple(replace(point, workers=point.workers[:count]) for point in series.points)
    drawn = str(pictures.history(replace(series, points=points), "title"))
    assert ("points worker" in drawn) is is_drawn
