# SPDX-License-Identifier: MPL-2.0
"""Measure which mistakes the tests notice: change one line at a time, and run its tests.

Prints the mutants that survive, and the share that is caught. Exit code: 0 enough are caught,
1 too few are, 2 the tests cannot be run.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

from candidates import Mutant, sample
from line_plugin import ANY_LINE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYTHON = ROOT / "python"
ROOMS = ("analysis", "results", "sources")
FOLDERS = [PYTHON / "io_benchmark_taskgraph", *(PYTHON / "io_benchmark" / room for room in ROOMS)]
# What measures, attacks or simulates takes long, and other tests run the same lines.
LEFT_OUT = ("attacks", "container", "lab", "script", "scripts", "simulation")
COUNT = 200
AT_ONCE = 2
LEAST_SHARE = 0.85
# Of the tests that run a line, those that took this long together.
TESTS_S = 180.0
# A mutant may loop for ever. The record is slower than the tests, but imports take time as well.
LONGEST_TIMES, START_S = 3, 30.0
CAUGHT, TOO_LONG = "caught", "by the time limit"

Test = tuple[float, str]  # how long it took while its lines were recorded, and its id
TestsOfLine = dict[tuple[str, int], set[Test]]  # by a module and a line of it


def pytest(arguments: Sequence[str], limit_s: float | None = None, **variables: str) -> int | None:
    """Run pytest with the plugin; return its exit code, None at the limit."""
    options = ("-q", "-p", "line_plugin", "-p", "no:cacheprovider")
    chosen = ("-m", "not serial and not container", *arguments)
    process = subprocess.Popen(
        [sys.executable, "-B", "-m", "pytest", *options, *chosen],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{PYTHON}:{HERE}", **variables},
        stdout=subprocess.DEVNULL if limit_s else None,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(limit_s)
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def record(mutants: Sequence[Mutant], paths: Sequence[str], folder: Path) -> TestsOfLine:
    """Return the tests that pass and run a line of a mutant's statement."""
    lines: dict[str, set[int]] = {str(path): set() for path in PYTHON.rglob("*.py")}
    for mutant in mutants:
        lines[str(ROOT / mutant.file)].update(range(mutant.statement, mutant.line + 1))
    wanted = folder / "lines.json"
    wanted.write_text(json.dumps({file: sorted(numbers) for file, numbers in lines.items()}))
    chosen = [f"--numprocesses={AT_ONCE}", "--dist=loadfile", *paths]
    chosen += [f"--ignore=tests/{name}" for name in LEFT_OUT]
    if pytest(chosen, RECORDED_LINES=str(wanted)) not in {0, 1}:  # passed, failed
        sys.exit(2)  # pytest has said why
    tests: TestsOfLine = defaultdict(set)
    for part in folder.glob("*.record"):
        for text in part.read_text(encoding="utf-8").splitlines():
            name, seconds, hits = json.loads(text)
            for file, line in hits:
                tests[file, line].add((seconds, name))
    return tests


def users(module: Path) -> list[str]:
    """Return the module and those that name it; what reads its constants cannot be recorded."""
    name = re.compile(rf"\b{module.parent.name if module.stem == '__init__' else module.stem}\b")
    return [
        str(module),
        *(str(file) for file in PYTHON.rglob("*.py") if name.search(file.read_text())),
    ]


def tests_of(mutant: Mutant, tests: TestsOfLine) -> list[Test]:
    """Return the tests that run a mutant: first the module's own, then the quickest."""
    file, own = str(ROOT / mutant.file), f"/test_{Path(mutant.file).stem}.py::"
    lines = range(mutant.statement, mutant.line + 1)
    found = set().union(*(tests[file, line] for line in lines))
    if mutant.at_import and not found:
        found = set().union(*(tests[path, ANY_LINE] for path in users(ROOT / mutant.file)))
    ordered = sorted(found, key=lambda test: (own not in test[1], test))
    ends_s = accumulate(seconds for seconds, _ in ordered)
    return [test for test, end_s in zip(ordered, ends_s, strict=True) if end_s <= TESTS_S]


def outcome(mutant: Mutant, tests: Sequence[Test]) -> str:
    """Return whether the tests notice a mutant."""
    if not tests:
        return "no test runs it"
    limit_s = START_S + LONGEST_TIMES * sum(seconds for seconds, _ in tests)
    changed = json.dumps((str(ROOT / mutant.file), mutant.line, mutant.after))
    code = pytest(["-x", *(name for _, name in tests)], limit_s, MUTANT=changed)
    # A test failed; a test module cannot be imported.
    other = f"{len(tests)} tests pass" if code == 0 else f"pytest ends with {code}"
    return {1: CAUGHT, 2: CAUGHT, None: TOO_LONG}.get(code, other)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=COUNT, help=f"mutants (default: {COUNT})")
    parser.add_argument("paths", nargs="*", default=["tests"], help="tests (default: all)")
    arguments = parser.parse_args()
    mutants = sample(ROOT, FOLDERS, arguments.count)
    with tempfile.TemporaryDirectory() as folder:
        tests = record(mutants, arguments.paths, Path(folder))
    chosen = [tests_of(mutant, tests) for mutant in mutants]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(outcome, mutants, chosen))
    for mutant, text in zip(mutants, outcomes, strict=True):
        if text != CAUGHT:
            print(f"{mutant.file}:{mutant.line} ({text})")
            print(f"    {mutant.before.strip()}\n  → {mutant.after.strip()}")
    slow = outcomes.count(TOO_LONG)
    share = (outcomes.count(CAUGHT) + slow) / len(mutants)
    print(f"{share:.0%} of {len(mutants)} mutants caught ({slow} {TOO_LONG})")
    return 0 if share >= LEAST_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
