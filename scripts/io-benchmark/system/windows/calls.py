# SPDX-License-Identifier: MPL-2.0
"""Calls of Windows, as the other modules of this folder make them; a failure is an OSError.

Elsewhere, or where this Windows lacks a function, each call fails with "not implemented".
"""

import ctypes
import importlib
import os
from contextlib import contextmanager
from ctypes import wintypes
from typing import Any

# What tells a type checker on Linux that it does not know these functions.
WINDOWS: Any = ctypes
NOT_IMPLEMENTED = 120  # ERROR_CALL_NOT_IMPLEMENTED

# CreateFileW
READ_ATTRIBUTES, GENERIC_READ, GENERIC_WRITE = 0x80, 0x80000000, 0x40000000
SHARE_ALL = 7  # others may read, write and delete
CREATE_NEW, CREATE_ALWAYS, OPEN_EXISTING, OPEN_ALWAYS = 1, 2, 3, 4
WRITE_THROUGH, NO_BUFFERING = 0x80000000, 0x20000000
DELETE_ON_CLOSE, TEMPORARY = 0x04000000, 0x100  # temporary: written only where memory is short
BACKUP_SEMANTICS = 0x02000000  # folders too
POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-Command")
INVALID_HANDLE = ctypes.c_void_p(-1).value


def library(name):
    """Load a library of Windows; None where there is none."""
    load = getattr(ctypes, "WinDLL", None)
    try:
        return load and load(name, use_last_error=True)
    except OSError:
        return None


def error(path=None, code=None):
    """Return the error of the last call, or of this code, to be raised."""
    code = WINDOWS.get_last_error() if code is None else code
    arguments: Any = (0, WINDOWS.FormatError(code).strip(), path, code)
    return OSError(*arguments)


def success(result):
    """Raise the error of a call that returned FALSE; the type of the result of declared()."""
    if not result:
        raise error()
    return result


def declared(source, name, result, *arguments):
    """Return a function of a library, with the types of its result and its arguments."""
    try:
        function = getattr(source, name)
    except AttributeError:

        def missing(*_):
            raise OSError(NOT_IMPLEMENTED, "%s is not implemented" % name)

        return missing
    function.restype, function.argtypes = result, arguments
    return function


KERNEL32: Any = library("kernel32")
_CREATE_FILE = declared(
    KERNEL32,
    "CreateFileW",
    wintypes.HANDLE,
    wintypes.LPCWSTR,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.LPVOID,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.HANDLE,
)
_DEVICE_IO_CONTROL = declared(
    KERNEL32,
    "DeviceIoControl",
    success,
    wintypes.HANDLE,
    wintypes.DWORD,
    wintypes.LPVOID,
    wintypes.DWORD,
    wintypes.LPVOID,
    wintypes.DWORD,
    wintypes.LPDWORD,
    wintypes.LPVOID,
)
close_handle = declared(KERNEL32, "CloseHandle", success, wintypes.HANDLE)


def extended(path):
    r"""Return the absolute path as \\?\…, which may have more than 260 characters."""
    path = os.path.abspath(path)
    if path.startswith(("\\\\?\\", "\\\\.\\")):
        return path
    return "\\\\?\\UNC\\" + path[2:] if path.startswith("\\\\") else "\\\\?\\" + path


def open_handle(path, access=0, share=SHARE_ALL, disposition=OPEN_EXISTING, flags=BACKUP_SEMANTICS):
    """Open a file, a folder or a device; the caller closes the handle."""
    handle = _CREATE_FILE(extended(path), access, share, None, disposition, flags, None)
    if handle in (None, INVALID_HANDLE):
        raise error(path)
    return handle


@contextmanager
def opened(path, access=0, share=SHARE_ALL, disposition=OPEN_EXISTING, flags=BACKUP_SEMANTICS):
    handle = open_handle(path, access, share, disposition, flags)
    try:
        yield handle
    finally:
        close_handle(handle)


def control(handle, code, input_bytes=b"", output_size=0):
    """Return what a device or a file system answers to a control code."""
    answer = ctypes.create_string_buffer(output_size) if output_size else None
    size = wintypes.DWORD()
    _DEVICE_IO_CONTROL(
        handle,
        code,
        input_bytes or None,
        len(input_bytes),
        answer,
        output_size,
        ctypes.byref(size),
        None,
    )
    return answer.raw[: size.value] if answer else b""


def known(call, *arguments):
    """Return what a call says, or None where it fails: a fact that is not known."""
    try:
        return call(*arguments)
    except OSError:
        return None


@contextmanager
def _key(path):
    registry: Any = importlib.import_module("winreg")
    access = registry.KEY_READ | registry.KEY_WOW64_64KEY
    with registry.OpenKey(registry.HKEY_LOCAL_MACHINE, path, 0, access) as key:
        yield registry, key


def registry_value(path, name, kind):
    """Return a value below HKEY_LOCAL_MACHINE; None if it cannot be read or is of another kind."""
    try:
        with _key(path) as (registry, key):
            value, _ = registry.QueryValueEx(key, name)
    except OSError:
        return None
    return value if isinstance(value, kind) else None


def registry_names(path):
    """Return the names of the values in a key; an OSError if it is missing or cannot be read."""
    with _key(path) as (registry, key):
        return [registry.EnumValue(key, index)[0] for index in range(registry.QueryInfoKey(key)[1])]
