# SPDX-License-Identifier: MPL-2.0
"""What Treeherder knows the series of a worker and of a comparison by."""

import json
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import many_measurements
from checkout import ROOT

from io_benchmark.report.formats import rendered


def published() -> str:
    """Return a line per suite, of a worker and of a comparison."""
    suites = {"worker": of_worker(), "comparison": of_comparison()}
    return "".join(
        f"{who}: {_line(suite)}\n" for who, same in suites.items() for suite in same.values()
    )


def of_worker() -> dict[str, Any]:
    """Return the script's own suites for a real run: each workload's last measurement."""
    perfherder = import_module("result.figures")
    entries = json.loads((ROOT / "tests/fixtures/result-v2-all.json").read_text())["workloads"]
    settings = SimpleNamespace(pool="amd-16", profile="full", perfherder="pool")
    last = {entry["name"]: {**entry, "retrieves_planned": 2000} for entry in entries}
    suites = {}
    for name, entry in last.items():
        kind = import_module(f"workloads.{name.replace('-', '_')}").WORKLOAD
        # Its constructor would need a place; what names a series is of the class alone.
        suites[name] = perfherder.suite(settings, object.__new__(kind), entry)
    return suites


def of_comparison() -> dict[str, Any]:
    """Return the ratios of the same workloads: each one's last measurement."""
    suites = json.loads(rendered(many_measurements.every_workload(), "perfherder"))["suites"]
    return {suite["extraOptions"][2]: suite for suite in suites}


def _line(suite: dict[str, Any]) -> str:
    keys = ("unit", "lowerIsBetter", "shouldAlert")
    ((unit, lower, alert),) = {
        tuple(series[key] for key in keys) for series in (suite, *suite["subtests"])
    }
    return (
        f"{suite['name']} [{' '.join(suite['extraOptions'])}] in {unit}, "
        f"{'lower' if lower else 'higher'} is better, {'alerts' if alert else 'never alerts'}: "
        + " ".join(subtest["name"] for subtest in suite["subtests"])
    )
