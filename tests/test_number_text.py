# SPDX-License-Identifier: MPL-2.0
"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark import number_text
from io_benchmark.costs.worker_time import Cost, CostShare, Price

MS = 1_000_000


def written_times(*values_ns: float) -> str:
    return ", ".join(number_text.times(values_ns))


def unit_of(seconds: float) -> str:
    return number_text.duration_unit(seconds)[1]


@pytest.mark.parametrize(
    ("write", "values", "expected"),
    [
        (number_text.digits, (146.4,), "146"),
        (number_text.digits, (1.2345,), "1.23"),
        (number_text.digits, (0.03071,), "0.0307"),
        (number_text.digits, (999.7,), "1,000"),
        (number_text.digits, (291432,), "291,000"),
        (number_text.digits, (-2.5,), "-2.50"),
        (number_text.digits, (math.nan,), "\N{EN DASH}"),
        (number_text.digits, (math.inf,), "∞"),
        (number_text.compact, (0.9167,), "0.917"),
        (number_text.compact, (5.5,), "5.5"),
        (number_text.compact, (1234.5,), "1,234"),
        (number_text.count, (12_345,), "12,345"),
        (number_text.percent, (0.94,), "94 %"),
        (number_text.percent, (0.0123,), "1.2 %"),
        (number_text.percent, (0.0999,), "10 %"),
        (number_text.signed_percent, (97,), "97 %"),
        (number_text.signed_percent, (-14,), "−14 %"),
        (number_text.signed_percent, (1000,), "1,000 %"),
        (number_text.size, (80 * 1024**2,), "80 MiB"),
        (number_text.size, (1023,), "1,023 B"),
        (number_text.size, (1536,), "1.50 KiB"),
        # What is left out is counted.
        (number_text.listed, (["a", "b", "c"], 3), "a, b, c"),
        (number_text.listed, (["a", "b", "c"], 2), "a, b and 1 more"),
        (number_text.number_of, (0, "worker"), "0 workers"),
        (number_text.number_of, (1, "worker"), "1 worker"),
        (number_text.number_of, (1200, "worker"), "1,200 workers"),
        # One row, one unit: the smallest decides.
        (written_times, (76 * MS, 146 * MS), "76.0 ms, 146 ms"),
        (written_times, (900_000, 1.5 * MS), "900 µs, 1,500 µs"),
        (written_times, (2e9,), "2.00 s"),
        (written_times, (0.0, 5.0), "0 ns, 5.00 ns"),
        (written_times, (math.nan,), "\N{EN DASH} ms"),
        (written_times, (), ""),
        # Two decimals, more where the interval is narrow; one that says nothing is unknown.
        (number_text.interval, (1.68, 2.19), "1.68 to 2.19"),
        (number_text.interval, (0.981, 1.027), "0.981 to 1.027"),
        (number_text.interval, (1.5, math.inf), "1.50 to ∞"),
        (number_text.interval, (0.1, 10.0), "0.10 to 10.00"),
        (number_text.interval, (0.1, 10.01), "unknown"),
        (number_text.interval, (0.0108, 35.09), "unknown"),
        (number_text.interval, (4.65e-13, 9.72e11), "unknown"),
        (number_text.interval, (1.02, 543_210.0), "1.02 to >100"),
        # At least two of a unit; tasks, predictions and costs have the same rule.
        (unit_of, (0,), "s"),
        (unit_of, (119.9,), "s"),
        (unit_of, (120,), "min"),
        (unit_of, (7199,), "min"),
        (unit_of, (7200,), "h"),
        (unit_of, (1e9,), "h"),
    ],
)
def test_numbers(write, values, expected):
    """Each kind of number has as many digits as it needs, and a unit that suits it."""
    assert write(*values) == expected


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10), st.integers(0, 3))
def test_rounded_parts(values: list[float], decimals: int) -> None:
    """They add up to their rounded sum, and each is less than a unit from what it was."""
    rounded = number_text.rounded_parts(values, decimals)
    assert (
        f"{sum(rounded):.{decimals}f}" == f"{round(math.fsum(values), decimals) + 0.0:.{decimals}f}"
    )
    pairs = zip(rounded, values, strict=True)
    assert all(abs(part - value) < 10**-decimals + 1e-6 for part, value in pairs)


def test_one_function_writes_money() -> None:
    """The cost of tasks, of a decision and of a month have the same digits."""
    written = {0.0312: "0.0312", 1.966: "1.97", 3.1: "3.10", 1234.5: "1,234"}
    assert {value: number_text.money(value) for value in written} == written
    share = CostShare("intel", 1, 60.0, price=Price(3.1, "USD"))
    assert Cost((share,)).money == "3.10 USD"
