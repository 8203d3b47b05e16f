# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Is a file in memory already? Asked of the kernel (mincore), never assumed."""

import ctypes
import mmap
import os

DROP_CACHES = "/proc/sys/vm/drop_caches"
LIBC = ctypes.CDLL(None, use_errno=True)


def drop_all():
    """Ask the kernel to forget every clean page; 'done' or why not. Containers refuse."""
    try:
        with open(DROP_CACHES, "w", encoding="ascii") as file:
            file.write("3")
    except OSError as error:
        return "refused: %s" % error.strerror
    return "done"


def evict(path):
    """Forget one file's clean pages: needs no privilege."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def resident_bytes(path):
    """How much of a file is in memory, or None where the kernel does not say."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size
        if size == 0:
            return 0
        # Writable and private: ctypes takes the address of writable memory alone; nothing is written.
        memory = mmap.mmap(descriptor, size, flags=mmap.MAP_PRIVATE)
    except (OSError, ValueError):
        return None
    finally:
        os.close(descriptor)
    pages = (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE
    states = (ctypes.c_ubyte * pages)()
    start = ctypes.c_char.from_buffer(memory)
    try:
        address = ctypes.c_void_p(ctypes.addressof(start))
        if LIBC.mincore(address, ctypes.c_size_t(size), states) != 0:
            return None
    finally:
        del start
        memory.close()
    return min(size, sum(state & 1 for state in bytes(states)) * mmap.PAGESIZE)


def sync_filesystem(path):
    """Write out what is dirty on this file system alone; the name of the call that did it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if LIBC.syncfs(descriptor) == 0:
            return "syncfs"
    except AttributeError:
        pass
    finally:
        os.close(descriptor)
    os.sync()
    return "sync"
