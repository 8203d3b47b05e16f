# SPDX-License-Identifier: MPL-2.0
"""How files are opened, copied, written through and past the file cache, and removed.

Files are opened by CreateFileW so that others may read, write and delete them meanwhile: Python's
open() shares no deletion. A handle becomes a descriptor, which os.write() and os.close() take.
"""

import ctypes
import importlib
import os
import tempfile
from collections import deque
from functools import partial
from itertools import cycle, repeat, starmap
from typing import Any

from log import MIB, NS_PER_S
from system.windows import archives, calls, sharing
from system.windows.calls import GENERIC_READ, GENERIC_WRITE, wintypes

# Elsewhere only tests read this module.
msvcrt: Any = importlib.import_module("msvcrt") if os.name == "nt" else None
BINARY = getattr(os, "O_BINARY", 0)
COPY_METHOD = "read and write 1 MiB"
DIRECT_METHOD = "python-no-buffering"
DIRECT_REFUSED = "NO_BUFFERING is refused here: %s"
ARCHIVES = archives.ARCHIVES
LEAST_SYNC_BYTES = 512
END_OF_FILE = 38
# From 1601 to 1970, in the unit of a FILETIME.
EPOCH_100_NS = 116_444_736_000_000_000


class _Overlapped(ctypes.Structure):
    _fields_ = (
        ("internal", ctypes.c_void_p * 2),
        ("offset", ctypes.c_uint64),
        ("event", wintypes.HANDLE),
    )


_TRANSFER = (wintypes.HANDLE, wintypes.LPVOID, wintypes.DWORD, wintypes.LPDWORD, wintypes.LPVOID)
_read_file = calls.declared(calls.KERNEL32, "ReadFile", wintypes.BOOL, *_TRANSFER)
_write_file = calls.declared(calls.KERNEL32, "WriteFile", wintypes.BOOL, *_TRANSFER)
_copy_file = calls.declared(
    calls.KERNEL32,
    "CopyFileExW",
    calls.success,
    *(wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.LPVOID, wintypes.LPVOID, wintypes.LPVOID),
    wintypes.DWORD,
)
_set_time = calls.declared(
    calls.KERNEL32,
    "SetFileTime",
    calls.success,
    *(wintypes.HANDLE, wintypes.LPVOID, wintypes.LPVOID, wintypes.LPVOID),
)
_sectors_of = calls.declared(
    calls.KERNEL32,
    "GetDiskFreeSpaceW",
    calls.success,
    *(wintypes.LPCWSTR, wintypes.LPDWORD, wintypes.LPDWORD, wintypes.LPDWORD, wintypes.LPDWORD),
)
# One for all copies, as one loop has it: a new MiB per read costs 256 page faults.
_chunk = ctypes.create_string_buffer(MIB)


def _open(path, access, disposition, flags=0):
    handle = calls.open_handle(path, access, calls.SHARE_ALL, disposition, flags)
    return msvcrt.open_osfhandle(handle, BINARY | (access == GENERIC_WRITE and os.O_WRONLY))


def _transfer(call, descriptor, buffer, size, offset):
    """Return how many bytes were read or written at the offset; 0 at the end of the file."""
    done, position = wintypes.DWORD(), _Overlapped(offset=offset)
    handle = msvcrt.get_osfhandle(descriptor)
    if not call(handle, buffer, size, ctypes.byref(done), ctypes.byref(position)):
        failure = calls.error()
        if failure.winerror != END_OF_FILE:
            raise failure
    return done.value


def copy_part(target, source, start, size):
    """Copy up to so many bytes, at most a MiB, to the target's position; return how many it were.

    shutil.copyfile() does the same on Windows.
    """
    done = _transfer(_read_file, source, _chunk, min(size, MIB), start)
    return os.write(target, memoryview(_chunk)[:done])


def copy_whole(source, destination):
    """Copy a file with its attributes and times by one call."""
    sharing.repeated(
        _copy_file, calls.extended(source), calls.extended(destination), *[None] * 3, 0
    )


def open_to_read(path):
    return _open(path, GENERIC_READ, calls.OPEN_EXISTING)


def open_to_write(path):
    """Open an empty file."""
    return sharing.repeated(_open, path, GENERIC_WRITE, calls.CREATE_ALWAYS)


def open_new(path):
    """Make a file that must not exist."""
    return sharing.repeated(_open, path, GENERIC_WRITE, calls.CREATE_NEW)


def open_to_append(path, *, is_synced):
    """Make a file; with is_synced, each write returns when the disk has it.

    Nothing else writes to it, so that each write is at its end.
    """
    flags = calls.WRITE_THROUGH | calls.NO_BUFFERING if is_synced else 0
    return _open(path, GENERIC_WRITE, calls.CREATE_NEW, flags)


def open_synced(path):
    """Open a file of which each write returns when the disk has it."""
    flags = calls.WRITE_THROUGH | calls.NO_BUFFERING
    return _open(path, GENERIC_WRITE, calls.OPEN_EXISTING, flags)


def sync_block_bytes(path):
    """Return how many bytes a synced write has: past the cache, only whole sectors are written."""
    numbers = [wintypes.DWORD() for _ in range(4)]
    folder = os.path.join(calls.extended(path), "")
    _sectors_of(folder, *(ctypes.byref(number) for number in numbers))
    return max(numbers[1].value, LEAST_SYNC_BYTES)


sync = os.fsync
rename = partial(sharing.repeated, os.rename)
remove = partial(sharing.repeated, os.unlink)


def read_at(descriptor, buffer, offset):
    _transfer_whole(_read_file, descriptor, buffer, offset)


def write_at(descriptor, buffer, offset):
    _transfer_whole(_write_file, descriptor, buffer, offset)


def _transfer_whole(call, descriptor, buffer, offset):
    start = ctypes.byref(ctypes.c_char.from_buffer(buffer))
    done = _transfer(call, descriptor, start, len(buffer), offset)
    if done != len(buffer):
        raise OSError(None, "only %d bytes of %d were read or written" % (done, len(buffer)))


def open_direct(path, *, writes):
    """Open a file past the cache; its threads need a descriptor each, or they wait for each other.

    The system lets one operation at a time through a handle that was not opened for overlapped I/O.
    """
    access = GENERIC_WRITE if writes else GENERIC_READ
    return _open(path, access, calls.OPEN_EXISTING, calls.NO_BUFFERING)


def finish_unpacked(descriptor, _mode, modified_s):
    """Give an open file its time; it has no mode."""
    time = ctypes.c_uint64(EPOCH_100_NS + modified_s * NS_PER_S // 100)
    _set_time(msvcrt.get_osfhandle(descriptor), None, ctypes.byref(time), ctypes.byref(time))


def memory_file(_stack, *_chunks):
    raise OSError(None, "Windows has no files in memory that other programs can open")


def copying(stack, size):
    """Return a function that copies the next MiB between two files of this size in memory.

    The system keeps temporary files there as long as it has memory, and does not write them.
    """
    source, target = _temporary(stack), _temporary(stack)
    for descriptor in (source, target):
        for _ in range(0, size, MIB):
            os.write(descriptor, b"x" * MIB)
    starts = cycle(range(0, size, MIB))

    def copy():
        copy_part(target, source, os.lseek(target, next(starts), os.SEEK_SET), MIB)
        return 1

    return copy


def calling(stack, count):
    """Return a function that makes so many cheap system calls: each sets a file's position."""
    arguments = _temporary(stack), 0, os.SEEK_SET

    def call():
        # Without a line of Python per call, whose speed depends on its version.
        deque(starmap(os.lseek, repeat(arguments, count)), maxlen=0)
        return count

    return call


def _temporary(stack):
    path = os.path.join(tempfile.gettempdir(), "io-benchmark-" + os.urandom(8).hex())
    flags = calls.TEMPORARY | calls.DELETE_ON_CLOSE
    handle = calls.open_handle(
        path, GENERIC_READ | GENERIC_WRITE, disposition=calls.CREATE_NEW, flags=flags
    )
    descriptor = msvcrt.open_osfhandle(handle, BINARY | os.O_RDWR)
    stack.callback(os.close, descriptor)
    return descriptor
