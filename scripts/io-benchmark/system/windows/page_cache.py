# SPDX-License-Identifier: MPL-2.0
"""The file cache: evict files, and flush them.

Not observable: how much of a file is in memory, and whether files share blocks on the disk.
"""

import os

from system.windows import calls
from system.windows.support import sharing

SYNC_METHOD = "FlushFileBuffers of each file"
_flush = calls.declared(calls.KERNEL32, "FlushFileBuffers", calls.success, calls.wintypes.HANDLE)


def drop_all():
    return "not possible: Windows drops its file cache only for administrators"


def evict(path):
    """Open the file past the cache: NTFS then flushes and drops what it has in memory of it.

    It does so where nothing else has the file open. Microsoft's FASTFAT sample shows the same.
    """
    with calls.opened(path, calls.GENERIC_READ, flags=calls.NO_BUFFERING):
        pass


def resident_bytes(_path):
    """Return None: Windows does not say it."""


def sync_filesystem(path):
    """Flush every file below this path; to flush the whole volume needs an administrator."""
    for folder, _, names in os.walk(path):
        for name in names:
            sharing.repeated(_flush_file, os.path.join(folder, name))


def _flush_file(path):
    with calls.opened(path, calls.GENERIC_WRITE, flags=0) as handle:
        _flush(handle)


def shares_extents(_path):
    """Return None: where ReFS copied only by reference, the disk writes less than was copied."""
