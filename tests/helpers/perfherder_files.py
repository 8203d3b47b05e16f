# SPDX-License-Identifier: MPL-2.0
"""The Perfherder files of a worker and of a comparison: perfherder_files.py SCHEMA checks both by a JSON Schema.

Run by .ci/run where Treeherder's schema is at hand; the tests state its limits in words of their own.
"""

import json
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import many_measurements
import program
import seed_case
from checkout import ROOT

from io_benchmark.report.formats import rendered

SCRIPT = ROOT / "scripts" / "io-benchmark"


def published() -> str:
    """Return a line per suite, of a worker and of a comparison: what Treeherder knows each series by."""
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


def _files(folder: Path) -> dict[str, str]:
    """Return the worker's file in both modes, of a small run, and that of the seed's case."""
    place = folder / "place"
    place.mkdir()
    worker = [
        *(sys.executable, "-B", str(SCRIPT), "--pool", "amd-16", "--workload", "cache-retrieve"),
        *("--place", f"workspace={place}", "--output", str(folder), "--retrieves", "30"),
        *("--sizes", "4x0.5", "--destination", "overwrite", "--destination", "unlink"),
    ]
    files = {}
    for mode in ("pool", "neutral"):
        subprocess.run([*worker, "--perfherder", mode], check=True, stdout=subprocess.DEVNULL)
        published = folder / "perfherder-data-io-benchmark.json"
        files[f"the worker's ({mode})"] = published.read_text()
    seed_case.write(folder / "results")
    compared = program.run("compare", folder / "results", "--format", "perfherder")
    return {**files, "the comparison's": compared.stdout}


def main(schema: Path) -> int:
    validator = jsonschema.Draft7Validator(json.loads(schema.read_text()))
    with tempfile.TemporaryDirectory() as folder:
        files = _files(Path(folder))
    bad = 0
    for name, content in files.items():
        document = json.loads(content)
        for error in validator.iter_errors(document):
            bad += 1
            print(f"{name}: {'/'.join(map(str, error.path))}: {error.message}")
        print(f"{name} Perfherder file: {len(document['suites'])} suites checked, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
