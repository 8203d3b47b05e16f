# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What ends a measurement early: failures; signals and the time budget, raised where it is safe."""

import contextlib
import os
import signal
import time

CHILDREN_END_WITHIN_S = 10
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM)


class WorkloadError(Exception):
    """The workload cannot go on in this place; the message is for people."""


class SkippedError(WorkloadError):
    """This part cannot be measured here, by the nature of the place or of the machine.

    The rest of the run does not fail for it, unless nothing is measured at all.
    """


class Interrupted(BaseException):
    """Not an Exception: no handler of a workload's own failures may swallow it."""

    def __init__(self, reason, exit_code):
        super().__init__(reason)
        self.reason = reason
        # None for the time budget: what was measured decides.
        self.exit_code = exit_code
        self.state = "time-budget" if exit_code is None else "stopped"


class Interruption:
    def __init__(self):
        self.pending = None
        self._time_budget_s = None
        self._raising = False
        self._raised = False  # once: the way out must not be interrupted again
        for number in SIGNALS:
            # Under nohup, SIGHUP is ignored and has to stay so.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)

    def end_after(self, time_budget_s):
        """The kernel counts this by the monotonic clock: a clock that jumps moves nothing."""
        self._time_budget_s = time_budget_s
        signal.setitimer(signal.ITIMER_REAL, time_budget_s)

    def _handle(self, number, _frame):
        if self.pending is None:
            if number == signal.SIGALRM and self._time_budget_s is not None:
                reason = "the time budget of %g s is used up" % self._time_budget_s
                self.pending = Interrupted(reason, None)
            else:
                reason = "stopped by %s" % signal.Signals(number).name
                self.pending = Interrupted(reason, 128 + number)
        self._raise_pending()

    def allowed(self):
        """Inside, an interruption is raised at once; outside, it waits for the next such block."""
        return self._set(True)

    def held(self):
        """Inside an allowed block: what must not be cut short. An interruption waits for its end."""
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

    def _raise_pending(self):
        if self._raising and self.pending is not None and not self._raised:
            self._raised = True
            raise self.pending


def children_have_ended():
    """Wait: an interruption can come between the start of a child and the note of its number."""
    until_s = time.monotonic() + CHILDREN_END_WITHIN_S
    try:
        while time.monotonic() < until_s:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
    except ChildProcessError:
        return True
    return False
