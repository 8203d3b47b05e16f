# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Ctrl-C and SIGTERM stop a command wherever it is, and both let it clean up on its way out."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

# Until a signal that was lost is sent again; the callback that lost it is over long before.
_AGAIN_S = 0.01


class Terminated(KeyboardInterrupt):
    """SIGTERM, so that it cleans up on its way out as Ctrl-C does."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


@contextmanager
def interruptions() -> Iterator[None]:
    """SIGTERM raises as Ctrl-C does, and neither is lost.

    Python drops what is raised in a callback of its own, such as an object's `__del__` or one of
    the many that an import leaves behind; whoever pressed Ctrl-C just then would wait in vain.
    """
    hook = sys.unraisablehook
    lost = signal.SIGINT

    def send_again(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(lost)

    def dropped(unraisable: "UnraisableHookArgs") -> None:
        nonlocal lost
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            hook(unraisable)
            return
        lost = signal.SIGTERM if issubclass(unraisable.exc_type, Terminated) else signal.SIGINT
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)

    previous_term = signal.signal(signal.SIGTERM, _terminate)
    previous_alarm = signal.signal(signal.SIGALRM, send_again)
    sys.unraisablehook = dropped
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
        signal.signal(signal.SIGALRM, previous_alarm)
        signal.signal(signal.SIGTERM, previous_term)
