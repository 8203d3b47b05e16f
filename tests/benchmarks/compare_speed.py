# SPDX-License-Identifier: MPL-2.0
"""How long a comparison takes, from the shell and alone, with a peer in the same run.

Numbers to read, not a test: run by `tox -e bench`.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import seed_case
import seed_workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.plan import Plan
from io_benchmark.sources.folder import run_files

ROUNDS = 9
PROGRAM = Path(sys.executable).with_name("io-benchmark")
NOTHING = [sys.executable, "-c", "pass"]
# As users have it: a process that keeps no byte code compiles everything each time.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}


def seconds(command: Sequence[str | Path]) -> float:
    started = time.perf_counter()
    done = subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    return time.perf_counter() - started


def told(name: str, values: Sequence[float], bar: str) -> None:
    low, middle, high = min(values), statistics.median(values), max(values)
    print(f"{name}: median {middle:.3f} s ({low:.3f} to {high:.3f}; bar {bar})", flush=True)


def shell(folder: Path) -> None:
    """3 pools x 2,000 retrieves, and help, each in turn with a Python that does nothing."""
    results = folder / "seed"
    seed_case.write(results)
    comparison: list[str | Path] = [PROGRAM, "compare", results]
    commands: dict[str, tuple[list[str | Path], str]] = {
        "compare 3 pools x 2,000 as text": (comparison, "0.30 s"),
        "compare 3 pools x 2,000 as json": ([*comparison, "--json"], "0.30 s"),
        "help": ([PROGRAM, "--help"], "0.05 s"),
        "import of numpy alone": ([sys.executable, "-c", "import numpy"], "-"),
    }
    timed: dict[str, list[float]] = {name: [] for name in commands}
    nothing: list[float] = []
    for _ in range(ROUNDS):
        nothing.append(seconds(NOTHING))
        for name, (command, _) in commands.items():
            timed[name].append(seconds(command))
    told("python3 -c pass", nothing, "-")
    for name, (_, bar) in commands.items():
        told(f"{name}, from the shell", timed[name], bar)
        ratios = [taken / least for taken, least in zip(timed[name], nothing, strict=True)]
        print(
            f"  => {statistics.median(ratios):.1f}x python3 -c pass "
            f"({min(ratios):.1f} to {max(ratios):.1f})"
        )


def thousand(folder: Path) -> None:
    """1,000 results x 2,000 retrieves: the seed's, under as many task ids."""
    results = folder / "thousand"
    results.mkdir()
    documents = seed_case.documents()
    for number in range(1000):
        document = documents[number % 3]
        task_id = f"{number:021d}A"
        run = results / f"{task_id}.0"
        run.mkdir()
        document["task"]["task_id"] = task_id
        (run / "io-benchmark.json").write_text(json.dumps(document))
        run_files.write_task_record(run, seed_case.record(document))
    taken = [seconds([PROGRAM, "compare", results]) for _ in range(3)]
    told("compare 1,000 results x 2,000 retrieves", taken, "4 s")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"  peak memory of the largest child: {peak:.0f} MiB (bar 400 MiB)")


def pyperf_compare(ours: Sequence[float], theirs: Sequence[float]) -> Callable[[], None]:
    """What pyperf's compare_to computes for one benchmark of two files: means and its t test."""
    import pyperf
    from pyperf._utils import is_significant

    def bench(values: Sequence[float]) -> pyperf.Benchmark:
        return pyperf.Benchmark([pyperf.Run(list(values), metadata={"name": "copy"})])

    candidate, baseline = bench(ours), bench(theirs)

    def run() -> None:
        is_significant(candidate.get_values(), baseline.get_values())
        assert candidate.mean() > baseline.mean()
        candidate.stdev()
        baseline.stdev()

    return run


def analysis_alone() -> None:
    """The whole of our analysis of two sides against pyperf's statistics, in turn, in one process."""
    found = seed_workers.workers(pools=("intel", "amd-16"))
    plan = Plan("bench", "intel", "bench", (("amd-16", "intel"),))
    intel, amd = ([time_ns / 1e9 for time_ns in each.entries[0].total_ns] for each in found)
    peer = pyperf_compare(amd, intel)
    compare(plan, found, Options())  # what is imported once is not counted
    peer()
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(20):
        for action, times in ((lambda: compare(plan, found, Options()), ours), (peer, theirs)):
            started = time.perf_counter()
            action()
            times.append(time.perf_counter() - started)
    told("analysis of 2 x 2,000 alone (with causes)", ours, "pyperf's")
    told("pyperf's compare_to statistics on the same numbers", theirs, "-")
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    print(
        f"  => ours / pyperf's: {statistics.median(ratios):.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f})"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="io-benchmark-bench-") as name:
        shell(Path(name))
        thousand(Path(name))
    analysis_alone()
