# SPDX-License-Identifier: MPL-2.0
"""What processes and threads spent: on a CPU, in user mode and in the kernel, and waiting for one.

For the rest of the wall clock time they were blocked: on I/O, on writeback, on memory.
Not measured: what children of a child waited for. Depending on the kernel, time that a hypervisor
took away is in the rest or in the time on a CPU. Where the kernel counts ticks, a time on a CPU
below one tick is all in user mode, but the sum of both modes is right.
"""

import os
from contextlib import AbstractContextManager
from resource import RUSAGE_THREAD, getrusage

from log import NS_PER_S
from system.linux import kernel


class Account(AbstractContextManager):
    """What the calling thread spends between two readings; neither is inside the timed part."""

    def __init__(self):
        try:
            self._schedstat = os.open(kernel.ROOT + "/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self._schedstat = os.open(os.devnull, os.O_RDONLY)  # missing or refused

    def __exit__(self, *_):
        os.close(self._schedstat)

    def read(self):
        """Return a reading for growth(); no more work may be done close to the timed part."""
        usage = getrusage(RUSAGE_THREAD)
        try:
            return usage, os.pread(self._schedstat, 100, 0)
        except OSError:
            return usage, b""

    def since(self, before):
        """Return the user, kernel and waiting nanoseconds since a reading."""
        return growth(before, self.read())


def growth(before, after):
    """Return user, kernel and waiting ns between two readings; None is what nothing tells."""
    (usage, schedstat), (usage_before, schedstat_before) = after, before
    user_ns = round((usage.ru_utime - usage_before.ru_utime) * NS_PER_S)
    kernel_ns = round((usage.ru_stime - usage_before.ru_stime) * NS_PER_S)
    waiting_ns, waiting_before_ns = waiting_ns_in(schedstat), waiting_ns_in(schedstat_before)
    is_counted = None not in (waiting_ns, waiting_before_ns)
    return user_ns, kernel_ns, waiting_ns - waiting_before_ns if is_counted else None


def times_with_children(process):
    """Return user and kernel ns of a process and the children that it reaped, or None if not shown.

    Both are whole ticks.
    """
    stat = kernel.read_text("/proc/%d/stat" % process) or ""
    tick_ns = NS_PER_S // os.sysconf("SC_CLK_TCK")
    # After the name, which may hold anything.
    fields = stat.rpartition(")")[2].split()
    if not fields:
        return None
    user, system, children_user, children_system = map(int, fields[11:15])
    return (user + children_user) * tick_ns, (system + children_system) * tick_ns


def waiting_ns_in(schedstat):
    """Return the second number of a thread's schedstat; None where the kernel does not count it."""
    try:
        _, waiting_ns, times_run = schedstat.split()
        # A thread that ended or reads this was on a CPU: after 0 times the kernel does not count.
        return int(waiting_ns) if int(times_run) else None
    except ValueError:
        return None
