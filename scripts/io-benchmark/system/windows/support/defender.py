# SPDX-License-Identifier: MPL-2.0
"""What looks at files when they are opened and closed: Defender, and other drivers that filter.

All is read as a normal user, who may not see Defender's exclusions. Nothing is changed.
"""

import ctypes
import ntpath
from ctypes.wintypes import BOOL, DWORD, HANDLE, LPCWSTR, LPDWORD, LPVOID, LPWSTR
from fnmatch import fnmatchcase

from system.windows import calls
from system.windows.calls import declared, known, registry_names
from system.windows.processes import output_of

SERVICES = "SYSTEM\\CurrentControlSet\\Services\\"
# Where a filter has its altitudes: the second since Windows 11 24H2.
INSTANCES = ("\\Instances", "\\Parameters\\Instances")
SERVICE = "WinDefend"
REAL_TIME = "SOFTWARE\\Microsoft\\Windows Defender\\Real-Time Protection"
REAL_TIME_STATUS = "(Get-MpComputerStatus).RealTimeProtectionEnabled"
EXCLUDED = (
    "SOFTWARE\\Microsoft\\Windows Defender\\Exclusions\\Paths",
    "SOFTWARE\\Policies\\Microsoft\\Windows Defender\\Exclusions\\Paths",
)
ENUMERATE_SERVICES = 4
FILE_SYSTEM_DRIVERS, PROGRAMS = 2, 0x30
ANY_STATE, RUNNING = 3, 4
MOST_BYTES = 256 * 1024  # of an answer


class _Service(ctypes.Structure):
    """The fields of ENUM_SERVICE_STATUS_PROCESSW."""

    _fields_ = (
        ("name", LPWSTR),
        ("display_name", LPWSTR),
        ("kind", DWORD),
        ("state", DWORD),
        ("details", DWORD * 7),
    )


_ADVAPI32 = calls.library("advapi32")
_open_manager = declared(_ADVAPI32, "OpenSCManagerW", HANDLE, LPCWSTR, LPCWSTR, DWORD)
_close_manager = declared(_ADVAPI32, "CloseServiceHandle", BOOL, HANDLE)
_ENUMERATE = (HANDLE, *[DWORD] * 3, LPVOID, DWORD, *[LPDWORD] * 3, LPCWSTR)
_enumerate = declared(_ADVAPI32, "EnumServicesStatusExW", calls.success, *_ENUMERATE)


def services():
    """Return kind and state of services and of file systems' drivers, by name."""
    manager = _open_manager(None, None, ENUMERATE_SERVICES)
    if not manager:
        raise calls.error()
    answer, count = ctypes.create_string_buffer(MOST_BYTES), DWORD()
    numbers = (ctypes.byref(DWORD()), ctypes.byref(count), ctypes.byref(DWORD()))
    kinds = FILE_SYSTEM_DRIVERS | PROGRAMS
    try:
        _enumerate(manager, 0, kinds, ANY_STATE, answer, MOST_BYTES, *numbers, None)
    finally:
        _close_manager(manager)
    entries = ctypes.cast(answer, ctypes.POINTER(_Service))
    return {entries[i].name: (entries[i].kind, entries[i].state) for i in range(count.value)}


def observe(*, may_measure):
    """Return Defender's state, and the names of the file system's filters that run."""
    states = known(services) or {}
    is_running = state_of_defender(states)
    defender = {
        "is_running": is_running,
        "is_real_time": is_running and _is_real_time(may_measure=may_measure),
        "excluded_paths": excluded_paths(),
    }
    return defender, filters_in(states)


def state_of_defender(states):
    """Return whether its service runs; the list lacks what this user may not see."""
    return states[SERVICE][1] == RUNNING if SERVICE in states else None


def filters_in(states):
    drivers = [name for name, state in states.items() if state == (FILE_SYSTEM_DRIVERS, RUNNING)]
    return sorted(filter(_is_filter, drivers)) if drivers else None


def _is_filter(name):
    keys = (SERVICES + name + instances for instances in INSTANCES)
    return any(known(registry_names, key) is not None for key in keys)


def _is_real_time(*, may_measure):
    """Return whether a Defender that runs looks at files; it does not if another scanner does."""
    if calls.registry_value(REAL_TIME, "DisableRealtimeMonitoring", int) == 1:
        return False
    status = output_of([*calls.POWERSHELL, REAL_TIME_STATUS]).strip() if may_measure else ""
    return {"True": True, "False": False}.get(status)


def excluded_paths():
    """Return what Defender does not look at; None where this user may not know."""
    paths = set()
    for key in EXCLUDED:
        try:
            paths.update(registry_names(key))
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return sorted(paths)


def excludes(folder):
    """Return whether Defender excludes files in a folder; None if this user may not know."""
    excluded = excluded_paths()
    if excluded and any(covers(entry, folder) for entry in excluded):
        return True
    # Variables have the values of Defender's account, which are not known here.
    is_known = excluded is not None and not any("%" in entry for entry in excluded)
    return False if is_known else None


def covers(excluded, folder):
    """Return whether files in a folder are excluded; a star stands for the name of one folder."""
    patterns = excluded.lower().rstrip("\\").split("\\")
    names = ntpath.join(folder, "file").lower().split("\\")
    return len(patterns) <= len(names) and all(map(fnmatchcase, names, patterns))
