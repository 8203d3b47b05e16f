# SPDX-License-Identifier: MPL-2.0
"""What the harness adds to a retrieve.

A retrieve by the harness (its loop, clocks, grep's answer read and checked, what was spent, the row
kept) and a raw one (posix_spawn of the same grep and wait; open, sendfile, close and copystat) are done
in turn on the same small files, so that whatever else the machine does meets both alike.

Numbers to read, not a test: run by `tox -e bench`.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "io-benchmark"
sys.path.insert(0, str(SCRIPT))
sys.dont_write_bytecode = True

import log as log_module  # noqa: E402
import settings as settings_module  # noqa: E402
from measuring.retrieval import SeedSteps, Target  # noqa: E402
from workloads.cache_retrieve import WORKLOAD  # noqa: E402

ROUNDS = 5
PAIRS = 40
BLOCK = 50  # retrieves: a run has thousands, so what is done once a run must not count in each
FILE_BYTES = 64 * 1024
HARNESS_BAR_US = 50


def prepared(folder: Path, services: SimpleNamespace) -> WORKLOAD:
    services.settings = settings_module.parse(
        [
            *("--pool", "bench", "--workload", "cache-retrieve", "--retrieves", str(BLOCK)),
            *("--place", f"p={folder}", "--output", str(folder / "artifacts")),
            *("--sizes", f"20x{FILE_BYTES / 1024 / 1024:.3f}", "--trials", "never"),
        ],
        ["cache-retrieve"],
    )
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
    services = SimpleNamespace(
        origin_ns=time.monotonic_ns(), record=record, leaf_devices=[], progress_every_s=1e9
    )
    workload = prepared(folder, services)
    grep = shutil.which("grep") or "grep"
    urls, source = workload.url_list, workload.files[0]
    workload._sequence = [0] * BLOCK
    raw_target = str(folder / "raw.dat")
    target = Target(str(folder), None)
    url = workload.urls[0]
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
            harness_ns: list[int] = []
            raw_ns: list[int] = []
            for pair in range(PAIRS):
                both = [(harness, harness_ns), (raw, raw_ns)]
                for action, times in both if pair % 2 else reversed(both):
                    times.append(timed_ns(action))
            paired_us = [(a - b) / 1000 / BLOCK for a, b in zip(harness_ns, raw_ns, strict=True)]
            differences.append(statistics.median(paired_us))
            print(
                f"  round {number + 1}: harness {statistics.median(harness_ns) / 1000 / BLOCK:.0f} us, "
                f"raw {statistics.median(raw_ns) / 1000 / BLOCK:.0f} us, "
                f"median of paired differences {differences[-1]:+.1f} us"
            )
    log_module.LOG.descriptor = 1
    print(
        f"  => {statistics.median(differences):+.1f} us a retrieve "
        f"({min(differences):+.1f} to {max(differences):+.1f}; bar {HARNESS_BAR_US} us)"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="io-benchmark-bench-") as name:
        harness_cost(Path(name))
