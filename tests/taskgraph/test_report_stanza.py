# SPDX-License-Identifier: MPL-2.0
"""The stanza `report`: what it may hold, and what its mistakes are called."""

import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark.analysis import expectations
from io_benchmark.errors import UsageError
from io_benchmark_taskgraph import report_stanza
from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.report_stanza import ReportSettings

POOLS = ["intel", "amd-16", "amd-30", "amd-16"]  # with replicates a pool comes more than once


def test_defaults():
    """Half an hour, and what `compare` takes by itself."""
    assert ReportSettings.parse({}, POOLS) == ReportSettings(30, None, None, ())


def test_everything_given():
    """Every key reaches the settings; expectations keep their order."""
    stanza = {
        "wait-minutes": 0,
        "baseline": "amd-30",
        "margin": "2.5%",
        "looks": [3, 6, 12],
        "prices": {
            "currency": "USD",
            "kind": "spot",
            "date": date(2026, 11, 1),
            "prices": {"amd-30": 0.31, "b-linux": 1},
        },
        "expectations": ["intel/amd-30<1.05 on spawn", " amd-16 / amd-30 > 0.5"],
    }
    assert ReportSettings.parse(stanza, POOLS) == ReportSettings(
        wait_minutes=0,
        baseline="amd-30",
        margin="2.5%",
        looks="3,6,12",
        prices='{"currency": "USD", "date": "2026-11-01", "kind": "spot", "prices": '
        '{"amd-30": 0.31, "b-linux": 1}}',
        expectations=("intel/amd-30<1.05 on spawn", " amd-16 / amd-30 > 0.5"),
    )


EXAMPLE = "write it like 'amd-30/intel<1.05' or 'amd-30/intel<1.05 on sync-write, dsync-append'"
KNOWN = "there are: amd-16, amd-30, intel"
KEYS = "wait-minutes, baseline, margin, looks, prices, expectations"
NO_LOOKS = "is not a rising list of numbers from 2 to 100; write one, as [3, 6, 12]"
NO_PRICE = "is not a price per hour of amd-16; write a number above 0, such as 0.31"
NO_PRICES = [
    ("x", "'x' is not a mapping with the keys currency, kind, date, prices"),
    ({"currency": "$"}, "currency: '$' is not a currency's code; write one such as USD"),
    ({}, "currency: None is not a currency's code; write one such as USD"),
    (
        {"currency": "USD", "kind": "cheap"},
        "kind: 'cheap' is not a kind; write spot or on-demand",
    ),
    (
        {"currency": "USD", "date": "2026-13-01"},
        "date: '2026-13-01' is not a date; write one such as 2026-11-01",
    ),
    (
        {"currency": "USD"},
        "prices: None is not a mapping of names to prices; write one, as {amd-16: 0.31}",
    ),
    *(
        ({"currency": "USD", "prices": {"amd-16": price}}, f"prices: {price!r} {NO_PRICE}")
        for price in (0, -1, math.nan, math.inf, "0.31", True)
    ),
]


@pytest.mark.parametrize(
    ("stanza", "text"),
    [
        pytest.param(None, "is missing; add it to the task or to task-defaults", id="none"),
        pytest.param([], f"is not a mapping; there are: {KEYS}", id="list"),
        pytest.param({"wait": 3}, f"unknown key; there are: {KEYS}", id="unknown key"),
        pytest.param(
            {"wait-minutes": 721},
            "721 is not a whole number from 0 to 720",
            id="longer than allowed",
        ),
        pytest.param(
            {"wait-minutes": "30"},
            "'30' is not a whole number from 0 to 720",
            id="text for a number",
        ),
        pytest.param(
            {"baseline": "amd-17"},
            f"'amd-17' is not a pool; {KNOWN}",
            id="unknown baseline",
        ),
        pytest.param({"baseline": 16}, "16 is not a pool's name", id="numeric baseline"),
        pytest.param(
            {"margin": 5}, "5 is not a percentage; write one such as 2%", id="margin without a sign"
        ),
        *(
            pytest.param({"looks": looks}, f"{looks!r} {NO_LOOKS}", id=str(looks))
            for looks in ("3,6", [], [6, 3], [3, 3], [1, 3], [3, 101], [3, True], [3, 6.0])
        ),
        *(pytest.param({"prices": prices}, text, id=text) for prices, text in NO_PRICES),
        pytest.param(
            {"expectations": "amd-30/intel<1.05"},
            "'amd-30/intel<1.05' is not a list; write one, as ['amd-30/intel<1.05']",
            id="one expectation",
        ),
        pytest.param(
            {"expectations": ["amd-30/intel"]}, f"'amd-30/intel': {EXAMPLE}", id="no limit"
        ),
        pytest.param(
            {"expectations": ["amd-30/intel<0"]}, f"'amd-30/intel<0': {EXAMPLE}", id="limit of zero"
        ),
        pytest.param(
            {"expectations": ["amd-30/intel<1.05 on spawn", "place memory"]},
            f"'place memory': {EXAMPLE}",
            id="a list that a comma broke",
        ),
        pytest.param(
            {"expectations": ["amd-31/intel<1.05 on spawn"]},
            f"'amd-31/intel<1.05 on spawn': 'amd-31' is not a pool; {KNOWN}",
            id="unknown pool on a measurement",
        ),
        pytest.param(
            {"expectations": [{"amd-30/intel": 1}]},
            f"{{'amd-30/intel': 1}}: {EXAMPLE}",
            id="mapping",
        ),
        pytest.param(
            {"expectations": ["amd-31/intel<1.05"]},
            f"'amd-31/intel<1.05': 'amd-31' is not a pool; {KNOWN}",
            id="unknown pool",
        ),
        pytest.param(
            {"expectations": ["amd-16/amd-30<1.05"]},
            "'amd-16/amd-30<1.05': the pools are compared with intel; write CANDIDATE/intel, or "
            "set report.baseline to amd-30",
            id="never compared",
        ),
        pytest.param(
            {"expectations": ["intel/intel<1.05"]},
            "'intel/intel<1.05': a pool is not compared with itself; name another",
            id="with itself",
        ),
    ],
)
def test_mistakes(stanza, text):
    """One line that names the key and says what to write instead."""
    key = ".".join(["report", *(stanza or ())])
    with pytest.raises(BadKeyError) as caught:
        ReportSettings.parse(stanza, POOLS)
    assert (caught.value.key, caught.value.text) == (key, text)


def test_without_pools():
    """A report of nothing is a mistake in kind-dependencies."""
    with pytest.raises(BadKeyError) as caught:
        ReportSettings.parse({}, [])
    assert (caught.value.key, caught.value.text) == (
        "report",
        "no kind among kind-dependencies has pools; name io-benchmark",
    )


def test_time_for_all_of_it():
    """The waiting and ten minutes, and not a second less."""
    settings = ReportSettings(30, None, None, ())
    settings.check_time(2400)
    with pytest.raises(BadKeyError) as caught:
        settings.check_time(2399)
    assert caught.value.key == "worker.max-run-time"
    assert caught.value.text == (
        "2399 does not hold 30 minutes of waiting and 600 s for the rest; raise it to 2400 or "
        "lower report.wait-minutes"
    )


@pytest.mark.parametrize("given_s", [None, "3600", True, 3600.0])
def test_time_that_is_none(given_s):
    """What taskgraph's own schema would refuse later is reported with the key's name."""
    with pytest.raises(BadKeyError, match=r"is not a number of seconds; write one such as 3600"):
        ReportSettings(30, None, None, ()).check_time(given_s)


def taken_by_compare(text):
    try:
        expectations.Expectation.parse(text)
    except UsageError:
        return False
    return True


def test_the_form_is_compares_own():
    """The two programs share no module, but they read one form."""
    assert report_stanza.EXPECTATION.pattern == expectations.FORM.pattern
    assert report_stanza.EXPECTATION.flags == expectations.FORM.flags


@given(
    st.one_of(
        st.text(max_size=30),
        st.from_regex(expectations.FORM),
        st.builds("{}/{}{}{}".format, *[st.sampled_from(["a", "0", "<", ">", "1.5", "", " "])] * 4),
        st.builds("a/b<1{}{}{}{}".format, *[st.sampled_from([" on ", "c", ",", " ", "c d"])] * 4),
    )
)
def test_what_is_taken_here_compare_takes(text):
    """No push is refused by its own report."""
    assert report_stanza._is_expectation(text) == taken_by_compare(text)
