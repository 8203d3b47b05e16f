# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How many operations several processes or threads did together, by windows of time.

Each counts its own, and ends a count at the first operation past a multiple of the window's length
on the clock that all share. Where a count goes on over the end of a window (the process waited for
a CPU, or one operation took long), its operations are shared out evenly over its time.
"""

import time


def count(step, operations_a_step, window_ns, end_ns, told):
    """Do steps until end_ns; told([start_ns, end_ns, operations]) for each window."""
    clock = time.monotonic_ns
    now = clock()
    while now < end_ns:
        start = now
        boundary = (start // window_ns + 1) * window_ns
        operations = 0
        while now < boundary:
            step()
            operations += operations_a_step
            now = clock()
        told([start, now, operations])
        now = clock()


class Together:
    """Takes in the counts of all; windows() are those in which all were at work."""

    def __init__(self, window_ns):
        self._window_ns = window_ns
        self._counts = {}

    def add(self, who, counts):
        self._counts.setdefault(who, []).extend(counts)

    def windows(self, members):
        """(start_ns, duration_ns, operations) of each, longer where nothing was done in between."""
        if len(self._counts) < members:
            return []
        window_ns = self._window_ns
        begin = max(counts[0][0] for counts in self._counts.values())
        end = min(counts[-1][1] for counts in self._counts.values())
        bounds = list(range(-(-begin // window_ns) * window_ns, end + 1, window_ns))
        if len(bounds) < 2 and end > begin:
            bounds = [begin, end]  # a short run on a busy machine: what there is of it
        done = [0] * len(bounds)
        for counts in self._counts.values():
            for at, operations in enumerate(done_until(counts, bounds)):
                done[at] += operations
        windows, start = [], 0
        for at in range(1, len(bounds)):
            if done[at] > done[start]:
                duration_ns = bounds[at] - bounds[start]
                windows.append((bounds[start], duration_ns, done[at] - done[start]))
                start = at
        return windows


def done_until(counts, bounds):
    """How many operations one has done by each of the times, which it lived to see."""
    before, at = 0, 0
    for bound in bounds:
        while at < len(counts) and counts[at][1] <= bound:
            before += counts[at][2]
            at += 1
        share = 0.0
        if at < len(counts) and counts[at][0] < bound:
            start, end, operations = counts[at]
            share = operations * (bound - start) / (end - start)
        yield before + round(share)
