# SPDX-License-Identifier: MPL-2.0
"""Predictions from profiles whose times and bytes are given, and why there is none."""

import json
import math
from statistics import fmean
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from predicted_tasks import (
    DISK,
    MIB,
    pool_workers,
    profile,
    profile_document,
    result_documents,
    run_of,
    sync_ns,
)
from seed_facts import cpu_limit, operations_limit
from seed_workers import worker, workers

from io_benchmark.analysis.prediction.demand import Demand, PlaceDemand
from io_benchmark.analysis.prediction.pool_change import MODEL_ERROR, PoolChange
from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.unknowns import MEANINGS, Unknowns
from io_benchmark.report.content import text_of
from io_benchmark.results.reader import parse_profile
from io_benchmark.sources.run_results import RunProfile

S = 1e9
# Half seconds of computing, and of writing at the ceiling of the faster pool.
MIXED = (0, 50, 50, 0)
# 200 synchronous writes, of which each takes three times as long there, 0.1 s in all.
SYNCS = {"flushes": 200, "commits": 100}


def predicted(*profiles: Any, ceilings: tuple[float, ...] = (50, 50), **target: Any) -> Any:
    """Return the prediction on a pool that writes 50 MiB/s, from one that writes 100."""
    workers = [*pool_workers("intel", (100,) * 3), *pool_workers("amd-16", ceilings, **target)]
    (task,) = predict(map(run_of, profiles), workers)
    assert task.pool == "intel"
    (pool,) = task.pools
    assert pool.reason is None
    return pool


SYNC_NS = sync_ns()
BUSY = {"cpu_s": 12, "waiting": 0.0}
ONE_CPU = {"change": {"host.cpu_count": 1}}


def syncing(factor: float) -> dict[str, Any]:
    return {"slower": {"sync-write/append-fsync": factor}}


def both_pools() -> list[Any]:
    return [*pool_workers("intel"), *pool_workers("amd-16", (50,))]


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
        ({"syncs": SYNCS}, syncing(3), 2 + 200 * SYNC_NS / S, (0, 200 * SYNC_NS / S, 0)),
        # Without counts of commits there are as many syncs as flushes, or half as many.
        (
            {"syncs": {"flushes": 200, "commits": None}},
            syncing(3),
            2 + 300 * SYNC_NS / S,
            (0, 300 * SYNC_NS / S, 0),
        ),
        # A disk that writes at its ceiling is waited for once.
        ({"written_mib": (50, 50), "syncs": SYNCS}, syncing(1.5), 2, None),
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
        times_ns.append(predicted(profiled, **LIMITED).time_ns)
    assert times_ns[0] > 1.01 * times_ns[1]


def width(pool: Any) -> float:
    return math.log(pool.high_ns / pool.low_ns) / 2


def test_interval_of_one_profile() -> None:
    """The errors of the model, tasks, ceilings, and a room in memory that nothing limits."""
    pool = predicted(profile((0,) * 4, waiting=0))
    expected = 1.7 * math.hypot(MODEL_ERROR, math.sqrt(2) * 0.05)
    for ratio in (pool.high_ns / pool.time_ns, pool.time_ns / pool.low_ns):
        assert math.log(ratio) == pytest.approx(expected, rel=0.02)


def test_what_widens_the_interval() -> None:
    """Files that disagree, writes that computing hides, few workers, and profiles that differ."""
    writing = profile((50,) * 4)
    usual = width(predicted(writing, ceilings=(50,)))
    assert width(predicted(writing, ceilings=(50,), second_file=2)) > 1.4 * usual
    # It may wait for what memory takes while it computes.
    taken = profile((40,) * 4, waiting=0, busy_cpus=(1,) * 4, cpu_s=2)
    assert width(predicted(taken, ceilings=(50,))) > 1.4 * usual
    idle = predicted(profile((0,) * 4))
    hidden = predicted(profile((20,) * 4))
    assert (hidden.time_ns, hidden.high_ns > 1.1 * idle.high_ns) == (idle.time_ns, True)
    slow = predicted(profile(cpu_s=2), ceilings=(50,), slower={"spawn": 1.2})
    assert width(slow) > 1.2 * width(predicted(profile(), ceilings=(50,)))
    several = predicted(*(profile((0,) * more + MIXED) for more in (0, 4, 8)))
    assert width(several) > 2 * width(predicted(profile(MIXED)))


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


@pytest.mark.parametrize(("other_cpu_ms", "cpus"), [(601, "0.300"), (599, None)])
def test_busy_machine(other_cpu_ms: int, cpus: str | None) -> None:
    """A note says that other processes worked meanwhile, from 0.3 CPUs on."""
    made = profile(MIXED, change={"other_cpu_ms": other_cpu_ms})
    (task,) = predict([run_of(made)], both_pools())
    texts = [text_of(note).partition(":")[0] for note in task.notes]
    assert texts == ([f"Other processes used {cpus} CPUs meanwhile"] if cpus else [])


CPU_S = (7.2, 7.3, 7.1)
STANDS_ALONE = (
    "The profile run-0 stands alone: its CPU time is 8.60 s, that of the 3 others 7.10 to 7.30 s."
)


@pytest.mark.parametrize(
    ("cpu_s", "text"),
    [
        (CPU_S, ""),
        (
            (8.6, *CPU_S),
            STANDS_ALONE,
        ),
        # 10 % or more, and three times as much as the others differ.
        ((7.19 * 1.11, 7.19, 7.2), "The profile run-0 stands alone: its CPU time is 7.98 s"),
        ((7.19 * 1.09, 7.19, 7.2), ""),
        ((8.6, 7.2, 7.65), ""),
        ((8.6, 7.2), "The CPU time of the two profiles differs: 7.20 s and 8.60 s. A first run is"),
        ((7.8, 7.2), ""),
        ((8.6,), ""),
    ],
)
def test_a_profile_that_stands_alone(cpu_s: tuple[float, ...], text: str) -> None:
    """A note says so, by CPU time; of two it cannot say which one."""
    runs = [
        RunProfile(profile(MIXED, cpu_s=each), f"run-{number}", "tar", "intel")
        for number, each in enumerate(cpu_s)
    ]
    (task,) = predict(runs, both_pools())
    texts = [text_of(note) for note in task.notes]
    assert len(texts) == (1 if text else 0)
    assert not text or texts[0].startswith(text)


def test_a_time_that_stands_alone() -> None:
    """Where the CPU time does not differ: one run on another pool waited for a second more."""
    runs = [
        RunProfile(profile((0,) * windows, cpu_s=1, pool="amd-16"), "run", "tar", "amd-16")
        for windows in (4, 4, 6)
    ]
    (task,) = predict([run_of(profile(cpu_s=1)), *runs], both_pools())
    (text,) = map(text_of, task.notes)
    assert text.startswith(
        "The profile run stands alone: its time is 3.00 s, that of the 2 others 2"
    )


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


def test_flushes_of_a_file_system() -> None:
    """A window with four flushes may be a file system's own commits; with more, the task syncs."""
    nothing = np.zeros(2)
    flushes = np.array([4.0, 5.0])
    place = PlaceDemand("workspace", *(nothing,) * 3, flushes, nothing, None)
    assert place.is_synced.tolist() == [False, True]


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


def test_every_unknown_has_a_meaning() -> None:
    """A refusal says each of them, in the order of their fields."""
    assert tuple(MEANINGS) == Unknowns.__struct_fields__


# --- what is not predicted, and the reason that is given ---

MORE_CPUS = {"change": {"host.cpu_online_count": 32, "host.cpu_count": 32}}
HALF_THE_CPUS = {"change": {"host.cpu_online_count": 8, "host.cpu_count": 8}}
NO_SPAWN, ONLY_SPAWN = {"only": ("sync-write/append-fsync",)}, {"only": ("spawn",)}
NUMBER = {"storage.places.0.devices.0.number": "259:0"}
LIMITED: dict[str, Any] = {"change": operations_limit(250, name=DISK) | NUMBER}
SLOWING_DOWN = {
    "change": {
        "workloads.0.samples.copy_ns": lambda column: [
            copy_ns * (1 if at < 1000 else 3) for at, copy_ns in enumerate(column)
        ]
    }
}


def test_one_slow_end_of_two() -> None:
    """A disk that slows down does so in each run; a run that did alone shows no such disk."""
    slow, steady = (pool_workers("amd-16", (60, 60), **given) for given in (SLOWING_DOWN, {}))
    for runs, is_known in ((slow, True), ([slow[0], steady[1]], False)):
        figures = PoolStorage.of("amd-16", runs, {}).figures
        assert ((PoolFigure.SLOWING, "workspace") in figures) is is_known


FAILED = {"code": 1, "signal": None, "error": None}
EMPTY = {"interval_s": 0.1, "columns": {}, "devices": {}}
NO_REQUESTS = (
    "intel has no random-io at workspace (requests per second); "
    "amd-16 has no random-io at workspace (requests per second); measure all"
)
UNCOVERED = "the profile's timeline is not of all its time; profile it again"
ON_AMD = "; profile the task on amd-16"


def refusal(
    text: str, target: Any = None, source: Any = None, *, more: Any = None, **profiled: Any
) -> Any:
    """Return a row: the beginning of the reason, or no text where there is none.

    `more` is of the document.
    """
    profiled |= {"change": more} if more else {}
    return profiled, target or {}, source or {}, text


@pytest.mark.parametrize(
    ("profiled", "target", "source", "text"),
    [
        refusal("the profiled command failed; profile it again", more={"ending": FAILED}),
        refusal("the profiled command failed; profile it again", more={"usage": None}),
        refusal(UNCOVERED, more={"timeline": EMPTY}),
        refusal(UNCOVERED, more={"wall_ns": 20_000_000_000}),
        refusal(
            "the profile watched no disk; profile with --place", more={"storage": {"places": []}}
        ),
        refusal("the command took less than 1.00 s, which does not show", written_mib=(0,)),
        refusal("the profile does not name its pool; name it by --pool NAME", pool=None),
        # A disk that writes more than 1.5 ceilings has another one.
        refusal(
            "the profile's disks wrote more than those of intel can; check", written_mib=(76,) * 4
        ),
        refusal("", written_mib=(74,) * 4),
        # A disk with a burst: what only computes does not meet it.
        refusal("retrieves of amd-16 took 2.93× as long", SLOWING_DOWN, written_mib=(50,) * 4),
        refusal("", SLOWING_DOWN, cpu_s=1),
        # CPUs: how parallel work divides is not known, and what nothing compares neither.
        refusal(
            "the task used 6.00 CPUs on average, and amd-16 has 0.50× as many as the profiled "
            f"machine{ON_AMD}",
            HALF_THE_CPUS,
            cpu_s=12,
        ),
        refusal("", HALF_THE_CPUS, cpu_s=2),
        # More CPUs may be used by a task that kept nine tenths of them busy.
        refusal("the task used 6.00 CPUs", MORE_CPUS, **BUSY, busy_cpus=(14.5,) * 4),
        refusal("", MORE_CPUS, **BUSY, busy_cpus=(14.3,) * 4),
        refusal("the task used 0.900 CPUs", {"change": cpu_limit(0.5)}, cpu_s=1.8),
        refusal(
            "intel has no fixed work or spawn that compares its CPUs; amd-16 has no",
            NO_SPAWN,
            cpu_s=0.21,
        ),
        refusal("", NO_SPAWN, cpu_s=0.19),
        refusal(
            "intel has no append-fsync at workspace; "
            "amd-16 has no append-fsync at workspace; measure",
            ONLY_SPAWN,
            ONLY_SPAWN,
            syncs={"flushes": 2, "commits": 1},
        ),
        # What is read in a tenth of the time may be neglected: 100 MiB/s in two seconds.
        refusal(
            "the task read 21 MiB from the disks of workspace", {"ceilings": (100,)}, read_mib=21
        ),
        refusal("", {"ceilings": (100,)}, read_mib=19),
        # How fast a disk of the profile at its ceiling could be, decides on one 20 times as fast.
        refusal("the task would take 20", {"ceilings": (2000,)}, written_mib=(50,) * 8),
        refusal("", {"ceilings": (108,)}, written_mib=(50,) * 8),
        # 800 requests in each half second; nothing but spawn was measured.
        refusal(NO_REQUESTS, ONLY_SPAWN, ONLY_SPAWN, written_mib=(50, 50)),
        # A cgroup counts requests before they are merged: 1,600 in each half second, or 160.
        refusal("the task would take 1,000 ms to 13.9 s", LIMITED, written_mib=(10, 10), merged=9),
        refusal("", LIMITED, written_mib=(10, 10)),
        # Each synchronous write is a request, so that as many as the disk syncs are known.
        refusal(NO_REQUESTS, syncing(10), written_mib=(50, 50)),
        refusal("", syncing(0.5), written_mib=(50, 50)),
        # As many as before they are merged, which a limit may count.
        refusal(NO_REQUESTS, written_mib=(50, 50), merged=9),
    ],
)
def test_reasons(profiled, target, source, text):
    """The first reason counts; without one there is a prediction."""
    pools = [*pool_workers("intel", **source), *pool_workers("amd-16", **target)]
    (task,) = predict([run_of(profile(**profiled))], pools)
    (pool,) = [each for each in task.pools if each.pool == "amd-16"]
    assert (pool.time_ns is None) is (pool.reason is not None)
    known = "" if pool.reason is None else text_of(pool.reason)
    assert known.startswith(text) if text else known == ""


@pytest.mark.parametrize(("delayed", "is_refused"), [(0, False), (10, True)])
def test_a_disk_that_delays_some_requests(delayed: int, is_refused: bool) -> None:
    """The usual sync is fast on a disk that lets bursts pass; the mean bounds its requests."""
    documents = result_documents("amd-16")
    for document in documents:
        samples = document["workloads"][-1]["samples"]
        samples["duration_ns"] = [
            round(duration_ns * (100 if at % 10 < delayed / 10 else 0.5))
            for at, duration_ns in enumerate(samples["duration_ns"])
        ]
    pools = [*pool_workers("intel"), *map(worker, documents)]
    (task,) = predict([run_of(profile((50, 50)))], pools)
    reason = task.pools[0].reason
    assert (reason is not None and text_of(reason).startswith(NO_REQUESTS)) is is_refused


NO_FIGURES = "has no write ceiling of the place workspace"
NO_SYNCS = ", no append-fsync at workspace"
NO_RANDOM_IO = "no random-io at workspace (requests per second)"
MEASURE = "measure all that predictions use, in about a minute"
RUN, SUBMIT = "`python3 io-benchmark.pyz run --pool", "or on Taskcluster: `io-benchmark submit"


def missing(*results: Any) -> str:
    """Return the reason that is given for amd-16."""
    profiled = profile((10,) * 4, syncs={"flushes": 2, "commits": 1})
    (task,) = predict([run_of(profiled)], results)
    (reason,) = [pool.reason for pool in task.pools if pool.pool == "amd-16"]
    assert reason is not None
    return text_of(reason)


def test_missing_figures() -> None:
    """One reason has all that is missing in both pools, and the command that measures all of it."""
    assert missing(*pool_workers("amd-16")) == (
        f"intel, where the task was profiled, has no results in --on; {MEASURE}: {RUN} intel "
        f"--capacities`, {SUBMIT} --capacities -j intel`"
    )
    assert missing(*pool_workers("intel"), *workers(pools=["amd-16"])) == (
        f"intel has {NO_RANDOM_IO}; amd-16 {NO_FIGURES}{NO_SYNCS}, {NO_RANDOM_IO}; "
        f"{MEASURE} per pool: {RUN} NAME --capacities`, {SUBMIT} --capacities -j intel,amd-16`"
    )
    assert missing(*workers(pools=["intel", "amd-16"])) == (
        f"intel {NO_FIGURES}{NO_SYNCS}, {NO_RANDOM_IO}; amd-16 {NO_FIGURES}{NO_SYNCS}, "
        f"{NO_RANDOM_IO}; {MEASURE} per pool: {RUN} NAME --capacities`, {SUBMIT} --capacities "
        "-j intel,amd-16`"
    )


def test_a_place_of_another_name() -> None:
    """The command measures the place that the profile names."""
    place = {**profile_document()["storage"]["places"][0], "name": "cache"}
    change = {"storage": {"places": [place]}, "syncs": {"cache": {"flushes": 0, "commits": 0}}}
    (task,) = predict([run_of(profile(change=change))], both_pools())
    reason = task.pools[0].reason
    assert reason is not None
    text = text_of(reason)
    assert "intel has no write ceiling of the place cache; amd-16 has no" in text
    assert "run --pool NAME --place cache=/PATH --capacities`, or" in text


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
    assert width(passed) > 1.5 * width(waited)
    assert passed.low_ns / S < 2
    short = predicted(packs(7.5))
    assert short.high_ns / S > 2 + 4 * 0.15


@pytest.mark.parametrize(
    ("commits", "flushes", "is_synced"), [(3, 11, True), (3, 12, False), (None, 11, False)]
)
def test_whose_flushes(commits: int | None, flushes: int, is_synced: bool) -> None:
    """A few flushes of a window are syncs where requested commits explain most flushes."""
    counts = {"flushes": flushes, "commits": commits}
    made = profile_document(syncs=counts)
    made["timeline"]["devices"][DISK]["flushes"] = [0, 2, 2, 2, 2]
    demand = Demand.of_command(parse_profile(json.dumps(made).encode(), "profile"))
    assert isinstance(demand, Demand)
    assert demand.places[0].is_synced.tolist() == [is_synced, False, False, False]


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


@pytest.mark.parametrize(("read_mib", "is_refused"), [((27,) * 4, False), ((28,) * 4, True)])
def test_reading_behind_the_cpu(read_mib: Any, is_refused: bool) -> None:
    """What is read ahead while the task computes must be there in time.

    25 MiB in half a second are 10 % late.
    """
    made = profile_document((0,) * 4, waiting=0, busy_cpus=(1,) * 4, cpu_s=2)
    read = [round(MIB * sum(read_mib[:row])) for row in range(5)]
    made["timeline"]["devices"][DISK]["read_bytes"] = read
    pools = [*pool_workers("intel"), *pool_workers("amd-16", (50,))]
    (task,) = predict([run_of(parse_profile(json.dumps(made).encode(), "profile"))], pools)
    reason = task.pools[0].reason
    assert (reason is not None and text_of(reason).startswith("the task read")) is is_refused


def test_the_fastest_profiled_pool_is_the_source() -> None:
    """Its profile is used; that of the other pool is the measured time there."""
    pool = predicted(profile((50,) * 4, pool="amd-16"), profile((50, 50)))
    assert pool.time_ns == pytest.approx(2 * S, rel=0.02)
    assert pool.measured_ns == (2_000_000_000,)
