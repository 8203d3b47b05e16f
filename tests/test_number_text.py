# SPDX-License-Identifier: MPL-2.0
"""Numbers as people read them."""

import math

import pytest

from io_benchmark import number_text

MS = 1_000_000


@pytest.mark.parametrize(
    ("write", "value", "expected"),
    [
        (number_text.digits, 146.4, "146"),
        (number_text.digits, 1.2345, "1.23"),
        (number_text.digits, 0.03071, "0.0307"),
        (number_text.digits, 999.7, "1,000"),
        (number_text.digits, 291432, "291,000"),
        (number_text.digits, -2.5, "-2.50"),
        (number_text.digits, math.nan, "\N{EN DASH}"),
        (number_text.digits, math.inf, "∞"),
        (number_text.compact, 0.9167, "0.917"),
        (number_text.compact, 5.5, "5.5"),
        (number_text.compact, 1234.5, "1,234"),
        (number_text.count, 12_345, "12,345"),
        (number_text.tick, 0.25, "0.25"),
        (number_text.percent, 0.94, "94 %"),
        (number_text.percent, 0.0123, "1.2 %"),
        (number_text.percent, 0.0999, "10 %"),
        (number_text.signed_percent, 97, "97 %"),
        (number_text.signed_percent, -14, "−14 %"),
        (number_text.signed_percent, 1000, "1,000 %"),
        (number_text.size, 80 * 1024**2, "80 MiB"),
        (number_text.size, 1023, "1,023 B"),
        (number_text.size, 1536, "1.50 KiB"),
    ],
)
def test_single_numbers(write, value, expected):
    """Each kind of number has as many digits as it needs, and a unit that suits it."""
    assert write(value) == expected


def test_lists():
    """What is left out is counted."""
    assert number_text.listed(["a", "b", "c"], 3) == "a, b, c"
    assert number_text.listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert [number_text.number_of(count, "worker") for count in (0, 1, 1200)] == [
        *("0 workers", "1 worker", "1,200 workers")
    ]


@pytest.mark.parametrize(
    ("values_ns", "expected"),
    [
        ([76 * MS, 146 * MS], ["76.0 ms", "146 ms"]),
        ([900_000, 1.5 * MS], ["900 µs", "1,500 µs"]),  # the smallest decides
        ([2e9], ["2.00 s"]),
        ([0.0, 5.0], ["0 ns", "5.00 ns"]),
        ([math.nan], ["\N{EN DASH} ms"]),
        ([], []),
    ],
)
def test_times(values_ns, expected):
    """One row, one unit."""
    assert number_text.times(values_ns) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.68, 2.19, "1.68 to 2.19"),
        (0.981, 1.027, "0.981 to 1.027"),
        (0.5, math.inf, "0.50 to ∞"),
        (0.0123, 123.4, "0.0123 to 123"),
        (4.65e-13, 9.72e11, "unknown"),
        (0.02, 54_321.0, "0.0200 to >100"),
    ],
)
def test_interval(low, high, expected):
    """Two decimals, more where the interval is narrow; an interval that says nothing is unknown."""
    assert number_text.interval(low, high) == expected


def test_ratio_range():
    """The ends of several ratios, once where they are written alike."""
    ranges = map(number_text.ratio_range, ([1.01, 0.99, 1.0], [1.001, 1.002], []))
    assert list(ranges) == ["0.99× to 1.01×", "1.00×", ""]


@pytest.mark.parametrize(
    ("seconds", "unit"),
    [(0, "s"), (119.9, "s"), (120, "min"), (7199, "min"), (7200, "h"), (1e9, "h")],
)
def test_the_unit_of_a_duration(seconds: float, unit: str) -> None:
    """At least two of it; tasks, predictions and costs have the same rule."""
    assert number_text.duration_unit(seconds)[1] == unit
