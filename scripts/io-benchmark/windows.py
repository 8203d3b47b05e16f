# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Count the operations of several processes or threads together, per window of time.

Each member counts its own operations. It ends a count at the first operation after a multiple of the
window's length on the shared clock. A count may extend over the end of a window, if the process waited
for a CPU, or one operation took long. Then its operations are distributed evenly over its time.
"""

import time

from accounting import Account


def count(step, operations_per_step, window_ns, end_ns, tell, windows_per_message):
    """Do steps until end_ns; tell several windows at once, and what the thread spent in them.

    A window is [start_ns, end_ns, operations], what was spent [wall, user, kernel, waiting ns].
    """
    clock, counts = time.monotonic_ns, []
    with Account() as account:
        account.begin()
        now = clock()
        while now < end_ns:
            start = now
            boundary = (start // window_ns + 1) * window_ns
            operations = 0
            while now < boundary:
                step()
                operations += operations_per_step
                now = clock()
            counts.append([start, now, operations])
            if len(counts) == windows_per_message:
                tell(counts, _spent(counts, account))
                counts = []
                account.begin()
            now = clock()
        if counts:
            tell(counts, _spent(counts, account))


def _spent(counts, account):
    return [counts[-1][1] - counts[0][0], *account.end()]


def windows_together(counts_by_member, members, window_ns):
    """Return (start_ns, duration_ns, operations) per window in which all members were working.

    Windows without operations are joined.
    """
    if len(counts_by_member) < members:
        return []
    every_count = counts_by_member.values()
    begin = max(counts[0][0] for counts in every_count)
    end = min(counts[-1][1] for counts in every_count)
    bounds = list(range(-(-begin // window_ns) * window_ns, end + 1, window_ns))
    if len(bounds) < 2 and end > begin:
        bounds = [begin, end]  # a short run on a busy machine: use all of it
    done = [0] * len(bounds)
    for counts in every_count:
        for at, operations in enumerate(_done_until(counts, bounds)):
            done[at] += operations
    windows, start = [], 0
    for at in range(1, len(bounds)):
        if done[at] > done[start]:
            duration_ns = bounds[at] - bounds[start]
            windows.append((bounds[start], duration_ns, done[at] - done[start]))
            start = at
    return windows


def _done_until(counts, bounds):
    """Yield the operations that a member had done by each of the bounds, all within its time."""
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
