# SPDX-License-Identifier: MPL-2.0
"""Variables in arguments, which a shell replaces where there is one."""

import subprocess
import sys

import pytest
import variables
from checkout import ROOT

from io_benchmark_taskgraph.worker_program import WorkerProgram


@pytest.mark.parametrize(
    ("argument", "values", "expected"),
    [
        ("--profile", {}, ["--profile"]),
        ("${IO_BENCHMARK_PROFILE:-full}", {}, ["full"]),
        ("${IO_BENCHMARK_PROFILE:-full}", {"PROFILE": "quick"}, ["quick"]),
        ("${IO_BENCHMARK_PROFILE:-full}", {"PROFILE": ""}, ["full"]),
        ("workspace=${IO_BENCHMARK_WORKSPACE:-D:/x}", {}, ["workspace=D:/x"]),
        ("--pace=${IO_BENCHMARK_PACE:-}", {}, []),
        ("--pace=${IO_BENCHMARK_PACE:-}", {"PACE": "5"}, ["--pace=5"]),
        ("https://host/?name=", {}, ["https://host/?name="]),
        ("${HOME:-x}", {}, ["${HOME:-x}"]),
    ],
)
def test_replace(monkeypatch, argument, values, expected):
    """As a shell does; an option without a value is left out, and other text stays."""
    for name, value in values.items():
        monkeypatch.setenv(f"IO_BENCHMARK_{name}", value)
    assert variables.replace([argument]) == expected


def test_a_run(tmp_path):
    """The program replaces them before it reads its options; tasks of Linux lack the module."""
    arguments = ["run", "--pool", "p", "--profile", "${IO_BENCHMARK_PROFILE:-wrong}"]
    program = WorkerProgram.read()
    command = [sys.executable, str(ROOT / "scripts/io-benchmark"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "invalid choice: 'wrong'" in done.stdout + done.stderr
    for system, expected in (("linux", False), ("windows", True)):
        data = program.embedded("bench", ["cache-retrieve"], system).data
        assert (b"variables.py" in data) == expected
