# SPDX-License-Identifier: MPL-2.0
"""What is not predicted, and the reason that is given."""

from typing import Any

import pytest
from predicted_tasks import DISK, pool_workers, profile
from seed_workers import workers

from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.report.content.statement_text import text_of

LIMIT = {
    "group": "/sys/fs/cgroup/task",
    "device": "259:0",
    "device_name": DISK,
    "kind": "write_operations_per_s",
    "value": 250,
}
SYNCS = {"flushes": 2, "commits": 1}


def reason(profiled: Any, *pools: Any) -> str:
    """Why the task is not predicted on amd-16."""
    (task,) = predict([profiled], [worker for pool in pools for worker in pool])
    (pool,) = [each for each in task.pools if each.pool == "amd-16"]
    assert pool.time_ns is None
    assert pool.reason is not None
    return text_of(pool.reason)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"ending": {"code": 1, "signal": None, "error": None}}, "the profiled command failed"),
        ({"usage": None}, "no CPU time"),
        ({"timeline": {"interval_s": 0.1, "columns": {}, "devices": {}}}, "no timeline"),
    ],
    ids=["failed", "usage", "timeline"],
)
def test_profiles_that_cannot_be_used(changed, text):
    """Nothing is predicted from them on any pool."""
    assert text in reason(profile(change=changed), pool_workers("intel"), pool_workers("amd-16"))


def test_the_profiles_pool_has_no_results():
    """Differences of syncs and CPUs need it."""
    assert reason(profile(), pool_workers("amd-16")) == (
        "intel, where the task was profiled, has no results; add them to --on"
    )


def test_a_profile_that_does_not_name_its_pool():
    """Then nothing tells which results belong to it."""
    text = reason(profile(pool=None), pool_workers("intel"), pool_workers("amd-16"))
    assert text == "the profile does not name its pool; name it by --pool NAME"


def test_a_profile_of_another_disk():
    """Its disks wrote twice what those of the pool can."""
    text = reason(profile((100, 100, 0, 0)), pool_workers("intel"), pool_workers("amd-16"))
    assert text == (
        "the profile's disks wrote up to 200 MiB/s, and those of intel write 100 MiB/s; check --pool "
        "of the profile, or measure intel again"
    )


def test_disks_with_a_burst():
    """Fast at first: a task that writes meets either speed, and one that only computes none of them."""

    def slowing_down(column: list[int]) -> list[int]:
        return [copy_ns * (1 if at < 1000 else 3) for at, copy_ns in enumerate(column)]

    change = {"workloads.0.samples.copy_ns": slowing_down}
    slowed = pool_workers("amd-16", change=change)
    assert reason(profile((50, 50, 50, 50)), pool_workers("intel"), slowed).startswith(
        "retrieves of amd-16 took 2.91× as long at the end"
    )
    (task,) = predict([profile(cpu_s=1)], [*pool_workers("intel"), *slowed])
    assert all(pool.time_ns is not None for pool in task.pools)


def test_a_timeline_of_another_time():
    """The command took ten times as long as its timeline."""
    text = reason(
        profile(change={"wall_ns": 20_000_000_000}), pool_workers("intel"), pool_workers("amd-16")
    )
    assert text == "the profile's timeline is not of all its time; profile it again"


def test_a_profile_without_a_place():
    """Nothing is known of its disks."""
    empty = profile(change={"storage": {"places": []}})
    text = reason(empty, pool_workers("intel"), pool_workers("amd-16"))
    assert text == "the profile watched no disk; profile with --place on a local disk"


def test_parallel_work_on_another_number_of_cpus():
    """How its work divides is not known."""
    fewer = pool_workers("amd-16", change={"host.cpu_online_count": 8, "host.cpu_count": 8})
    text = reason(profile(cpu_s=12), pool_workers("intel"), fewer)
    assert text == (
        "the task used 6.00 CPUs on average, and amd-16 has 8 instead of 16; profile the task on amd-16"
    )


def test_nothing_compares_the_cpus():
    """Neither the CPU time of lookups nor spawn was measured there."""
    only = ("sync-write/append-fsync",)
    text = reason(profile(cpu_s=1), pool_workers("intel"), pool_workers("amd-16", only=only))
    assert text == "nothing compares the CPUs of intel and amd-16; measure spawn on both"


def test_a_short_command():
    """In less than two windows there is nothing to see."""
    text = reason(profile((0,)), pool_workers("intel"), pool_workers("amd-16"))
    assert text == (
        "the command took less than 1.00 s, which does not show when it wrote; profile a longer part "
        "of the task"
    )


def test_less_memory_for_what_is_not_written_yet():
    """15 % of a GiB on the other pool, where a profile left 200 MiB."""
    small = pool_workers("amd-16", change={"host.memory_available_bytes": 1024**3})
    text = reason(profile(dirty_mib=200), pool_workers("intel"), small)
    assert text == (
        "up to 200 MiB waited in memory to be written, and amd-16 makes writers wait from 154 MiB on; "
        "profile the task on amd-16"
    )


def test_no_ceiling():
    """Without trials nothing is known of the disks."""
    text = reason(profile(), pool_workers("intel"), workers(pools=["amd-16"]))
    assert text.startswith("amd-16 has no write ceiling of the place workspace")


def test_syncs_without_a_measurement():
    """The task syncs, and sync-write did not run."""
    pools = (pool_workers("intel", only=("spawn",)), pool_workers("amd-16", only=("spawn",)))
    assert "no append-fsync" in reason(profile(syncs=SYNCS), *pools)


def test_reading():
    """What is read in an eighth of the time or more may decide it."""
    text = reason(profile(read_mib=100), pool_workers("intel"), pool_workers("amd-16"))
    assert text == (
        "the task read 100 MiB from the disks of workspace, and no ceiling of reading is measured; "
        "profile the task on amd-16"
    )


def test_a_faster_disk_than_that_of_a_profile_at_its_ceiling():
    """How long the task computes meanwhile is not known."""
    text = reason(profile((50, 50, 0, 0)), pool_workers("intel"), pool_workers("amd-16", (200,)))
    assert text.startswith("50 % of the task's time the disks of intel were at their ceiling")


LIMITED = {"limits.io": [LIMIT], "storage.places.0.devices.0.number": "259:0"}


def test_a_limit_of_requests():
    """Each page may be a separate request."""
    limited = pool_workers("amd-16", change=LIMITED)
    text = reason(profile((10, 10)), pool_workers("intel"), limited)
    assert text == "amd-16 limits its disks to 250 IOPS; profile the task on amd-16"


def test_a_limit_of_requests_that_a_task_does_not_reach():
    """At most 102 pages in two seconds."""
    limited = pool_workers("amd-16", change=LIMITED)
    (task,) = predict([profile((0, 0.4, 0, 0))], [*pool_workers("intel"), *limited])
    assert task.pools[0].reason is None


def test_more_requests_than_any_disk_is_known_to_do():
    """800 in each half second; without sync-write and random-io only 100 per second are known."""
    only = ("spawn",)
    pools = (pool_workers("intel", only=only), pool_workers("amd-16", only=only))
    assert reason(profile((50, 50)), *pools) == (
        "the task writes with up to 1,600 IOPS, and the disks of amd-16 are only known to do 100 "
        "IOPS; measure random-io there"
    )


def test_metadata_that_differs():
    """Half of the time in the kernel, and files take three times as long there."""
    only = ("sync-write/append-fsync", "spawn", "metadata")
    text = reason(
        profile(cpu_s=1, kernel_s=1),
        pool_workers("intel", only=only),
        pool_workers("amd-16", only=only, slower={"metadata": 3}),
    )
    assert text.startswith("the task spends 50 % of its time in the kernel")


def test_another_file_system_whose_metadata_is_not_measured():
    """It may be slower or not."""
    other = pool_workers("amd-16", change={"storage.places.0.filesystem.type": "btrfs"})
    text = reason(profile(cpu_s=1, kernel_s=1), pool_workers("intel"), other)
    assert "another file system" in text


def test_a_quota_of_cpus():
    """A task that keeps one CPU busy takes longer with half of one."""
    quota = {"group": "/sys/fs/cgroup/task", "quota_us": 50_000, "period_us": 100_000}
    limited = pool_workers("amd-16", change={"limits.cpu": [quota]})
    text = reason(profile(cpu_s=1.8), pool_workers("intel"), limited)
    assert text == (
        "the task used 0.900 CPUs on average, and amd-16 has 0.500 instead of 16; profile the task on "
        "amd-16"
    )
