# SPDX-License-Identifier: MPL-2.0
"""What the kernel shows in /proc and /sys: small files, read whole, and what processes spent.

Measured, of a thread and of children that it reaps here: the time on a CPU, in user mode and in the
kernel, and the time waiting for a CPU. For the rest of the wall clock time they were blocked: on
I/O, on writeback, on memory.
Not measured: what children of a child waited for. Depending on the kernel, time that a hypervisor
took away is in the rest or in the time on a CPU. Where the kernel counts ticks, a time on a CPU
below one tick is all in user mode, but the sum of both modes is right.
"""

import os
import re
from contextlib import AbstractContextManager
from resource import RUSAGE_THREAD, getrusage

from log import NS_PER_S

# The root of the file system to read; tests put a recorded tree here.
ROOT = ""


def read_text(path):
    try:
        with open(ROOT + path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def read_lines(path):
    return (read_text(path) or "").splitlines()


def read_int(path):
    try:
        return int(read_text(path) or "")
    except ValueError:
        return None


def first_match(pattern, path):
    match = re.search(pattern, read_text(path) or "", re.MULTILINE)
    return match.group(1).strip() if match else None


def first_int(pattern, path):
    number = first_match(pattern, path)
    return None if number is None else int(number)


def list_names(path):
    try:
        return sorted(os.listdir(ROOT + path))
    except OSError:
        return []


def exists(path):
    return os.path.exists(ROOT + path)


def is_folder(path):
    return os.path.isdir(ROOT + path)


def output_of(command):
    """Return a command's output; empty where it is missing or does not answer."""
    import subprocess  # noqa: PLC0415 - measure must not load it

    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")


class Account(AbstractContextManager):
    """What the calling thread spends between two readings; neither is inside the timed part."""

    def __init__(self):
        try:
            self._schedstat = os.open(ROOT + "/proc/thread-self/schedstat", os.O_RDONLY)
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
    waiting_ns, waiting_before_ns = _waiting_ns(schedstat), _waiting_ns(schedstat_before)
    is_counted = None not in (waiting_ns, waiting_before_ns)
    return user_ns, kernel_ns, waiting_ns - waiting_before_ns if is_counted else None


def wait_for(child):
    """Wait until the child has ended; its times can still be read in the process table."""
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)


def waiting_ns_of(child):
    """Return how long a child without threads waited for a CPU; call it before reap()."""
    return _waiting_ns(read_text("/proc/%d/schedstat" % child) or "")


def reap(child, waiting_ns):
    """Return the status of a child that has ended, and what it spent; see waiting_ns_of()."""
    _, status, usage = os.wait4(child, 0)
    times_ns = (round(seconds * NS_PER_S) for seconds in (usage.ru_utime, usage.ru_stime))
    return status, (*times_ns, waiting_ns)


def times_with_children(process):
    """Return user and kernel ns of a process and the children that it reaped, or None if not shown.

    Both are whole ticks.
    """
    stat = read_text("/proc/%d/stat" % process) or ""
    tick_ns = NS_PER_S // os.sysconf("SC_CLK_TCK")
    # After the name, which may hold anything.
    fields = stat.rpartition(")")[2].split()
    if not fields:
        return None
    user, kernel, children_user, children_kernel = map(int, fields[11:15])
    return (user + children_user) * tick_ns, (kernel + children_kernel) * tick_ns


def together(*spent):
    """Return sums of what some have spent, as user, kernel and waiting ns; None where one is."""
    return tuple(None if None in column else sum(column) for column in zip(*spent))


def _waiting_ns(schedstat):
    """Return the second number of a thread's schedstat; None where the kernel does not count it."""
    try:
        _, waiting_ns, times_run = schedstat.split()
        # A thread that ended or reads this was on a CPU: after 0 times the kernel does not count.
        return int(waiting_ns) if int(times_run) else None
    except ValueError:
        return None
