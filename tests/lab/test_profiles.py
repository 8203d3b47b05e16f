# SPDX-License-Identifier: MPL-2.0
"""Profiles of commands on real disks: what was written and when, and how often it was synced.

The disks are new and nobody else uses them, so the machine's counters are the command's.
"""

import sys
from pathlib import Path

import pytest
from profiled import Profiled
from storage_lab import MIB, Lab

from io_benchmark.results.format import TaskProfile

pytestmark = [pytest.mark.serial, pytest.mark.root, pytest.mark.lab]

SYNCS = 100
APPEND = f"""
import os
file = os.open("file", os.O_WRONLY | os.O_CREAT)
for _ in range({SYNCS}):
    os.write(file, bytes(4096))
    os.fsync(file)
"""


def profile_of(place: Path, folder: Path, *command: str) -> TaskProfile:
    """What a command there asks for."""
    profiled = Profiled(folder / "task-profile.json", ["--place", f"disk={place}"])
    return profiled.measure(*command, cwd=place)


NO_BARRIERS, NO_JOURNAL = "mounted without barriers, so a", "only ext4 shows how many commits"


@pytest.mark.parametrize(
    ("filesystem", "options", "flushes", "commits", "unknown"),
    [
        ("ext4", "defaults", 2.2, 1.1, {}),
        # That nothing is flushed does not mean that nothing was synced.
        ("ext4", "nobarrier", None, 1.1, {"flushes": NO_BARRIERS}),
        ("xfs", "defaults", 2.5, None, {"commits": NO_JOURNAL}),
    ],
)
def test_syncs(lab, tmp_path, filesystem, options, flushes, commits, unknown):
    """One requested commit for each, and one or two flushes; what is not shown has its reason."""
    disk = lab.disk("disk", filesystem, size_mib=400, options=options)
    profile = profile_of(disk, tmp_path, sys.executable, "-c", APPEND)
    syncs = profile.syncs["disk"]
    for count, most in ((syncs.flushes, flushes), (syncs.commits, commits)):
        assert (count is None) == (most is None)
        assert count is None or SYNCS <= count <= most * SYNCS
    for name, reason in unknown.items():
        assert profile.unknown[f"syncs.disk.{name}"].startswith(reason)


def test_when_it_was_written(lab: Lab, tmp_path: Path) -> None:
    """64 MiB in the second second: in its rows, and not in those before."""
    write = "dd if=/dev/zero of=file bs=1M count=64 conv=fsync 2>/dev/null"
    profile = profile_of(lab.disk("disk"), tmp_path, "sh", "-c", f"sleep 1; {write}; sleep 1")
    (device,) = profile.timeline.devices.values()
    rows = list(zip(profile.timeline.columns["time_ns"], device["written_bytes"], strict=True))
    begin = rows[0][1]
    assert begin is not None
    written = [(at or 0, (total or 0) - begin) for at, total in rows]
    # ext4 still writes tables of the new disk.
    assert max(total for at, total in written if at < 0.9e9) < 20 * MIB
    assert 64 * MIB <= written[-1][1] < 100 * MIB
    assert len(rows) >= 15
