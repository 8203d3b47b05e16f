# SPDX-License-Identifier: MPL-2.0
"""What the disks of a place add: memory without room, syncs, bursts, and requests of a limit."""

import json
import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from predicted_tasks import (
    DISK,
    LIMITED_REQUESTS,
    MIB,
    S,
    half_width,
    pool_workers,
    predicted,
    profile_document,
    run_of,
)

from io_benchmark.analysis.prediction.demand import Demand, PlaceDemand
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.unknowns import Unknowns
from io_benchmark.results.reader import parse_profile


def throttled(
    waiting: float, busy: float = 0.5, grown_mib: float = 0, idle: float | None = None
) -> Any:
    """Four half seconds in which 45 MiB are written.

    5 MiB are in memory at the start, and `grown_mib` more after each half second.
    """
    made = profile_document((45,) * 4, cpu_s=1, waiting=waiting, busy_cpus=(busy,) * 4)
    columns = made["timeline"]["columns"]
    columns["dirty_bytes"] = [round((5 * bool(row) + grown_mib * row) * MIB) for row in range(5)]
    if idle is not None:
        columns["cpu_iowait_ms"] = [round(500 * idle * row) for row in range(5)]
    return parse_profile(json.dumps(made).encode(), "profile")


@pytest.mark.parametrize(
    ("at_once", "later"),
    [
        # The CPUs have nothing to do in a fifth of the time, whether pressure shows it or not.
        ({"waiting": 0.0, "busy": 0.79}, {"waiting": 0.0, "busy": 0.81}),
        # A CPU is busy all the time: pressure of 0.17 is waiting for 0.2 of it.
        ({"waiting": 0.17, "busy": 1.0}, {"waiting": 0.16, "busy": 1.0}),
        # Memory takes more than half of what is written meanwhile.
        ({"waiting": 0.45, "grown_mib": 22}, {"waiting": 0.45, "grown_mib": 23}),
        # Pressure is divided between CPUs, and what idle ones wait is not.
        ({"waiting": 0.1, "busy": 1.0, "idle": 0.21}, {"waiting": 0.1, "busy": 1.0, "idle": 0.19}),
    ],
    ids=["nothing to do", "busy CPUs", "growing", "idle CPUs"],
)
def test_memory_without_room(at_once: dict[str, float], later: dict[str, float]) -> None:
    """Where disks at their ceiling hold the task back, slower ones delay all that is written."""
    times_s = [predicted(throttled(**case)).time_ns / S for case in (at_once, later)]
    assert times_s[0] > 3.4 > times_s[1]


def test_windows_that_sync() -> None:
    """They show no full memory, and a task that takes longer makes no more requests in them.

    Without room in memory, the two later windows would take 0.2 s more; half of it is taken.
    """
    made = profile_document((50, 50, 30, 30), waiting=0, busy_cpus=(0, 0, 1, 1), cpu_s=1)
    made["timeline"]["columns"]["dirty_bytes"] = [MIB] + [6 * MIB] * 4
    made["timeline"]["devices"][DISK]["flushes"] = [0, 5, 10, 10, 10]
    pool = predicted(parse_profile(json.dumps(made).encode(), "profile"))
    assert pool.time_ns / S == pytest.approx(3.1, rel=0.02)
    times_ns = []
    for each in (0, 5):
        made = profile_document((45,) * 4)
        made["timeline"]["devices"][DISK]["flushes"] = [each * row for row in range(5)]
        profiled = parse_profile(json.dumps(made).encode(), "profile")
        times_ns.append(predicted(profiled, **LIMITED_REQUESTS).time_ns)
    assert times_ns[0] > 1.01 * times_ns[1]


def packs(mib: float, waiting: float = 0.0, syncs: int = 1) -> Any:
    """Four half seconds, in each of which so much is written and synced while a CPU is busy."""
    made = profile_document((mib,) * 4, waiting=waiting, busy_cpus=(1,) * 4, cpu_s=2)
    flushes = [2 * syncs * row for row in range(5)]
    made["timeline"]["devices"][DISK]["flushes"] = flushes
    made["syncs"] = {"workspace": {"flushes": flushes[-1], "commits": 4 * syncs}}
    return parse_profile(json.dumps(made).encode(), "profile")


@pytest.mark.parametrize(
    ("mib", "waiting", "syncs", "added_s"),
    [
        # 0.1 and 0.2 s of writing there pass as a burst of a tenth of a second, or not all of it.
        (5, 0.0, 1, 0.0),
        (7.5, 0.0, 1, 0.05),
        (7.5, 0.0, 2, 0.0),
        # A burst of 0.2 s passed already in the profile.
        (20, 0.0, 1, 0.2),
        # The task waited for the whole pack: nothing passed.
        (20, 0.3, 1, 0.2),
        (5, 0.1, 1, 0.05),
    ],
)
def test_bursts(mib: float, waiting: float, syncs: int, added_s: float) -> None:
    """A pack that one pool takes without waiting may be waited for on a slower one."""
    pool = predicted(packs(mib, waiting, syncs))
    assert pool.time_ns / S == pytest.approx(2 + 4 * added_s, rel=0.02)


def test_interval_of_bursts() -> None:
    """It has both ends: nothing is waited for, and all that did not pass in the profile."""
    passed, waited = predicted(packs(20)), predicted(packs(20, 0.3))
    assert half_width(passed) > 1.5 * half_width(waited)
    assert passed.low_ns / S < 2
    short = predicted(packs(7.5))
    assert short.high_ns / S > 2 + 4 * 0.15


@pytest.mark.parametrize(
    ("unmerged", "writes", "has_limit", "merged"),
    [
        # 1,000 requests per second are 600 in a window; a disk that does 1.25 times as many has
        # another limit.
        ((751, 751), 299, False, 1.0),
        ((751, 0), 299, False, 0.3),
        ((749, 749), 301, False, 0.3),
        # The disk did as many as it can do before they were merged, and less than half of that
        # after.
        ((749, 749), 299, False, 0.0),
        ((481, 481), 299, False, 0.0),
        ((479, 479), 239, False, 0.3),
        ((751, 751), 299, True, 0.0),
    ],
)
def test_which_requests_a_limit_counts(unmerged, writes, has_limit, merged):
    """A cgroup's limit counts them before the kernel merges them.

    Of other limits, more than a second of the profile may tell.
    """
    nothing, logs = np.zeros(2), [math.log(1000)]
    limit = {(PoolFigure.WRITES_LIMIT, "workspace"): logs} if has_limit else {}
    source = PoolStorage("intel", 1, {(PoolFigure.WRITES, "workspace"): logs}, None, None, None)
    target = PoolStorage("amd-16", 1, limit, None, None, None)
    demand = cast("Demand", SimpleNamespace(spans_ns=np.full(2, 0.6 * S)))
    place = PlaceDemand(
        "workspace", nothing, np.full(2, writes), np.array(unmerged), nothing, nothing, None
    )
    change = PoolChange(demand, source, target, {})
    assert change.at_place(place).merged(Unknowns(merged=0.3)) == merged


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
