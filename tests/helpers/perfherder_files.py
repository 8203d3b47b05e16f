# SPDX-License-Identifier: MPL-2.0
"""The Perfherder file of a worker: perfherder_files.py SCHEMA checks it, in both modes, by a JSON Schema.

Run by .ci/run where Treeherder's schema is at hand; the tests state its limits in words of their own.
"""

import json
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import jsonschema
from checkout import ROOT

SCRIPT = ROOT / "scripts" / "io-benchmark"


def published() -> str:
    """Return a line per suite of a real run, of each workload's last measurement: what names a series."""
    series = import_module("result.figures")
    assert series.FRAMEWORK == "build_metrics"
    entries = json.loads((ROOT / "tests/fixtures/result-v2-all.json").read_text())["workloads"]
    settings = SimpleNamespace(pool="amd-16", profile="full", perfherder="pool")
    last = {entry["name"]: {**entry, "retrieves_planned": 2000} for entry in entries}
    lines = []
    for name, entry in last.items():
        kind = import_module(f"workloads.{name.replace('-', '_')}").WORKLOAD
        # Its constructor would need a place; what names a series is of the class alone.
        workload = object.__new__(kind)
        suite = series.suite(settings, workload, entry)
        keys = ("unit", "lowerIsBetter", "shouldAlert")
        ((unit, lower, alert),) = {
            tuple(test[key] for key in keys) for test in (suite, *suite["subtests"])
        }
        lines.append(
            f"{suite['name']} [{' '.join(suite['extraOptions'])}] in {unit}, "
            f"{'lower' if lower else 'higher'} is better, {'alerts' if alert else 'never alerts'}: "
            f"{' '.join(subtest['name'] for subtest in suite['subtests'])}\n"
        )
    return "".join(lines)


def _files(folder: Path) -> dict[str, str]:
    """Return the file of a small run in both modes."""
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
        files[mode] = (folder / "perfherder-data-io-benchmark.json").read_text()
    return files


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
