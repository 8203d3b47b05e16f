# SPDX-License-Identifier: MPL-2.0
"""How files are opened, written through and past the file cache, unpacked, and removed."""

import ctypes
import os

from log import NS_PER_S
from system.windows import calls, folders
from system.windows.calls import GENERIC_READ, GENERIC_WRITE, wintypes
from system.windows.support import archives, descriptors, sharing
from system.windows.support.descriptors import open_descriptor

DIRECT_METHOD = "python-no-buffering"
DIRECT_REFUSED = "NO_BUFFERING is refused here: %s"
ARCHIVES = archives.ARCHIVES
LEAST_SYNC_BYTES = 512
# From 1601 to 1970, in the unit of a FILETIME.
EPOCH_100_NS = 116_444_736_000_000_000


_set_time = calls.declared(
    calls.KERNEL32,
    "SetFileTime",
    calls.success,
    wintypes.HANDLE,
    wintypes.LPVOID,
    wintypes.LPVOID,
    wintypes.LPVOID,
)
_sectors_of = calls.declared(
    calls.KERNEL32,
    "GetDiskFreeSpaceW",
    calls.success,
    wintypes.LPCWSTR,
    wintypes.LPDWORD,
    wintypes.LPDWORD,
    wintypes.LPDWORD,
    wintypes.LPDWORD,
)


def open_new(path):
    """Make a file that must not exist."""
    return sharing.repeated(open_descriptor, path, GENERIC_WRITE, calls.CREATE_NEW)


def open_to_append(path, *, is_synced):
    """Make a file; with is_synced, each write returns when the disk has it.

    Nothing else writes to it, so that each write is at its end.
    """
    flags = calls.WRITE_THROUGH | calls.NO_BUFFERING if is_synced else 0
    return open_descriptor(path, GENERIC_WRITE, calls.CREATE_NEW, flags)


def open_synced(path):
    """Open a file of which each write returns when the disk has it."""
    flags = calls.WRITE_THROUGH | calls.NO_BUFFERING
    return open_descriptor(path, GENERIC_WRITE, calls.OPEN_EXISTING, flags)


def sync_block_bytes(path):
    """Return how many bytes a synced write has: past the cache, only whole sectors are written."""
    try:
        sector_bytes, _ = sector_and_cluster_bytes(folders.existing(path))
    except OSError:
        return LEAST_SYNC_BYTES  # the first write says what is wrong
    return max(sector_bytes, LEAST_SYNC_BYTES)


def sector_and_cluster_bytes(folder):
    numbers = [wintypes.DWORD() for _ in range(4)]
    _sectors_of(os.path.join(calls.extended(folder), ""), *map(ctypes.byref, numbers))
    sectors, sector_bytes = (number.value for number in numbers[:2])
    return sector_bytes, sectors * sector_bytes


sync = os.fsync


def read_at(descriptor, buffer, offset):
    _check(descriptors.read_at(descriptor, buffer, offset), buffer)


def write_at(descriptor, buffer, offset):
    _check(descriptors.write_at(descriptor, buffer, offset), buffer)


def _check(done, buffer):
    if done != len(buffer):
        raise OSError(None, "only %d bytes of %d were read or written" % (done, len(buffer)))


def open_direct(path, *, writes):
    """Open a file past the cache; its threads need a descriptor each, or they wait for each other.

    The system lets one operation at a time through a handle that was not opened for overlapped I/O.
    """
    access = GENERIC_WRITE if writes else GENERIC_READ
    return open_descriptor(path, access, calls.OPEN_EXISTING, calls.NO_BUFFERING)


def finish_unpacked(descriptor, _mode, modified_s):
    """Give an open file its time; it has no mode."""
    time = ctypes.c_uint64(EPOCH_100_NS + modified_s * NS_PER_S // 100)
    _set_time(descriptors.handle_of(descriptor), None, ctypes.byref(time), ctypes.byref(time))
