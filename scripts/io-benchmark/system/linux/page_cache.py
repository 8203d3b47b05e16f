# SPDX-License-Identifier: MPL-2.0
"""The page cache: evict files, check with mincore and FIEMAP that it worked, and sync."""

import array
import fcntl
import mmap
import os
import struct
from functools import lru_cache

SYNC_METHOD = "syncfs"
DROP_CACHES = "/proc/sys/vm/drop_caches"
FS_IOC_FIEMAP = 0xC020660B
FIEMAP_FLAG_SYNC = 1
FIEMAP_EXTENT_SHARED = 0x2000
FIEMAP_HEADER = struct.Struct("=QQLLLL")
FIEMAP_EXTENT = struct.Struct("=QQQQQLLLL")
EXTENTS = 64


@lru_cache(maxsize=1)
def _c_library():
    import ctypes  # noqa: PLC0415 - measure must not load it

    return ctypes, ctypes.CDLL(None, use_errno=True)


def drop_all():
    """Drop every clean page; return 'done' or the reason why not. Containers refuse."""
    try:
        with open(DROP_CACHES, "w", encoding="ascii") as file:
            file.write("3")
    except OSError as error:
        return "refused: %s" % error.strerror
    return "done"


def evict(path):
    """Drop one file's clean pages; needs no privileges."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def resident_bytes(path):
    """Return how many bytes of a file are in memory, or None where the kernel does not say."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        # Writable, since ctypes needs that for the address; private, and nothing is written.
        try:
            memory = mmap.mmap(file.fileno(), size, flags=mmap.MAP_PRIVATE)
        except (OSError, ValueError):
            return None
    pages = (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE
    ctypes, library = _c_library()
    states = (ctypes.c_ubyte * pages)()
    start = ctypes.c_char.from_buffer(memory)
    try:
        address = ctypes.c_void_p(ctypes.addressof(start))
        if library.mincore(address, ctypes.c_size_t(size), states) != 0:
            return None
    finally:
        del start
        memory.close()
    return min(size, sum(state & 1 for state in bytes(states)) * mmap.PAGESIZE)


def sync_filesystem(path):
    ctypes, library = _c_library()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if library.syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(descriptor)


def shares_extents(path):
    """Return whether a file shares extents; None where the file system has no extent map."""
    request = FIEMAP_HEADER.pack(0, 2**64 - 1, FIEMAP_FLAG_SYNC, 0, EXTENTS, 0)
    buffer = array.array("B", request + bytes(FIEMAP_EXTENT.size * EXTENTS))
    try:
        with open(path, "rb") as file:
            fcntl.ioctl(file.fileno(), FS_IOC_FIEMAP, buffer)
    except OSError:
        return None
    mapped = FIEMAP_HEADER.unpack_from(buffer)[3]
    extents = FIEMAP_EXTENT.iter_unpack(buffer[FIEMAP_HEADER.size :])
    return any(extent[5] & FIEMAP_EXTENT_SHARED for extent in list(extents)[:mapped])
