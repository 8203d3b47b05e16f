# SPDX-License-Identifier: MPL-2.0
"""The axes of pictures, and the choice among many samples."""

from array import array

import numpy as np
import pytest
import sample_report
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from io_benchmark.report.plots import choose, distribution, scales, scatter, svg

POSITIVE = st.floats(1e-3, 1e15)


@given(st.lists(POSITIVE, min_size=1, max_size=5), st.booleans())
def test_scale_holds_its_values(values, logarithmic):
    """Every value has a place inside the axis, in its order."""
    scale = scales.Scale.around(values, logarithmic=logarithmic, room=0.05)
    places = scale.places(sorted(values))
    assert (places >= 0).all()
    assert (places <= 1).all()
    assert (np.diff(places) >= 0).all()


@given(POSITIVE, st.floats(1.0001, 1e6), st.integers(2, 8), st.booleans())
def test_ticks_are_on_the_axis(low, ratio, most, logarithmic):
    """A few round ticks, all of them inside."""
    scale = scales.Scale(low, low * ratio, logarithmic)
    ticks = scale.ticks(most)
    assert len(ticks) <= most + 1
    assert all(low * (1 - 1e-9) <= tick <= low * ratio * (1 + 1e-9) for tick in ticks)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        pytest.param(scales.Scale(0.9, 2.2, True), [1.0, 1.5, 2.0], id="ratios"),
        pytest.param(scales.Scale(4e6, 3e8, True), [5e6, 1e7, 2e7, 5e7, 1e8, 2e8], id="decades"),
        pytest.param(scales.Scale(0, 430), [0, 100, 200, 300, 400], id="linear"),
    ],
)
def test_ticks(scale, expected):
    """Ticks are round numbers."""
    assert scale.ticks(6) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("length_s", "expected"),
    [
        pytest.param(4, ["0 s", "1 s", "2 s", "3 s", "4 s"], id="seconds"),
        pytest.param(100, ["0 s", "30 s", "1 min", "1.5 min"], id="half-minutes"),
        pytest.param(3600, ["0 s", "15 min", "30 min", "45 min", "60 min"], id="quarters"),
        pytest.param(
            1e9,
            [
                "0 s",
                "200,000,000 s",
                "400,000,000 s",
                "10,000,000 min",
                "800,000,000 s",
                "1,000,000,000 s",
            ],
            id="absurd",
        ),
    ],
)
def test_clock_ticks(length_s, expected):
    """Ticks of time are those of a clock."""
    ticks = scales.Scale(0, length_s).clock_ticks(5)
    assert [label for _, label in ticks] == expected
    assert [place for place, _ in ticks] == sorted(place for place, _ in ticks)


def test_thinning():
    """Every n-th retrieve and the slowest are drawn, the same ones each time."""
    times_ns = array("q", range(1000))
    times_ns[501] = 10_000
    kept, step = scatter._thin(times_ns, 100)
    assert step == 10
    assert set(range(0, 1000, 10)) <= set(kept.tolist())
    assert 501 in kept
    assert len(kept) <= 110


def test_spread_and_typical():
    """The fastest, the slowest and some between are drawn; the typical worker is in the middle."""
    (first, *_) = sample_report.seed_case(10).series
    many = [
        replace(
            first,
            worker=f"{at:03d}",
            total_ns=array("q", [time_ns + 1000 * at for time_ns in first.total_ns]),
        )
        for at in range(101)
    ]
    assert [one.worker for one in distribution._spread(many[::-1], 3)] == ["000", "050", "100"]
    assert choose.typical(many).worker == "050"


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([5, 80, 60], ["80 B", "60 B", "5 B"], id="as-they-are"),
        pytest.param(
            list(range(1, 101)),
            ["up to 100 B", "up to 75 B", "up to 51 B", "up to 26 B"],
            id="many-sizes",
        ),
    ],
)
def test_size_classes(sizes, expected):
    """The largest size is first; many sizes are grouped."""
    classes = scatter._size_classes([array("q", sizes)])
    assert [each.label for each in classes] == expected


@given(st.text(), st.text())
def test_elements_escape(text, value):
    """Neither text nor an attribute can become markup."""
    made = svg._element("text", text, class_=value)
    inside = made.removeprefix("<text").removesuffix("</text>")
    assert "<" not in inside
    assert inside.count(">") == 1
    assert inside.count('"') == 2
