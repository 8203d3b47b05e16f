# SPDX-License-Identifier: MPL-2.0
"""Payloads as docker and native workers take them, and as anybody may write them."""

import pytest

from io_benchmark_taskgraph.actions import _GroupTask
from io_benchmark_taskgraph.payloads import (
    after_run_task,
    commands_of,
    is_of_run_task,
    line_of_windows,
)
from io_benchmark_taskgraph.repeating import repeated

MAKE = ["chmod", "+x", "run-task"]
BASH = ["bash", "-ec", "exec \\\n  --pool amd-16"]
DOCKER = ["/usr/local/bin/run-task", "--", *BASH]
NATIVE = [MAKE, ["./run-task", "--", *BASH]]
PYTHON = "C:/mozilla-build/python3/python3.exe"
WINDOWS = [f"{PYTHON} run-task --task-cwd x -- {PYTHON} io-benchmark.py run --pool amd-16 -- ls"]
DATES = {
    "created": "2026-11-21T12:00:00.000Z",
    "deadline": "2026-11-22T12:00:00.000Z",
    "expires": "2026-11-23T12:00:00.000Z",
}


@pytest.mark.parametrize(
    ("command", "commands", "inner"),
    [
        (DOCKER, [DOCKER], BASH),
        (NATIVE, NATIVE, BASH),
        ([["./run-task", "--", "make"]], [["./run-task", "--", "make"]], ["make"]),
        (["make", "all"], [["make", "all"]], None),
        ([["rm", "run-task"], ["./run-task", "--", "make"]], ..., None),
        ([["./run-task", "--", "make"], ["make"]], ..., None),
        ([MAKE], [MAKE], None),
        ([[]], [[]], None),
        ([], [], None),
        (None, [], None),
        ("run-task -- make", [], None),
        ([{"task-reference": "<x>"}, "--"], ..., None),
    ],
)
def test_commands(command, commands, inner):
    """A command of words, or several; what run-task runs of them, if it is all that they do."""
    payload = {"command": command}
    assert commands is ... or commands_of(payload) == commands
    assert after_run_task(payload) == inner


@pytest.mark.parametrize(
    ("payload", "line"),
    [
        ({"command": WINDOWS}, f"{PYTHON} io-benchmark.py run --pool amd-16 -- ls"),
        ({"command": WINDOWS, "image": "x"}, None),
        ({"command": [*WINDOWS, "dir"]}, None),
        ({"command": ["dir -- x"]}, None),
        ({"command": [f"{PYTHON} run-task"]}, None),
        ({"command": DOCKER}, None),
        ({"command": NATIVE}, None),
        ({"command": []}, None),
        ({"command": WINDOWS[0]}, None),
        ({}, None),
    ],
)
def test_a_line_of_windows(payload, line):
    """A worker on Windows takes lines; run-task runs what is after its own options."""
    assert line_of_windows(payload) == line


@pytest.mark.parametrize("command", [DOCKER, NATIVE, WINDOWS])
def test_pool(command):
    """The actions find a pool's tasks by their commands, and run them once more as they are."""
    definition = {
        **DATES,
        "metadata": {"name": "io-benchmark-amd-16", "description": ""},
        "payload": {"command": command, "env": {"A": "1"}},
    }
    assert _GroupTask("", "", definition).pool == "amd-16"
    made = repeated(definition, "amd-16", ["io-benchmark-amd-16"], 5)
    trials = {"IO_BENCHMARK_TRIALS": "always", "IO_BENCHMARK_PACE": "5"}
    assert made["payload"] == {"command": command, "env": {"A": "1", **trials}}


def test_mounts():
    """A worker takes run-task's path in several forms."""
    files = ("./run-task", "run-task", "run-task-2", None)
    assert [is_of_run_task({"file": file}) for file in files] == [True, True, False, False]
