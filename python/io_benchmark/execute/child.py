# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Starts a child so that no Ctrl-C can come between its start and the means to stop it."""

import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from io_benchmark.execute.keeper import KEEPER
from io_benchmark.execute.stopping import Stopping, kill
from io_benchmark.signals import TERMINATING, not_ignored

HELD_SIGNALS: tuple[int, ...] = (signal.SIGINT, *TERMINATING)

# Someone who presses Ctrl-C this often is not waiting for tidiness.
HELD_LIMIT = 3


class StartError(OSError):
    """The operating system would not start the command."""


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Delivers SIGINT, SIGTERM and SIGHUP after the block: for steps that leave a mess when cut in two."""
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


@contextmanager
def started(
    command: Sequence[str],
    stopping: Stopping,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A child in a session of its own, stderr merged into its output pipe.

    Nothing of its process group outlives the block: `stopping` ends it after an exception, and the
    keeper if this program is killed.
    """
    process: subprocess.Popen[bytes] | None = None
    with ExitStack() as kept:
        try:
            with hold_interrupts():
                process = _start(command, folder, environment)
                kept.enter_context(KEEPER.group(process.pid))
            yield process
        except BaseException:
            if process is not None:
                stopping(process)
            raise
        finally:
            if process is not None:
                kill(process)


def _start(
    command: Sequence[str], folder: Path | None, environment: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
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
