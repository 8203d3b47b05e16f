# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
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
    assert "own pool has no results" in reason(profile(), pool_workers("amd-16"))


def test_results_of_the_quick_profile():
    """A machine is not bought by a rehearsal."""
    quick = pool_workers("amd-16", change={"config.profile": "quick"})
    assert "results of amd-16 are of the quick profile" in reason(
        profile(), pool_workers("intel"), quick
    )


def test_a_short_command():
    """In less than two windows there is nothing to see."""
    text = reason(profile((0,)), pool_workers("intel"), pool_workers("amd-16"))
    assert text == "the command took less than 1.00 s"


def test_less_memory_for_what_is_not_written_yet():
    """15 % of a GiB on the other pool, where a profile left 200 MiB."""
    small = pool_workers("amd-16", change={"host.memory_available_bytes": 1024**3})
    text = reason(profile(dirty_mib=200), pool_workers("intel"), small)
    assert text == (
        "up to 200 MiB waited in memory to be written, and amd-16 lets writers wait from 154 MiB on"
    )


def test_btrfs_with_most_of_it_in_memory():
    """Its writers wait for that on a slower disk."""
    other = pool_workers("amd-16", change={"storage.places.0.filesystem.type": "btrfs"})
    text = reason(profile((10, 0), dirty_mib=20), pool_workers("intel"), other)
    assert text == "workspace is btrfs, and most of what the task wrote was still in memory"


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
        "the task read 100 MiB from the disks of workspace, and no ceiling of reading is measured"
    )


def test_a_faster_disk_than_that_of_a_profile_at_its_ceiling():
    """How long the task computes meanwhile is not known."""
    text = reason(profile((50, 50, 0, 0)), pool_workers("intel"), pool_workers("amd-16", (200,)))
    assert text.startswith("50 % of the task's time the disks of intel were at their ceiling")


def test_a_limit_of_requests():
    """Bytes do not decide how long writes take there."""
    limited = pool_workers(
        "amd-16",
        change={
            "limits.io": [LIMIT],
            "storage.places.0.devices.0.number": "259:0",
        },
    )
    text = reason(profile(), pool_workers("intel"), limited)
    assert text == "amd-16 limits how many requests its disks take"


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
