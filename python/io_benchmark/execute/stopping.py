# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Ends a child and everything in its process group, gently first.

Every child here leads a session of its own, so a Ctrl-C in the terminal reaches this program alone
and it decides what the child gets.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

POLL_INTERVAL_S = 0.02

# How a child is ended when its block is left by an exception.
Stopping = Callable[[subprocess.Popen[bytes]], None]


@dataclass(frozen=True)
class _GracePeriods:
    """The time that a child has to end before the next, harder step."""

    # After SIGINT: the script writes its result file and empties its work place.
    interrupt_s: float = 10.0
    # After SIGTERM; SIGKILL follows.
    terminate_s: float = 5.0


GRACE_PERIODS = _GracePeriods()


def stop(process: subprocess.Popen[bytes], grace_periods: _GracePeriods = GRACE_PERIODS) -> None:
    """SIGINT, then SIGTERM, then SIGKILL to the group. A second Ctrl-C goes straight to SIGKILL."""
    try:
        for signal_number, grace_s in (
            (signal.SIGINT, grace_periods.interrupt_s),
            (signal.SIGTERM, grace_periods.terminate_s),
        ):
            _signal_group(process, signal_number)
            if exits_before(process, time.monotonic() + grace_s):
                return
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> int:
    """SIGKILL to whatever is left of the group; returns the leader's own return code."""
    _signal_group(process, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    return process.wait()


def stop_with_children_first(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Kills what the child runs until it gives up by itself.

    For `podman build`: it removes its working containers when a step fails, but not when it is
    signalled itself.
    """
    try:
        deadline_s = time.monotonic() + patience_s
        while time.monotonic() < deadline_s:
            for pid in _descendants(process.pid):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if exits_before(process, time.monotonic() + 5 * POLL_INTERVAL_S):
                return
    finally:
        stop(process)


def exits_before(process: subprocess.Popen[bytes], deadline_s: float) -> bool:
    """Waits for the leader without reaping it: until then no other group can get its number.

    Output is thrown away meanwhile, so that a full pipe keeps no child from ending.
    """
    while process.returncode is None:
        _discard_output(process)
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        if os.waitid(os.P_PID, process.pid, options) is not None:
            break
        if time.monotonic() >= deadline_s:
            return False
        time.sleep(POLL_INTERVAL_S)
    return True


def _discard_output(process: subprocess.Popen[bytes]) -> None:
    if process.stdout is None or process.stdout.closed:
        return
    descriptor = process.stdout.fileno()
    os.set_blocking(descriptor, False)
    with suppress(BlockingIOError):
        while os.read(descriptor, 65536):
            pass


def _signal_group(process: subprocess.Popen[bytes], signal_number: int) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal_number)


def _descendants(pid: int) -> list[int]:
    """Children, their children and so on, the deepest first."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name in parentheses may hold spaces and parentheses itself.
            fields = status.read_text(errors="replace").rpartition(")")[2].split()
            parents[int(status.parent.name)] = int(fields[1])
    found = [pid]
    for parent in found:
        found.extend(child for child, its_parent in parents.items() if its_parent == parent)
    return found[:0:-1]
