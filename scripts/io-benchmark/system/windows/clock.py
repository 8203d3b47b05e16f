# SPDX-License-Identifier: MPL-2.0
"""The clock of all times: it never jumps, and all processes have the same.

It is the performance counter, in steps of 100 ns: before Python 3.13, the monotonic clock moves in
steps of 15.6 ms. Python 3.8 counts from the start of each process; there the difference is added.
"""

import ctypes
import time

from log import NS_PER_S
from system.windows import calls

READINGS = 20
_counter = calls.declared(
    calls.KERNEL32,
    "QueryPerformanceCounter",
    calls.success,
    ctypes.POINTER(ctypes.c_int64),
)
_frequency = calls.declared(
    calls.KERNEL32,
    "QueryPerformanceFrequency",
    calls.success,
    ctypes.POINTER(ctypes.c_int64),
)


def _machine_ns():
    """Return the machine's counter, which is slower to read than Python's clock."""
    ticks, per_s = ctypes.c_int64(), ctypes.c_int64()
    _counter(ctypes.byref(ticks))
    _frequency(ctypes.byref(per_s))
    return ticks.value * NS_PER_S // per_s.value


def _made_system_wide(process_clock_ns):
    """Return a clock that all processes share, whatever this one counts from."""
    # The smallest difference is the one without an interruption in between.
    ahead_ns = min(_machine_ns() - process_clock_ns() for _ in range(READINGS))
    if ahead_ns < NS_PER_S:
        return process_clock_ns  # it counts as the machine does
    return lambda: process_clock_ns() + ahead_ns


now_ns = _made_system_wide(time.perf_counter_ns)
