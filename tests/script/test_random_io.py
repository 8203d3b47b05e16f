# SPDX-License-Identifier: MPL-2.0
"""The workload random-io, run as a worker runs it."""

import errno
import json
from pathlib import Path

import pytest
from workloads import random_io


def test_latencies() -> None:
    """Percentiles to 1/64 of their power of two, the mean and the largest exactly."""
    many, single = random_io._Latencies(), random_io._Latencies()
    for ns in range(1, 100):
        many.add(ns)
    single.add(1_010_001)
    many.merge(json.loads(json.dumps(single.as_message())))
    assert many.summary() == {
        "mean": (sum(range(1, 100)) + 1_010_001) // 100,
        "p50": 51,
        "p95": 96,
        "p99": 1_007_616,
        "max": 1_010_001,
    }


def test_o_direct_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's own reason, and nothing is left behind."""

    def refuse(*_: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(random_io.os, "open", refuse)
    assert random_io._refusal_of(str(tmp_path)) == "Invalid argument"
    assert list(tmp_path.iterdir()) == []
