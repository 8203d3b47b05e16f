# SPDX-License-Identifier: MPL-2.0
"""Result files that a hostile task would leave: as large as they may be in every direction."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOOD = Path(__file__).parents[1] / "fixtures" / "result-v2.json"
MIB = 1024 * 1024
FILE_BYTES = 16 * MIB  # the largest that is decoded


def _document(start: str | None = None) -> dict[str, Any]:
    """The good result, of a run that starts then."""
    loaded: dict[str, Any] = json.loads(GOOD.read_bytes())
    if start is not None:
        loaded["task"]["task_id"] = None
        loaded["started"] = start
    return loaded


def _encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def honest(number: int) -> bytes:
    """A small result that nothing is wrong with."""
    document = _document(f"2026-11-21T00:00:{number:02d}Z")
    document["task"]["pool"] = f"pool-{number % 2}"
    return _encoded(document)


def _retrieves(rows: int) -> Callable[[int], bytes]:
    """Samples alone, of three digits: five times as large once decoded."""

    def make(number: int) -> bytes:
        document = _document(f"retrieves {number}")
        (entry,) = document["workloads"]
        entry["retrieves_planned"] = rows
        times = dict.fromkeys(("start_ns", "lookup_ns", "copy_ns"), [999] * rows)
        entry["samples"] = {"file_index": [0] * rows, **times}
        document["timeline"] = None
        return _encoded(document)

    return make


def _timeline(rows: int) -> Callable[[int], bytes]:
    """A timeline of nothing but times, which is drawn."""

    def make(number: int) -> bytes:
        document = _document(f"timeline {number}")
        times = [10**9 * second for second in range(rows)]
        document["timeline"] |= {"columns": {"time_ns": times}, "devices": {}}
        return _encoded(document)

    return make


def _environment(count: int) -> Callable[[int], bytes]:
    """A mapping of short texts: eight times as large once decoded."""

    def make(number: int) -> bytes:
        document = _document(f"environment {number}")
        document["config"]["environment"] = dict.fromkeys(map(str, range(count)), "ab")
        document["warnings"] = [{"name": "a", "message": str(line)} for line in range(count)]
        return _encoded(document)

    return make


def _entries(number: int) -> bytes:
    """As many measurements as there may be, each under a separate name."""
    document = _document(f"entries {number}")
    document["task"]["pool"] = f"pool-{number}"
    (entry,) = document["workloads"]
    entry["samples"] = {name: column[:20] for name, column in entry["samples"].items()}
    document["timeline"] = None
    document["workloads"] = [{**entry, "destination": f"d-{copy}"} for copy in range(400)]
    return _encoded(document)


def _pool_each(number: int) -> bytes:
    """A separate pool, so that it is compared with the baseline by itself."""
    document = _document(f"pool {number}")
    document["task"]["pool"] = f"pool-{number}"
    return _encoded(document)


def _filled(key: str, item: bytes) -> Callable[[int], bytes]:
    """The largest good file whose `key` holds nothing but `item`, again and again."""

    def make(_number: int) -> bytes:
        before, after = _encoded({**_document(), key: "HERE"}).split(b'"HERE"')
        room = FILE_BYTES - len(before) - len(after) - 10
        return before + b"[" + b",".join([item] * (room // (len(item) + 1))) + b"]" + after

    return make


# By name: what makes the n-th file of a kind, and how many of it are a fair attack.
ATTACKS: dict[str, tuple[Callable[[int], bytes], int]] = {
    "samples": (_retrieves(240_000), 60),
    "samples-in-small-files": (_retrieves(30_000), 200),
    "timelines": (_timeline(99_999), 100),
    "texts": (_environment(9_999), 100),
    "entries": (_entries, 30),
    "pools": (_pool_each, 300),
    "empty-lists": (_filled("warnings", b"[]"), 40),
    "numbers": (_filled("workloads", b"1"), 40),
    "short-texts": (_filled("something", b'"ab"'), 40),
    "spaces": (lambda _number: b" " * (63 * MIB), 4),
    "deep": (lambda _number: b'{"version":1,"a":' + b"[" * 200_000, 40),
}
