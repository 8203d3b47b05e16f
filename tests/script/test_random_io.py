# SPDX-License-Identifier: MPL-2.0
"""The workload random-io, its latencies."""

import json

from workloads import random_io


def test_latencies() -> None:
    """Percentiles to 1/64 of their power of two, the mean and the largest exactly."""
    many, single = random_io._Latencies(), random_io._Latencies()
    for ns in range(1, 100):
        many.add(ns)
    single.add(1_020_001)
    many.merge(json.loads(json.dumps(single.as_message())))
    assert many.summary() == {
        "mean": (sum(range(1, 100)) + 1_020_001) // 100,
        "p50": 51,
        "p95": 96,
        "p99": 1_015_808,
        "max": 1_020_001,
    }
