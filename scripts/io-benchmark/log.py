# SPDX-License-Identifier: MPL-2.0
"""The log: whole lines for people. On a worker, stdout is a pipe that is read line by line.

A line that cannot be written is dropped: the result file matters more.
"""

import os
import sys
from contextlib import suppress

MIB = 1024 * 1024
NS_PER_S = 1_000_000_000
STDOUT, STDERR = 1, 2
LINE_BYTES = 4000  # a pipe takes this much as a whole
PROGRESS_EVERY_NS = 5 * NS_PER_S


def say(message="", descriptor=STDOUT):
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    with suppress(OSError):  # the result file has all that the log says
        os.write(descriptor, line.encode(encoding, "backslashreplace")[:LINE_BYTES] + b"\n")


class ProgressLines:
    def __init__(self, total, started_ns, label=""):
        self._total, self._started_ns, self._label = total, started_ns, label
        self.due_ns = started_ns + PROGRESS_EVERY_NS

    def show(self, done, now_ns, figures, longest_s=float("inf")):
        """Print how many are done, how long the rest takes at most, and figures of those so far."""
        self.due_ns = now_ns + PROGRESS_EVERY_NS
        elapsed_s = max(now_ns - self._started_ns, 1) / NS_PER_S
        left_s = min(elapsed_s / done * (self._total - done), longest_s) if done else longest_s
        count = "%*d/%d" % (len(str(self._total)), done, self._total)
        say("  %s[%s] %.1f s left%s" % (self._label, count, max(0, left_s), figures))
