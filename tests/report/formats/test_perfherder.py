# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Ratios for Perfherder, within what Treeherder takes."""

import json
import math
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import every_workload
import pytest
import sample_report
from checkout import ROOT
from golden_reports import GOLDEN
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark.report.formats.perfherder import option, render


def suites(report):
    """The document's suites, its framework checked."""
    document = json.loads(render(report))
    assert document["framework"] == {"name": "build_metrics"}
    assert set(document) == {"framework", "suites"}
    return document["suites"]


def assert_series(series):
    """One value as Treeherder takes it, in the direction that a ratio of times has."""
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


def test_what_is_no_number_is_left_out():
    """An interval without an end has no subtest, a ratio that is none no suite."""
    report = sample_report.seed_case(10)
    (part,) = report.subjects
    slower, undecided = part.comparisons
    open_ended = replace(slower, interval=replace(slower.interval, high=math.inf))
    nothing = replace(undecided, ratio=math.nan)
    part = replace(part, comparisons=(open_ended, nothing))
    (suite,) = suites(replace(report, subjects=(part,)))
    assert [subtest["name"] for subtest in suite["subtests"]] == [
        *("mean", "interval-low", "p50", "p95", "p99", "lookup-mean", "copy-mean")
    ]


@given(st.text(), st.text())
def test_options_stay_apart(one, other):
    """Different names never become one option, however they are cut."""
    assert (option(one) == option(other)) == (one == other)
    assert len(option(one)) <= 45
    assert option(one).isascii()


def kept(suite):
    """What a series is known by."""
    series = [suite, *suite["subtests"]]
    return {
        "name": suite["name"],
        "extraOptions": suite["extraOptions"],
        "series": [
            {key: one[key] for key in ("name", "unit", "lowerIsBetter", "shouldAlert")}
            for one in series
        ],
    }


def of_a_worker():
    """The script's own series of a real run, each workload's last measurement."""
    import perfherder as of_worker

    assert of_worker.FRAMEWORK == "build_metrics"
    entries = json.loads((ROOT / "tests/fixtures/result-v1-all.json").read_text())["workloads"]
    last = {entry["name"]: entry for entry in entries}
    as_the_kind = {"retrieves_planned": 2000}
    settings = SimpleNamespace(pool="amd-16", profile="full", perfherder="pool")
    classes = {name: import_module(f"workloads.{name.replace('-', '_')}").WORKLOAD for name in last}
    return {
        name: of_worker.suite(settings, classes[name], {**entry, **as_the_kind})
        for name, entry in last.items()
    }


def of_a_comparison():
    """The ratios of the same workloads, each one's last measurement."""
    return {suite["extraOptions"][2]: suite for suite in suites(every_workload.report())}


def test_names_units_and_directions_of_both():
    """The worker's own series and the comparison's, as they are published: changing one breaks it."""
    published = {
        "worker": {name: kept(suite) for name, suite in of_a_worker().items()},
        "comparison": {name: kept(suite) for name, suite in of_a_comparison().items()},
    }
    expected = json.loads((GOLDEN / "perfherder-series.json").read_text())
    assert published == expected


def test_each_measurement_is_a_series():
    """Variant and number at once tell them apart, within Treeherder's limits."""
    found = suites(every_workload.report())
    keys = [tuple(suite["extraOptions"]) for suite in found]
    assert len(set(keys)) == len(keys) == 26 + 24
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
