# SPDX-License-Identifier: MPL-2.0
"""What a row of the timeline reads of the machine: memory, pressure, CPU time, threads."""

import os
import re

from system.linux.kernel import first_int, read_lines, read_text

MEMORY = {"dirty": "Dirty", "writeback": "Writeback", "memory_available": "MemAvailable"}
PRESSURE = (("io", "some"), ("io", "full"), ("memory", "some"), ("cpu", "some"))
CPU_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
BUSY = ("user", "nice", "system", "irq", "softirq")
CPU_COLUMNS = ["cpu_%s_ms" % name for name in CPU_TICKS]
_MEMORY_LINE = re.compile("^(%s): +(\\d+) kB$" % "|".join(MEMORY.values()), re.MULTILINE)


def memory_bytes(names):
    """Return the bytes of each of these; None where the kernel does not show them."""
    kib = dict(_MEMORY_LINE.findall(read_text("/proc/meminfo") or ""))
    fields = (MEMORY[name] for name in names)
    return [int(kib[field]) * 1024 if field in kib else None for field in fields]


def pressure_us(parts):
    """Return for how long some or all tasks have waited for each of these so far."""
    return [first_int(which + r" .*total=(\d+)", "/proc/pressure/" + part) for part, which in parts]


def cpu_ms_and_threads():
    """Return the CPU columns, and how many threads run or wait for a CPU, without this one."""
    stat = read_lines("/proc/stat") or ["cpu"]
    tick_ms = 1000 // os.sysconf("SC_CLK_TCK")
    ticks = stat[0].split()[1:][: len(CPU_TICKS)]
    columns = [int(count) * tick_ms for count in ticks] + [None] * (len(CPU_TICKS) - len(ticks))
    return columns, _runnable_threads(stat)


def _runnable_threads(stat):
    for line in reversed(stat):
        if line.startswith("procs_running "):
            return max(0, int(line.split()[1]) - 1)
    return None
