# SPDX-License-Identifier: MPL-2.0
"""Ratios for Perfherder, within the limits of Treeherder."""

import json
import math
from typing import Any

import every_workload
import pytest
import sample_report
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from io_benchmark.report.formats.output import rendered
from io_benchmark.report.formats.perfherder import _option


def suites(report):
    """Return the document's suites; check its framework."""
    document = json.loads(rendered(report, "perfherder"))
    assert document["framework"] == {"name": "build_metrics"}
    assert set(document) == {"framework", "suites"}
    return document["suites"]


def assert_series(series):
    """Check that Treeherder accepts the value, and that lower is better."""
    assert 1 <= len(series["name"]) <= 80
    assert math.isfinite(series["value"])
    assert abs(series["value"]) <= 1e12
    assert (series["unit"], series["lowerIsBetter"], series["shouldAlert"]) == (
        "ratio",
        True,
        False,
    )


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(sample_report.seed_case, id="seed-case"),
        pytest.param(sample_report.hostile, id="hostile"),
        pytest.param(sample_report.many_pools, id="twelve-pools"),
    ],
)
def test_limits(report):
    """Names, options and values keep to the limits."""
    found = suites(report(10))
    assert len(found) == sum(len(part.comparisons) for part in report(10).subjects)
    for suite in found:
        assert_series(suite)
        options = suite["extraOptions"]
        assert len(options) == len(set(options)) <= 8
        assert len([one for one in options if len(one) > 45]) <= 1
        for subtest in suite["subtests"]:
            assert_series(subtest)


def test_one_series_each():
    """No two comparisons share suite and options: they would become one series."""
    report = sample_report.several_subjects()
    keys = [(suite["name"], *suite["extraOptions"]) for suite in suites(report)]
    assert len(set(keys)) == len(keys) == 3


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(lambda: sample_report.refused(10), id="refused"),
        pytest.param(sample_report.empty, id="empty"),
    ],
)
def test_without_a_verdict(report):
    """Without a comparison it is a valid document without suites."""
    assert suites(report()) == []


def test_values_that_are_not_finite_are_left_out():
    """An infinite end of an interval has no subtest; a comparison without a ratio has no suite."""
    report = sample_report.seed_case(10)
    (part,) = report.subjects
    slower, undecided = part.comparisons
    open_ended = replace(slower, interval=replace(slower.interval, high_ratio=math.inf))
    nothing = replace(undecided, ratio=math.nan)
    part = replace(part, comparisons=(open_ended, nothing))
    (suite,) = suites(replace(report, subjects=(part,)))
    assert [subtest["name"] for subtest in suite["subtests"]] == [
        *("mean", "interval-low", "p50", "p95", "p99", "lookup-mean", "copy-mean")
    ]


@given(st.text(), st.text())
def test_options_stay_apart(one, other):
    """Different names never become the same option."""
    assert (_option(one) == _option(other)) == (one == other)
    assert len(_option(one)) <= 45
    assert _option(one).isascii()


def test_each_measurement_is_a_series():
    """Variant and number at once make each series unique, within Treeherder's limits."""
    found = suites(every_workload.report())
    keys = [tuple(suite["extraOptions"]) for suite in found]
    assert len(set(keys)) == len(keys) == 30 + 28
    assert ("amd-16", "vs-intel", "metadata", "workspace", "stat", "threads-4") in keys
    for suite in found:
        assert len(suite["extraOptions"]) <= 8
        assert_series(suite)
        names = [subtest["name"] for subtest in suite["subtests"]]
        of_copies = suite["extraOptions"][2] == "cache-retrieve"
        assert names == [
            *("mean", "interval-low", "interval-high", "p50", "p95", "p99"),
            *(["lookup-mean", "copy-mean"] if of_copies else []),
        ]


def test_values():
    """Each suite has the comparison's ratio, its interval, and the ratios of the sides' figures."""
    report = every_workload.report()
    expected = []
    for part in report.subjects:
        for comparison in part.comparisons:
            over: Any
            under: Any
            over, under = part.figures[comparison.candidate], part.figures[comparison.baseline]
            values = {
                "mean": comparison.ratio,
                "interval-low": comparison.interval.low_ratio,
                "interval-high": comparison.interval.high_ratio,
                **{
                    f"p{number}": over.percentiles_ns[number] / under.percentiles_ns[number]
                    for number in (50, 95, 99)
                },
            }
            if part.subject.workload == "cache-retrieve":
                values["lookup-mean"] = over.lookup_mean_ns / under.lookup_mean_ns
                values["copy-mean"] = over.copy_mean_ns / under.copy_mean_ns
            expected.append(
                (comparison.candidate, {name: round(value, 6) for name, value in values.items()})
            )
    found = [
        (
            suite["extraOptions"][0],
            {subtest["name"]: subtest["value"] for subtest in suite["subtests"]},
        )
        for suite in suites(report)
    ]
    assert found == expected
    assert [suite["value"] for suite in suites(report)] == [
        values["mean"] for _, values in expected
    ]


def test_document():
    """The whole document of one comparison."""
    report = sample_report.before_after(10)
    (part,) = report.subjects
    report = replace(report, subjects=(replace(part, comparisons=part.comparisons[:1]),))
    series = {"unit": "ratio", "lowerIsBetter": True, "shouldAlert": False}
    assert json.loads(rendered(report, "perfherder")) == {
        "framework": {"name": "build_metrics"},
        "suites": [
            {
                "name": "io-benchmark-comparison",
                "value": 0.664,
                **series,
                "extraOptions": [
                    "amd-16-after-db5bccf0",
                    "vs-amd-16-before-921ce720",
                    "cache-retrieve",
                    "workspace",
                    "overwrite",
                ],
                "subtests": [
                    {"name": "mean", "value": 0.664, **series},
                    {"name": "interval-low", "value": 0.611, **series},
                    {"name": "interval-high", "value": 0.722, **series},
                    {"name": "p50", "value": 0.630573, **series},
                    {"name": "p95", "value": 0.634146, **series},
                    {"name": "p99", "value": 0.637131, **series},
                    {"name": "lookup-mean", "value": 1.0, **series},
                    {"name": "copy-mean", "value": 0.661523, **series},
                ],
            }
        ],
    }
