# SPDX-License-Identifier: MPL-2.0
"""Facts about the machine, and the tools that workloads use.

The size of a virtual machine is not asked for: Azure's metadata service is a network request, and
workers have TASKCLUSTER_INSTANCE_TYPE.
"""

import ctypes
import os
import re
import struct
from ctypes.wintypes import HANDLE, LONG, LPVOID

from system.probes import tool_versions, touch_new_memory
from system.windows import counters
from system.windows.calls import KERNEL32, declared, known, library, registry_value, success
from system.windows.processes import output_of
from system.windows.support import defender

TOOLS = ("bash", "cp", "curl", "findstr", "grep", "sed")
# Keys of the registry.
WINDOWS = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion"
CONTROL = "SYSTEM\\CurrentControlSet\\Control\\"
MEMORY_MANAGEMENT = CONTROL + "Session Manager\\Memory Management"
ENVIRONMENT = CONTROL + "Session Manager\\Environment"
FILE_SYSTEM = CONTROL + "FileSystem"
POWER_PLANS = CONTROL + "Power\\User\\PowerSchemes"
CPU = "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0"
BIOS = "HARDWARE\\DESCRIPTION\\System\\BIOS"
VERSION_BYTES = 284  # of RTL_OSVERSIONINFOEXW
SYSTEM_ROOT = os.environ.get("SYSTEMROOT", "C:\\Windows")
FIRST_OF_WINDOWS_11, FIRST_WITH_ALL_GROUPS = 22000, 20348
# Such as \??\D:\pagefile.sys or D:\pagefile.sys 8192 8192.
PAGING_FILE = re.compile(r"(?:\\\?\?\\)?([A-Za-z]:\\.*?)(?: \d+ \d+)?")

_affinity = declared(KERNEL32, "GetProcessAffinityMask", success, HANDLE, LPVOID, LPVOID)
THIS_PROCESS = -1  # a handle
_version = declared(library("ntdll"), "RtlGetVersion", LONG, LPVOID)


def observe(*, may_measure=True):
    """Describe the machine; without measuring, what takes time is left empty."""
    memory = counters.memory()
    version = _windows_version()
    update = registry_value(WINDOWS, "UBR", int)
    free_bytes = (available_bytes() or 0) if may_measure else 0
    return {
        "kernel": ".".join(str(number) for number in (*version, update) if number is not None),
        "kernel_version": _text(WINDOWS, "DisplayVersion") or "",
        "architecture": program_format(),
        "distribution": product_name(_text(WINDOWS, "ProductName"), version[2]),
        "cpu_model": _text(CPU, "ProcessorNameString"),
        "cpu_count": len(usable_cpus()),
        "cpu_online_count": os.cpu_count(),
        "memory_bytes": memory.total,
        "memory_available_bytes": memory.available,
        "machine_vendor": _text(BIOS, "SystemManufacturer"),
        "machine_product": _text(BIOS, "SystemProductName"),
        "firmware": _text(BIOS, "BIOSVersion"),
        **dict.fromkeys(("boot_id", "container", "user_id", "transparent_huge_pages")),
        "vm": {},
        "first_touch_ns_per_mib": touch_new_memory(free_bytes),
        "tools": tool_versions(TOOLS, _version_of) if may_measure else {},
        "system": "windows",
        "windows": _settings(may_measure=may_measure),
    }


def _text(path, name):
    return (registry_value(path, name, str) or "").strip() or None


def _windows_version():
    """Return major, minor and build number, whichever Windows this Python was made for."""
    answer = ctypes.create_string_buffer(struct.pack("<I", VERSION_BYTES), VERSION_BYTES)
    known(_version, answer)
    return struct.unpack_from("<3I", answer, 4)


def product_name(name, build):
    """Return the name of this Windows; Windows 11 calls itself Windows 10."""
    is_11 = name and build >= FIRST_OF_WINDOWS_11
    return name.replace("Windows 10", "Windows 11", 1) if is_11 else name


def program_format():
    """Return which programs this machine is made for, whichever this one is."""
    return _text(ENVIRONMENT, "PROCESSOR_ARCHITECTURE") or ""


def _version_of(path):
    """Return what `--version` prints; not of a program of Windows, but for curl.

    The others know no such option, and bash would start a virtual machine.
    """
    is_of_windows = path.lower().startswith(SYSTEM_ROOT.lower())
    asks = not is_of_windows or os.path.basename(path).lower() == "curl.exe"
    return output_of([path, "--version"]) if asks else ""


def _settings(*, may_measure):
    long_paths = registry_value(FILE_SYSTEM, "LongPathsEnabled", int)
    last_access = registry_value(FILE_SYSTEM, "NtfsDisableLastAccessUpdate", int)
    state_of_defender, filters = defender.observe(may_measure=may_measure)
    return {
        "power_plan": _power_plan(),
        "paging_files": paging_files(),
        "long_paths": None if long_paths is None else long_paths == 1,
        # A second bit says whether the system or an administrator chose.
        "last_access": None if last_access is None else not last_access & 1,
        "defender": state_of_defender,
        "filters": filters,
    }


def _power_plan():
    """Return the plan's name, the end of a text such as @…powrprof.dll,-13,High performance."""
    plan = _text(POWER_PLANS, "ActivePowerScheme")
    name = plan and _text(POWER_PLANS + "\\" + plan, "FriendlyName")
    return name and name.rpartition(",")[2]


def paging_files():
    """Return the paths of the paging files; None where Windows does not say on which drive."""
    entries = registry_value(MEMORY_MANAGEMENT, "ExistingPageFiles", list)
    if entries is None:
        entries = registry_value(MEMORY_MANAGEMENT, "PagingFiles", list)
    if entries is None:
        return None
    paths = [match[1] for match in map(PAGING_FILE.fullmatch, entries) if match]
    return paths if len(paths) == len(entries) else None


def usable_cpus():
    """Return the numbers of the CPUs that this process may use."""
    mask, machine_mask = ctypes.c_size_t(), ctypes.c_size_t()
    _affinity(THIS_PROCESS, ctypes.byref(mask), ctypes.byref(machine_mask))
    return cpus_in(mask.value, machine_mask.value, os.cpu_count() or 1, _windows_version()[2])


def cpus_in(mask, machine_mask, count, build):
    """Return the CPUs in a mask, which has those of one group; a group has 64 at most.

    A process that was not restricted uses all groups, but before Windows Server 2022 only its own.
    """
    # Both are 0 in a process that has threads in several groups.
    uses_all_groups = build >= FIRST_WITH_ALL_GROUPS or machine_mask == 0
    if mask == machine_mask and (uses_all_groups or count <= machine_mask.bit_length()):
        return list(range(count))
    return [number for number in range(64) if mask >> number & 1]


def unwritten_bytes():
    """Return how many bytes are dirty; how many are being written is not shown."""
    return counters.dirty_bytes()[0], None


def dirty_limit_bytes():
    """Return how much may be dirty before writers must wait; about, where that is not shown."""
    limit_bytes = counters.dirty_bytes()[1]
    return (available_bytes() or 0) // 5 if limit_bytes is None else limit_bytes


def available_bytes():
    """Return the memory that is free and that this process may have; None where it is not known."""
    memory = counters.memory()
    return None if memory.available is None else min(memory.available, memory.allowed)


def observe_limits():
    """Return no limits: there are no cgroups, and those of job objects are not read."""
    return {"cgroup_versions": [], "groups": {}, "io": [], "memory": [], "cpu": []}
