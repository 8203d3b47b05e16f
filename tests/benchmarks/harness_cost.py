# SPDX-License-Identifier: MPL-2.0
"""What the harness adds to a retrieve.

A retrieve by the harness (its loop, clocks, grep's answer read and checked, what was spent, the row
kept) and a raw one (posix_spawn of the same grep and wait; open, sendfile, close and copystat) are
done in turn on the same small files, so that whatever else the machine does meets both alike.

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
from measuring.retrieval import SeedSteps  # noqa: E402
from workloads.cache_retrieve import WORKLOAD, _Target  # noqa: E402

PAIRS = 100
BLOCK = 50  # retrieves: a run has thousands, so what is done once a run must not count in each
FILE_BYTES = 64 * 1024
HARNESS_BAR_US = 50


def prepared(folder: Path) -> WORKLOAD:
    words = f"--pool bench --workload cache-retrieve --retrieves {BLOCK} --trials never"
    sizes = ("--sizes", f"20x{FILE_BYTES / 1024 / 1024:.3f}")
    places = ("--place", f"p={folder}", "--output", str(folder / "artifacts"))
    settings = settings_module.parse([*words.split(), *sizes, *places], ["cache-retrieve"])
    services = SimpleNamespace(
        origin_ns=time.monotonic_ns(),
        between_samples=lambda _now_ns: None,
        settings=settings,
    )
    workload = WORKLOAD(services, settings.places[0], str(folder))
    workload.prepare()
    workload._sequence = [0] * BLOCK
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


def timed_us(action: Callable[[], None]) -> float:
    """The time per retrieve of a block."""
    started_ns = time.perf_counter_ns()
    action()
    return (time.perf_counter_ns() - started_ns) / 1000 / BLOCK


def harness_cost(folder: Path) -> None:
    """Pairs of a block of harness retrieves and a block of raw ones, in alternating order."""
    workload = prepared(folder)
    grep = shutil.which("grep") or "grep"
    urls, source = workload.url_list, workload.files[0]
    target = _Target(str(folder), None)
    differences_us = []
    log_module.say = lambda _message: None
    with SeedSteps(urls) as steps:

        def harness() -> None:
            workload._rows = []
            workload._retrieve_until(BLOCK, steps, target, {"run_ns": None})

        def raw() -> None:
            for _ in range(BLOCK):
                raw_retrieve(grep, workload.urls[0], urls, source, str(folder / "raw.dat"))

        for pair in range(PAIRS):
            both = (harness, raw) if pair % 2 else (raw, harness)
            times_us = {action: timed_us(action) for action in both}
            differences_us.append(times_us[harness] - times_us[raw])
    low, median, high = statistics.quantiles(differences_us, n=4)
    print(f"Harness per retrieve over raw spawn and copy, {PAIRS} pairs of {BLOCK} retrieves:")
    print(f"  {median:+.1f} us ({low:+.1f} to {high:+.1f}; bar {HARNESS_BAR_US} us)")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="io-benchmark-bench-") as name:
        harness_cost(Path(name))
