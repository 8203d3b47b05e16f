# SPDX-License-Identifier: MPL-2.0
"""How files are copied, and files that stay in memory."""

import os
import tempfile
from collections import deque
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import cycle, repeat, starmap
from typing import Any

from log import MIB
from system.windows import calls, folders, storage
from system.windows.calls import GENERIC_READ, GENERIC_WRITE, wintypes
from system.windows.support import defender, descriptors, sharing
from system.windows.support.descriptors import open_descriptor

COPY_METHOD = "read and write 1 MiB"
_copy_file = calls.declared(
    calls.KERNEL32,
    "CopyFileExW",
    calls.success,
    wintypes.LPCWSTR,
    wintypes.LPCWSTR,
    wintypes.LPVOID,
    wintypes.LPVOID,
    wintypes.LPVOID,
    wintypes.DWORD,
)
# One for all copies, as one loop has it: a new MiB per read costs 256 page faults.
_chunk = memoryview(bytearray(MIB))


def copy_part(target, source, start, size):
    """Copy up to so many bytes, at most a MiB, to the target's position; return how many it were.

    shutil.copyfile() does the same on Windows.
    """
    done = descriptors.read_at(source, _chunk[:size], start)
    return os.write(target, _chunk[:done])


def copy_whole(source, destination):
    """Copy a file with its attributes and times by one call."""
    sharing.repeated(
        _copy_file, calls.extended(source), calls.extended(destination), *[None] * 3, 0
    )


class _NewFolder(AbstractContextManager):
    """A folder that is removed at the end."""

    def __init__(self, parent):
        self._path = os.path.join(parent, "io-benchmark-" + os.urandom(6).hex())

    def __enter__(self):
        os.mkdir(self._path, 0o700)
        return self._path

    def __exit__(self, *_):
        folders.remove_tree(self._path)


def more_ways(stack, near):
    """Return functions that copy otherwise, by trial: as `plain` does but in one thing.

    One copies each file by one call, and one into a folder on this volume that Defender skips. That
    needs a user who may read the exclusions, and write there.
    """
    ways: Any = {"copy-file": lambda _plain, source, target, _size: copy_whole(source, target)}
    for parent in unscanned_folders(near):
        with suppress(OSError):
            ways["excluded"] = partial(_copy_into, stack.enter_context(_NewFolder(parent)))
            break
    return ways


def _copy_into(folder, plain, source, target, size):
    return plain(source, os.path.join(folder, os.path.basename(target)), size)


def unscanned_folders(near):
    """Return folders of the same volume in which Defender scans nothing, unless that is near."""
    paths = defender.excluded_paths() or []
    if defender.excludes(near):
        return []
    root = storage.root_of(near)
    return [path for path in paths if os.path.isdir(path) and storage.root_of(path) == root]


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
