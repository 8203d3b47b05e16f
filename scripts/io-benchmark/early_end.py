# SPDX-License-Identifier: MPL-2.0
"""Signals and the time budget that end a measurement early, raised where it is safe."""

import contextlib
import signal
import sys
from typing import Optional

from system import interruption

# Methods that begin and end what must not be left behind: an interruption waits for their end.
UNINTERRUPTED = ("__enter__", "__exit__")
AGAIN_S = 0.01


class Interrupted(BaseException):
    """Not an Exception: a handler of a workload's own errors must not catch it."""

    def __init__(self, reason, exit_code):
        super().__init__(reason)
        self.reason = reason
        # None for the time budget: the number of samples decides.
        self.exit_code = exit_code
        self.state = "time-budget" if exit_code is None else "stopped"


class Interruption:
    def __init__(self):
        self.pending: Optional[Interrupted] = None
        self._time_budget_s = None
        self._raising = False
        self._raised = False  # raised once: the clean-up must not be interrupted again
        sys.unraisablehook = _show_unless_interrupted
        interruption.catch(self._handle)

    def end_after(self, time_budget_s):
        """Start the time budget."""
        self._time_budget_s = time_budget_s
        interruption.end_after(time_budget_s)

    def _handle(self, number, frame):
        if self.pending is None:
            reason, exit_code = "stopped by %s" % signal.Signals(number).name, 128 + number
            if interruption.is_timer(number) and self._time_budget_s is not None:
                reason, exit_code = "the time budget of %g s is used up" % self._time_budget_s, None
            self.pending = Interrupted(reason, exit_code)
        if self._raising and not self._raised and _is_uninterrupted(frame):
            interruption.end_after(AGAIN_S)
        else:
            self._raise_pending()

    def allowed(self):
        """Raise an interruption at once inside this block; outside, it waits for the next block."""
        return self._set(True)

    def held(self):
        """Delay an interruption until the end of this block, inside an allowed block."""
        return self._set(False)

    @contextlib.contextmanager
    def _set(self, raising):
        before, self._raising = self._raising, raising
        try:
            self._raise_pending()
            yield
        finally:
            self._raising = before
        self._raise_pending()

    children_have_ended = staticmethod(interruption.children_have_ended)

    @property
    def raised(self):
        """Return the interruption that was raised, or None."""
        return self.pending if self._raised else None

    def raise_if_lost(self):
        """Raise an interruption again that did not arrive where it is caught.

        It can come between any two steps. Clean-up may then fail, such as shutil's, which closes a
        folder twice, and its error replaces the interruption. Python drops what is raised while it
        deletes an object.
        """
        if self.raised is not None:
            raise self.raised

    def _raise_pending(self):
        if self._raising and self.pending is not None and not self._raised:
            self._raised = True
            raise self.pending


def _show_unless_interrupted(dropped):
    """Show an exception that Python drops, but not an interruption, which is raised again."""
    if not issubclass(dropped.exc_type, Interrupted):
        sys.__unraisablehook__(dropped)


def _is_uninterrupted(frame):
    while frame is not None:
        if frame.f_code.co_name in UNINTERRUPTED:
            return True
        frame = frame.f_back
    return False
