# SPDX-License-Identifier: MPL-2.0
"""What threads, processes and jobs spent on a CPU, in user mode and in the kernel.

A job is a process with all that it starts, also after their end. Windows counts in ticks, mostly of
15.6 ms: only sums of many readings say something. It does not tell how long anything waited for a
CPU.
"""

import ctypes
import os
import struct
from contextlib import AbstractContextManager, contextmanager, suppress
from ctypes import wintypes
from functools import partial

from system.windows import calls

UNIT_NS = 100  # of all times that Windows tells
CALLING_PROCESS, CALLING_THREAD = -1, -2
# Of jobs: classes of information, limits (KILL_ON_JOB_CLOSE, BREAKAWAY_OK), and a right.
BASIC_ACCOUNTING, EXTENDED_LIMITS = 1, 9
ENDS_WITH_LAST_HANDLE, MAY_BE_LEFT = 0x2000, 0x800
QUERY = 4
JOB = "io-benchmark-%d"
# It gives the caller's times for those of any process.
IS_WINE = hasattr(calls.library("ntdll"), "wine_get_version")
_HANDLE, _NUMBER, _BYTES = wintypes.HANDLE, wintypes.DWORD, wintypes.LPVOID
_call = partial(calls.declared, calls.KERNEL32)
_thread_times = _call("GetThreadTimes", calls.success, _HANDLE, *[_BYTES] * 4)
_process_times = _call("GetProcessTimes", calls.success, _HANDLE, *[_BYTES] * 4)
_create_job = _call("CreateJobObjectW", calls.success, _BYTES, wintypes.LPCWSTR)
_open_job = _call("OpenJobObjectW", calls.success, _NUMBER, _NUMBER, wintypes.LPCWSTR)
_assign = _call("AssignProcessToJobObject", calls.success, _HANDLE, _HANDLE)
_INFORMATION = (calls.success, _HANDLE, _NUMBER, _BYTES, _NUMBER)
_set_information = _call("SetInformationJobObject", *_INFORMATION)
_query_information = _call("QueryInformationJobObject", *_INFORMATION, _BYTES)


class Account(AbstractContextManager):
    """What the calling thread spends between two readings; neither is inside the timed part."""

    def __init__(self):
        self._times, *self._arguments = _places_for_times(CALLING_THREAD)

    def __exit__(self, *_):
        """Do nothing: there is nothing to close."""

    def read(self):
        """Return a reading for growth(); no more work may be done close to the timed part."""
        _thread_times(*self._arguments)
        return self._times[3], self._times[2]

    def since(self, before):
        """Return the user, kernel and waiting nanoseconds since a reading."""
        return growth(before, self.read())


def growth(before, after):
    """Return user, kernel and waiting ns between two readings; None is what nothing tells."""
    return (after[0] - before[0]) * UNIT_NS, (after[1] - before[1]) * UNIT_NS, None


def times_of(process):
    """Return the user and kernel ns of a process, by its handle; None for both if not known."""
    if IS_WINE:
        return None, None
    times, *arguments = _places_for_times(process)
    try:
        _process_times(*arguments)
    except OSError:
        return None, None
    return times[3] * UNIT_NS, times[2] * UNIT_NS


def times_with_children(process_id):
    """Return user and kernel ns of a process that has begun a job, and of what it has started.

    None if Windows does not tell.
    """
    try:
        with job_of(process_id) as job:
            return times_in(job)[0]
    except OSError:
        return None


def new_job(process, limits, name=None):
    """Return the handle of a new job that has this process; OSError if it cannot be in it."""
    job = _create_job(None, name)
    try:
        information = bytearray(144)
        struct.pack_into("<I", information, 16, limits)
        _set_information(job, EXTENDED_LIMITS, bytes(information), len(information))
        _assign(job, process)
    except OSError:
        calls.close_handle(job)
        raise
    return job


def begin_job():
    """Put this process into a job, if possible; what it starts ends with it."""
    with suppress(OSError):
        new_job(CALLING_PROCESS, ENDS_WITH_LAST_HANDLE, JOB % os.getpid())


@contextmanager
def job_of(process_id):
    """Yield the handle of the job that a process has begun; OSError if there is none."""
    job = _open_job(QUERY, False, JOB % process_id)
    try:
        yield job
    finally:
        calls.close_handle(job)


def times_in(job):
    """Return user and kernel ns of all processes of a job so far, and how many are running.

    Where no time was counted, it is not known: Wine counts none.
    """
    answer = ctypes.create_string_buffer(48)
    _query_information(job, BASIC_ACCOUNTING, answer, len(answer), None)
    user, kernel, _, _, _, _, running, _ = struct.unpack("<4q4I", answer.raw)
    return (user * UNIT_NS, kernel * UNIT_NS) if user + kernel else None, running


def _places_for_times(handle):
    """Return where a call stores four times, and its arguments: the handle and four pointers."""
    times = (ctypes.c_uint64 * 4)()  # creation, end, kernel, user
    return times, handle, *(ctypes.byref(times, 8 * index) for index in range(4))
