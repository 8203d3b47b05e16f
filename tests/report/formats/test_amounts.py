# SPDX-License-Identifier: MPL-2.0
"""The picture of amounts: its rows, its axis from zero, and names that would become markup."""

import re

from io_benchmark.report.drawn import AmountRow
from io_benchmark.report.formats.amounts import amounts

ROW = AmountRow(
    name="build",
    detail="slow against fast",
    verdict="slower",
    outcome="+40 (30 to 50)",
    amount=40,
    low=30,
    high=50,
)


def test_rows() -> None:
    """A row has its amount in words, for those who do not see the picture as well."""
    drawn = str(amounts([ROW], "Hours per month"))
    assert 'aria-label="build, slow against fast: +40 (30 to 50)"' in drawn
    assert '<span class="outcome">+40 (30 to 50)</span>' in drawn


def test_the_axis_begins_at_zero() -> None:
    """So that lengths can be compared; the interval is where its ends are."""
    drawn = str(amounts([ROW], "Hours per month"))
    (zero,) = re.findall(r'<line x1="([0-9.]+)%" [^>]*class="one">', drawn)
    ((low, high),) = re.findall(
        r'<line x1="([0-9.]+)%" y1="[0-9.]+" x2="([0-9.]+)%" [^>]*class="interval', drawn
    )
    # There is room of 6 % at both ends.
    assert [round(float(place)) for place in (zero, low, high)] == [5, 59, 95]


def test_names_are_escaped() -> None:
    """A label is what anybody wrote."""
    hostile = AmountRow(
        name="<b>",
        detail="<i>",
        verdict="slower",
        outcome="<u>",
        amount=1,
        low=1,
        high=1,
    )
    drawn = str(amounts([hostile], "Hours"))
    assert not re.search("<[biu]>", drawn)
