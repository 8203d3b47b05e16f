# SPDX-License-Identifier: MPL-2.0
"""What is not predicted, and the reason that is given; each threshold from both sides."""

from typing import Any

import pytest
from predicted_tasks import DISK, pool_workers, profile, run_of
from seed_workers import workers

from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.report.content.wording import text_of

MORE_CPUS = {"host.cpu_online_count": 32, "host.cpu_count": 32}
SYNCS = {"flushes": 2, "commits": 1}
LIMIT = {
    "group": "/sys/fs/cgroup/task",
    "device": "259:0",
    "device_name": DISK,
    "kind": "write_operations_per_s",
    "value": 250,
}
LIMITED = {"limits.io": [LIMIT], "storage.places.0.devices.0.number": "259:0"}
QUOTA = {"group": "/sys/fs/cgroup/task", "quota_us": 50_000, "period_us": 100_000}


def slowing_down(column: list[int]) -> list[int]:
    return [copy_ns * (1 if at < 1000 else 3) for at, copy_ns in enumerate(column)]


def reason(profiled: dict[str, Any], target: dict[str, Any], source: dict[str, Any]) -> str:
    """Return why the task is not predicted on amd-16, or nothing where it is."""
    pools = [*pool_workers("intel", **source), *pool_workers("amd-16", **target)]
    (task,) = predict([run_of(profile(**profiled))], pools)
    (pool,) = [each for each in task.pools if each.pool == "amd-16"]
    assert (pool.time_ns is None) is (pool.reason is not None)
    return text_of(pool.reason) if pool.reason is not None else ""


PROFILE_AGAIN = "profile the task on amd-16"


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (
            {"ending": {"code": 1, "signal": None, "error": None}},
            "the profiled command failed; profile it again",
        ),
        ({"usage": None}, "the profiled command failed; profile it again"),
        (
            {"timeline": {"interval_s": 0.1, "columns": {}, "devices": {}}},
            "the profile's timeline is not of all its time; profile it again",
        ),
        (
            {"wall_ns": 20_000_000_000},
            "the profile's timeline is not of all its time; profile it again",
        ),
        (
            {"storage": {"places": []}},
            "the profile watched no disk; profile with --place on a local disk",
        ),
    ],
)
def test_profiles_that_cannot_be_used(changed: dict[str, Any], text: str) -> None:
    """Nothing is predicted from them on any pool."""
    assert reason({"change": changed}, {}, {}) == text


@pytest.mark.parametrize(
    ("profiled", "target", "source", "text"),
    [
        (
            *({"written_mib": (0,)}, {}, {}),
            (
                "the command took less than 1.00 s, which does not show when it wrote; profile a longer "
                "part of the task"
            ),
        ),
        (
            *({"pool": None}, {}, {}),
            "the profile does not name its pool; name it by --pool NAME",
        ),
        # A disk that writes more than 1.5 ceilings has another one.
        (
            *({"written_mib": (100, 100, 100, 100)}, {}, {}),
            (
                "the profile's disks wrote more than those of intel can; check --pool of the profile, "
                "or measure intel again"
            ),
        ),
        ({"written_mib": (76,) * 4}, {}, {}, "the profile's disks wrote more"),
        ({"written_mib": (74,) * 4}, {}, {}, ""),
        # A disk with a burst: what only computes does not meet it.
        (
            *(
                {"written_mib": (50,) * 4},
                {"change": {"workloads.0.samples.copy_ns": slowing_down}},
            ),
            *({}, "retrieves of amd-16 took 2.93× as long at the end of a run as at its start"),
        ),
        ({"cpu_s": 1}, {"change": {"workloads.0.samples.copy_ns": slowing_down}}, {}, ""),
        # CPUs: how parallel work divides is not known, and what nothing compares neither.
        (
            {"cpu_s": 12},
            {"change": {"host.cpu_online_count": 8, "host.cpu_count": 8}},
            *(
                {},
                f"the task used 6.00 CPUs on average, and amd-16 has 0.50× as many as the profiled machine; {PROFILE_AGAIN}",
            ),
        ),
        # More CPUs may be used by a task that kept nine tenths of them busy.
        (
            *({"cpu_s": 12, "busy_cpus": (14.5,) * 4, "waiting": 0.0}, {"change": MORE_CPUS}, {}),
            "the task used 6.00 CPUs on average, and amd-16 has 2.00× as many",
        ),
        ({"cpu_s": 12, "busy_cpus": (14.3,) * 4, "waiting": 0.0}, {"change": MORE_CPUS}, {}, ""),
        ({"cpu_s": 2}, {"change": {"host.cpu_online_count": 8, "host.cpu_count": 8}}, {}, ""),
        (
            *({"cpu_s": 1.8}, {"change": {"limits.cpu": [QUOTA]}}, {}),
            "the task used 0.900 CPUs on average, and amd-16 has 0.03",
        ),
        (
            *({"cpu_s": 0.21}, {"only": ("sync-write/append-fsync",)}, {}),
            "nothing compares the CPUs of intel and amd-16; measure spawn on both",
        ),
        ({"cpu_s": 0.19}, {"only": ("sync-write/append-fsync",)}, {}, ""),
        (
            *({"syncs": SYNCS}, {"only": ("spawn",)}, {"only": ("spawn",)}),
            "the task syncs, and intel has no append-fsync; measure sync-write at workspace",
        ),
        # What is read in a tenth of the time may be neglected: 100 MiB/s in two seconds.
        (
            *({"read_mib": 21}, {"ceilings": (100,)}, {}),
            (
                "the task read 21 MiB from the disks of workspace, and no ceiling of reading is "
                f"measured; {PROFILE_AGAIN}"
            ),
        ),
        ({"read_mib": 19}, {"ceilings": (100,)}, {}, ""),
        # How fast a disk of the profile at its ceiling could be, decides on one 20 times as fast.
        (
            *({"written_mib": (50,) * 8}, {"ceilings": (2000,)}, {}),
            "the task would take 20",
        ),
        ({"written_mib": (50,) * 8}, {"ceilings": (108,)}, {}, ""),
        # 800 requests in each half second; nothing but spawn was measured.
        (
            *({"written_mib": (50, 50)}, {"only": ("spawn",)}, {"only": ("spawn",)}),
            "the task would take 1,000 ms to 16.0 s, depending on how many requests the disks of amd-16 do",
        ),
        # A cgroup counts requests before they are merged: 1,600 in each half second, or 160.
        (
            *({"written_mib": (10, 10), "merged": 9}, {"change": LIMITED}, {}),
            "the task would take 1,000 ms to 13.6 s, depending on whose waiting for I/O the profile shows",
        ),
        ({"written_mib": (10, 10)}, {"change": LIMITED}, {}, ""),
        # Each synchronous write is a request, so that as many as the disk syncs are known.
        (
            {"written_mib": (50, 50)},
            {"slower": {"sync-write/append-fsync": 10}},
            *({}, "the task would take 1,000 ms to 3.20 s, depending on how many requests"),
        ),
        ({"written_mib": (50, 50)}, {"slower": {"sync-write/append-fsync": 0.5}}, {}, ""),
    ],
)
def test_reasons(
    profiled: dict[str, Any], target: dict[str, Any], source: dict[str, Any], text: str
) -> None:
    """The first reason counts; without one there is a prediction."""
    known = reason(profiled, target, source)
    assert known.startswith(text) if text else known == ""


def test_pools_without_results() -> None:
    """Differences of syncs and CPUs need those of the profile's pool; a prediction needs ceilings."""
    (task,) = predict([run_of(profile())], pool_workers("amd-16"))
    assert [text_of(pool.reason) for pool in task.pools if pool.reason] == [
        "intel, where the task was profiled, has no results; add them to --on"
    ]
    (task,) = predict([run_of(profile())], [*pool_workers("intel"), *workers(pools=["amd-16"])])
    assert [text_of(pool.reason) for pool in task.pools if pool.reason] == [
        (
            "amd-16 has no write ceiling of the place workspace; measure cache-retrieve there with trials, "
            "and use the same name of the place in the profile"
        )
    ]
