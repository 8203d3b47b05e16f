# SPDX-License-Identifier: MPL-2.0
"""Ctrl-C, SIGTERM and SIGHUP stop a command wherever it is, and let it clean up on its way out."""

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

# Until a signal that was lost is sent again; the callback that lost it is over long before.
_AGAIN_S = 0.01


# Whoever ends this program by one of these wants what Ctrl-C does: that it cleans up on its way out.
TERMINATING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """A signal other than Ctrl-C."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__()
        self.number = number

    @property
    def exit_code(self) -> int:
        """Return the exit code that a shell shows."""
        return 128 + self.number


def not_ignored(numbers: Iterable[int]) -> list[int]:
    """Return the signals that the program's parent did not set to be ignored, as nohup does."""
    return [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]


@contextmanager
def interruptions() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise as Ctrl-C does in this block, and lose none of them.

    Python drops exceptions that are raised in its callbacks, such as an object's `__del__`. A Ctrl-C at
    that moment would have no effect, so its signal is sent again.
    """
    hook = sys.unraisablehook
    lost: int = signal.SIGINT
    stopping = False

    def terminate(number: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        # A terminal that closes sends SIGHUP more than once, and a service manager sends both. A second
        # signal must not interrupt the clean-up.
        if number == signal.SIGHUP and stopping:
            return
        stopping = True
        raise Terminated(number)

    def send_again(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(lost)

    def dropped(unraisable: "UnraisableHookArgs") -> None:
        nonlocal lost, stopping
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            hook(unraisable)
            return
        interruption = unraisable.exc_value
        lost = interruption.number if isinstance(interruption, Terminated) else signal.SIGINT
        stopping = False
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)

    previous = {number: signal.signal(number, terminate) for number in not_ignored(TERMINATING)}
    previous[signal.SIGALRM] = signal.signal(signal.SIGALRM, send_again)
    sys.unraisablehook = dropped
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
        for number, handler in previous.items():
            signal.signal(number, handler)
