# SPDX-License-Identifier: MPL-2.0
"""What a row of the timeline reads of the machine: memory and CPU time.

Windows does not say for how long tasks waited, nor how many threads could run.
"""

import ctypes
import mmap
import struct
from ctypes.wintypes import LONG, LPDWORD, LPVOID, ULONG, WORD
from typing import NamedTuple, Optional

from system.windows.calls import KERNEL32, declared, known, library, success

MEMORY = ("dirty", "memory_available")
PRESSURE = ()
CPU_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
BUSY = ("user", "system")  # with the time of interrupts
CPU_COLUMNS = ["cpu_%s_ms" % name for name in CPU_TICKS]
TICKS_PER_MS = 10_000  # of 100 ns
STATUS_BYTES = 64  # of MEMORYSTATUSEX
# The class SystemPerformanceInformation; where newer versions of Windows add their dirty pages.
PERFORMANCE, MOST_BYTES, DIRTY_AT = 2, 4096, 312

_system_times = declared(KERNEL32, "GetSystemTimes", success, *[LPVOID] * 3)
_group_count = declared(KERNEL32, "GetActiveProcessorGroupCount", WORD)
_memory_status = declared(KERNEL32, "GlobalMemoryStatusEx", success, LPVOID)
_QUERY = (ULONG, LPVOID, ULONG, LPDWORD)
_query = declared(library("ntdll"), "NtQuerySystemInformation", LONG, *_QUERY)


class Memory(NamedTuple):
    """Bytes of memory; None is not known."""

    total: Optional[int] = None
    available: Optional[int] = None
    allowed: Optional[int] = None  # with paging files, to this process


def memory():
    status = ctypes.create_string_buffer(struct.pack("<I", STATUS_BYTES), STATUS_BYTES)
    return read_memory(status.raw) if known(_memory_status, status) else Memory()


def read_memory(status):
    """Read MEMORYSTATUSEX: memory, then memory with paging files, each total and free."""
    total, available, _, allowed = struct.unpack_from("<4Q", status, 8)
    return Memory(total, available, allowed)


def dirty_bytes():
    """Return how much of the file cache is dirty, and from how much on writers wait."""
    answer, size = ctypes.create_string_buffer(MOST_BYTES), ULONG()
    failed = known(_query, PERFORMANCE, answer, MOST_BYTES, ctypes.byref(size)) != 0
    return (None, None) if failed else read_dirty_bytes(answer.raw[: size.value])


def read_dirty_bytes(answer):
    """Read SYSTEM_PERFORMANCE_INFORMATION, which counts pages; older ones lack both counts."""
    if len(answer) < DIRTY_AT + 16:
        return None, None
    dirty, limit = struct.unpack_from("<2Q", answer, DIRTY_AT)
    return dirty * mmap.PAGESIZE, limit * mmap.PAGESIZE


def memory_bytes(names):
    """Return the bytes of each of these; None where Windows does not show them."""
    values = {"dirty": dirty_bytes()[0], "memory_available": memory().available}
    return [values.get(name) for name in names]


def pressure_us(parts):
    return [None for _ in parts]


def cpu_ms_and_threads():
    """Return the CPU columns, and None for the threads that could run."""
    if known(_group_count) != 1:
        # With more than 64 CPUs, the times are those of the group in which this thread runs now.
        return [None for _ in CPU_TICKS], None
    times = [ctypes.c_uint64() for _ in range(3)]
    _system_times(*map(ctypes.byref, times))
    return read_cpu_times(*(time.value for time in times)), None


def read_cpu_times(idle, kernel, user):
    """Return the CPU columns; the time in the kernel has the idle time in it."""
    ticks = {"user": user, "system": kernel - idle, "idle": idle}
    return [ticks[name] // TICKS_PER_MS if name in ticks else None for name in CPU_TICKS]
