# SPDX-License-Identifier: MPL-2.0
"""Runs and commands of the worker's program on Windows that end early, or in another way."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import task_profile
import windows_python
import wine
from measuring import batches
from system.windows import commands
from wine_programs import in_a_console
from worker import SCRIPT, outcome_of, wait_for

from io_benchmark.results import Result
from io_benchmark.results.reader import parse_profile
from io_benchmark.sources.run_files import read_run

pytestmark = pytest.mark.windows
VERSIONS = pytest.mark.parametrize("version", windows_python.VERSIONS)


class Run:
    """A place and a result, and the words of a run of the workload spawn."""

    def __init__(self, folder: Path) -> None:
        self.place, self.output = folder / "pläce 1", folder / "out"
        self.place.mkdir()
        self.output.mkdir()
        self.words = (
            wine.path_of(SCRIPT),
            # It takes 20 s: each test ends it before.
            "run",
            "--pool",
            "win-1",
            "--workload",
            "spawn",
            "--profile",
            "full",
            "--place",
            f"workspace={wine.path_of(self.place)}",
            "--output",
            wine.path_of(self.output),
        )

    def result(self) -> Result:
        return read_run(self.output / "io-benchmark" / "io-benchmark.json").result


@pytest.fixture(name="run")
def _run(tmp_path):
    return Run(tmp_path)


@VERSIONS
def test_time_budget(windows, run, version):
    """The run ends when its time is used up, and leaves nothing behind."""
    code, output = windows.run_python(*run.words, "--time-budget", "6", version=version)
    result = run.result()
    assert outcome_of(result) == ("time-budget", "the time budget of 6 s is used up"), output
    (entry,) = result.workloads
    is_enough = len(entry.samples.start_ns) >= batches.Batches.samples_for_a_verdict
    assert code == (0 if is_enough else 1)
    assert list(run.place.iterdir()) == []


def test_ctrl_c(windows, run, tmp_path):
    """The exit code and the result name the signal, and everything is removed."""
    words, code = in_a_console(windows, tmp_path, *run.words, until="[1/1] spawn")
    assert (code, words[-1]) == (130, "===")
    result = run.result()
    (entry,) = result.workloads
    stopped = ("stopped", "stopped by SIGINT")
    assert (outcome_of(result), outcome_of(entry)) == (stopped, stopped)
    assert result.warnings == []
    assert list(run.place.iterdir()) == []


def test_a_killed_console(windows, run):
    """What was written until then is a valid result, and no process goes on."""
    process = windows.start(*wine.python_command(), *run.words)
    wait_for(process, "[1/1] spawn")
    (parent,) = windows.processes("--workload spawn")
    assert len(windows.processes("be_member")) == 1
    os.kill(parent, signal.SIGKILL)
    process.communicate()
    until_s = time.monotonic() + 30
    while windows.processes("be_member") and time.monotonic() < until_s:
        time.sleep(0.1)
    assert windows.processes("be_member") == []
    assert outcome_of(run.result())[0] == "running"


def measured(
    windows: wine.Windows, folder: Path, *command: str, version: str = windows_python.USUAL
) -> tuple[int, str, Any]:
    """Return the exit code, what was printed, and the profile."""
    given = (wine.path_of(SCRIPT), "measure", "--label", "a -- b", "--", *command)
    code, output = windows.run_python(*given, version=version, folder=folder)
    (file,) = folder.glob("task-profile*.json")
    return code, output, parse_profile(file.read_bytes(), str(file))


@VERSIONS
def test_the_profile_of_a_command(windows, tmp_path, version):
    """It has what Windows tells, and the reason for what it does not tell."""
    folder = tmp_path / "ä b"
    folder.mkdir()
    batch = folder / "a build.bat"
    batch.write_text("@echo [%1] [%~2]\r\n@exit /b 77\r\n", newline="")
    code, output, profile = measured(windows, folder, "a build", "x", "y z", version=version)
    assert (code, output) == (77, "[x] [y z]\n")
    assert (profile.ending.code, profile.ending.signal, profile.ending.error) == (77, None, None)
    assert (profile.command.program, profile.command.arguments) == ("a build", 2)
    assert (profile.usage, profile.other_cpu_ms, profile.host.system) == (None, None, "windows")
    (place,) = profile.storage.places
    # Wine knows a device for some of this machine's file systems.
    flushes = {"syncs.workspace.flushes": commands.NO_FLUSH_COUNT}
    no_disk = ("syncs.workspace.flushes", "storage.places.workspace.devices")
    assert profile.unknown == {
        "usage": task_profile.NO_CPU_TIME,
        "other_cpu_ms": task_profile.NO_CPU_TIME,
        "syncs.workspace.commits": task_profile.NO_JOURNAL,
        **(flushes if place.devices else dict.fromkeys(no_disk, commands.NO_DISK)),
    }


def test_a_command_that_is_missing(windows, tmp_path):
    """One line, and 127 as on Linux."""
    code, output, profile = measured(windows, tmp_path, ".\\mïssing.exe")
    assert code == 127
    assert output == f"io-benchmark: .\\mïssing.exe: {profile.ending.error}\n"
    assert profile.unknown["usage"] == "the command was not started"
