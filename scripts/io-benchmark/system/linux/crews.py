# SPDX-License-Identifier: MPL-2.0
"""Processes that do a workload's operations concurrently, and send what they measured as lines.

They are not threads, because Python runs one thread at a time: two threads would not do more than
one, however well the file system scales. Each is a new process that has done no I/O yet, because
I/O schedulers count per process.
"""

import fcntl
import json
import os
import select
import signal
import sys
import traceback
from contextlib import suppress

from errors import reason_of
from system.linux.interruption import SIGNALS

PR_SET_PDEATHSIG = 1
F_SETPIPE_SZ = 1031
PIPE_BYTES = 1 << 20  # an hour of the sampler's rows
BUG = 70  # exit code of a member that ended by a bug of this script


class Crew:
    """`work(index, ready, tell, *arguments)` runs in each member.

    It is a function of a module, and its arguments can be pickled: other systems than Linux cannot
    fork. It calls ready() when it can start, which returns when all can, and tell(object) with each
    message for the measuring process. Leaving the block ends the members.
    """

    def __init__(self, count, work, *arguments):
        self._count, self._work, self._arguments = count, work, arguments
        # Number, process and incomplete line of each member, by the pipe that is read here.
        self._members = {}
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
            process = os.fork()
            if process == 0:
                end_with_parent()
                os.close(self._go_write)  # ready() waits until no process has it
                _be_member(number, self._work, self._arguments, go_read, write_end)
            self._members[read_end] = number, process, b""
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        os.close(write_end)

    def messages(self, every_s=0.2):
        """Yield (member, object) per message, None while there is none, until all members end.

        The members start when all of them are ready. The error of a member that fails is raised.
        """
        waiting = set(self._members)
        while self._members:
            ready, _, _ = select.select(list(self._members), [], [], every_s)
            if not ready:
                yield None
            for read_end in ready:
                number = self._members[read_end][0]
                for line in self._read(read_end):
                    if "message" in line:
                        yield number, line["message"]
                    elif "ready" in line:
                        waiting.discard(read_end)
                        if not waiting:
                            self._go()
                    else:
                        raise OSError(line["errno"], line["failed"], line["filename"])

    def _read(self, read_end):
        data = os.read(read_end, 1 << 16)
        number, process, pending = self._members[read_end]
        if data:
            *lines, pending = (pending + data).split(b"\n")
            self._members[read_end] = number, process, pending
            return [json.loads(line) for line in lines]
        # In this order: an interruption may come in between, and then nothing is closed twice.
        del self._members[read_end]
        os.close(read_end)
        _, status = os.waitpid(process, 0)
        if status != 0:
            raise OSError(None, "a process of the run ended with status %#06x" % status)
        return []

    def _go(self):
        go_write, self._go_write = self._go_write, -1
        if go_write >= 0:
            os.close(go_write)

    def __exit__(self, *_):
        for _, process, _ in self._members.values():
            os.kill(process, signal.SIGKILL)
        self._go()
        for read_end, (_, process, _) in self._members.items():
            os.close(read_end)
            os.waitpid(process, 0)
        self._members = {}


def _be_member(number, work, arguments, go_read, write_end):
    """Run a member in the new process; never return."""
    status = BUG
    try:
        # Ctrl-C and a hangup reach all processes; the measuring process ends this one.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

        def write(document):
            data = json.dumps(document).encode() + b"\n"
            while data:
                data = data[os.write(write_end, data) :]

        def ready():
            write({"ready": True})
            os.read(go_read, 1)  # ends when the measuring process closes its end

        try:
            work(number, ready, lambda message: write({"message": message}), *arguments)
        except (OSError, MemoryError) as error:
            path = getattr(error, "filename", None)
            failure = {"failed": reason_of(error), "errno": getattr(error, "errno", None)}
            write({**failure, "filename": path if isinstance(path, str) else None})
        status = 0
    except BrokenPipeError:
        status = 0  # the measuring process is gone
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def ending_with_parent():
    """Return what a new process calls first, so that the kernel ends it with its parent."""
    import ctypes  # noqa: PLC0415 - measure must not load it

    library, parent = ctypes.CDLL(None), os.getpid()

    def call():
        library.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:  # it ended before the call
            os._exit(1)

    return call
