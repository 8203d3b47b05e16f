# SPDX-License-Identifier: MPL-2.0
"""Predictions from profiles whose times and bytes are given."""

import json
import math
from statistics import fmean
from typing import Any, cast

import pytest
from predicted_tasks import (
    MIB,
    MIXED,
    S,
    both_pools,
    half_width,
    predicted,
    profile,
    profile_document,
    run_of,
    slower_syncs,
    sync_ns,
)

from io_benchmark.analysis.prediction.pool_change import MODEL_ERROR
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.results.reader import parse_profile

# 200 synchronous writes, of which each takes three times as long there, 0.1 s in all.
SYNCS = {"flushes": 200, "commits": 100}
SYNC_NS = sync_ns()
BUSY = {"cpu_s": 12, "waiting": 0.0}
ONE_CPU = {"change": {"host.cpu_count": 1}}


@pytest.mark.parametrize(
    ("profiled", "target", "time_s", "added_s"),
    [
        # Each half second takes what it took, or what its bytes take there, whichever is longer.
        ({"written_mib": MIXED}, {}, 3, (1, 0, 0)),
        ({"written_mib": (20,) * 4}, {}, 2, (0, 0, 0)),
        # The disk counts at once what it does in a second at its ceiling.
        ({"written_mib": (100, 0, 0, 0)}, {}, 3, (1, 0, 0)),
        ({"written_mib": (0, 0, 0, 100)}, {}, 3.5, (1.5, 0, 0)),
        # As many syncs as there were, times what each takes longer; commits of ext4 flush twice.
        ({"syncs": SYNCS}, slower_syncs(3), 2 + 200 * SYNC_NS / S, (0, 200 * SYNC_NS / S, 0)),
        # Without counts of commits there are as many syncs as flushes, or half as many.
        (
            {"syncs": {"flushes": 200, "commits": None}},
            slower_syncs(3),
            2 + 300 * SYNC_NS / S,
            (0, 300 * SYNC_NS / S, 0),
        ),
        # A disk that writes at its ceiling is waited for once.
        ({"written_mib": (50, 50), "syncs": SYNCS}, slower_syncs(1.5), 2, None),
        # The part of the time on a CPU, a quarter of that in the kernel not: it is with files.
        (
            {"cpu_s": 1, "kernel_s": 0.4},
            {"ceilings": (50,) * 3, "slower": {"spawn": 1.2}},
            2.18,
            (0, 0, 0.1786),
        ),
        # A difference that one worker shows counts less, and one within its error not at all.
        ({"cpu_s": 2}, {"ceilings": (50,), "slower": {"spawn": 1.08}}, 2, (0, 0, 0)),
        ({"cpu_s": 2}, {"ceilings": (50,), "slower": {"spawn": 1.5}}, 2.927, (0, 0, 0.927)),
        # On 1 CPU, two that were busy take twice as long; what one was busy with takes the same.
        ({**BUSY, "cpu_s": 3, "busy_cpus": (2, 2, 1, 1)}, ONE_CPU, 3, (0, 0, 1)),
        # The task waited for all that was written; nobody waited for it.
        ({"written_mib": (20,) * 4, "waiting": 1}, {}, 2.8, (0.8, 0, 0)),
        ({"written_mib": (20,) * 4, "waiting": 0, "cpu_s": 2}, {}, 2, (0, 0, 0)),
        # 0.3 s of writing are late. Memory has room, but what is written at once may be waited for.
        ({"written_mib": (40, 10, 10, 0), "waiting": 0}, {}, 2.15, (0.15, 0, 0)),
        # 30 MiB are not written yet at the end. With the 40 of the profile they are more than the
        # room, which is between these 40 MiB and 15 % of the memory, 49: 0.42 s late, or all 0.6 s.
        (
            {"written_mib": (0, 0, 40, 40), "waiting": 0, "dirty_mib": 40},
            {"change": {"host.memory_available_bytes": 400 * 1024**2}},
            2.51,
            (0.51, 0, 0),
        ),
    ],
)
def test_times(profiled, target, time_s, added_s):
    """The task's time, and what writes, syncs and the CPU add to it."""
    pool = predicted(profile(**profiled), **target)
    assert pool.time_ns / S == pytest.approx(time_s, rel=0.03)
    if added_s is not None:
        added_ns = (pool.added_by_writes_ns, pool.added_by_syncs_ns, pool.added_by_cpu_ns)
        assert [ns / S for ns in added_ns] == pytest.approx(added_s, rel=0.04, abs=1e-9)
    assert pool.write_bytes_per_s == pytest.approx(50 * 1024**2)
    assert pool.workers == len(target.get("ceilings", (50, 50)))


def test_interval_of_one_profile() -> None:
    """The errors of the model, tasks, ceilings, and a room in memory that nothing limits."""
    pool = predicted(profile((0,) * 4, waiting=0))
    expected = 1.7 * math.hypot(MODEL_ERROR, math.sqrt(2) * 0.05)
    for ratio in (pool.high_ns / pool.time_ns, pool.time_ns / pool.low_ns):
        assert math.log(ratio) == pytest.approx(expected, rel=0.02)


def test_what_widens_the_interval() -> None:
    """Files that disagree, writes that computing hides, few workers, and profiles that differ."""
    writing = profile((50,) * 4)
    usual = half_width(predicted(writing, ceilings=(50,)))
    assert half_width(predicted(writing, ceilings=(50,), second_file=2)) > 1.4 * usual
    # It may wait for what memory takes while it computes.
    taken = profile((40,) * 4, waiting=0, busy_cpus=(1,) * 4, cpu_s=2)
    assert half_width(predicted(taken, ceilings=(50,))) > 1.4 * usual
    idle = predicted(profile((0,) * 4))
    hidden = predicted(profile((20,) * 4))
    assert (hidden.time_ns, hidden.high_ns > 1.1 * idle.high_ns) == (idle.time_ns, True)
    slow = predicted(profile(cpu_s=2), ceilings=(50,), slower={"spawn": 1.2})
    assert half_width(slow) > 1.2 * half_width(predicted(profile(), ceilings=(50,)))
    several = predicted(*(profile((0,) * more + MIXED) for more in (0, 4, 8)))
    assert half_width(several) > 2 * half_width(predicted(profile(MIXED)))


def test_each_command_is_a_task() -> None:
    """Profiles of different commands are not averaged."""
    profiles = profile(MIXED, command="a"), profile((0, 0), command="b")
    tasks = predict(map(run_of, profiles), both_pools())
    assert [task.sha256 for task in tasks] == ["a" * 64, "b" * 64]
    assert [fmean(task.measured_ns) for task in tasks] == [2 * S, 1 * S]
    assert [task.pools[0].time_ns for task in tasks] == pytest.approx([3 * S, 1 * S], rel=0.02)


@pytest.mark.parametrize(("mib", "share"), [(19, 0.0), (21, 0.5)])
def test_share_at_the_ceiling(mib: float, share: float) -> None:
    """Windows in which a pool's disks work for 80 % of the time or more; here a second of two."""
    (task,) = predict([run_of(profile((0, mib, mib, 0)))], both_pools())
    assert (task.at_ceiling_share, task.pools[0].at_ceiling_share) == (0.0, share)
    (task,) = predict([run_of(profile((mib,) * 4))], both_pools()[1:])
    assert task.at_ceiling_share is None


def test_written_over_time() -> None:
    """Each window, or 120 steps with the same bytes; the ceilings of the place that got most."""
    short, long = (
        cast("Any", predict([run_of(profile(written))], both_pools())[0].written)
        for written in (MIXED, (10, 30) * 150)
    )
    assert short.bytes_per_s == pytest.approx([0, 100 * MIB, 100 * MIB, 0])
    assert short.peaks_bytes_per_s == pytest.approx(short.bytes_per_s)
    assert short.ceilings_bytes_per_s == pytest.approx({"intel": 100 * MIB, "amd-16": 50 * MIB})
    assert (len(long.bytes_per_s), long.step_ns, long.window_ns) == (120, 1.25 * S, S / 2)
    assert fmean(long.bytes_per_s) == pytest.approx(40 * MIB)
    assert long.peaks_bytes_per_s == pytest.approx([60 * MIB] * 120)


def labelled(label: str | None, command: str) -> Any:
    made = profile_document(MIXED)
    made["command"] = {"program": "make", "arguments": 1, "sha256": command * 64, "label": label}
    return run_of(parse_profile(json.dumps(made).encode(), "profile"))


def test_labels() -> None:
    """Profiles of one label are of one task; commands without one are told apart by their words."""
    runs = [labelled(*each) for each in (("x", "a"), ("x", "b"), ("y", "a"), (None, "a"))]
    tasks = predict(runs, both_pools())
    found = sorted((task.label or "", len(task.measured_ns)) for task in tasks)
    assert found == [("", 1), ("x", 2), ("y", 1)]


def test_the_fastest_profiled_pool_is_the_source() -> None:
    """Its profile is used; that of the other pool is the measured time there."""
    pool = predicted(profile((50,) * 4, pool="amd-16"), profile((50, 50)))
    assert pool.time_ns == pytest.approx(2 * S, rel=0.02)
    assert pool.measured_ns == (2_000_000_000,)
