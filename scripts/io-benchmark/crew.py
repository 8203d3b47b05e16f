# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Processes that do a workload's operations concurrently, and send what they measured as lines.

They are not threads, because Python runs one thread at a time: two threads would not do more than one,
however well the file system scales. Each is a new process that has done no I/O yet, because I/O schedulers
count per process.

Members that count operations together do so per window of time. Each ends a count at the first operation after
a multiple of the window's length on the shared clock. A count may extend over the end of a window, if the process
waited for a CPU, or one operation took long. Then its operations are distributed evenly over its time.
"""

import ctypes
import fcntl
import json
import os
import select
import signal
import sys
import time
import traceback
from contextlib import suppress

from accounting import Account
from early_end import SIGNALS

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
F_SETPIPE_SZ = 1031
PIPE_BYTES = 1 << 20  # an hour of the sampler's rows
BUG = 70  # exit code of a member that ended by a bug of this script


class Crew:
    """`work(index, ready, tell)` runs in each member.

    It calls ready() when it can start, which returns when all can, and tell(object) with each message
    for the measuring process. Leaving the block ends the members.
    """

    def __init__(self, count, work):
        self._count, self._work = count, work
        self._pids, self._pending, self._numbers = {}, {}, {}
        self._go_write = -1

    def __enter__(self):
        go_read, self._go_write = os.pipe()
        try:
            for number in range(self._count):
                self._start(number, go_read)
        except BaseException:  # also an interruption must not leave a member behind
            self.__exit__()
            raise
        finally:
            os.close(go_read)
        return self

    def _start(self, number, go_read):
        read_end, write_end = os.pipe()
        with suppress(OSError):  # the default size still holds minutes of rows
            fcntl.fcntl(write_end, F_SETPIPE_SZ, PIPE_BYTES)
        # Signals to this process must not run its handlers in the new process.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        end_with_parent = ending_with_parent()
        try:
            pid = os.fork()
            if pid == 0:
                end_with_parent()
                _be_member(number, self._work, go_read, write_end)
            self._pids[number] = pid
            self._pending[read_end] = b""
            self._numbers[read_end] = number
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        os.close(write_end)

    def messages(self, every_s=0.2):
        """Yield (member, object) per message, None while there is none, until all members end.

        The members start when all of them are ready. The error of a member that fails is raised.
        """
        waiting = set(self._pids)
        while self._pending:
            ready, _, _ = select.select(list(self._pending), [], [], every_s)
            if not ready:
                yield None
            for read_end in ready:
                number = self._numbers[read_end]
                for line in self._read(read_end):
                    if "message" in line:
                        yield number, line["message"]
                    elif "ready" in line:
                        waiting.discard(number)
                        if not waiting:
                            self._go()
                    else:
                        raise OSError(line["errno"], line["failed"], line["filename"])

    def _read(self, read_end):
        data = os.read(read_end, 1 << 16)
        if not data:
            os.close(read_end)
            self._pending.pop(read_end)
            number = self._numbers[read_end]
            _, status = os.waitpid(self._pids.pop(number), 0)
            if status != 0:
                raise OSError(None, "a process of the run ended with status %#06x" % status)
            return []
        *lines, self._pending[read_end] = (self._pending[read_end] + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def _go(self):
        if self._go_write >= 0:
            os.close(self._go_write)
            self._go_write = -1

    def __exit__(self, *_):
        for pid in self._pids.values():
            os.kill(pid, signal.SIGKILL)
        self._go()
        for read_end in self._pending:
            os.close(read_end)
        for pid in self._pids.values():
            os.waitpid(pid, 0)
        self._pids, self._pending = {}, {}


def _be_member(number, work, go_read, write_end):
    """Run a member in the new process; never return."""
    status = BUG
    try:
        # Ctrl-C and a hangup reach all processes; the measuring process ends this one.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        _close_all_but(go_read, write_end)

        def write(document):
            data = json.dumps(document).encode() + b"\n"
            while data:
                data = data[os.write(write_end, data) :]

        def ready():
            write({"ready": True})
            os.read(go_read, 1)  # ends when the measuring process closes its end

        try:
            work(number, ready, lambda message: write({"message": message}))
        except MemoryError:
            write({"failed": "out of memory", "errno": None, "filename": None})
        except OSError as error:
            name = error.filename if isinstance(error.filename, str) else None
            failed = error.strerror or str(error)
            write({"failed": failed, "errno": error.errno, "filename": name})
        status = 0
    except BrokenPipeError:
        status = 0  # the measuring process is gone
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def ending_with_parent():
    """Return a function for a new process to call first: the kernel then ends it with its parent."""
    parent = os.getpid()

    def call():
        LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:  # it ended before the call
            os._exit(1)

    return call


def _close_all_but(*kept):
    """Close the other members' pipes: a pipe must close when its own process ends."""
    first = 3
    for descriptor in [*sorted(kept), os.sysconf("SC_OPEN_MAX")]:
        os.closerange(first, min(descriptor, 4096))
        first = descriptor + 1


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
