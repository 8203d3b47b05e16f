# SPDX-License-Identifier: MPL-2.0
"""Files as descriptors, which os.write() and os.close() take, and what is read at an offset.

Files are opened by CreateFileW so that others may read, write and delete them meanwhile: Python's
open() shares no deletion.
"""

import ctypes
import importlib
import os
from typing import Any

from system.windows import calls
from system.windows.calls import GENERIC_READ, GENERIC_WRITE, wintypes

# Elsewhere only tests read this module.
msvcrt: Any = importlib.import_module("msvcrt") if os.name == "nt" else None
BINARY = getattr(os, "O_BINARY", 0)
END_OF_FILE = 38


class _Overlapped(ctypes.Structure):
    _fields_ = (
        ("internal", ctypes.c_void_p * 2),
        ("offset", ctypes.c_uint64),
        ("event", wintypes.HANDLE),
    )


_TRANSFER = (wintypes.HANDLE, wintypes.LPVOID, wintypes.DWORD, wintypes.LPDWORD, wintypes.LPVOID)
_read_file = calls.declared(calls.KERNEL32, "ReadFile", wintypes.BOOL, *_TRANSFER)
_write_file = calls.declared(calls.KERNEL32, "WriteFile", wintypes.BOOL, *_TRANSFER)


def open_descriptor(path, access, disposition, flags=0):
    handle = calls.open_handle(path, access, calls.SHARE_ALL, disposition, flags)
    mode = {GENERIC_READ: os.O_RDONLY, GENERIC_WRITE: os.O_WRONLY}.get(access, os.O_RDWR)
    return msvcrt.open_osfhandle(handle, BINARY | mode)


def handle_of(descriptor):
    return msvcrt.get_osfhandle(descriptor)


def read_at(descriptor, buffer, size, offset):
    """Return how many bytes were read from the offset; 0 at the end of the file."""
    return _transfer(_read_file, descriptor, buffer, size, offset)


def write_at(descriptor, buffer, size, offset):
    return _transfer(_write_file, descriptor, buffer, size, offset)


def _transfer(call, descriptor, buffer, size, offset):
    """Return how many bytes were read or written at the offset; 0 at the end of the file."""
    done, position = wintypes.DWORD(), _Overlapped(offset=offset)
    handle = msvcrt.get_osfhandle(descriptor)
    if not call(handle, buffer, size, ctypes.byref(done), ctypes.byref(position)):
        failure = calls.error()
        if failure.winerror != END_OF_FILE:
            raise failure
    return done.value
