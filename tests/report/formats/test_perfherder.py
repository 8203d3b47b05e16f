# SPDX-License-Identifier: MPL-2.0
"""Ratios for Perfherder, within the limits of Treeherder."""

import json
import math
from typing import Any

import pytest
import sample_report
from golden import REPORTS
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from io_benchmark.analysis.model.report import Report
from io_benchmark.report.formats import rendered
from io_benchmark.report.formats.perfherder import _option
from io_benchmark.results.workloads import PERCENTILES


def suites(report: Report) -> list[Any]:
    """Return the document's suites; check its framework."""
    document = json.loads(rendered(report, "perfherder"))
    assert document["framework"] == {"name": "build_metrics"}
    assert set(document) == {"framework", "suites"}
    found: list[Any] = document["suites"]
    return found


@pytest.mark.parametrize(
    "name", ["hostile-names", "twelve-pools", "every-workload", "refused", "nothing-readable"]
)
def test_limits(name: str) -> None:
    """Names, options and values keep to Treeherder's limits; each comparison has its own series."""
    report = REPORTS[name]()
    found, count = suites(report), sum(len(part.comparisons) for part in report.subjects)
    assert len({tuple(suite["extraOptions"]) for suite in found}) == len(found) == count
    assert (count == 0) == (name in ("refused", "nothing-readable"))
    for suite in found:
        options = suite["extraOptions"]
        assert len(options) == len(set(options)) <= 8
        assert max(map(len, options)) <= 45
        for series in (suite, *suite["subtests"]):
            assert 1 <= len(series["name"]) <= 80
            assert math.isfinite(series["value"])
            assert abs(series["value"]) <= 1e12


def test_values_that_are_not_finite_are_left_out() -> None:
    """An infinite end of an interval has no subtest; a comparison without a ratio has no suite."""
    report = sample_report.seed_case()
    (part,) = report.subjects
    slower, undecided = part.comparisons
    open_ended = replace(slower, interval=replace(slower.interval, high_ratio=math.inf))
    part = replace(part, comparisons=(open_ended, replace(undecided, ratio=math.nan)))
    (suite,) = suites(replace(report, subjects=(part,)))
    assert [subtest["name"] for subtest in suite["subtests"]] == [
        "mean",
        "interval-low",
        *(f"p{number}" for number in PERCENTILES),
        "lookup-mean",
        "copy-mean",
    ]


@given(st.text(), st.text())
def test_options_stay_apart(first: str, second: str) -> None:
    """Different names never become the same option."""
    assert (_option(first) == _option(second)) == (first == second)
    assert len(_option(first)) <= 45
    assert _option(first).isascii()


def test_document() -> None:
    """A suite has the comparison's ratio, its interval, and the ratios of the sides' figures."""
    report = sample_report.before_after()
    (part,) = report.subjects
    pair = part.comparisons[0]
    over, under = (part.figures[f"amd-16 {when}"] for when in ("after", "before"))
    suite, *_ = suites(report)
    values = {each["name"]: each["value"] for each in (suite, *suite["subtests"])}
    expected = (
        pair.ratio,
        pair.ratio,
        pair.interval.low_ratio,
        pair.interval.high_ratio,
        over.percentiles_ns[95] / under.percentiles_ns[95],
    )
    names = ("io-benchmark-comparison", "mean", "interval-low", "interval-high", "p95")
    assert tuple(map(values.get, names)) == pytest.approx(expected, abs=1e-6)
    assert suite["extraOptions"] == [
        "amd-16-after-db5bccf0",
        "vs-amd-16-before-921ce720",
        "cache-retrieve",
        "workspace",
        "overwrite",
    ]
