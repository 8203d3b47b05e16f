# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Does a copy share its bytes with the original? The kernel's extent map tells (FIEMAP)."""

import array
import fcntl
import os
import struct

FS_IOC_FIEMAP = 0xC020660B
FIEMAP_FLAG_SYNC = 1
FIEMAP_EXTENT_SHARED = 0x2000
HEADER = struct.Struct("=QQLLLL")
EXTENT = struct.Struct("=QQQQQLLLL")
EXTENTS = 64


def shares_extents(path):
    """True, False, or None where the file system has no extent map."""
    request = HEADER.pack(0, 2**64 - 1, FIEMAP_FLAG_SYNC, 0, EXTENTS, 0)
    buffer = array.array("B", request + bytes(EXTENT.size * EXTENTS))
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, FS_IOC_FIEMAP, buffer)
        finally:
            os.close(descriptor)
    except OSError:
        return None
    mapped = HEADER.unpack_from(buffer)[3]
    flags = [
        EXTENT.unpack_from(buffer, HEADER.size + at * EXTENT.size)[5]
        for at in range(mapped)
    ]
    return any(flag & FIEMAP_EXTENT_SHARED for flag in flags)
