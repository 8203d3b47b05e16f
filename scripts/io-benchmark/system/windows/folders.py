# SPDX-License-Identifier: MPL-2.0
"""Folders and files as they are made, locked, replaced and removed."""

import ctypes
import os
from functools import partial
from typing import Any

from system.windows import calls
from system.windows.support import sharing

_IN_NAME = r'[^<>:"|?*\\/\x00-\x1f\x7f]'
# D:\x, D:/x, \\server\share\x, or relative to the current folder. Not D:x and not \x, which depend
# on the current folder of a drive.
PLACE_PATTERN = (
    r"(?:[A-Za-z]:[\\/]|[\\/]{2}(?!\.[\\/])NAME+[\\/]NAME+(?![^\\/])|NAME)(?:NAME|[\\/])*"
).replace("NAME", _IN_NAME)
PLACE_TEXT = r"NAME=D:\path, NAME=\\server\share\path or NAME=a path from the current folder"
TAKEN = "another run writes its result there; wait for it, or use another --output"
LOCK = ".io-benchmark-lock"
# Marks a place that a run made; folders in it do not inherit it, and it changes nothing.
FOLDER, MADE_HERE = 0x10, 0x04
SHARING_VIOLATION = 32
# Beyond 260 characters a path must be extended; what workloads make in it has up to 90.
LONG_PLACE = 150
_space_of = calls.declared(
    calls.KERNEL32,
    "GetDiskFreeSpaceExW",
    calls.success,
    calls.wintypes.LPCWSTR,
    ctypes.POINTER(ctypes.c_uint64),
    calls.wintypes.LPVOID,
    calls.wintypes.LPVOID,
)
_set_attributes = calls.declared(
    calls.KERNEL32,
    "SetFileAttributesW",
    calls.success,
    calls.wintypes.LPCWSTR,
    calls.wintypes.DWORD,
)


def long_path(path):
    """Return a path in which this run can make folders, and find out whether they are there."""
    return path if len(path) < LONG_PLACE else calls.extended(path)


def make_marked(path):
    """Make a folder of which is_made_here() is true; FileExistsError if it is there."""
    os.mkdir(path)
    _set_attributes(calls.extended(path), FOLDER | MADE_HERE)


def is_made_here(path):
    status: Any = os.stat(path)
    return bool(status.st_file_attributes & MADE_HERE)


def check_owner(_path, _job):
    """Accept any owner: a list of rights decides who may change a folder, not its owner."""


def check_not_open_to_all(_path, _job):
    """Accept any folder: users of a Windows machine may write to its drives by default."""


def lock(folder):
    """Return a handle by which this run alone holds the folder, until the process ends."""
    # The file goes with the process, however that ends.
    flags, path = calls.DELETE_ON_CLOSE, os.path.join(folder, LOCK)
    try:
        return calls.open_handle(path, calls.GENERIC_WRITE, 0, calls.OPEN_ALWAYS, flags)
    except OSError as error:
        if getattr(error, "winerror", None) == SHARING_VIOLATION:
            raise OSError(error.errno, TAKEN, folder) from None
        raise


def existing(path):
    """Return the path, or the folder above it that is there."""
    while not os.path.exists(long_path(path)) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def free_space_bytes(path):
    """Return the free space where the path is, or will be made; 0 where it cannot be read."""
    free = ctypes.c_uint64()  # with the user's quota
    folder = os.path.join(calls.extended(existing(path)), "")  # a share needs the backslash
    try:
        _space_of(folder, ctypes.byref(free), None, None)
    except OSError:
        return 0
    return free.value


def keep_mode(_descriptor, _path):
    """Do nothing: a new file has the rights that its folder gives."""


replace = partial(sharing.repeated, os.replace)
rename = partial(sharing.repeated, os.rename)
remove = partial(sharing.repeated, os.unlink)
sharing_violations = sharing.violations


def remove_tree(path):
    import shutil  # noqa: PLC0415 - measure must not load it

    sharing.repeated(shutil.rmtree, path)
