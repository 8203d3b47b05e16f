# SPDX-License-Identifier: MPL-2.0
"""Processes that work at once, each test in a separate process that starts them."""

import subprocess
import sys
from pathlib import Path

import pytest
from worker import SCRIPT

START = "import os, signal, sys, time\nfrom crew import Crew\n"


def run(text: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-B", "-c", START + text],
        env={"PYTHONPATH": str(SCRIPT)},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )


def test_all_begin_when_all_are_ready(tmp_path: Path) -> None:
    """None does anything before the last one is ready."""
    done = run(
        f"""
folder = {str(tmp_path)!r}
def work(number, ready, tell):
    open(os.path.join(folder, str(number)), "w").close()
    ready()
    tell(sorted(os.listdir(folder)))
with Crew(3, work) as crew:
    print(sorted(line for line in crew.messages() if line is not None))
"""
    )
    ready = ["0", "1", "2"]
    assert (done.stdout, done.stderr) == (f"{[(n, ready) for n in range(3)]}\n", "")


@pytest.mark.parametrize(
    ("failing", "message"),
    [
        pytest.param("os.stat('/proc/nonexistent')", "2 No such file or directory", id="named"),
        pytest.param("raise OSError(None, 'said so')", "None said so", id="own words"),
        pytest.param(
            "os.kill(os.getpid(), signal.SIGKILL)",
            "None a process of the run ended with status 0x0009",
            id="killed",
        ),
    ],
)
def test_a_failing_member_fails_the_crew(failing: str, message: str) -> None:
    """Its error is the crew's, and the others are ended."""
    done = run(
        f"""
def work(number, ready, tell):
    ready()
    if number == 1:
        {failing}
    time.sleep(1000)
try:
    with Crew(2, work) as crew:
        for line in crew.messages():
            pass
except OSError as error:
    print(error.errno, error.strerror)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("none left")
"""
    )
    assert (done.stdout, done.stderr) == (f"{message}\nnone left\n", "")


def test_a_bug_in_a_member_is_shown() -> None:
    """What is no failure of the system is a traceback, and ends the crew."""
    done = run(
        """
def work(number, ready, tell):
    raise KeyError("a bug")
try:
    with Crew(1, work) as crew:
        list(crew.messages())
except OSError as error:
    print(error.strerror)
"""
    )
    assert done.stdout == "a process of the run ended with status 0x4600\n"
    assert done.stderr.endswith("KeyError: 'a bug'\n")


def test_leaving_early_ends_all() -> None:
    """Members that would work on are gone when the block is left."""
    done = run(
        """
def work(number, ready, tell):
    ready()
    while True:
        tell(os.getpid())
with Crew(2, work) as crew:
    pids = set()
    for line in crew.messages():
        if line is not None:
            pids.add(line[1])
        if len(pids) == 2:
            break
for pid in pids:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        print("gone")
"""
    )
    assert (done.stdout, done.stderr) == ("gone\ngone\n", "")
