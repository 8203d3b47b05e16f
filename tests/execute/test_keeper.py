# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What was started ends with this program, also when nothing in it can see to that."""

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from undoing import start_of

WITHIN_S = 60.0

# Starts a child, says its number, and is killed.
PROGRAM = """
    import os, signal, sys
    from io_benchmark.execute.child import Child
    from io_benchmark.execute.keeper import KEEPER

    with (
        KEEPER.command(("touch", "command")),
        Child.started(("bash", "-c", sys.argv[1])) as child,
    ):
        print(child.output.readline().decode(), end="", flush=True)
        if sys.argv[2] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
"""
CHILD = """
trap 'sleep 0.1; touch {folder}/cleaned; exit 130' INT
(trap - INT; echo $BASHPID; exec sleep 1234.5)
"""


def run(folder: Path, end: str) -> int:
    """The number of the child's own child."""
    program = textwrap.dedent(PROGRAM).replace('"command"', repr(str(folder / "command")))
    done = subprocess.run(
        [sys.executable, "-c", program, CHILD.format(folder=folder), end],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (-signal.SIGKILL if end == "killed" else 0), done.stderr
    return int(done.stdout)


def wait_for_its_end(pid: int) -> None:
    until = time.monotonic() + WITHIN_S
    while start_of(pid):
        assert time.monotonic() < until, f"process {pid} goes on"
        time.sleep(0.01)


def test_after_sigkill(tmp_path: Path) -> None:
    """The whole group ends, and may clean up; then what was to be run is run."""
    wait_for_its_end(run(tmp_path, "killed"))
    until = time.monotonic() + WITHIN_S
    while not (tmp_path / "command").exists():
        assert time.monotonic() < until, "the command was not run"
        time.sleep(0.01)
    assert (tmp_path / "cleaned").exists()


def test_after_an_end_in_order(tmp_path: Path) -> None:
    """The program itself has ended the child; the command is not run."""
    wait_for_its_end(run(tmp_path, "in order"))
    assert not (tmp_path / "command").exists()
