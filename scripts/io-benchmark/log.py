# SPDX-License-Identifier: MPL-2.0
"""The log: whole lines for people. On a worker, stdout is a pipe that is read line by line.

A line that cannot be written is dropped: the result file matters more.
"""

import os
import select
import stat
import sys
import time

MIB = 1024 * 1024
NS_PER_S = 1_000_000_000
LINE_BYTES = 4000  # a pipe that is ready to write accepts this much without blocking
PROGRESS_EVERY_NS = 5 * NS_PER_S
PATIENCE_S = 5.0  # in all: how long lines may wait for a reader


class _Log:
    def __init__(self, descriptor):
        self.descriptor = _without_waiting(descriptor)
        self._patience_s = PATIENCE_S

    def say(self, message=""):
        line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        data = line.encode(encoding, "backslashreplace")[:LINE_BYTES] + b"\n"
        started_s = time.monotonic()
        try:
            poll = select.poll()
            poll.register(self.descriptor, select.POLLOUT)
            while data:
                if not poll.poll(max(0.0, self._patience_s) * 1000):
                    raise BlockingIOError
                data = data[os.write(self.descriptor, data) :]
        except OSError:
            pass  # the result file has all that the log says
        finally:
            self._patience_s -= time.monotonic() - started_s


def _without_waiting(descriptor):
    """Open the pipe or terminal again: O_NONBLOCK would apply to all who share the old one."""
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
            return os.open("/proc/self/fd/%d" % descriptor, flags)
    except OSError:
        pass  # it belongs to another user: poll() must suffice
    return descriptor


LOG, ERRORS = _Log(1), _Log(2)
say = LOG.say


class ProgressLines:
    """Lines about the progress of one measurement, one every few seconds."""

    def __init__(self, total, started_ns):
        self._total, self._started_ns = total, started_ns
        self.due_ns = started_ns + PROGRESS_EVERY_NS

    def show(self, done, now_ns, figures, longest_s=float("inf")):
        """Print how many are done, how long the rest takes at most, and figures of those so far."""
        self.due_ns = now_ns + PROGRESS_EVERY_NS
        elapsed_s = max(now_ns - self._started_ns, 1) / NS_PER_S
        left_s = min(elapsed_s / done * (self._total - done), longest_s) if done else longest_s
        count = "%*d/%d" % (len(str(self._total)), done, self._total)
        say("  [%s] %.1f s left%s" % (count, max(0, left_s), figures))
