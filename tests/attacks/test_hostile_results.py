# SPDX-License-Identifier: MPL-2.0
"""Result files that are as large as they may be in every direction, and what `compare` takes."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from checkout import ROOT

GOOD = ROOT / "tests/fixtures/result-v2.json"
MIB = 1024 * 1024
FILE_BYTES = 16 * MIB  # the largest that is decoded
PEAK_MB = 500
HONEST = 4
# By default one file of each kind, and some of those that are kept; all of them under --long.
SHORT = {"samples": 3, "pools": 10}
# Between the program and this process, which may be large: the system counts a child's memory from
# the moment at which it is still a copy of its parent.
BETWEEN = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024 / 1e6)
"""
# Of several addresses the first would be the baseline, which here is a hostile one.
COMPARE = (
    sys.executable,
    "-m",
    "io_benchmark.cli",
    "compare",
    "--partial",
    "--baseline",
    "pool-1",
)
Change = Callable[[dict[str, Any], int], None]


def encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def changed(change: Change) -> Callable[[int], bytes]:
    """Return what makes the n-th file of a kind: the good result of another run, changed so."""

    def make(number: int) -> bytes:
        document = json.loads(GOOD.read_bytes())
        document["task"]["task_id"] = None
        document["started"] = f"{change} {number}"
        change(document, number)
        return encoded(document)

    return make


def honest(document: dict[str, Any], number: int) -> None:
    """Change nothing but the pool, which is one of two."""
    document["task"]["pool"] = f"pool-{number % 2}"


def retrieves(rows: int) -> Change:
    """Samples alone, of three digits: five times as large once decoded."""

    def change(document: dict[str, Any], _number: int) -> None:
        (entry,) = document["workloads"]
        entry["retrieves_planned"] = rows
        times = dict.fromkeys(("start_ns", "lookup_ns", "copy_ns"), [999] * rows)
        entry["samples"] = {"file_index": [0] * rows, **times}
        document["timeline"] = None

    return change


def timeline(document: dict[str, Any], _number: int) -> None:
    """Let the timeline have nothing but times, which are drawn."""
    times = [10**9 * second for second in range(99_999)]
    document["timeline"] |= {"columns": {"time_ns": times}, "devices": {}}


def environment(document: dict[str, Any], _number: int) -> None:
    """Add a mapping of short texts: eight times as large once decoded."""
    document["config"]["environment"] = dict.fromkeys(map(str, range(9_999)), "ab")
    document["warnings"] = [{"name": "a", "message": str(line)} for line in range(9_999)]


def pool_each(document: dict[str, Any], number: int) -> None:
    """Let it be of a separate pool, so that it is compared with the baseline by itself."""
    document["task"]["pool"] = f"pool-{number}"


def entries(document: dict[str, Any], number: int) -> None:
    """Add as many measurements as there may be, each under a separate name."""
    pool_each(document, number)
    (entry,) = document["workloads"]
    entry["samples"] = {name: column[:20] for name, column in entry["samples"].items()}
    document["timeline"] = None
    document["workloads"] = [{**entry, "destination": f"d-{copy}"} for copy in range(400)]


def filled(key: str, item: bytes) -> Callable[[int], bytes]:
    """The largest good file whose `key` holds nothing but `item`, again and again."""

    def make(_number: int) -> bytes:
        before, after = encoded({**json.loads(GOOD.read_bytes()), key: "HERE"}).split(b'"HERE"')
        room = FILE_BYTES - len(before) - len(after) - 10
        return before + b"[" + b",".join([item] * (room // (len(item) + 1))) + b"]" + after

    return make


# By name: what makes the n-th file of a kind, and how many of it are a fair attack.
ATTACKS: dict[str, tuple[Callable[[int], bytes], int]] = {
    "samples": (changed(retrieves(240_000)), 60),
    "samples-in-small-files": (changed(retrieves(30_000)), 200),
    "timelines": (changed(timeline), 100),
    "texts": (changed(environment), 100),
    "entries": (changed(entries), 30),
    "pools": (changed(pool_each), 300),
    "empty-lists": (filled("warnings", b"[]"), 40),
    "numbers": (filled("workloads", b"1"), 40),
    "short-texts": (filled("something", b'"ab"'), 40),
    "spaces": (lambda _number: b" " * (63 * MIB), 4),
    "deep": (lambda _number: b'{"version":1,"a":' + b"[" * 200_000, 40),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_files_in_a_comparison(name, tmp_path, request):
    """At most 500 MB, one line for each result or for all left out, and the others are compared."""
    make, count = ATTACKS[name]
    if not request.config.getoption("--long"):
        count = min(count, SHORT.get(name, 1))
    for number in range(count):
        (tmp_path / f"hostile-{number}.json").write_bytes(make(number))
    for number in range(HONEST):
        (tmp_path / f"honest-{number}.json").write_bytes(changed(honest)(number))
    command = [sys.executable, "-c", BETWEEN, *COMPARE, *sorted(tmp_path.iterdir(), reverse=True)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True)
    status, peak_mb = map(float, done.stdout.split())
    print(f"{name}: {peak_mb:.0f} MB")
    assert peak_mb < PEAK_MB
    assert "Traceback" not in done.stderr
    assert status == 0
    assert "honest" not in done.stderr
    assert len(done.stderr) < 400 * (count + 2)
