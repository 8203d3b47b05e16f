# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""End the children and containers of this program after it was killed.

The keeper is a separate process. This program names each child and each container to it over a pipe. The
pipe closes when this program ends, also when it is killed. The keeper then ends what is left, as an
interruption does. This file is also the keeper's program, so it imports only the standard library.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

# Each signal with the time until the next, harder one. After SIGINT the script writes its result
# file and empties its work place.
STEPS = ((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 1.0))
POLL_INTERVAL_S = 0.02
COMMAND_LIMIT_S = 120.0


class _Keeper:
    """The keeper's process, started with the first child or container."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._next_key = 0

    @contextmanager
    def group(self, leader: int) -> Iterator[None]:
        """End this process group if the program is killed in the block."""
        with self._kept({"group": leader}):
            yield

    @contextmanager
    def command(self, command: Sequence[str]) -> Iterator[None]:
        """Run this command if the program is killed in the block."""
        with self._kept({"command": [*command]}):
            yield

    @contextmanager
    def _kept(self, what: Mapping[str, Any]) -> Iterator[None]:
        with self._lock:
            key, self._next_key = self._next_key, self._next_key + 1
            self._send({"key": key, **what})
        try:
            yield
        finally:
            with self._lock:
                self._send({"key": key})

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__],
                bufsize=0,
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        if self._process.stdin is not None:
            # If somebody has killed the keeper, this program still does its work.
            with suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps(message).encode() + b"\n")


KEEPER = _Keeper()


def _main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    kept: dict[int, Mapping[str, Any]] = {}
    for line in sys.stdin.buffer:
        what = json.loads(line)
        key = what.pop("key")
        if what:
            kept[key] = what
        else:
            kept.pop(key, None)
    _end_groups([what["group"] for what in kept.values() if "group" in what])
    for command in [what["command"] for what in kept.values() if "command" in what]:
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, check=False, timeout=COMMAND_LIMIT_S)


def _end_groups(leaders: Sequence[int]) -> None:
    for number, grace_s in STEPS:
        left = [leader for leader in leaders if _signalled(leader, number)]
        until_s = time.monotonic() + grace_s
        while any(_signalled(leader, 0) for leader in left) and time.monotonic() < until_s:
            time.sleep(POLL_INTERVAL_S)


def _signalled(leader: int, number: int) -> bool:
    """Send a signal to the group; return whether the group has a process."""
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    _main()
