# SPDX-License-Identifier: MPL-2.0
"""How fast 300 results come from a Taskcluster that takes 50 ms for each answer.

The deployment is a process of its own on the loopback; its tasks have scripts and results of the
real sizes. Measured in the same run: a client that asks for one thing after the other (the
taskcluster client's sync form and one kept-alive connection), gather() in this process, and the
command `fetch` from the shell, its start and the writing included.

Numbers to read, not a test. `python tests/benchmarks/fetch_speed.py [--rounds N]`
"""

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HELPERS = Path(__file__).resolve().parents[1] / "helpers"
ARTIFACT = "public/io-benchmark/io-benchmark.json"
RESULTS = 300
LATENCY_MS = 50
BAR_S = 2.0
SEQUENTIAL_S = 15.0


@contextlib.contextmanager
def deployment() -> Iterator[tuple[str, str]]:
    """Its root URL and the group's id."""
    command = [sys.executable, str(HELPERS / "loopback.py")]
    options = ["--tasks", str(RESULTS), "--latency-ms", str(LATENCY_MS)]
    environment = {**os.environ, "PYTHONPATH": str(HELPERS)}
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, env=environment)
    try:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        yield told["url"], told["group"]
    finally:
        server.terminate()
        server.wait()


def sequential(url: str, group: str) -> int:
    """One thing after the other; how many results."""
    import requests
    from taskcluster.queue import Queue

    queue = Queue({"rootUrl": url})
    pages: list[dict[str, Any]] = []
    queue.listTaskGroup(group, paginationHandler=pages.append)
    count = 0
    with requests.Session() as session:
        queue.session = session
        for task in (task for page in pages for task in page["tasks"]):
            task_id = task["status"]["taskId"]
            content = queue.artifact(task_id, "0", ARTIFACT)
            session.get(content["url"], timeout=60).json()
            count += 1
    return count


def concurrent(url: str, group: str) -> int:
    from io_benchmark.sources.gather import gather

    gathered = gather(
        [f"group:{group}"],
        {"TASKCLUSTER_ROOT_URL": url},
        lambda _progress: None,
        lambda result: result,
    )
    assert not gathered.unreadable, gathered.unreadable[0]
    return len(gathered.results)


def from_the_shell(url: str, group: str) -> float:
    """How long the command took."""
    with tempfile.TemporaryDirectory(prefix="io-benchmark-fetch-") as folder:
        started_s = time.perf_counter()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "io_benchmark.cli",
                "fetch",
                f"group:{group}",
                "--output",
                "out",
            ],
            cwd=folder,
            env={**os.environ, "TASKCLUSTER_ROOT_URL": url},
            capture_output=True,
            text=True,
            check=True,
        )
        took_s = time.perf_counter() - started_s
        count = len(list((Path(folder) / "out").iterdir()))
        assert count == RESULTS, count
        return took_s


def timed(action: Callable[[], object]) -> float:
    started_s = time.perf_counter()
    action()
    return time.perf_counter() - started_s


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with deployment() as (url, group):
        assert concurrent(url, group) == RESULTS  # loads what is loaded once
        gather_s = [timed(lambda: concurrent(url, group)) for _ in range(rounds)]
        shell_s = [from_the_shell(url, group) for _ in range(rounds)]
        sequential_s = timed(lambda: sequential(url, group))
    memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{RESULTS} results at {LATENCY_MS} ms a request, {rounds} rounds (bar {BAR_S} s):")
    for name, seconds in (("gather()", gather_s), ("fetch from the shell", shell_s)):
        print(
            f"  {name}: median {statistics.median(seconds):.2f} s, "
            f"{min(seconds):.2f} to {max(seconds):.2f} s"
        )
    print(f"  a sequential client: {sequential_s:.1f} s (expected over {SEQUENTIAL_S:.0f} s)")
    print(f"  peak memory: {memory_mib:.0f} MiB")


if __name__ == "__main__":
    main()
