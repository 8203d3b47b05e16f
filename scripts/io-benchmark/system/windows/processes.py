# SPDX-License-Identifier: MPL-2.0
"""Programs that are started, waited for, and accounted for one by one; a child is its handle.

Python's own subprocess makes the same calls, of the same module of Python.
"""

import importlib
import shutil
import sys
from contextlib import AbstractContextManager, suppress
from ctypes.wintypes import DWORD, LPVOID
from functools import lru_cache
from subprocess import DEVNULL, TimeoutExpired, list2cmdline, run
from types import SimpleNamespace
from typing import Any

from errors import WorkloadError
from system.windows import accounts, calls

WINAPI: Any = sys.platform == "win32" and importlib.import_module("_winapi")
MISSING = "not on PATH: %s; install what is missing"
NO_WINDOW = 0x08000000
USES_STREAMS = 0x100  # STARTF_USESTDHANDLES
INPUT, ERRORS = (1 << 32) - 10, (1 << 32) - 12  # STD_INPUT_HANDLE, STD_ERROR_HANDLE
SAME_ACCESS_CLOSING_SOURCE = 3  # of DuplicateHandle
PIPE_BYTES, READ_BYTES = 1 << 20, 1 << 16  # an hour of the sampler's rows; at once
# A handler of Ctrl-C runs only between two calls.
WAIT_MS = 100
_sharers = calls.declared(calls.KERNEL32, "GetConsoleProcessList", DWORD, LPVOID, DWORD)


class Finder:
    """The program that looks a URL up in a list: it prints the number of its line, then the URL."""

    def __init__(self):
        # MozillaBuild's, where it is.
        self.tool = "grep" if shutil.which("grep") else "findstr"
        self.program = shutil.which(self.tool)
        if self.program is None:
            raise WorkloadError(MISSING % self.tool)
        self.method = "%s, CreateProcess" % ("grep -Fnx" if self.tool == "grep" else self.tool)

    def words(self, url, url_list):
        if self.tool == "grep":
            return ("grep", "-Fnx", url, url_list.replace("\\", "/"))
        return ("findstr", "/l", "/n", "/x", "/c:" + url, url_list)


class Pipe(AbstractContextManager):
    """A pipe from children to this process, or to a child; `output` is the end of children."""

    def __init__(self, *, to_child=False):
        ends = WINAPI.CreatePipe(None, PIPE_BYTES)
        self._end, output = reversed(ends) if to_child else ends
        process = WINAPI.GetCurrentProcess()
        self.output = WINAPI.DuplicateHandle(
            process, output, process, 0, True, SAME_ACCESS_CLOSING_SOURCE
        )

    def __exit__(self, *_):
        self.close_output()
        WINAPI.CloseHandle(self._end)

    def close_output(self):
        """Close the end of children, which have their own."""
        output, self.output = self.output, None
        if output is not None:
            WINAPI.CloseHandle(output)

    def read(self, *, waits=False):
        """Return what was written, if anything; BrokenPipeError if nobody has the other end."""
        size = READ_BYTES if waits else WINAPI.PeekNamedPipe(self._end)[0]
        return WINAPI.ReadFile(self._end, size)[0] if size else b""

    def write(self, data):
        while data:
            data = data[WINAPI.WriteFile(self._end, data)[0] :]


Answers = Pipe


@lru_cache(maxsize=None)
def _window():
    """Return the flag of a new process: without a console here it would open a window."""
    return 0 if _sharers((DWORD * 1)(), 1) else NO_WINDOW


def create(program, line, streams=None, flags=0, folder=None, *, inherits):
    """Return the handles of a new process and of its thread.

    `streams` are three handles; without them, it has those of this process.
    """
    source, output, errors = streams or (None, None, None)
    startup = SimpleNamespace(
        dwFlags=USES_STREAMS if streams else 0,
        wShowWindow=0,
        hStdInput=source,
        hStdOutput=output,
        hStdError=errors,
        lpAttributeList=None,
    )
    more = (None, None, inherits, flags, None, folder, startup)
    return WINAPI.CreateProcess(program, line, *more)[:2]


def start(program, words, output=None, *, streams=None, flags=0, folder=None):
    """Return a new child; what it prints goes to `output`, of Answers."""
    if output is not None:
        streams = WINAPI.GetStdHandle(INPUT), output, errors_of_this_process()
    how = (list2cmdline(words), streams, flags | _window(), folder)
    process, thread = create(program, *how, inherits=streams is not None)
    WINAPI.CloseHandle(thread)
    return process


def errors_of_this_process():
    return WINAPI.GetStdHandle(ERRORS)


def has_ended(child, wait_ms):
    """Return whether a child has ended; wait at most this long for it."""
    return WINAPI.WaitForSingleObject(child, wait_ms) == 0


def wait_for(child):
    """Wait until the child has ended; its times can still be read."""
    while not has_ended(child, WAIT_MS):
        pass


def waiting_ns_of(_child):
    """Return None: Windows does not count how long a process waited for a CPU."""


def reap(child, waiting_ns):
    """Return the exit code of a child that has ended, and what it spent; close its handle."""
    times_ns = accounts.times_of(child)
    code = WINAPI.GetExitCodeProcess(child)
    WINAPI.CloseHandle(child)
    return code, (*times_ns, waiting_ns)


def end(child):
    """End a child."""
    with suppress(PermissionError):  # it has ended
        WINAPI.TerminateProcess(child, 1)


def output_of(command):
    """Return a command's output; empty where it is missing or does not answer."""
    options = {"stdin": DEVNULL, "capture_output": True, "creationflags": _window()}
    try:
        done = run(command, timeout=10, check=False, **options)
    except (OSError, TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")
