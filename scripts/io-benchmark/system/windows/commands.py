# SPDX-License-Identifier: MPL-2.0
"""A command that `measure` starts as this process was started, and ends as.

Its CPU time is that of a job which has the command and all that it starts. A process that leaves
the job (CREATE_BREAKAWAY_FROM_JOB) does so as without `measure`, and is not counted.
"""

import ctypes
import errno
import math
import os
import re
import shutil
import signal
from contextlib import suppress
from ctypes import wintypes
from subprocess import list2cmdline

from system.windows import accounts, calls, processes
from system.windows.interruption import SIGNALS

# Why a part of a profile is not known.
NO_DISK = "on a network, or on disks that Windows does not show"
NO_FLUSH_COUNT = "Windows does not count flushes"
SUSPENDED = 4
_resume = calls.declared(calls.KERNEL32, "ResumeThread", wintypes.DWORD, wintypes.HANDLE)
_command_line = calls.declared(calls.KERNEL32, "GetCommandLineW", wintypes.LPWSTR)


class Command:
    """One command; Ctrl-C reaches it by itself, and does not end this process from here on."""

    def __init__(self):
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        self._job = None

    def start(self, words):
        """Start it; OSError if that fails."""
        self._process, thread = _create(words)
        with suppress(OSError):  # its CPU time stays unknown
            self._job = accounts.new_job(self._process, accounts.MAY_BE_LEFT)
        _resume(thread)
        calls.close_handle(thread)

    def wait(self, rest_s, take):
        """Call take() when rest_s() is over, until the command ends.

        Return its exit code, None for a signal, and the user and kernel ns of its job, or None.
        """
        while not processes.has_ended(self._process, math.ceil(rest_s() * 1000)):
            take()
        times_ns = None
        with suppress(OSError):
            times_ns = accounts.times_in(self._job)[0]
        return processes.WINAPI.GetExitCodeProcess(self._process), None, times_ns


def _create(words):
    if not words[0]:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    line = _line_of(words)
    try:
        return processes.create(None, line, flags=SUSPENDED, inherits=True)
    except OSError as error:
        program = shutil.which(words[0])
        if error.errno != errno.ENOENT or program is None:
            raise
    # A name without its ending, as cmd.exe accepts it.
    return processes.create(program, line, flags=SUSPENDED, inherits=True)


def _line_of(words):
    """Return the command as it was written: each program divides its line by its own rules."""
    whole = _command_line()
    for dashes in re.finditer(r'\s"?--"?\s+', whole):
        line = whole[dashes.end() :]
        if _words_in(line) == words:
            return line
    return list2cmdline(words)


def _words_in(line):
    divide = calls.declared(
        calls.library("shell32"),
        "CommandLineToArgvW",
        ctypes.POINTER(wintypes.LPWSTR),
        wintypes.LPCWSTR,
        wintypes.LPVOID,
    )
    count = ctypes.c_int()
    # The first word has other rules.
    found = divide("program " + line, ctypes.byref(count))
    return found[1 : count.value]


def end_as(code, _signal):
    """Return what os._exit() needs to end with all 32 bits of the command's exit code."""
    return code - (1 << 32) if code >= 1 << 31 else code


# --- what only a profile needs: Windows counts no syncs ---


def requested_commits(_place):
    """Return None: no file system here counts what its syncs requested."""


def is_without_barriers(_place):
    """Return None: whether a disk may keep what was flushed is not known."""


def write_to_stream(_target, path, data):
    with open(path, "wb") as file:
        file.write(data)
