# SPDX-License-Identifier: MPL-2.0
"""Facts of a machine and of places, asked by Windows' Python, in the form that results have.

Wine has no NTFS, no Defender and no counters of disks: it refuses these questions, as a worker may
that was locked down.
"""

import json
import os

import msgspec
import pytest
import windows_python
import wine
from checkout import ROOT

from io_benchmark.results.machine import Host, Limits, StoragePlace

pytestmark = pytest.mark.windows

LONG = "long " * 20  # three such folders make a path of more than 260 characters
PLACES = (".", "a b", "ü\u4e2d", "\\".join([LONG.strip()] * 3))
_SCRIPT = """
import json, os, sys
sys.path.insert(0, {program!r})
from measuring.timelines import Timeline
from system import host, storage
from system.windows.support import defender
from system.probes import write_probe

def observed(path):
    try:
        return storage.observe("workspace", path)
    except OSError as error:
        return error.strerror

timeline = Timeline(["PhysicalDrive0"], 1, 0, os.getpid())
timeline._rows = [timeline.row(), timeline.row()]
places = json.loads(sys.argv[1])
answer = dict(
    host=host.observe(),
    limits=host.observe_limits(),
    free=[host.available_bytes(), host.dirty_limit_bytes()],
    cpus=host.usable_cpus(),
    services=defender.services(),
    places=[observed(path) for path in places],
    timeline=timeline.as_timeline(),
)
write_probe(places[0])
print(json.dumps(answer))
"""


def observe(windows, folder, paths, version=windows_python.USUAL):
    script = folder / "observe.py"
    program = wine.path_of(ROOT / "scripts" / "io-benchmark")
    script.write_text(_SCRIPT.format(program=program))
    code, output = windows.run_python(wine.path_of(script), json.dumps(paths), version=version)
    assert code == 0, output
    return json.loads(output.splitlines()[-1])


@pytest.mark.parametrize("version", windows_python.VERSIONS)
def test_facts_of_the_machine(windows, tmp_path, version):
    """The reader takes them; they are this machine's; what Wine refuses is null."""
    answer = observe(windows, tmp_path, [wine.path_of(tmp_path)], version)
    host = msgspec.convert(answer["host"], Host)
    limits = msgspec.convert(answer["limits"], Limits)
    assert (limits.memory, limits.cpu, limits.io) == ([], [], [])
    assert (host.system, host.kernel.split(".")[:2]) == ("windows", ["10", "0"])
    assert answer["cpus"] == list(range(len(os.sched_getaffinity(0))))
    assert host.memory_bytes == pytest.approx(
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), rel=0.01
    )
    assert len(host.first_touch_ns_per_mib) > 0
    python = host.tools["python3"]
    assert python is not None
    assert (python.version or "").startswith(version + ".")
    assert host.tools["findstr"] is not None
    assert host.windows is not None
    assert host.windows.defender.is_running is None
    # Kind and state: a service that stopped.
    assert answer["services"]["Winmgmt"] == [0x20, 1]
    assert min(answer["free"]) > 0


def test_timeline(windows, tmp_path):
    """A row has CPU times and free memory; a disk without counters has no columns."""
    timeline = observe(windows, tmp_path, [wine.path_of(tmp_path)])["timeline"]
    assert timeline["devices"] == {}
    columns = timeline["columns"]
    assert {"time_ns", "cpu_user_ms", "cpu_system_ms", "cpu_idle_ms"} <= columns.keys()
    assert {name for name in columns if name.endswith("_bytes")} == {"memory_available_bytes"}
    assert columns["time_ns"] == sorted(columns["time_ns"])


def test_places(windows, tmp_path):
    """Spaces, other scripts and long paths do not matter; nothing is left in a place."""
    disk = tmp_path / "disk"
    for name in PLACES:
        (disk / name.replace("\\", "/")).mkdir(parents=True, exist_ok=True)
    before = sorted(os.walk(disk))
    with windows.drive("d", disk) as drive:
        paths = [drive + name for name in PLACES]
        places = observe(windows, tmp_path, paths)["places"]
    assert max(map(len, paths)) > 260
    assert sorted(os.walk(disk)) == before
    size_bytes = os.statvfs(disk).f_blocks * os.statvfs(disk).f_frsize
    for path, place in zip(paths, places, strict=True):
        observed = msgspec.convert(place, StoragePlace)
        assert (observed.path, observed.kind, observed.size_bytes) == (
            path,
            "directory",
            size_bytes,
        )
        assert place["mount"]["point"] == "D:\\"
        assert observed.filesystem is not None
        assert observed.filesystem.type == "NTFS"
        assert observed.windows is not None
        assert (observed.windows.drive, observed.windows.cluster_bytes) == ("D:", 4096)
        # Wine has one disk, of a driver that knows no extents.
        (device,) = observed.devices
        assert (device.name, device.bus, device.is_removable) == ("PhysicalDrive0", "scsi", False)


def test_places_that_are_not_there(windows, tmp_path):
    """Each is an error in words: a missing folder, drive and share."""
    paths = [wine.path_of(tmp_path), "C:\\no", "Q:\\x", "\\\\no-such-server\\share\\x"]
    _, *errors = observe(windows, tmp_path, paths)["places"]
    assert [isinstance(error, str) and error != "" for error in errors] == [True] * 3
