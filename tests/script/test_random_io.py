# SPDX-License-Identifier: MPL-2.0
"""The workload random-io, its latencies."""

from collections import Counter

from workloads import random_io


def test_latencies() -> None:
    """The 99th percentile of all operations, to 1/64 of its power of two."""
    counts = Counter(random_io._rounded_down(ns) for ns in (*range(1, 100), 1_020_001))
    assert random_io._percentile_99(counts) == 1_015_808
    counts[10] += 1
    assert random_io._percentile_99(counts) == 99
