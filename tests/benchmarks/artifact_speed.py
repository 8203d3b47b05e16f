# SPDX-License-Identifier: MPL-2.0
"""How long a comparison of CI artifacts takes, nested or zipped, next to a folder from `fetch`.

The same results of 2,000 retrieves in three forms, compared from the shell in turn. A round's ratio is its
time over that of `fetch`'s folder in the same round; CPU time varies less on a busy machine.

Numbers to read, not a test: run by `tox -e bench`. `--results N`, `--rounds N`.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import seed_case

from io_benchmark.sources.folder import run_files

PROGRAM = Path(sys.executable).with_name("io-benchmark")
UPLOADED = "io-benchmark/io-benchmark.json"
BAR = 1.05


def write(folder: Path, results: int) -> dict[str, Path]:
    """Write the results in each form; return the folders by name."""
    forms = {name: folder / name for name in ("fetch", "nested", "zipped")}
    for path in forms.values():
        path.mkdir()
    documents = seed_case.documents()
    for number in range(results):
        document = documents[number % 3]
        task_id = f"{number:021d}A"
        document["task"]["task_id"] = task_id
        text = json.dumps(document)
        run = forms["fetch"] / f"{task_id}.0"
        run.mkdir()
        (run / run_files.RESULT_NAME).write_text(text)
        run_files.write_task_record(run, seed_case.record(document))
        name = f"io-benchmark-{document['task']['pool']}-{number}"
        nested = forms["nested"] / name / UPLOADED
        nested.parent.mkdir(parents=True)
        nested.write_text(text)
        with zipfile.ZipFile(forms["zipped"] / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(UPLOADED, text)
    return forms


def timed(folder: Path) -> tuple[float, float]:
    """Compare a folder; return the seconds on the clock and those of CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    command = [str(PROGRAM), "compare", str(folder)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    took = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def told(name: str, values: list[float], unit: str) -> None:
    low, middle, high = min(values), statistics.median(values), max(values)
    print(f"  {name}: median {middle:.2f}{unit} ({low:.2f} to {high:.2f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="io-benchmark-bench-") as name:
        forms = write(Path(name), arguments.results)
        rounds = [
            {form: timed(folder) for form, folder in forms.items()} for _ in range(arguments.rounds)
        ]
    print(f"compare {arguments.results:,} results x 2,000 retrieves, {len(rounds)} rounds:")
    for at, clock in enumerate(("time", "CPU time")):
        for form in forms:
            told(f"{form}, {clock}", [each[form][at] for each in rounds], " s")
        for form in ("nested", "zipped"):
            ratios = [each[form][at] / each["fetch"][at] for each in rounds]
            told(f"{form} / fetch, {clock} (bar {BAR})", ratios, "x")


if __name__ == "__main__":
    main()
