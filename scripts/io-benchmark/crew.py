# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Processes that do a workload's operations at once and tell of them line by line.

Processes and not threads: Python's threads take turns, so that two of them would not do more than
one however well the file system scales. Each is a fork, so it begins as a process that has done no
I/O yet, which is what an I/O scheduler keeps its account by.
"""

import json
import os
import select
import signal
import sys
import traceback

from children import ending_with_parent
from early_end import SIGNALS

BUG = 70  # exit code of a member that ended with a bug of ours


class Crew:
    """`work(index, ready, tell)` runs in each member.

    It calls ready() once it could begin, which returns when all are, and tell(object) with what is
    to be kept. Leaving the block ends the members.
    """

    def __init__(self, count, work):
        self._count = count
        self._work = work
        self._pids = {}
        self._pending = {}
        self._numbers = {}
        self._go_write = -1

    def __enter__(self):
        go_read, self._go_write = os.pipe()
        try:
            for number in range(self._count):
                self._start(number, go_read)
        except BaseException:  # an interruption, too, must leave no member behind
            self.__exit__()
            raise
        finally:
            os.close(go_read)
        return self

    def _start(self, number, go_read):
        read_end, write_end = os.pipe()
        # What interrupts this process must not run its handlers in the new one.
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

    def lines(self, every_s=0.2):
        """(number, object) for all that is told, None when nothing was; ends when all have ended.

        The members begin once each of them is ready. One that fails ends this with its error.
        """
        waiting = set(self._pids)
        while self._pending:
            ready, _, _ = select.select(list(self._pending), [], [], every_s)
            if not ready:
                yield None
            for read_end in ready:
                number = self._numbers[read_end]
                for told in self._read(read_end):
                    if "told" in told:
                        yield number, told["told"]
                    elif "ready" in told:
                        waiting.discard(number)
                        if not waiting:
                            self._go()
                    else:
                        raise OSError(told["errno"], told["failed"], told["filename"])

    def _read(self, read_end):
        data = os.read(read_end, 1 << 16)
        if not data:
            os.close(read_end)
            self._pending.pop(read_end)
            number = self._numbers[read_end]
            _, status = os.waitpid(self._pids.pop(number), 0)
            if status != 0:
                raise OSError(
                    None, "a process of the workload ended with status %#06x" % status
                )
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
    """In the new process; never returns."""
    status = BUG
    try:
        # Ctrl-C and a hangup reach the whole group; the measuring process ends this one.
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
            work(number, ready, lambda told: write({"told": told}))
        except MemoryError:
            write({"failed": "out of memory", "errno": None, "filename": None})
        except OSError as error:
            name = error.filename if isinstance(error.filename, str) else None
            failed = error.strerror or str(error)
            write({"failed": failed, "errno": error.errno, "filename": name})
        status = 0
    except BrokenPipeError:
        status = 0  # the measuring process is gone
    except BaseException:  # noqa: BLE001 - the last word of this process
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _close_all_but(*kept):
    """The pipes of the others: each must see the end when its own process ends."""
    first = 3
    for descriptor in [*sorted(kept), os.sysconf("SC_OPEN_MAX")]:
        os.closerange(first, min(descriptor, 4096))
        first = descriptor + 1
