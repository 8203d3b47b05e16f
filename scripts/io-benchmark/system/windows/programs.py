# SPDX-License-Identifier: MPL-2.0
"""Programs of single workloads: the one that does nothing, and one that is read while it runs."""

import queue
import shutil
import threading
from contextlib import suppress
from ctypes.wintypes import UINT

from errors import WorkloadError
from system.windows import calls, processes

# How the workload spawn starts its program.
STARTING = ("create-process", "CreateProcess, WaitForSingleObject")


def does_nothing():
    """Return a program that does nothing, and its words, the first of which is its name."""
    program = shutil.which("cmd.exe")
    if program is None:
        raise WorkloadError(processes.MISSING % "cmd.exe")
    return program, ("cmd", "/d", "/c", "exit")


class Program:
    """A program that ends with this process; what it prints is read while it runs."""

    def __init__(self, command, folder):
        self.exit_code = None
        self._printed, pipe = queue.Queue(), processes.Pipe()
        try:
            streams = None, pipe.output, pipe.output
            self._child = processes.start(command[0], command, streams=streams, folder=folder)
        except BaseException:
            pipe.__exit__()
            raise
        pipe.close_output()
        # To look from time to time would make the times of what it prints wrong.
        threading.Thread(target=self._take, args=(pipe,), daemon=True).start()

    def _take(self, pipe):
        with pipe, suppress(BrokenPipeError):
            while True:
                self._printed.put(pipe.read(waits=True))
        self._printed.put(b"")

    def read(self, wait_s):
        """Return what was printed, nothing at the end, None if nothing comes within this time."""
        try:
            return self._printed.get(timeout=wait_s)
        except queue.Empty:
            return None

    def end(self):
        processes.end(self._child)

    def wait(self):
        processes.wait_for(self._child)

    def reap(self):
        """Set `exit_code`, after wait(); return what the program spent."""
        self.exit_code, spent = processes.reap(self._child, None)
        return spent


def make_waits_precise():
    """Let waits of this process end within a millisecond, and not at ticks of 15.6 ms."""
    calls.declared(calls.library("winmm"), "timeBeginPeriod", UINT, UINT)(1)
