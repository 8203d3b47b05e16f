# SPDX-License-Identifier: MPL-2.0
"""Sharing violations: a virus scanner or an indexer still has a file that was just closed.

Then Windows refuses to remove, rename, replace or rewrite it. The call is repeated for two seconds,
as in Go's robustio. Inside a timed part, the wait is part of the time: a task waits, too.
"""

import time

# Access denied, sharing and lock violations, folder not empty (a removed file is still open in it),
# and a file whose removal waits for other handles.
REFUSALS = {5, 32, 33, 145, 303}
REPEATED_S = 2.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.001, 0.064
_repeated = 0  # refusals in this process, after which the call succeeded


def violations():
    """Return how many refusals were overcome by repetition here and in members that ended."""
    return _repeated


def add(count):
    """Add those of a member."""
    global _repeated  # noqa: PLW0603
    _repeated += count


def repeated(call, *arguments):
    """Return what the call returns; repeat it while another program may have the file."""
    global _repeated  # noqa: PLW0603 - of the whole run
    refusals, pause_s = 0, FIRST_PAUSE_S
    end_s = time.perf_counter() + REPEATED_S
    while True:
        try:
            result = call(*arguments)
        except OSError as error:
            is_refusal = getattr(error, "winerror", None) in REFUSALS
            if not is_refusal or time.perf_counter() + pause_s > end_s:
                raise
        else:
            # What was refused to the end was no violation of sharing, such as a read-only folder.
            _repeated += refusals
            return result
        refusals += 1
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
