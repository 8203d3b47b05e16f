# SPDX-License-Identifier: MPL-2.0
"""Counters of the machine, from answers that are built as Microsoft's headers declare them."""

import mmap
import struct
from ctypes import Structure, c_uint32, c_uint64, sizeof

from system.windows import counters

GIB = 1024**3
NOT_SHOWN = (None, None)


class MemoryStatus(Structure):
    """MEMORYSTATUSEX."""

    _fields_ = (
        *((name, c_uint32) for name in ("size", "load")),
        *((name, c_uint64) for name in ("total", "free", "total_paging", "free_paging")),
        *((name, c_uint64) for name in ("total_virtual", "free_virtual", "free_extended")),
    )


def test_memory():
    """What this process may have includes paging files, and can be less than what is free."""
    status = MemoryStatus(total=16 * GIB, free=9 * GIB, total_paging=24 * GIB, free_paging=8 * GIB)
    assert sizeof(MemoryStatus) == counters.STATUS_BYTES
    assert counters.read_memory(bytes(status)) == (16 * GIB, 9 * GIB, 8 * GIB)


def test_dirty_pages_and_their_limit():
    """Both are counted in pages, behind the counters that every version of Windows has."""
    answer = bytes(312) + struct.pack("<2Q", 100, 2**19)
    expected = 100 * mmap.PAGESIZE, 2**19 * mmap.PAGESIZE
    assert counters.read_dirty_bytes(answer) == expected


def test_older_windows_shows_no_dirty_pages():
    """An answer that ends before them says nothing of them."""
    assert counters.read_dirty_bytes(bytes(312)) == NOT_SHOWN
    assert counters.read_dirty_bytes(bytes(320)) == NOT_SHOWN


def test_kernel_time_contains_idle_time():
    """Of 10 s in the kernel, 9 s were idle."""
    columns = counters.read_cpu_times(90_000_000, 100_000_000, 20_009_999)
    assert dict(zip(counters.CPU_COLUMNS, columns, strict=True)) == {
        "cpu_user_ms": 2000,
        "cpu_nice_ms": None,
        "cpu_system_ms": 1000,
        "cpu_idle_ms": 9000,
        "cpu_iowait_ms": None,
        "cpu_irq_ms": None,
        "cpu_softirq_ms": None,
        "cpu_steal_ms": None,
    }


def test_times_of_one_group_of_cpus_are_not_the_machines(monkeypatch):
    """With more than 64 CPUs, Windows tells those of one group, which changes."""
    monkeypatch.setattr(counters, "_group_count", lambda: 2)
    assert counters.cpu_ms_and_threads() == ([None] * 8, None)


def test_nothing_is_known_where_calls_fail():
    """Without any of these calls, as here, each value is None."""
    assert counters.memory_bytes(("dirty", "writeback", "memory_available")) == [None] * 3
    assert counters.cpu_ms_and_threads() == ([None] * 8, None)
    assert counters.pressure_us([("io", "some")]) == [None]
