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

from io_benchmark.analysis.prediction.prediction_model import WrittenOverTime
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


def test_labels():
    """A tick has all its digits and the unit."""
    assert [drawing.Scale(0, top).labels(1, "×")[-1][1] for top in (0.5, 2e3)] == ["0.5×", "2,000×"]


def test_labels_have_room():
    """Where a phone has no room for all labels of an axis, it has fewer ticks."""
    scale = drawing.Scale(1e5, 2.1e5, logarithmic=True)
    short, long = (scale.labels(6, unit) for unit in ("", " operations/s"))
    assert [label for _, label in short] == ["100,000", "150,000", "200,000"]
    assert [label for _, label in long] == ["100,000 operations/s", "200,000 operations/s"]


@pytest.mark.parametrize(
    ("place", "anchor"),
    [
        pytest.param(0.06, "start", id="at the start"),
        pytest.param(0.08, "middle", id="inside"),
        pytest.param(0.94, "end", id="at the end"),
    ],
)
def test_text_is_inside(place, anchor):
    """Text near an edge begins or ends there; a long one needs more room."""
    assert drawing._anchor(place, "1×") == anchor
    assert drawing._anchor(0.8, "2,000,000 operations/s") == "end"


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
    """A history with one point can be drawn, with 10 % around it, so that noise looks small.

    A single worker of a point is not drawn beside it.
    """
    (series,) = sample_history.too_few().series
    level = replace(series.levels[0], end=1, variation_ratio=None)
    point = replace(series.points[0], workers=series.points[0].workers[:1])
    first = {"points": (point,), "expected_ns": series.expected_ns[:1]}
    single = str(pictures.history(replace(series, levels=(level,), **first), "title"))
    assert single.count('class="mark mean"') == 1
    assert "points worker" not in single
    assert [float(value) for value in re.findall(r'class="tick">(\d+\.\d)<', single)] == [
        70.0,
        75.0,
        80.0,
        85.0,
    ]


def test_demand():
    """A curve as high as the lines of pools whose disks write as much, the fastest first."""
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
    ((first, last),) = re.findall(r'"M0 (\d+)L500 \1L500 (\d+)L1000 \2" class="curve"', drawn)
    top = 4 * 19 + 14
    for number, height in enumerate((last, first), start=1):
        (*_, y) = re.findall(rf'y1="([0-9.]+)"[^>]* class="average side-{number}"', drawn)
        assert float(y) == pytest.approx(top + int(height), abs=0.6)
