# SPDX-License-Identifier: MPL-2.0
"""Bytes that are written although nothing demands it."""

import json

import pytest
from predicted_tasks import (
    MIB,
    S,
    pool_workers,
    profile_document,
    run_of,
)

from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.results.reader import parse_profile


@pytest.mark.parametrize(
    ("dirty_mib", "room_mib", "is_at_once"),
    [
        # 20 of 160 MiB are in memory on average: 2.5 s of them. 41 are longer than 5 s.
        (20, 1000, True),
        (41, 1000, False),
        # Half of the room: memory demands the writing.
        (20, 40.5, True),
        (20, 39.5, False),
    ],
)
def test_written_at_once(dirty_mib: int, room_mib: float, is_at_once: bool) -> None:
    """Files that were written soon, without a sync and with room in memory, may be waited for."""
    made = profile_document((4,) * 40, waiting=0, busy_cpus=(1,) * 40, cpu_s=20)
    made["timeline"]["columns"]["dirty_bytes"] = [MIB] + [(1 + dirty_mib) * MIB] * 40
    memory = {"host.memory_available_bytes": round(room_mib * MIB / 0.15)}
    pools = [*pool_workers("intel", change=memory), *pool_workers("amd-16", (5,))]
    (task,) = predict([run_of(parse_profile(json.dumps(made).encode(), "profile"))], pools)
    (pool,) = task.pools
    assert pool.time_ns is not None
    assert pool.high_ns is not None
    # It needs 32 s there for what it writes in 20 s.
    assert (pool.time_ns / S > 24) is is_at_once
    assert pool.high_ns / S > 32
