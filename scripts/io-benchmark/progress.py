# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Whole lines for people: on a worker, stdout is a pipe that is read by line."""

import sys
import time

MIB = 1024 * 1024
NS_PER_S = 1_000_000_000


def say(text=""):
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # nobody reads the log any more; the result file is what counts


class Progress:
    """How far one workload is; one line every few seconds and at the end."""

    def __init__(self, total, every_s):
        self._total = total
        self._every_ns = int(every_s * NS_PER_S)
        self._started_ns = time.monotonic_ns()
        self.due_ns = self._started_ns + self._every_ns

    def show(self, done, now_ns, done_bytes=None):
        self.due_ns = now_ns + self._every_ns
        elapsed_s = max(now_ns - self._started_ns, 1) / NS_PER_S
        left_s = elapsed_s / done * (self._total - done)
        rate = (
            ""
            if done_bytes is None
            else " %.1f MiB/s," % (done_bytes / MIB / elapsed_s)
        )
        say(
            "  [%*d/%d] %.1f s left,%s mean %s"
            % (
                len(str(self._total)),
                done,
                self._total,
                left_s,
                rate,
                duration(elapsed_s / done),
            )
        )


def duration(seconds):
    return (
        "%.1f ms" % (seconds * 1e3) if seconds >= 0.001 else "%.0f µs" % (seconds * 1e6)
    )
