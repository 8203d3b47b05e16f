# SPDX-License-Identifier: MPL-2.0
"""Makes both Perfherder files, the worker's in both modes, and holds them against a JSON Schema: perfherder_files.py SCHEMA

The worker's own comes from the script, the comparison's from the seed's case. Run by .ci/run where
Treeherder's schema is at hand; the tests state its limits in words of their own.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import program
import seed_case

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "io-benchmark"


def main(schema: Path) -> int:
    validator = jsonschema.Draft7Validator(json.loads(schema.read_text()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = folder / "place"
        place.mkdir()
        worker = [
            *(
                sys.executable,
                "-B",
                str(SCRIPT),
                "--pool",
                "amd-16",
                "--workload",
                "cache-retrieve",
            ),
            *("--place", f"workspace={place}", "--output", str(folder), "--retrieves", "30"),
            *("--sizes", "4x0.5", "--destination", "overwrite", "--destination", "unlink"),
        ]
        published = folder / "perfherder-data-io-benchmark.json"
        files = {}
        for mode in ("pool", "neutral"):
            subprocess.run([*worker, "--perfherder", mode], check=True, stdout=subprocess.DEVNULL)
            files[f"the worker's ({mode})"] = published.read_text()
        seed_case.write(folder / "results")
        compared = program.run("compare", folder / "results", "--format", "perfherder")
        files["the comparison's"] = compared.stdout
    bad = 0
    for name, text in files.items():
        document = json.loads(text)
        for error in validator.iter_errors(document):
            bad += 1
            print(f"{name}: {'/'.join(map(str, error.path))}: {error.message}")
        print(f"{name} Perfherder file: {len(document['suites'])} suites checked, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
