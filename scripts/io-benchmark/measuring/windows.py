# SPDX-License-Identifier: MPL-2.0
"""Counts of operations that several processes or threads did at the same time, by windows of time.

Each ends a count at the first operation after a multiple of the window's length on the shared clock. A count
may extend over the end of a window, if the process waited for a CPU, or one operation took long. Then its
operations are distributed evenly over its time.
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
    begin = max(counts[0][0] for counts in counts_by_member.values())
    end = min(counts[-1][1] for counts in counts_by_member.values())
    bounds = list(range(-(-begin // window_ns) * window_ns, end + 1, window_ns))
    if len(bounds) < 2 and end > begin:
        bounds = [begin, end]  # a short run on a busy machine: use all of it
    totals = map(sum, zip(*(_done_until(counts, bounds) for counts in counts_by_member.values())))
    windows, start, before = [], None, 0
    for bound, done in zip(bounds, totals):
        if start is None:
            start, before = bound, done
        elif done > before:
            windows.append((start, bound - start, done - before))
            start, before = bound, done
    return windows


def _done_until(counts, bounds):
    """Yield the operations that a member had done by each of the bounds, all within its time."""
    before = index = 0
    for bound in bounds:
        while index < len(counts) and counts[index][1] <= bound:
            before += counts[index][2]
            index += 1
        share = 0.0
        if index < len(counts) and counts[index][0] < bound:
            start, end, operations = counts[index]
            share = operations * (bound - start) / (end - start)
        yield before + round(share)
