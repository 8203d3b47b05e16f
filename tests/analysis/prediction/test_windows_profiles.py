# SPDX-License-Identifier: MPL-2.0
"""Resource profiles of Windows: what they lack is in the interval, or refused, and never 0."""

import json
from typing import Any

import msgspec
import pytest
from predicted_tasks import DISK, pool_workers, profile_document, run_of
from predicted_tasks import profile as profile_of_command
from published_profiles import RECORDED, RECORDED_ON_WINDOWS, Sample, resource_profile

from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.machine_demand import machine_demand
from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.prediction_model import PoolPrediction, TaskPrediction
from io_benchmark.report.content import text_of
from io_benchmark.results.reader import parse_profile
from io_benchmark.results.resource_profile import ResourceProfile, parse_any_profile
from io_benchmark.sources.run_results import RunProfile

S = 10**9
WINDOWS: dict[str, Any] = {"host.system": "windows", "host.vm": {}}
IDLE = Sample(user=0.5)
# 100 MiB per second are counted once: the disks of the profile are at their ceiling.
FULL = Sample(written_mib=50)
COMPUTING = FULL._replace(user=0.5)
REQUESTS = Sample(written_mib=1, writes=400)


def made_of(*samples: Sample, cpus: int = 2, is_windows: bool = True) -> ResourceProfile:
    profile = parse_any_profile(resource_profile(samples, cpus, is_windows=is_windows), "profile")
    assert isinstance(profile, ResourceProfile)
    return profile


def workers(pool: str, mib_per_s: float, **target: Any) -> Any:
    """Return workers of a Windows pool, whose place is on one disk."""
    one_disk = {"storage.places.0.devices": lambda devices: devices[-1:]}
    return pool_workers(pool, (mib_per_s,) * 3, change={**one_disk, **WINDOWS}, **target)


def predicted(
    profile: ResourceProfile, *, pool: str = "intel", mib_per_s: float = 50, **target: Any
) -> TaskPrediction:
    """Return the prediction on a slower pool than one that writes 100 MiB/s."""
    run = RunProfile(profile, "address", "test-1", pool, None)
    (task,) = predict([run], [*workers("intel", 100), *workers("amd-16", mib_per_s, **target)])
    return task


def reason_of(pool: PoolPrediction) -> str:
    """Return why nothing is predicted; nothing if a time is."""
    assert (pool.time_ns is None) is (pool.reason is not None)
    return "" if pool.reason is None else text_of(pool.reason)


@pytest.mark.parametrize(
    ("samples", "time_s", "low_s", "high_s"),
    [
        # With nothing to do at the ceiling it likely waited, but maybe for something else.
        ([IDLE, FULL, FULL, IDLE], 3, 2.05, 4),
        # While it computed, it likely did not wait, but maybe did.
        ([IDLE, COMPUTING, COMPUTING, IDLE], 2, 1.9, 2.95),
        ([IDLE] * 4, 2, 1.9, 2.1),
    ],
)
def test_waiting_is_not_known(
    samples: list[Sample], time_s: float, low_s: float, high_s: float
) -> None:
    """The time is that of the likely waiting; the interval has none of it, and all of it."""
    task = predicted(made_of(*samples))
    (pool,) = task.pools
    assert reason_of(pool) == ""
    assert pool.time_ns is not None
    assert pool.low_ns is not None
    assert pool.high_ns is not None
    assert pool.time_ns / S == pytest.approx(time_s, rel=0.02)
    assert pool.low_ns / S <= low_s
    assert pool.high_ns / S >= high_s
    assert text_of(task.notes[1]).startswith(
        "Windows shows neither how long tasks wait for disks nor"
    )


def test_syncs_are_not_known() -> None:
    """It likely waited for none where the disks were below their ceiling; half may be syncs."""
    usual, slower = (
        predicted(made_of(*[REQUESTS] * 4), slower={"sync-write/append-fsync": times}).pools[0]
        for times in (1, 6)
    )
    assert usual.high_ns is not None
    assert slower.time_ns is not None
    assert slower.high_ns is not None
    assert slower.time_ns / S == pytest.approx(2, rel=0.02)
    assert slower.high_ns > 1.1 * usual.high_ns


@pytest.mark.parametrize(
    ("samples", "target", "reason"),
    [
        (
            [FULL] * 4,
            {"mib_per_s": 10},
            "the task would take 2.00 s to 20.0 s, depending on what it waits for while its disks",
        ),
        # Each request may be a sync that it waits for.
        ([REQUESTS] * 4, {"only": ("spawn",)}, "amd-16 has no append-fsync at workspace; measure"),
        (
            [REQUESTS] * 4,
            {"slower": {"sync-write/append-fsync": 300}},
            "the task would take 2.00 s to 49.8 s, depending on how long it waits for its disks,",
        ),
        ([Sample(read_mib=30)] * 4, {}, "the task read 120 MiB from the disks of workspace, and"),
        ([Sample(read_mib=0)] * 4, {}, "the profile has no counters of disks; run the task with"),
    ],
)
def test_what_a_profile_lacks(samples: list[Sample], target: dict[str, Any], reason: str) -> None:
    """Where it decides the time, the reason is that it is not known."""
    task = predicted(made_of(*samples), **target)
    (pool,) = task.pools
    assert reason_of(pool).startswith(reason)


def of_command(written_mib: tuple[float, ...], busy: float, cpu_s: float = 0.1) -> Any:
    """Return a profile that `measure` writes there: half seconds with so many busy CPUs."""
    unknown = {"flushes": None, "commits": None}
    document = profile_document(
        written_mib, waiting=0.5, busy_cpus=(busy,) * len(written_mib), cpu_s=cpu_s, syncs=unknown
    )
    document["host"]["system"] = "windows"
    timeline = document["timeline"]
    for name in ("nice", "irq", "softirq"):
        del timeline["columns"][f"cpu_{name}_ms"]
    del timeline["columns"]["psi_io_some_us"], timeline["columns"]["writeback_bytes"]
    del timeline["devices"][DISK]["merged_writes"], timeline["devices"][DISK]["flushes"]
    timeline["columns"]["dirty_bytes"][-1] += 7
    return parse_profile(json.dumps({**document, "other_cpu_ms": None}).encode(), "profile")


def test_the_demand_of_a_command() -> None:
    """Busy CPUs and dirty bytes are those that Windows has; any request may be a sync."""
    demand = Demand.of_command(of_command((0, 50, 50, 0), 0.5))
    assert isinstance(demand, Demand)
    (place,) = demand.places
    assert demand.busy_ns is not None
    assert demand.busy_ns.tolist() == [S / 4] * 4
    assert demand.unwritten_bytes.tolist() == [0, 0, 0, 7]
    assert (demand.waiting_share, place.is_alone, place.syncs) == (None, False, (0.0, 1600.0))


@pytest.mark.parametrize(
    ("busy", "cpu_s", "time_s"),
    [
        (0.0, 0.1, 3),
        # All of two seconds, by the command.
        (1.0, 2.0, 2),
        # By other programs.
        (1.0, 0.1, 3),
    ],
)
def test_the_time_of_a_command(busy: float, cpu_s: float, time_s: float) -> None:
    """It likely waited at the ceiling, as far as no CPU worked for it."""
    pools = [*workers("intel", 100), *workers("amd-16", 50)]
    (task,) = predict([run_of(of_command((0, 50, 50, 0), busy, cpu_s))], pools)
    (pool,) = task.pools
    assert reason_of(pool) == ""
    assert pool.time_ns is not None
    assert pool.time_ns / S == pytest.approx(time_s, rel=0.02)
    assert task.syncs == 0
    assert text_of(task.notes[0]).startswith("Windows shows neither how long tasks wait")


def test_other_systems() -> None:
    """A profile is for pools of its system alone, also where only its own pool has results."""
    with_iowait = made_of(IDLE, IDLE, is_windows=False)
    macos = made_of(IDLE._replace(waiting=None), IDLE._replace(waiting=None), is_windows=False)
    for profile in (with_iowait, macos):
        (pool,) = predicted(profile).pools
        assert reason_of(pool) == (
            "the profile and the results of intel are of different systems; check --pool"
        )
    for profile, system in ((with_iowait, "Linux"), (macos, "another system")):
        pool = predicted(profile, pool="amd-30").pools[1]
        assert reason_of(pool) == (
            f"the task was profiled on {system}, and intel is on Windows: the work is not the "
            "same; profile the task on intel"
        )
    run = RunProfile(with_iowait, "address", "test-1", "intel", None)
    (task,) = predict([run], workers("intel", 100), cpus=[4])
    assert task.pools[0].time_ns is None


def test_more_cpus_of_the_same_machine() -> None:
    """The windows in which CPUs were busy are known on Windows as well."""
    run = RunProfile(made_of(*[Sample(user=1.0)] * 4), "profile", "build", None, task_ns=4 * S)
    (task,) = predict([run], [], cpus=[4])
    (pool,) = task.pools
    assert pool.time_ns is not None
    assert pool.time_ns / S == pytest.approx(3.5, rel=0.01)


def test_tasks_of_two_systems() -> None:
    """The same label or command on two systems is two tasks."""
    runs = [
        RunProfile(made_of(IDLE, IDLE, is_windows=is_windows), f"a{is_windows}", "x", None)
        for is_windows in (False, True)
    ]
    assert len(predict(runs, [], cpus=[4])) == 2
    assert len(predict(runs[:1] * 2, [], cpus=[4])) == 1
    host = profile_of_command().host
    changed = {"host": {**msgspec.to_builtins(host), "system": "windows"}}
    both = [run_of(profile_of_command()), run_of(profile_of_command(change=changed))]
    assert len(predict(both, [], cpus=[4])) == 2


def test_processor_groups() -> None:
    """A group has 64 CPUs; those of another one are not in the profile."""
    for cpus, is_usable in ((64, True), (65, False)):
        demand = machine_demand(made_of(IDLE, IDLE, IDLE, cpus=cpus), S, "data", (1, 1))
        assert isinstance(demand, Demand) is is_usable
    assert isinstance(demand, Statement)
    assert text_of(demand).startswith(
        "the profile is of a Windows machine with 65 CPUs, and shows at most 64 of them"
    )
    linux = made_of(IDLE, IDLE, IDLE, cpus=65, is_windows=False)
    assert isinstance(machine_demand(linux, S, "data", (1, 1)), Demand)


def test_storage_spaces() -> None:
    """Nothing shows whether a byte is also counted by the disks below."""
    for kind, counting in (("disk", (1.0, 1.0)), ("spaces", (1.0, 2.0))):
        device = {"name": DISK, "kind": kind, "below": []}
        change = {f"storage.places.0.devices.0.{key}": value for key, value in device.items()}
        pool = PoolStorage.of("intel", pool_workers("intel", change={**WINDOWS, **change}), {})
        assert pool.counting == {"workspace": counting}


def test_fixed_work_in_ticks() -> None:
    """All bursts of a work count together: one may have no tick, and another one two."""
    bursts = [
        {
            "work": work,
            "start_ns": 0,
            "duration_ns": 50,
            "operations": 10,
            "user_ns": user_ns,
            "kernel_ns": 0,
            "waiting_ns": None,
        }
        for work, user_ns in (("user", 0), ("user", 400), ("kernel-calls", 0))
    ]
    measured = pool_workers("intel", change={**WINDOWS, "host.fixed_work": bursts})
    pool = PoolStorage.of("intel", measured, {})
    assert pool.mean(PoolFigure.USER_WORK) == pytest.approx(20)
    assert pool.mean(PoolFigure.KERNEL_CALLS) is None


def test_room_in_memory() -> None:
    """Windows does not show it; Linux does."""
    assert PoolStorage.of("intel", workers("intel", 100), {}).dirty_room_bytes is None
    assert PoolStorage.of("intel", pool_workers("intel"), {}).dirty_room_bytes is not None


def test_recorded_profiles() -> None:
    """That of Windows is no shorter task of Linux, although both did the same."""
    tasks = predict(
        [
            RunProfile(parse_any_profile(path.read_bytes(), "x"), path.name, "x", None)
            for path in (RECORDED, RECORDED_ON_WINDOWS)
        ],
        [],
        cpus=[4],
    )
    assert len(tasks) == 2
