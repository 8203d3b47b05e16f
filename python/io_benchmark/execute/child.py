# SPDX-License-Identifier: MPL-2.0
"""A child process: start it, read its output line by line, and end it, gently first.

Every child leads a separate session, so a Ctrl-C in the terminal reaches only this program, which then
ends the child. A Ctrl-C during the start is delivered after it, when the child can be ended.
"""

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, cast

from io_benchmark.process import TERMINATING, not_ignored

# Each signal with the time until the next, harder one. After SIGINT the script writes its result
# file and empties its work place.
STEPS = ((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 1.0))
POLL_INTERVAL_S = 0.02
HELD_SIGNALS: tuple[int, ...] = (signal.SIGINT, *TERMINATING)

# Someone who presses Ctrl-C this often does not want to wait for the clean-up.
HELD_LIMIT = 3

CHUNK_BYTES = 65536
SHORTEST_PAUSE_S = 0.001

# A child that never ends its line must not fill this program's memory.
LINE_LIMIT_BYTES = 1 << 20


class StartError(OSError):
    """The operating system would not start the command."""


class Child:
    """A process that leads a separate session; its stderr is merged into its output pipe."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> None:
        try:
            self.process = subprocess.Popen(
                command,
                bufsize=0,
                cwd=folder,
                env=environment,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise StartError(error.errno, error.strerror) from error
        self.output = cast("IO[bytes]", self.process.stdout)

    def lines(self, deadline_s: float) -> Iterator[bytes]:
        """Read lines with their ends, until the other side closes.

        Raise a TimeoutError when `time.monotonic()` passes `deadline_s`, even while output comes.
        """
        descriptor = self.output.fileno()
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while True:
                remaining_s = deadline_s - time.monotonic()
                if remaining_s <= 0 or not selector.select(remaining_s):
                    if pending:
                        yield pending
                    raise TimeoutError
                chunk = os.read(descriptor, CHUNK_BYTES)
                if not chunk:
                    break
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    yield line + b"\n"
                if len(pending) > LINE_LIMIT_BYTES:
                    yield pending
                    pending = b""
        if pending:
            yield pending

    def exits_before(self, deadline_s: float) -> bool:
        """Wait for the leader without reaping it: until then no other group can get its number.

        Output is discarded meanwhile, because a full pipe could keep the child from ending.
        """
        pause_s = SHORTEST_PAUSE_S  # most end just after their output
        while self.process.returncode is None:
            self._discard_output()
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            if os.waitid(os.P_PID, self.process.pid, options) is not None:
                break
            if time.monotonic() >= deadline_s:
                return False
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, POLL_INTERVAL_S)
        return True

    def stop(self) -> None:
        """Send SIGINT, then SIGTERM, then SIGKILL to the group; SIGKILL after a second Ctrl-C."""
        try:
            for signal_number, grace_s in STEPS:
                self._signal_group(signal_number)
                if self.exits_before(time.monotonic() + grace_s):
                    return
        finally:
            self.kill()

    def kill(self) -> int:
        """Send SIGKILL to what is left of the group; return the leader's own return code."""
        self._signal_group(signal.SIGKILL)
        self.output.close()
        return self.process.wait()

    @classmethod
    @contextmanager
    def started(
        cls, command: Sequence[str], *, folder: Path, environment: Mapping[str, str]
    ) -> Iterator["Child"]:
        """Start a child. Nothing of its process group outlives the block."""
        child: Child | None = None
        try:
            with hold_interrupts():
                child = cls(command, folder, environment)
            yield child
        except BaseException:
            if child is not None:
                child.stop()
            raise
        finally:
            if child is not None:
                child.kill()

    def _discard_output(self) -> None:
        if self.output.closed:
            return
        descriptor = self.output.fileno()
        os.set_blocking(descriptor, False)
        with suppress(BlockingIOError):
            while os.read(descriptor, CHUNK_BYTES):
                pass

    def _signal_group(self, signal_number: int) -> None:
        if self.process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal_number)


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Deliver SIGINT, SIGTERM and SIGHUP after the block, because an interruption would leave it half done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        held.append(number)
        if len(held) >= HELD_LIMIT:
            raise KeyboardInterrupt

    previous = {number: signal.signal(number, hold) for number in not_ignored(HELD_SIGNALS)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    for number in dict.fromkeys(held):
        signal.raise_signal(number)
