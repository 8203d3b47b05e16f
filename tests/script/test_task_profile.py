# SPDX-License-Identifier: MPL-2.0
"""The profile of a command on recorded machines: which counters it takes, and which it cannot."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import settings
import task_profile
from observe import devices

from io_benchmark.results import task_profile as reader

Record = Callable[..., None]
GROUP = "/sys/fs/cgroup/task"
PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 total={}\n"


def machine(
    *,
    at: int,
    mount: str = "ext4 /dev/nvme0n1 rw",
    write_cache: str = "write back",
    fields: int = 20,
    journal: bool = True,
) -> dict[str, str]:
    """A worker with one disk, its container's cgroup v2, and counters that grew by `at`."""
    counts = ["259", "0", "nvme0n1", *(str(at * number) for number in range(1, 18))]
    device = "/sys/devices/nvme0n1"
    files = {
        "/proc/self/mountinfo": f"1 0 259:0 / / rw - {mount}\n"
        "2 1 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
        "/proc/self/cgroup": "0::/task\n",
        "/proc/diskstats": " ".join(counts[:fields]) + "\n",
        "/proc/meminfo": f"Dirty: {at} kB\nWriteback: 4 kB\nMemAvailable: 100 kB\n",
        "/proc/stat": f"cpu  {100 * at} 0 {100 * at} 5 6 0 0 7 0 0\n",
        "/proc/pressure/io": PRESSURE.format(10 * at, 5 * at),
        f"{GROUP}/io.stat": f"8:0 rbytes=9 wbytes=9\n259:0 rbytes={7 * at} wbytes={8 * at} rios=1\n",
        f"{device}/dev": "259:0",
        f"{device}/size": "1000",
        f"{device}/queue/write_cache": write_cache,
    }
    if journal:
        files["/proc/fs/jbd2/nvme0n1-8/info"] = (
            f"{9 * at} transactions ({6 * at} requested), each\n"
        )
    return files


def profile_of(
    recorded: Record, folder: Path, before: dict[str, str], after: dict[str, str]
) -> reader.TaskProfile:
    links = {"/sys/class/block/nvme0n1": "../../devices/nvme0n1"}
    recorded(before, links)
    output = str(folder / "task-profile.json")
    places = [settings._Place("root", "/")]
    chosen = SimpleNamespace(places=places, pool="intel", output=output, command=["make"])
    profile = task_profile.TaskProfile(chosen)
    recorded(after)
    ending = {"code": 0, "signal": None, "error": None}
    profile.finish(ending, 10**9, SimpleNamespace(ru_utime=0.5, ru_stime=0.25))
    return msgspec.json.decode(Path(output).read_bytes(), type=reader.TaskProfile)


def test_all_that_a_worker_shows(recorded: Record, tmp_path: Path) -> None:
    """What the counters grew by between the start and the end, under their names."""
    profile = profile_of(recorded, tmp_path, machine(at=1000), machine(at=1003))
    known = msgspec.to_builtins(profile)
    assert known["usage"] == {"user_ns": 500_000_000, "kernel_ns": 250_000_000}
    assert known["cgroup_bytes"] == {"nvme0n1": {"read": 21, "written": 24}}
    assert known["syncs"] == {"root": {"flushes": 3 * 16, "commits": 3 * 6}}
    # 600 ticks of 10 ms on all CPUs, less what the command and the measuring took.
    assert 5000 < known["other_cpu_ms"] < 5250
    disk = known["timeline"]["devices"]["nvme0n1"]
    assert [values[-1] - values[0] for values in map(disk.get, devices.COLUMNS)] == [
        *(3 * 3 * 512, 3 * 7 * 512, 3 * 10, 3 * 1, 3 * 5, 3 * 6, 3 * 16)
    ]
    assert known["timeline"]["columns"]["psi_io_some_us"] == [10_000, 10_030]
    assert known["timeline"]["columns"]["dirty_bytes"] == [1000 * 1024, 1003 * 1024]
    assert list(known["unknown"]) == ["io"]


@pytest.mark.parametrize(
    ("facts", "name", "reason"),
    [
        (
            *({"fields": 18}, "flushes"),
            "the kernel does not count flushes; Linux 5.5 and later do",
        ),
        (
            *({"write_cache": "write through"}, "flushes"),
            "the disks have no volatile write cache, so a sync flushes nothing",
        ),
        (
            *({"mount": "ext4 /dev/nvme0n1 rw,nobarrier,commit=60"}, "flushes"),
            "mounted without barriers, so a sync flushes nothing",
        ),
        (
            *({"journal": False}, "commits"),
            "only ext4 shows how many commits were requested, and none is visible",
        ),
    ],
    ids=["old kernel", "no cache", "no barriers", "no journal"],
)
def test_syncs_that_cannot_be_counted(
    recorded: Record, tmp_path: Path, facts: dict[str, Any], name: str, reason: str
) -> None:
    """A counter that stays 0 although the command synced is null, with the reason."""
    made = [machine(at=at, **facts) for at in (1000, 1003)]
    profile = profile_of(recorded, tmp_path, *made)
    assert getattr(profile.syncs["root"], name) is None
    assert profile.unknown[f"syncs.root.{name}"] == reason


def test_a_disk_that_the_cgroup_has_not_used(recorded: Record, tmp_path: Path) -> None:
    """It is not in io.stat yet: 0, as what the machine did is by others."""
    made = [machine(at=at) | {f"{GROUP}/io.stat": "8:0 rbytes=9 wbytes=9\n"} for at in (1, 2)]
    profile = profile_of(recorded, tmp_path, *made)
    assert msgspec.to_builtins(profile.cgroup_bytes) == {"nvme0n1": {"read": 0, "written": 0}}


def test_counters_that_begin_anew(recorded: Record, tmp_path: Path) -> None:
    """A device that came back: not known, and never less than nothing."""
    profile = profile_of(recorded, tmp_path, machine(at=1000), machine(at=10))
    assert profile.cgroup_bytes is None
    assert profile.syncs["root"].commits is None


def test_a_place_in_memory(recorded: Record, tmp_path: Path) -> None:
    """No disk, and no syncs to count."""
    made = [machine(at=at, mount="tmpfs none rw", journal=False) for at in (1, 2)]
    profile = profile_of(recorded, tmp_path, *made)
    reason = "in memory, on a network, or on disks that only a write would identify"
    assert profile.unknown["storage.places.root.devices"] == reason
    assert profile.unknown["syncs.root.flushes"] == reason
    assert profile.timeline.devices == {}
