# SPDX-License-Identifier: MPL-2.0
"""Predictions from profiles whose times and bytes are given."""

import math
from statistics import fmean
from typing import Any

import pytest
from msgspec.structs import replace
from predicted_tasks import pool_workers, profile

from io_benchmark.analysis.prediction.pool_change import MODEL_ERROR
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.report.content.statement_text import text_of

S = 1e9
# Half seconds of computing, and of writing at the ceiling of the faster pool.
MIXED = (0, 50, 50, 0)


def predicted(profiles, *pools, slower=None, **options) -> Any:
    """On a pool that writes 50 MiB/s, from one that writes 100; with other figures if told so."""
    workers = [
        *pool_workers("intel", (100, 100, 100), **options),
        *pool_workers("amd-16", *(pools or ((50, 50),)), slower=slower, **options),
    ]
    (task,) = predict(profiles, workers)
    assert task.pool == "intel"
    (pool,) = task.pools
    return pool


def test_waiting_for_writes():
    """Each half second takes what it took, or what its bytes take there, whichever is longer."""
    pool = predicted([profile(MIXED)])
    assert pool.reason is None
    assert pool.time_ns == pytest.approx(3 * S)
    assert pool.added_by_writes_ns == pytest.approx(1 * S)
    assert (pool.added_by_syncs_ns, pool.added_by_cpu_ns) == (0, 0)
    assert pool.write_bytes_per_s == pytest.approx(50 * 1024**2)
    assert pool.workers == 2


def test_order_of_profiles():
    """It changes nothing, and neither does a profile that names the worker type of its pool."""
    profiles = [profile(MIXED), profile((0, 20, 50, 10), pool="intel", read_mib=1)]
    by_type = [replace(each, task=replace(each.task, pool="b-linux")) for each in profiles]
    assert predicted(profiles) == predicted(profiles[::-1]) == predicted(by_type)


def test_writes_behind_computing_cost_nothing():
    """What a slower disk still writes in the same half second does not make the task longer."""
    pool = predicted([profile((20, 20, 20, 20))])
    assert pool.time_ns == pytest.approx(2 * S)
    assert pool.added_by_writes_ns == 0


def test_synchronous_writes():
    """As many as there were, times what each takes longer there."""
    syncs = {"flushes": 200, "commits": 100}
    options = {"slower": {"sync-write/append-fsync": 3}}
    pool = predicted([profile(syncs=syncs)], **options)
    more = [
        entry.mean_ns
        for entry in pool_workers("intel")[0].entries
        if entry.subject.variant == "append-fsync"
    ]
    assert pool.added_by_syncs_ns == pytest.approx(2 * 100 * more[0], rel=0.01)
    assert pool.time_ns == pytest.approx(2 * S + 200 * more[0], rel=0.01)


def test_syncs_and_bytes_of_the_same_half_second_are_not_added():
    """A disk that writes at its ceiling is waited for once."""
    syncs = {"flushes": 200, "commits": 100}
    pool = predicted([profile((50, 50), syncs=syncs)], slower={"sync-write/append-fsync": 1.5})
    assert pool.time_ns == pytest.approx(2 * S)


def test_cpu_time_takes_as_much_longer_as_starting_a_process():
    """The part of the time on a CPU; a fifth more there, on each of three workers."""
    pool = predicted([profile(cpu_s=1)], (50,) * 3, slower={"spawn": 1.2})
    assert pool.added_by_cpu_ns == pytest.approx(0.2 * S, rel=0.03)
    assert pool.time_ns == pytest.approx(2.2 * S, rel=0.01)


def test_cpu_time_of_lookups_is_preferred():
    """It does not include waiting for a CPU, as the time of spawn does."""
    workers = [
        *pool_workers("intel", lookup_cpu_ms=0.1),
        *pool_workers("amd-16", (50,), lookup_cpu_ms=0.05, slower={"spawn": 2}),
    ]
    (task,) = predict([profile(cpu_s=2)], workers)
    assert task.pools[0].time_ns == pytest.approx(1 * S)
    assert task.pools[0].added_by_cpu_ns == pytest.approx(-1 * S)


def test_few_workers_do_not_show_that_cpus_differ():
    """A fifth more on one worker each may be chance: the time stays, and the interval is wider."""
    usual = predicted([profile(cpu_s=0)], (50,))
    slow = predicted([profile(cpu_s=2)], (50,), slower={"spawn": 1.2})
    assert slow.time_ns == usual.time_ns == pytest.approx(2 * S)
    assert slow.high_ns > 1.04 * usual.high_ns


def test_one_worker_each_shows_a_large_difference_of_cpus():
    """Half as much again is more than workers of one pool differ."""
    pool = predicted([profile(cpu_s=2)], (50,), slower={"spawn": 1.5})
    assert pool.time_ns == pytest.approx(3 * S, rel=0.03)


def test_interval_of_one_profile():
    """The model's error, tasks and ceilings that differ by 5 %, and how far writes overlap."""
    pool = predicted([profile(MIXED)])
    # A ceiling lower by its error e makes two of the three seconds longer. The same files were written
    # by both workers at one rate.
    ceiling = math.log(1 + 2 / 3 * (math.exp(0.05 / math.sqrt(2)) - 1))
    reach = 1.7 * math.sqrt(MODEL_ERROR**2 + 2 * 0.05**2 + ceiling**2)
    assert math.log(pool.high_ns / pool.time_ns) == pytest.approx(reach, rel=0.02)
    assert math.log(pool.time_ns / pool.low_ns) == pytest.approx(reach, rel=0.02)


def test_files_of_a_ceiling_that_disagree_widen_the_interval():
    """A busy machine writes one file at half the rate of the next."""
    usual = predicted([profile((50,) * 4)])
    assert usual.added_by_writes_ns == pytest.approx(2 * S)
    workers = [*pool_workers("intel"), *pool_workers("amd-16", (50,), second_file=2)]
    (task,) = predict([profile((50,) * 4)], workers)
    pool: Any = task.pools[0]
    assert pool.high_ns / pool.low_ns > 2 * usual.high_ns / usual.low_ns


def test_writes_that_computing_hides_widen_the_interval():
    """With longer waits than the windows show, the task takes up to half as long again."""
    hidden = predicted([profile((20, 20, 20, 20))])
    usual = predicted([profile((0, 0, 0, 0))])
    assert hidden.time_ns == usual.time_ns
    assert hidden.high_ns > 1.1 * usual.high_ns


def test_several_profiles_show_how_far_tasks_differ():
    """Three that differ much have a wider interval than one, for which 5 % are assumed."""
    one = predicted([profile(MIXED)])
    many = predicted([profile((0,) * more + MIXED) for more in (0, 4, 8)])
    assert many.high_ns / many.low_ns > 2 * one.high_ns / one.low_ns


def test_the_fastest_profiled_pool_is_the_source():
    """Its profile is used; that of the other pool is the measured time there."""
    profiles = [profile((50, 50, 50, 50), pool="amd-16"), profile((50, 50), pool="intel")]
    pool = predicted(profiles)
    assert pool.time_ns == pytest.approx(2 * S)
    assert pool.measured_ns == (2_000_000_000,)


def test_each_command_is_a_task():
    """Profiles of different commands are not averaged."""
    workers = [*pool_workers("intel"), *pool_workers("amd-16", (50,))]
    tasks = predict([profile(MIXED, command="a"), profile((0, 0), command="b")], workers)
    assert [task.sha256[:1] for task in tasks] == ["a", "b"]
    assert [fmean(task.measured_ns) for task in tasks] == [2 * S, 1 * S]
    assert [task.pools[0].time_ns for task in tasks] == pytest.approx([3 * S, 1 * S])


def test_a_busy_machine_is_noted():
    """Its profile may be too long; the prediction cannot be better."""
    workers = [*pool_workers("intel"), *pool_workers("amd-16", (50,))]
    (task,) = predict([profile(MIXED, change={"other_cpu_ms": 3000})], workers)
    assert text_of(task.notes[0]) == (
        "Other processes used 1.50 CPUs meanwhile: the task may have waited for CPUs, and their I/O is "
        "counted as its own; profile it on an idle machine"
    )


def test_assumed_variation_is_noted():
    """Until three profiles and three workers per pool show it."""
    workers = [*pool_workers("intel", (100,) * 3), *pool_workers("amd-16", (50,))]
    (few,) = predict([profile(MIXED)], workers)
    assert [text_of(note) for note in few.notes] == [
        "Tasks of one pool are assumed to differ by 5 %; 3 profiles show how far",
        "Workers of amd-16 are assumed to differ by 5 %; 3 workers per pool show how far",
    ]
    workers += pool_workers("amd-30", (50,) * 3)
    (many,) = predict(
        [profile((0,) * more + MIXED) for more in (0, 1, 2)], workers[:3] + workers[4:]
    )
    assert many.notes == ()
