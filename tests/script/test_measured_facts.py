# SPDX-License-Identifier: MPL-2.0
"""`measure -- COMMAND` on this machine: what the profile says, and what it cannot know."""

import subprocess
import sys
from pathlib import Path

from profiled import Profiled


def test_without_proc_and_sys(profiled: Profiled, tmp_path: Path) -> None:
    """Nothing is known of the machine, and the profile says so."""
    done = profiled.run(
        "sh", "-c", "exit 6", prelude=f"import reading; reading.ROOT = '{tmp_path}'"
    )
    assert (done.returncode, done.stderr) == (6, b"")
    profile = profiled.profile()
    assert profile.usage is not None
    assert set(profile.unknown) == {
        *("io", "other_cpu_ms", "pressure.machine", "pressure.cgroup"),
        *("cgroup_bytes", "syncs.workspace.flushes", "syncs.workspace.commits"),
        "storage.places.workspace.devices",
    }


def test_what_a_command_used(profiled: Profiled, tmp_path: Path) -> None:
    """Its CPU time and that of its children, what they wrote, and the disks meanwhile."""
    spend = "import time\nwhile time.process_time() < 0.3: pass"
    write = f"dd if=/dev/zero of={tmp_path}/file bs=1M count=8 conv=fsync 2>&1"
    done = profiled.run("sh", "-c", f"{sys.executable} -c '{spend}'; {write}")
    assert done.returncode == 0
    profile = profiled.profile()
    assert profile.usage is not None
    assert 0.3e9 <= profile.usage.user_ns + profile.usage.kernel_ns < profile.wall_ns * 1.1
    assert profile.io is not None
    assert 8 << 20 <= profile.io.written_characters < 9 << 20
    assert profile.io.read_characters < 9 << 20
    columns = profile.timeline.columns
    assert profile.timeline.interval_s == 0.1
    times = [value for value in columns["time_ns"] if value is not None]
    assert times == sorted(times)
    assert times[0] < 0.1e9
    assert times[-1] >= profile.wall_ns - times[0]
    assert {len(column) for column in columns.values()} == {len(times)}


def test_the_profile_has_nothing_of_the_measuring(profiled: Profiled) -> None:
    """A command that reads and writes a known number of bytes, in a known number of calls."""
    program = "import os; [os.write(1, os.pread(0, 100, 0)) for _ in range(10)]"
    command = (sys.executable, "-S", "-E", "-c", program)
    sizes = []
    for repetitions in ("10", "1010"):
        with profiled.path.parent.parent.joinpath("input").open("wb+") as given:
            given.write(bytes(100))
            given.flush()
            words = [word.replace("range(10)", f"range({repetitions})") for word in command]
            done = subprocess.run(
                profiled.command(*words), stdin=given, capture_output=True, check=True
            )
        assert len(done.stdout) == int(repetitions) * 100
        sizes.append(profiled.profile().io)
    few, many = sizes
    assert few is not None
    assert many is not None
    assert few.written_characters == 1000
    assert few.write_calls == 10
    assert many.written_characters - few.written_characters == 100_000
    assert many.read_characters - few.read_characters == 100_000
    assert many.read_calls - few.read_calls == 1000


def test_arguments_are_not_in_the_profile(profiled: Profiled) -> None:
    """They may hold a secret, and profiles are public; the same words have the same sha256."""
    identities = []
    for words in (("sh", "-c", ": s3cret"), ("sh", "-c", ": s3cret"), ("sh", "-c", ": else")):
        profiled.run(*words)
        assert b"s3cret" not in profiled.path.read_bytes()
        identities.append(profiled.profile().command.sha256)
    assert identities[0] == identities[1] != identities[2]
