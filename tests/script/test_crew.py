# SPDX-License-Identifier: MPL-2.0
"""Processes that work at once, each test in a separate process that starts them."""

import subprocess
import sys
from pathlib import Path

import pytest
from worker import SCRIPT

START = "import os, signal, sys, time\nfrom system.linux.crews import Crew\n"
ALL_READY = """
def work(number, ready, tell):
    time.sleep(0.2 * number)
    open(str(number), "w").close()
    ready()
    tell(sorted(os.listdir(".")))
with Crew(3, work) as crew:
    print(sorted(line for line in crew.messages() if line is not None))
"""
FAILING = """
def work(number, ready, tell):
    ready()
    if number == 1:
        {failing}
    time.sleep(1000)
try:
    with Crew(2, work) as crew:
        list(crew.messages())
except OSError as error:
    print(error.errno, error.strerror)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("none left")
"""
ENDED = "None a process of the run ended with status "


def run(text: str, folder: Path) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-B", "-c", START + text],
        env={"PYTHONPATH": str(SCRIPT)},
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    return done.stdout, done.stderr


def test_all_begin_when_all_are_ready(tmp_path):
    """None does anything before the last one is ready."""
    ready = [(number, ["0", "1", "2"]) for number in range(3)]
    assert run(ALL_READY, tmp_path) == (f"{ready}\n", "")


@pytest.mark.parametrize(
    ("failing", "message", "bug"),
    [
        ("os.stat('/proc/nonexistent')", "2 No such file or directory", ""),
        ("raise OSError(None, 'said so')", "None said so", ""),
        ("raise MemoryError", "None out of memory", ""),
        ("os.kill(os.getpid(), signal.SIGKILL)", f"{ENDED}0x0009", ""),
        ("raise KeyError('a bug')", f"{ENDED}0x4600", "KeyError: 'a bug'\n"),
    ],
    ids=["named", "own words", "memory", "killed", "bug"],
)
def test_a_failing_member_fails_the_crew(tmp_path, failing, message, bug):
    """Its error is the crew's, and the others are ended; a bug is a traceback as well."""
    stdout, stderr = run(FAILING.format(failing=failing), tmp_path)
    assert stdout == f"{message}\nnone left\n"
    assert (stderr[len(stderr) - len(bug) :], bool(stderr)) == (bug, bool(bug))
