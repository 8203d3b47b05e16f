# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""SIGTERM, SIGINT and the end of the time budget, as one exception raised where it is safe."""

import contextlib
import signal

EXIT_CODES = {signal.SIGTERM: 143, signal.SIGINT: 130}


class Interrupted(BaseException):
    """Not an Exception: no handler of a workload's own failures may swallow it."""

    def __init__(self, reason, exit_code):
        super().__init__(reason)
        self.reason = reason
        self.exit_code = (
            exit_code  # None for the time budget: what was measured decides
        )


class Interruption:
    def __init__(self, time_budget_s):
        self.pending = None
        self._time_budget_s = time_budget_s
        self._raising = False
        self._raised = False  # once: the way out must not be interrupted again
        for signal_number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(signal_number, self._handle)
        if time_budget_s is not None:
            # The kernel counts this timer by the monotonic clock: a clock that jumps moves nothing.
            signal.setitimer(signal.ITIMER_REAL, time_budget_s)

    def _handle(self, signal_number, _frame):
        if self.pending is None:
            if signal_number == signal.SIGALRM:
                reason = "the time budget of %g s is used up" % self._time_budget_s
                self.pending = Interrupted(reason, None)
            else:
                reason = "stopped by %s" % signal.Signals(signal_number).name
                self.pending = Interrupted(reason, EXIT_CODES[signal_number])
        self._raise_pending()

    @contextlib.contextmanager
    def allowed(self):
        """Inside, an interruption is raised at once; outside, it waits for the next such block."""
        with self._set(True):
            yield

    @contextlib.contextmanager
    def held(self):
        """Inside an allowed block: what must not be cut short. An interruption waits for its end."""
        with self._set(False):
            yield

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
