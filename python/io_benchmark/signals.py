# SPDX-License-Identifier: MPL-2.0
"""Ctrl-C, SIGTERM and SIGHUP stop a command wherever it is, and let it clean up on its way out."""

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

# Whoever ends this program by one of these wants what Ctrl-C does: that it cleans up on its way out.
TERMINATING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """A signal other than Ctrl-C."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__()
        self.exit_code = 128 + number  # as a shell shows it


def not_ignored(numbers: Iterable[int]) -> list[int]:
    """Return the signals that the program's parent did not set to be ignored, as nohup does."""
    return [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]


@contextmanager
def interruptions() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise as Ctrl-C does in this block."""
    stopping = False

    def terminate(number: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        # A terminal that closes sends SIGHUP more than once, and a service manager sends both. A second
        # signal must not interrupt the clean-up.
        if number == signal.SIGHUP and stopping:
            return
        stopping = True
        raise Terminated(number)

    previous = {number: signal.signal(number, terminate) for number in not_ignored(TERMINATING)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
