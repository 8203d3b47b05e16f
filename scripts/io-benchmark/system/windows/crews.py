# SPDX-License-Identifier: MPL-2.0
"""Processes that do a workload's operations concurrently, and send what they measured as lines.

Each is a new Python with this program's modules. It gets its work on its standard input, and ends
when that is closed: with this process, whatever ends it.
"""

import json
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress

from errors import reason_of
from system.windows import processes
from system.windows.interruption import SIGNALS
from system.windows.support import sharing

BUG = 70  # exit code of a member that ended by a bug of this script
POLL_S = 0.01
NEW_GROUP = 0x200  # Ctrl-C does not reach it, also while it starts
BOOT = "import sys; sys.path[:] = sys.argv[1:]; from system.windows import crews; crews.be_member()"


class Crew:
    """`work(index, ready, tell, *arguments)` runs in each member.

    It is a function of a module, and its arguments can be pickled. It calls ready() when it can
    start, which returns when all can, and tell(object) with each message for the measuring process.
    Leaving the block ends the members.
    """

    def __init__(self, count, work, *arguments):
        self._count, self._work, self._arguments = count, work, arguments
        self._members = []

    def __enter__(self):
        try:
            for number in range(self._count):
                member = _Member(number)
                self._members.append(member)
                member.start(pickle.dumps((self._work, number, self._arguments)))
        except BaseException:  # also an interruption must not leave a member behind
            self.__exit__()
            raise
        return self

    def messages(self, every_s=0.2):
        """Yield (member, object) per message, None while there is none, until all members end.

        The members start when all of them are ready. The error of a member that fails is raised.
        """
        waiting, idle_s = set(self._members), 0.0
        while self._members:
            idle_s += POLL_S
            for member in list(self._members):
                for line in self._read(member):
                    idle_s = 0.0
                    if "message" in line:
                        yield member.number, line["message"]
                    elif "ready" in line:
                        waiting.discard(member)
                        if not waiting:
                            self._go()
                    elif "violations" in line:
                        sharing.add(line["violations"])
                    else:
                        raise OSError(line["errno"], line["failed"], line["filename"])
            if idle_s > every_s:
                yield None
                idle_s = 0.0
            elif idle_s > 0:
                time.sleep(POLL_S)

    def _read(self, member):
        try:
            return member.read()
        except BrokenPipeError:
            self._members.remove(member)
            status = member.close()
            if status != 0:
                message = "a process of the run ended with status %#010x" % status
                raise OSError(None, message) from None
            return []

    def _go(self):
        for member in self._members:
            member.send(b"g")

    def __exit__(self, *_):
        for member in self._members:
            member.end()
        while self._members:
            self._members.pop().close()


class _Member:
    def __init__(self, number):
        self.number = number
        self._process, self._pending = None, b""
        self._input, self._output = processes.Pipe(to_child=True), processes.Pipe()

    def start(self, work):
        words = [sys.executable, "-X", "utf8", "-B", "-c", BOOT, *sys.path]
        errors = processes.errors_of_this_process()
        streams = self._input.output, self._output.output, errors
        self._process = processes.start(sys.executable, words, streams=streams, flags=NEW_GROUP)
        # Either side sees the end of the other if nobody else has its end of a pipe.
        self._input.close_output()
        self._output.close_output()
        self.send(work)

    def send(self, data):
        with suppress(BrokenPipeError):  # it has ended, which read() tells
            self._input.write(data)

    def read(self):
        """Return the lines that it has sent; BrokenPipeError if it has ended."""
        *lines, self._pending = (self._pending + self._output.read()).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self):
        if self._process is not None:
            processes.end(self._process)

    def close(self):
        """Wait for its end, and return its exit code."""
        process, self._process = self._process, None
        self._input.__exit__()
        self._output.__exit__()
        if process is None:
            return 0
        processes.wait_for(process)
        return processes.reap(process, None)[0]


def be_member():
    """Run a member in the new process; never return."""
    status = BUG
    try:
        for signal_number in SIGNALS:  # Ctrl-Break reaches it; the measuring process ends it
            signal.signal(signal_number, signal.SIG_IGN)
        work, number, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 - from this program
        go = threading.Event()
        threading.Thread(target=_follow_parent, args=(go,), daemon=True).start()

        def ready():
            _send({"ready": True})
            go.wait()

        try:
            work(number, ready, lambda message: _send({"message": message}), *arguments)
            _send({"violations": sharing.violations()})
        except (OSError, MemoryError) as error:
            path = getattr(error, "filename", None)
            failure = {"failed": reason_of(error), "errno": getattr(error, "errno", None)}
            _send({**failure, "filename": path if isinstance(path, str) else None})
        status = 0
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _follow_parent(go):
    if sys.stdin.buffer.read(1):
        go.set()
        sys.stdin.buffer.read()
    os._exit(0)


def _send(document):
    data = json.dumps(document).encode() + b"\n"
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        os._exit(0)  # the measuring process is gone
