# SPDX-License-Identifier: MPL-2.0
"""Predictions from profiles whose times and bytes are given, and how many simulated tasks they cover."""

import math
from statistics import fmean
from typing import Any

import numpy as np
import past
import pytest
from msgspec.structs import replace
from predicted_tasks import pool_workers, profile, run_of
from seed_workers import worker

from io_benchmark.analysis.prediction.demand import PlaceDemand
from io_benchmark.analysis.prediction.pool_change import MODEL_ERROR
from io_benchmark.analysis.prediction.pool_storage import (
    SLOWING,
    PoolStorage,
)
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.report.content.wording import text_of

S = 1e9
# Half seconds of computing, and of writing at the ceiling of the faster pool.
MIXED = (0, 50, 50, 0)
# 200 synchronous writes, of which each takes three times as long there, 0.1 s in all.
SYNCS = {"flushes": 200, "commits": 100}


def predicted(*profiles: Any, ceilings: tuple[float, ...] = (50, 50), **target: Any) -> Any:
    """Return the prediction on a pool that writes 50 MiB/s, from one that writes 100."""
    source = {key: value for key, value in target.items() if key == "lookup_cpu_ms"}
    workers = pool_workers("intel", (100,) * 3, **source and {"lookup_cpu_ms": 0.1})
    (task,) = predict(
        map(run_of, profiles), [*workers, *pool_workers("amd-16", ceilings, **target)]
    )
    assert task.pool == "intel"
    (pool,) = task.pools
    assert pool.reason is None
    return pool


SYNC_NS = next(
    entry.mean_ns
    for entry in pool_workers("intel")[0].entries
    if entry.subject.variant == "append-fsync"
)


@pytest.mark.parametrize(
    ("profiled", "target", "time_s", "added_s"),
    [
        # Each half second takes what it took, or what its bytes take there, whichever is longer.
        ({"written_mib": MIXED}, {}, 3, (1, 0, 0)),
        ({"written_mib": (20,) * 4}, {}, 2, (0, 0, 0)),
        # As many syncs as there were, times what each takes longer; commits of ext4 flush twice.
        (
            {"syncs": SYNCS},
            {"slower": {"sync-write/append-fsync": 3}},
            2 + 200 * SYNC_NS / S,
            (0, 200 * SYNC_NS / S, 0),
        ),
        # Without counts of commits there are as many syncs as flushes, or half as many.
        (
            {"syncs": {"flushes": 200, "commits": None}},
            {"slower": {"sync-write/append-fsync": 3}},
            2 + 300 * SYNC_NS / S,
            (0, 300 * SYNC_NS / S, 0),
        ),
        # A disk that writes at its ceiling is waited for once.
        (
            {"written_mib": (50, 50), "syncs": SYNCS},
            {"slower": {"sync-write/append-fsync": 1.5}},
            *(2, None),
        ),
        # The part of the time on a CPU, a quarter of that in the kernel not: it is with files.
        (
            {"cpu_s": 1, "kernel_s": 0.4},
            {"ceilings": (50,) * 3, "slower": {"spawn": 1.2}},
            *(2.18, (0, 0, 0.1786)),
        ),
        # A difference that one worker shows counts less, and one within its error not at all.
        ({"cpu_s": 2}, {"ceilings": (50,), "slower": {"spawn": 1.08}}, 2, (0, 0, 0)),
        ({"cpu_s": 2}, {"ceilings": (50,), "slower": {"spawn": 1.5}}, 2.927, (0, 0, 0.927)),
        # On 1 CPU, two that were busy take twice as long; what one was busy with takes the same.
        (
            {"cpu_s": 3, "waiting": 0, "busy_cpus": (2, 2, 1, 1)},
            {"change": {"host.cpu_count": 1}},
            *(3, (0, 0, 1)),
        ),
        # The task waited for all that was written; nobody waited for it; a window had room in memory.
        ({"written_mib": (20,) * 4, "waiting": 1}, {}, 2.8, (0.8, 0, 0)),
        ({"written_mib": (20,) * 4, "waiting": 0, "cpu_s": 2}, {}, 2, (0, 0, 0)),
        ({"written_mib": (40, 10, 10, 0), "waiting": 0}, {}, 2, (0, 0, 0)),
        # 30 MiB are not written yet at the end. With the 40 of the profile they are more than the room,
        # which is between these 40 MiB and 15 % of the memory: 49.
        (
            {"written_mib": (0, 0, 40, 40), "waiting": 0, "dirty_mib": 40},
            {"change": {"host.memory_available_bytes": 400 * 1024**2}},
            *(2.42, (0.42, 0, 0)),
        ),
    ],
)
def test_times(
    profiled: dict[str, Any], target: dict[str, Any], time_s: float, added_s: Any
) -> None:
    """The task's time, and what writes, syncs and the CPU add to it."""
    pool = predicted(profile(**profiled), **target)
    assert pool.time_ns / S == pytest.approx(time_s, rel=0.03)
    if added_s is not None:
        added_ns = (pool.added_by_writes_ns, pool.added_by_syncs_ns, pool.added_by_cpu_ns)
        assert [ns / S for ns in added_ns] == pytest.approx(added_s, rel=0.04, abs=1e-9)
    assert pool.write_bytes_per_s == pytest.approx(50 * 1024**2)
    assert pool.workers == len(target.get("ceilings", (50, 50)))


def test_order_of_profiles() -> None:
    """It changes nothing, and neither does a profile that names the worker type of its pool."""
    profiles = [profile(MIXED), profile((0, 20, 50, 10), read_mib=1)]
    by_type = [replace(each, task=replace(each.task, pool="b-linux")) for each in profiles]
    assert predicted(*profiles) == predicted(*profiles[::-1]) == predicted(*by_type)


def width(pool: Any) -> float:
    return math.log(pool.high_ns / pool.low_ns) / 2


def test_interval_of_one_profile() -> None:
    """The errors of the model, of tasks, of ceilings, and of a room in memory that nothing limits."""
    pool = predicted(profile((0,) * 4, waiting=0))
    expected = 1.7 * math.hypot(MODEL_ERROR, math.sqrt(2) * 0.05)
    assert math.log(pool.high_ns / pool.time_ns) == pytest.approx(expected, rel=0.02)
    assert math.log(pool.time_ns / pool.low_ns) == pytest.approx(expected, rel=0.02)


def test_what_widens_the_interval() -> None:
    """Files that disagree, writes that computing hides, few workers, and profiles that differ."""
    writing = profile((50,) * 4)
    usual = width(predicted(writing, ceilings=(50,)))
    assert width(predicted(writing, ceilings=(50,), second_file=2)) > 1.4 * usual
    idle = predicted(profile((0,) * 4))
    hidden = predicted(profile((20,) * 4))
    assert (hidden.time_ns, hidden.high_ns > 1.1 * idle.high_ns) == (idle.time_ns, True)
    slow = predicted(profile(cpu_s=2), ceilings=(50,), slower={"spawn": 1.2})
    assert width(slow) > 1.2 * width(predicted(profile(), ceilings=(50,)))
    several = predicted(*(profile((0,) * more + MIXED) for more in (0, 4, 8)))
    assert width(several) > 2 * width(predicted(profile(MIXED)))


def test_the_fastest_profiled_pool_is_the_source() -> None:
    """Its profile is used; that of the other pool is the measured time there."""
    pool = predicted(profile((50,) * 4, pool="amd-16"), profile((50, 50)))
    assert pool.time_ns == pytest.approx(2 * S, rel=0.02)
    assert pool.measured_ns == (2_000_000_000,)


def test_each_command_is_a_task() -> None:
    """Profiles of different commands are not averaged."""
    workers = [*pool_workers("intel"), *pool_workers("amd-16", (50,))]
    tasks = predict(
        map(run_of, (profile(MIXED, command="a"), profile((0, 0), command="b"))), workers
    )
    assert [task.sha256 for task in tasks] == ["a" * 64, "b" * 64]
    assert [fmean(task.measured_ns) for task in tasks] == [2 * S, 1 * S]
    assert [task.pools[0].time_ns for task in tasks] == pytest.approx([3 * S, 1 * S], rel=0.02)


@pytest.mark.parametrize(("other_cpu_ms", "cpus"), [(601, "0.300"), (599, None)])
def test_busy_machine(other_cpu_ms: int, cpus: str | None) -> None:
    """A note says that other processes worked meanwhile, from 0.3 CPUs on."""
    made = profile(MIXED, change={"other_cpu_ms": other_cpu_ms})
    (task,) = predict([run_of(made)], [*pool_workers("intel"), *pool_workers("amd-16", (50,))])
    texts = [text_of(note).partition(":")[0] for note in task.notes]
    assert texts == ([f"Other processes used {cpus} CPUs meanwhile"] if cpus else [])


def test_flushes_of_a_file_system() -> None:
    """A window with four flushes may be a file system's own commits; with more, the task syncs."""
    nothing = np.zeros(2)
    flushes = np.array([4.0, 5.0])
    place = PlaceDemand("workspace", nothing, nothing, nothing, flushes, 0.0, None)
    assert place.is_synced.tolist() == [False, True]


@pytest.mark.parametrize(("count", "is_known"), [(59, False), (60, True)])
def test_retrieves_that_show_a_slow_end(count: int, is_known: bool) -> None:
    """Fewer do not tell a disk that slows down."""
    (push,) = past.pushes(1, retrieves=count)
    figures = PoolStorage.of("amd-16", [worker(push.documents[0])], {}).figures
    assert ((SLOWING, "workspace") in figures) is is_known
