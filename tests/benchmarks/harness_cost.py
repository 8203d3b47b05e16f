# SPDX-License-Identifier: MPL-2.0
"""What the harness adds to a retrieve, and what sampler and progress take of the time.

A retrieve by the harness (its loop, clocks, grep's answer read and checked, what was spent, the row
kept) and a raw one (posix_spawn of the same grep and wait; open, sendfile, close and copystat) are done
in turn on the same small files, so that whatever else the machine does meets both alike. A second part
runs the workload for a while and adds up what the sampler's process and the calls between retrieves took.

Numbers to read, not a test: run by `tox -e bench`.
"""

import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "io-benchmark"
sys.path.insert(0, str(SCRIPT))
sys.dont_write_bytecode = True

import bench as bench_module  # noqa: E402
import early_end as early_end_module  # noqa: E402
import log as log_module  # noqa: E402
import settings as settings_module  # noqa: E402
from measuring.retrieval import SeedSteps, Target  # noqa: E402
from observe.timelines import Sampler  # noqa: E402
from result import result_file as result_file_module  # noqa: E402
from workloads.cache_retrieve import WORKLOAD  # noqa: E402

ROUNDS = 5
PAIRS = 40
BLOCK = 50  # retrieves: a run has thousands, so what is done once a run must not count in each
FILE_BYTES = 64 * 1024
SHARE_S = 15
HARNESS_BAR_US = 50
SHARE_BAR_PERCENT = 0.5


def settings(folder: Path, retrieves: int) -> Any:
    return settings_module.parse(
        [
            *("--pool", "bench", "--workload", "cache-retrieve", "--retrieves", str(retrieves)),
            *("--place", f"p={folder}", "--output", str(folder / "artifacts")),
            *("--sizes", f"20x{FILE_BYTES / 1024 / 1024:.3f}", "--trials", "never"),
        ],
        ["cache-retrieve"],
    )


def prepared(folder: Path, retrieves: int, services: SimpleNamespace) -> WORKLOAD:
    services.settings = settings(folder, retrieves)
    services.leaf_devices = []
    services.progress_every_s = 5
    workload = WORKLOAD(services, services.settings.places[0], str(folder))
    workload.prepare()
    return workload


def raw_retrieve(grep: str, url: str, urls: str, source: str, target: str) -> None:
    """The least that a fork, an exec and a copy can cost from Python."""
    process = os.posix_spawn(
        grep,
        ("grep", "-Fnx", url, urls),
        os.environ,
        file_actions=((os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),),
    )
    os.waitpid(process, 0)
    source_fd = os.open(source, os.O_RDONLY)
    target_fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.sendfile(target_fd, source_fd, 0, FILE_BYTES)
    os.close(target_fd)
    os.close(source_fd)
    shutil.copystat(source, target)


def timed_ns(action: Callable[[], None]) -> int:
    started_ns = time.perf_counter_ns()
    action()
    return time.perf_counter_ns() - started_ns


def harness_cost(folder: Path) -> None:
    """Pairs of a block of harness retrieves and a block of raw ones, in alternating order."""
    record = SimpleNamespace(due_ns=1 << 62)
    services = SimpleNamespace(origin_ns=time.monotonic_ns(), record=record)
    workload = prepared(folder, BLOCK, services)
    grep = shutil.which("grep") or "grep"
    urls, source = workload.url_list, workload.files[0]
    workload._sequence = [0] * BLOCK
    raw_target = str(folder / "raw.dat")
    target = Target("overwrite", str(folder), None)
    url = workload.urls[0]
    services.progress_every_s = 1e9
    print(f"Harness per retrieve over raw spawn and copy ({PAIRS} pairs of {BLOCK} a round):")
    differences = []
    with SeedSteps(urls) as steps, Path(os.devnull).open("w") as nowhere:
        log_module.LOG.descriptor = nowhere.fileno()
        entry: dict[str, object] = {}

        def harness() -> None:
            workload._retrieve_all(steps, target, entry)
            workload._count_spent()

        def raw() -> None:
            for _ in range(BLOCK):
                raw_retrieve(grep, url, urls, source, raw_target)

        for number in range(ROUNDS):
            ours, theirs = [], []
            for pair in range(PAIRS):
                if pair % 2:
                    ours.append(timed_ns(harness))
                    theirs.append(timed_ns(raw))
                else:
                    theirs.append(timed_ns(raw))
                    ours.append(timed_ns(harness))
            paired_us = [(a - b) / 1000 / BLOCK for a, b in zip(ours, theirs, strict=True)]
            differences.append(statistics.median(paired_us))
            print(
                f"  round {number + 1}: harness {statistics.median(ours) / 1000 / BLOCK:.0f} us, "
                f"raw {statistics.median(theirs) / 1000 / BLOCK:.0f} us, "
                f"median of paired differences {differences[-1]:+.1f} us"
            )
    log_module.LOG.descriptor = 1
    print(
        f"  => {statistics.median(differences):+.1f} us a retrieve "
        f"({min(differences):+.1f} to {max(differences):+.1f}; bar {HARNESS_BAR_US} us)"
    )


def share_of_time(folder: Path) -> None:
    """The sampler's CPU time and the time between retrieves, as parts of the run's time."""
    given = settings(folder, 100_000)
    origin_ns = time.monotonic_ns()
    between_ns = 0
    progress_ns = 0
    record = result_file_module.ResultFile(given, origin_ns)
    interruption = early_end_module.Interruption()
    interruption.end_after(SHARE_S)
    bench = bench_module.Bench(given, record, interruption, origin_ns)
    plain_between = bench.between_samples

    def between() -> None:
        nonlocal between_ns
        between_ns += timed_ns(plain_between)

    bench.between_samples = between
    plain_show = log_module.ProgressLines.show

    def show(self: log_module.ProgressLines, *arguments: int) -> None:
        nonlocal progress_ns
        progress_ns += timed_ns(lambda: plain_show(self, *arguments))

    log_module.ProgressLines.show = show
    bench._sampler = Sampler(["vda", "sda", "nvme0n1"], origin_ns)
    workload = WORKLOAD(bench, given.places[0], str(folder))
    workload.prepare()
    variant = {"destination": "overwrite", "fidelity": "seed", "fresh_ring_bytes": None}
    entry = {"samples": workload.samples(), **variant}
    bench._current = (workload, entry)
    started_ns = time.monotonic_ns()
    try:
        with interruption.allowed():
            workload.run(entry)
    except early_end_module.Interrupted:
        pass
    took_ns = time.monotonic_ns() - started_ns
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bench._sampler.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    sampler_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    parts = {
        "sampler's process (CPU)": sampler_s * 1e9,
        "progress lines": progress_ns,
        "growing the result file": between_ns,
    }
    print(f"Share of {took_ns / 1e9:.1f} s with {len(workload.samples()['copy_ns'])} retrieves:")
    for name, spent_ns in parts.items():
        print(f"  {name}: {spent_ns / 1e6:.1f} ms, {100 * spent_ns / took_ns:.3f} %")
    print(f"  => {100 * sum(parts.values()) / took_ns:.3f} % in all (bar {SHARE_BAR_PERCENT} %)")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="io-benchmark-bench-") as name:
        for part in (harness_cost, share_of_time):
            folder = Path(name) / part.__name__
            folder.mkdir()
            part(folder)
