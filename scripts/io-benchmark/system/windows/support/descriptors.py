# SPDX-License-Identifier: MPL-2.0
"""Files as descriptors, which os.write() and os.close() take, and what is read at an offset.

Files are opened by CreateFileW so that others may read, write and delete them meanwhile: Python's
open() shares no deletion. They are read into a buffer that is there: a new one costs page faults,
and reading past the cache needs one that begins at a page.
"""

import importlib
import io
import os
from functools import lru_cache
from typing import Any

from system.windows import calls
from system.windows.calls import GENERIC_READ, GENERIC_WRITE

# Elsewhere only tests read this module.
msvcrt: Any = importlib.import_module("msvcrt") if os.name == "nt" else None
BINARY = getattr(os, "O_BINARY", 0)


def open_descriptor(path, access, disposition, flags=0):
    handle = calls.open_handle(path, access, calls.SHARE_ALL, disposition, flags)
    mode = {GENERIC_READ: os.O_RDONLY, GENERIC_WRITE: os.O_WRONLY}.get(access, os.O_RDWR)
    return msvcrt.open_osfhandle(handle, BINARY | mode)


def handle_of(descriptor):
    return msvcrt.get_osfhandle(descriptor)


@lru_cache(maxsize=None)
def _reader(descriptor):
    """Return what reads into a buffer; it holds only the number, which a later file may have."""
    return io.FileIO(descriptor, "r+", closefd=False)


def read_at(descriptor, buffer, offset):
    """Return how many bytes were read; 0 at the end of the file."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    return _reader(descriptor).readinto(buffer)


def write_at(descriptor, buffer, offset):
    """Return how many bytes were written."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.write(descriptor, buffer)
