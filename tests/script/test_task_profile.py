# SPDX-License-Identifier: MPL-2.0
"""The profile of a command on recorded machines: which counters it takes, and which it cannot."""

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
import settings
import task_profile
from system.linux import commands, devices

from io_benchmark.results import format as reader
from io_benchmark.results.reader import MAXIMUM_PARTS

Record = Callable[..., None]
PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 total={}\n"


def machine(
    *,
    at: int,
    mount: str = "ext4 /dev/nvme0n1 rw",
    write_cache: str = "write back",
    fields: int = 20,
    journal: bool = True,
) -> dict[str, str]:
    """A worker with one disk, and counters that grew by `at`."""
    counts = ["259", "0", "nvme0n1", *(str(at * number) for number in range(1, 18))]
    device = "/sys/devices/nvme0n1"
    files = {
        "/proc/self/mountinfo": f"1 0 259:0 / / rw - {mount}\n",
        "/proc/diskstats": " ".join(counts[:fields]) + "\n",
        "/proc/meminfo": f"Dirty: {at} kB\nWriteback: 4 kB\nMemAvailable: 100 kB\n",
        "/proc/stat": f"cpu  {100 * at} 0 {100 * at} 5 6 0 0 7 0 0\nprocs_running {at % 10}\n",
        "/proc/pressure/io": PRESSURE.format(10 * at, 5 * at),
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
    places = [settings.Place("root", "/")]
    chosen = SimpleNamespace(
        places=places, pool="intel", output=output, command=["make"], job=None, label=None
    )
    profile = task_profile.TaskProfile(chosen)
    recorded(after)
    ending = {"code": 0, "signal": None, "error": None}
    profile.finish(ending, 10**9, (500_000_000, 250_000_000))
    return msgspec.json.decode(Path(output).read_bytes(), type=reader.TaskProfile)


def test_all_that_a_worker_shows(recorded, tmp_path):
    """What the counters grew by between the start and the end, under their names."""
    profile = profile_of(recorded, tmp_path, machine(at=1000), machine(at=1003))
    known = msgspec.to_builtins(profile)
    assert known["usage"] == {"user_ns": 500_000_000, "kernel_ns": 250_000_000}
    assert known["syncs"] == {"root": {"flushes": 3 * 16, "commits": 3 * 6}}
    # 600 ticks of 10 ms on all CPUs, less what the command and the measuring took.
    assert 5000 < known["other_cpu_ms"] < 5250
    disk = known["timeline"]["devices"]["nvme0n1"]
    assert [values[-1] - values[0] for values in map(disk.get, devices.COLUMNS)] == [
        3 * 3 * 512,
        3 * 7 * 512,
        3 * 10,
        3 * 1,
        3 * 5,
        3 * 6,
        3 * 16,
    ]
    assert known["timeline"]["columns"]["psi_io_some_us"] == [10_000, 10_030]
    assert known["timeline"]["columns"]["dirty_bytes"] == [1000 * 1024, 1003 * 1024]
    # Without the thread that reads it; 0 and 3 were running.
    assert known["timeline"]["columns"]["runnable_threads"] == [0, 2]
    assert known["unknown"] == {}


@pytest.mark.parametrize(
    ("facts", "later", "name", "reason"),
    [
        ({"fields": 18}, 1003, "flushes", commands.NO_FLUSH_COUNT),
        ({"write_cache": "write through"}, 1003, "flushes", task_profile.NO_WRITE_CACHE),
        ({"mount": "ext4 /dev/a rw,nobarrier"}, 1003, "flushes", task_profile.NO_BARRIERS),
        ({"journal": False}, 1003, "commits", task_profile.NO_JOURNAL),
        ({}, 10, "flushes", commands.NO_FLUSH_COUNT),
        ({}, 10, "commits", task_profile.NO_JOURNAL),
    ],
    ids=["old kernel", "no cache", "no barriers", "no journal", "disk anew", "journal anew"],
)
def test_syncs_that_cannot_be_counted(recorded, tmp_path, facts, later, name, reason):
    """A counter that stays 0 although the command synced, or began anew, is null, and why."""
    made = [machine(at=at, **facts) for at in (1000, later)]
    profile = profile_of(recorded, tmp_path, *made)
    assert getattr(profile.syncs["root"], name) is None
    assert profile.unknown[f"syncs.root.{name}"] == reason


def test_a_sync_of_a_stripe():
    """It flushes every disk: the most that one of them counted, not their sum."""
    profile = object.__new__(task_profile.TaskProfile)
    profile._unknown = {}
    disks = [
        {"name": name, "number": name, "below": [], "write_cache": "write back"} for name in "ab"
    ]
    place = {"name": "root", "devices": disks, "mount": {"super_options": "rw"}}
    grown = {"flushes:a": 5, "flushes:b": 7, "commits:root": 3}
    assert profile._syncs(place, grown) == {"flushes": 7, "commits": 3}


def test_a_place_in_memory(recorded, tmp_path):
    """No disk, and no syncs to count."""
    made = [machine(at=at, mount="tmpfs none rw", journal=False) for at in (1, 2)]
    profile = profile_of(recorded, tmp_path, *made)
    assert profile.unknown["storage.places.root.devices"] == commands.NO_DISK
    assert profile.unknown["syncs.root.flushes"] == commands.NO_DISK
    assert profile.timeline.devices == {}


def row_of(number: int) -> dict[str, str]:
    """What the kernel shows of one disk after so many writes."""
    return {"/proc/diskstats": f"259 0 nvme0n1 1 0 1 0 {number} 0 1 0 0 1 0 0\n"}


@pytest.fixture
def timeline(recorded):
    recorded(row_of(1))
    return task_profile._CommandTimeline(["nvme0n1", "gone"])


def test_costly_rows_are_further_apart(timeline, monkeypatch):
    """5 ms of CPU time for a row: one per second, so that all take 0.5 % of the time."""
    ticks = iter([0, 5_000_000])
    monkeypatch.setattr(time, "thread_time_ns", lambda: next(ticks))
    timeline.take()
    assert 0.9 < timeline.rest_s() <= 1.1


def test_a_pause_is_not_made_up_for(timeline, monkeypatch):
    """A machine that stood still for an hour: one row, then the next a tenth later."""
    now = time.monotonic() + 3600
    monkeypatch.setattr(time, "monotonic", lambda: now)
    timeline.take()
    assert timeline.rest_s() == 0
    timeline.take()
    assert timeline.rest_s() > 0


def test_a_long_run(monkeypatch, recorded):
    """Rows are dropped evenly, never the first or the last one, and the interval doubles."""
    monkeypatch.setattr(task_profile, "ROWS_AT_MOST", 11)
    recorded(row_of(1))
    timeline = task_profile._CommandTimeline(["nvme0n1"])
    for number in range(2, 36):
        recorded(row_of(number))
        timeline.take()
    document = timeline.as_timeline()
    assert document["interval_s"] == task_profile.EVERY_S * 2**5
    writes = document["devices"]["nvme0n1"]["writes"]
    assert (writes[0], writes[-1], writes) == (1, 35, sorted(writes))
    assert 5 <= len(writes) <= 11


def test_what_is_missing_is_null(timeline, recorded):
    """A device that was never there has no columns; one that went away has nulls."""
    recorded({"/proc/diskstats": ""})
    timeline.take()
    disks = timeline.as_timeline()["devices"]
    assert (list(disks), disks["nvme0n1"]["reads"]) == (["nvme0n1"], [1, None])


def test_a_reader_takes_the_longest_profile():
    """Its cells are fewer than the values that a reader decodes."""
    commas = {character: most for character, most, _ in MAXIMUM_PARTS}[b","]
    assert commas / 2 > task_profile.CELLS_AT_MOST
    assert task_profile.ROWS_AT_MOST <= 100_000
