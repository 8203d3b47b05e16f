# SPDX-License-Identifier: MPL-2.0
"""How files are copied, and files that stay in memory."""

import ctypes
import os
import tempfile
from collections import deque
from itertools import cycle, repeat, starmap

from log import MIB
from system.windows import calls
from system.windows.calls import GENERIC_READ, GENERIC_WRITE, wintypes
from system.windows.support import descriptors, sharing
from system.windows.support.descriptors import open_descriptor

COPY_METHOD = "read and write 1 MiB"
_copy_file = calls.declared(
    calls.KERNEL32,
    "CopyFileExW",
    calls.success,
    *(wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.LPVOID, wintypes.LPVOID, wintypes.LPVOID),
    wintypes.DWORD,
)
# One for all copies, as one loop has it: a new MiB per read costs 256 page faults.
_chunk = ctypes.create_string_buffer(MIB)


def copy_part(target, source, start, size):
    """Copy up to so many bytes, at most a MiB, to the target's position; return how many it were.

    shutil.copyfile() does the same on Windows.
    """
    done = descriptors.read_at(source, _chunk, min(size, MIB), start)
    return os.write(target, memoryview(_chunk)[:done])


def copy_whole(source, destination):
    """Copy a file with its attributes and times by one call."""
    sharing.repeated(
        _copy_file, calls.extended(source), calls.extended(destination), *[None] * 3, 0
    )


def open_to_read(path):
    return open_descriptor(path, GENERIC_READ, calls.OPEN_EXISTING)


def open_to_write(path):
    """Open an empty file."""
    return sharing.repeated(open_descriptor, path, GENERIC_WRITE, calls.CREATE_ALWAYS)


def memory_file(_stack, *_chunks):
    raise OSError("Windows has no files in memory that other programs can open")


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
    access = GENERIC_READ | GENERIC_WRITE
    descriptor = open_descriptor(path, access, calls.CREATE_NEW, flags)
    stack.callback(os.close, descriptor)
    return descriptor
