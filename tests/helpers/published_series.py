# SPDX-License-Identifier: MPL-2.0
"""The Perfherder series of a worker and of a comparison: what Treeherder knows each one by."""

import json
from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import every_workload
from checkout import ROOT

from io_benchmark.report.formats import Layout
from io_benchmark.report.formats.perfherder import render


def published() -> str:
    """Return a line per suite, of a worker and of a comparison."""
    return "".join(
        f"{who}: {_line(suite)}\n"
        for who, suites in (("worker", of_worker()), ("comparison", of_comparison()))
        for suite in suites.values()
    )


def of_worker() -> dict[str, Any]:
    """Return the script's own suites for a real run: each workload's last measurement."""
    perfherder = import_module("perfherder_series")
    assert perfherder.FRAMEWORK == "build_metrics"
    entries = json.loads((ROOT / "tests/fixtures/result-v2-all.json").read_text())["workloads"]
    last = {entry["name"]: entry for entry in entries}
    settings = SimpleNamespace(pool="amd-16", profile="full", perfherder="pool")
    return {
        name: perfherder.suite(
            settings,
            import_module(f"workloads.{name.replace('-', '_')}").WORKLOAD,
            {**entry, "retrieves_planned": 2000},
        )
        for name, entry in last.items()
    }


def of_comparison() -> dict[str, Any]:
    """Return the ratios of the same workloads: each one's last measurement."""
    suites = json.loads(render(every_workload.report(), Layout()))["suites"]
    return {suite["extraOptions"][2]: suite for suite in suites}


def _line(suite: Mapping[str, Any]) -> str:
    series = [suite, *suite["subtests"]]
    ((unit, lower, alert),) = {
        (one["unit"], one["lowerIsBetter"], one["shouldAlert"]) for one in series
    }
    return (
        f"{suite['name']} [{' '.join(suite['extraOptions'])}] in {unit}, "
        f"{'lower' if lower else 'higher'} is better, {'alerts' if alert else 'never alerts'}: "
        + " ".join(one["name"] for one in suite["subtests"])
    )
