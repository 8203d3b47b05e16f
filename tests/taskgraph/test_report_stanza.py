# SPDX-License-Identifier: MPL-2.0
"""The stanza `report`: what it may hold, and what its mistakes are called."""

import math
from contextlib import nullcontext
from datetime import date
from typing import Any

import pytest
from user_mistakes import mistake

from io_benchmark.analysis import plan
from io_benchmark.errors import UsageError
from io_benchmark_taskgraph import report_stanza
from io_benchmark_taskgraph.report_stanza import ReportSettings

POOLS = ["intel", "amd-16", "amd-30", "amd-16"]  # with replicates a pool comes more than once
PRICES = {
    "currency": "USD",
    "kind": "spot",
    "date": date(2026, 11, 1),
    "prices": {"amd-30": 0.31, "b-linux": 1},
}
EXPECTATIONS = ["intel/amd-30<1.05 on spawn", " amd-16 / amd-30 > 0.5"]
WHOLE = {
    "wait-minutes": 0,
    "baseline": "amd-30",
    "margin": "2.5%",
    "looks": [2, 6, 100],
    "prices": PRICES,
    "expectations": EXPECTATIONS,
}


def test_settings():
    """Every key reaches the settings, and none must be given."""
    assert ReportSettings.parse({}, POOLS) == ReportSettings(30, None, None, ())
    prices = (
        '{"currency": "USD", "date": "2026-11-01", "kind": "spot", "prices": '
        '{"amd-30": 0.31, "b-linux": 1}}'
    )
    whole = ReportSettings(0, "amd-30", "2.5%", tuple(EXPECTATIONS), "2,6,100", prices)
    assert ReportSettings.parse(WHOLE, POOLS) == whole


KNOWN = "is not a pool; there are: amd-16, amd-30, intel"
THERE_ARE = f"there are: {', '.join(map(str, report_stanza.SCHEMA.schema))}"
EXAMPLE = "write it like 'amd-30/intel<1.05' or 'amd-30/intel<1.05 on sync-write, dsync-append'"
LOOKS = "is not a rising list of numbers from 2 to 100; write one, as [3, 6, 12]"
DATE = "is not a date; write one such as 2026-11-01"
PRICE_KEYS = "there are: currency, kind, date, prices"
PRICE = "is not a price per hour of amd-16; write a number above 0, such as 0.31"
WRONG_VALUES: dict[str, list[tuple[Any, str]]] = {
    "wait": [(3, f"unknown key; {THERE_ARE}")],
    "wait-minutes": [
        (value, f"{value!r} is not a whole number from 0 to 720") for value in (721, -1, "30")
    ],
    "baseline": [("amd-17", f"'amd-17' {KNOWN}"), (16, "16 is not a pool's name")],
    "margin": [(5, "5 is not a percentage; write one such as 2%")],
    "looks": [
        (looks, f"{looks!r} {LOOKS}")
        for looks in ("3,6", [], [6, 3], [3, 3], [1, 3], [3, 101], [3, True], [3, 6.0])
    ],
    "expectations": [
        ("a/b<1", "'a/b<1' is not a list; write one, as ['amd-30/intel<1.05']"),
        *(
            ([*EXPECTATIONS, value], f"{value!r}: {EXAMPLE}")
            # The last is what a comma leaves of a list.
            for value in ("amd-30/intel", "amd-30/intel<0", {"amd-30/intel": 1}, "place memory")
        ),
        (["amd-31/intel<1 on spawn"], f"'amd-31/intel<1 on spawn': 'amd-31' {KNOWN}"),
        (
            ["amd-16/amd-30<1.05"],
            (
                "'amd-16/amd-30<1.05': the pools are compared with intel; write CANDIDATE/intel, or "
                "set report.baseline to amd-30"
            ),
        ),
        (["intel/intel<1"], "'intel/intel<1': a pool is not compared with itself; name another"),
    ],
}
WRONG_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"price": 1}, f".price: unknown key; {PRICE_KEYS}"),
    ({"currency": "$"}, ".currency: '$' is not a currency's code; write one such as USD"),
    ({"kind": "cheap"}, ".kind: 'cheap' is unknown; there are: spot, on-demand"),
    ({"date": "2026-13-01"}, f".date: '2026-13-01' {DATE}"),
    ({"date": 5}, f".date: 5 {DATE}"),
    (
        {"prices": {}},
        ".prices: {} is not a mapping of names to prices; write one, as {amd-16: 0.31}",
    ),
    *(
        ({"prices": {"amd-16": price}}, f".prices: {price!r} {PRICE}")
        for price in (0, 1_000_001, math.nan, math.inf, "0.31", True)
    ),
    ({"prices": {5: 1}}, f".prices: 1 {PRICE.replace('amd-16', '5')}"),
]


@pytest.mark.parametrize(
    ("stanza", "pools", "text"),
    [
        *(
            ({key: value}, POOLS, f".{key}: {text}")
            for key, values in WRONG_VALUES.items()
            for value, text in values
        ),
        *(
            ({"prices": PRICES | changes}, POOLS, f".prices{text}")
            for changes, text in WRONG_PRICES
        ),
        ({"prices": "x"}, POOLS, f".prices: is not a mapping; {PRICE_KEYS}"),
        (None, POOLS, ": is missing; add it to the task or to task-defaults"),
        ([], POOLS, f": is not a mapping; {THERE_ARE}"),
        ({}, [], ": no kind among kind-dependencies has pools; name io-benchmark"),
    ],
)
def test_mistakes(stanza, pools, text):
    """One line that names the key and says what to write instead."""
    assert mistake(ReportSettings.parse, stanza, pools) == f"report{text}"


@pytest.mark.parametrize("bound", ["0", "0.00", "0.01"])
def test_what_is_accepted_here_compare_accepts(bound):
    """The two programs share no module, but they read one form: no push is refused by its own report."""
    assert report_stanza.EXPECTATION.pattern == plan.FORM.pattern
    with nullcontext() if float(bound) else pytest.raises(UsageError):
        plan.Expectation.parse(f"a/b<{bound}")
    assert report_stanza._is_expectation(f"a/b<{bound}") is (float(bound) > 0)
