# SPDX-License-Identifier: MPL-2.0
"""Result files that a hostile task would leave: as large as they may be in every direction."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOOD = Path(__file__).parents[1] / "fixtures" / "result-v2.json"
MIB = 1024 * 1024
FILE_BYTES = 16 * MIB  # the largest that is decoded
SMALL_BYTES = 500 * 1024  # the largest that is read among the first


def _document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(GOOD.read_bytes())
    return loaded


def _encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def honest(number: int) -> bytes:
    """A small result that nothing is wrong with."""
    document = _document()
    document["task"]["task_id"] = None
    document["task"]["pool"] = f"pool-{number % 2}"
    document["started"] = f"2026-11-21T00:00:{number:02d}Z"
    return _encoded(document)


def _retrieves(rows: int) -> Callable[[int], bytes]:
    """Samples alone, of three digits: five times as large once decoded."""

    def make(number: int) -> bytes:
        document = _document()
        document["task"]["task_id"] = None
        document["started"] = f"retrieves {number}"
        (entry,) = document["workloads"]
        entry["retrieves_planned"] = rows
        entry["samples"] = {
            "file_index": [0] * rows,
            "start_ns": [999] * rows,
            "lookup_ns": [999] * rows,
            "copy_ns": [999] * rows,
        }
        document["timeline"] = None
        return _encoded(document)

    return make


def _timeline(rows: int) -> Callable[[int], bytes]:
    """A timeline of nothing but times, which is drawn."""

    def make(number: int) -> bytes:
        document = _document()
        document["task"]["task_id"] = None
        document["started"] = f"timeline {number}"
        times = [10**9 * at for at in range(rows)]
        document["timeline"]["columns"] = {"time_ns": times}
        document["timeline"]["devices"] = {}
        return _encoded(document)

    return make


def _environment(count: int) -> Callable[[int], bytes]:
    """A mapping of short texts: eight times as large once decoded."""

    def make(number: int) -> bytes:
        document = _document()
        document["task"]["task_id"] = None
        document["started"] = f"environment {number}"
        document["config"]["environment"] = {str(at): "ab" for at in range(count)}
        document["warnings"] = [{"name": "a", "message": str(at)} for at in range(count)]
        return _encoded(document)

    return make


def _entries(number: int) -> bytes:
    """As many measurements as there may be, each under a separate name."""
    document = _document()
    document["task"]["task_id"] = None
    document["task"]["pool"] = f"pool-{number}"
    document["started"] = f"entries {number}"
    (entry,) = document["workloads"]
    entry["samples"] = {name: column[:20] for name, column in entry["samples"].items()}
    document["timeline"] = None
    document["workloads"] = [{**copy.copy(entry), "destination": f"d-{at}"} for at in range(400)]
    return _encoded(document)


def _pool_each(number: int) -> bytes:
    """A separate pool, so that it is compared with the baseline by itself."""
    document = _document()
    document["task"]["task_id"] = None
    document["task"]["pool"] = f"pool-{number}"
    document["started"] = f"pool {number}"
    return _encoded(document)


def _filled(key: str, item: bytes, size: int) -> Callable[[int], bytes]:
    """A good file whose `key` holds nothing but `item`, again and again."""

    def make(_number: int) -> bytes:
        document = _document()
        document[key] = "HERE"
        before, after = _encoded(document).split(b'"HERE"')
        room = size - len(before) - len(after) - 10
        return before + b"[" + b",".join([item] * (room // (len(item) + 1))) + b"]" + after

    return make


def _storage(item: bytes, size: int) -> Callable[[int], bytes]:
    """Two million places."""

    def make(_number: int) -> bytes:
        document = _document()
        document["storage"] = {"places": "HERE"}
        before, after = _encoded(document).split(b'"HERE"')
        return before + b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]" + after

    return make


# By name: what makes the n-th file of a kind, and how many of it are a fair attack.
ATTACKS: dict[str, tuple[Callable[[int], bytes], int]] = {
    "samples": (_retrieves(240_000), 60),
    "samples-in-small-files": (_retrieves(30_000), 200),
    "timelines": (_timeline(99_999), 100),
    "timelines-in-small-files": (_timeline(34_000), 200),
    "texts": (_environment(9_999), 100),
    "entries": (_entries, 30),
    "pools": (_pool_each, 300),
    "empty-lists": (_filled("warnings", b"[]", FILE_BYTES), 40),
    "empty-objects": (_filled("unknown", b"{}", FILE_BYTES), 40),
    "numbers": (_filled("workloads", b"1", FILE_BYTES), 40),
    "short-texts": (_filled("something", b'"ab"', FILE_BYTES), 40),
    "small-empty-lists": (_filled("warnings", b"[]", SMALL_BYTES), 400),
    "places": (_storage(b'{"name":"a","path":"a"}', 50 * MIB), 4),
    "spaces": (lambda _number: b" " * (63 * MIB), 4),
    "spaces-within-limits": (lambda _number: b" " * FILE_BYTES, 60),
    "deep": (lambda _number: b'{"version":1,"a":' + b"[" * 200_000, 40),
}
