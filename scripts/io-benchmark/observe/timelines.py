# SPDX-License-Identifier: MPL-2.0
"""The timeline of a run, and its parts for that of a command: disks, dirty pages, pressure, CPU.

The counters are the kernel's totals since the boot. So a row that is missing loses nothing.
"""

import os
import re
import time
from functools import partial

from kernel import first_int, read_lines, read_text, times_with_children
from observe import devices

EVERY_S = 1.0
PRESSURE = (("io", "some"), ("io", "full"), ("memory", "some"), ("cpu", "some"))
CPU_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
CPU_COLUMNS = ["cpu_%s_ms" % name for name in CPU_TICKS]
TOTAL_US = r" .*total=(\d+)"
DISK_COLUMNS = devices.COLUMNS[:3]  # bytes read, bytes written, busy milliseconds
_MEMORY = re.compile(r"^(Dirty|Writeback|MemAvailable): +(\d+) kB$", re.MULTILINE)


def memory_columns(*fields):
    kib = dict(_MEMORY.findall(read_text("/proc/meminfo") or ""))
    return [int(kib[field]) * 1024 if field in kib else None for field in fields]


def _column_names(disks):
    names = ["time_ns", "dirty_bytes", "writeback_bytes", "memory_available_bytes"]
    names += ["psi_%s_%s_us" % pressure for pressure in PRESSURE]
    names += [*CPU_COLUMNS, "own_user_ms", "own_system_ms"]
    return names + ["%s:%s" % (disk, column) for disk in disks for column in DISK_COLUMNS]


def _sample(process_id, disks, origin_ns=0):
    """Return one row in the order of _column_names(); a missing value is None."""
    row = [time.monotonic_ns() - origin_ns]
    row += memory_columns("Dirty", "Writeback", "MemAvailable")
    for part, which in PRESSURE:
        row.append(first_int(which + TOTAL_US, "/proc/pressure/" + part))
    row += cpu_columns()
    # The CPU time of the measuring process and of the children that it waited for.
    times_ns = times_with_children(process_id)
    row += [None, None] if times_ns is None else [time_ns // 1_000_000 for time_ns in times_ns]
    return row + disk_columns(disks, len(DISK_COLUMNS))


def cpu_columns():
    tick_ms = 1000 // os.sysconf("SC_CLK_TCK")
    ticks = (read_lines("/proc/stat") or ["cpu"])[0].split()[1:][: len(CPU_TICKS)]
    return [int(count) * tick_ms for count in ticks] + [None] * (len(CPU_TICKS) - len(ticks))


def disk_columns(disks, count):
    """Return the first columns of each disk, one disk after the other."""
    counters = devices.counters()
    return [total for disk in disks for total in counters.get(disk, devices.UNSEEN)[:count]]


def timeline_of(names, rows, interval_s):
    """Return columns of integers, without the columns that never had a value."""
    plain, by_disk = {}, {}
    for name, values in zip(names, zip(*rows)):
        if any(value is not None for value in values):
            disk, colon, column = name.rpartition(":")
            table = by_disk.setdefault(disk, {}) if colon else plain
            table[column] = list(values)
    return {"interval_s": interval_s, "columns": plain, "devices": by_disk}


class Sampler:
    """A row per second, taken by a separate process, so that it never delays a retrieve.

    Its pipe is read between retrieves. If it dies, the timeline ends with a warning, and the measurement
    continues.
    """

    def __init__(self, disks, origin_ns):
        from crew import Crew  # noqa: PLC0415 - measure needs the columns alone

        self._sample = partial(_sample, os.getpid(), disks, origin_ns)
        self._names = _column_names(disks)
        self._rows = []
        self.ended_early = None
        self._crew = Crew(1, self._sample_until_killed)
        self._crew.__enter__()
        self._messages = self._crew.messages(every_s=0)

    def _sample_until_killed(self, _number, _ready, tell):
        due_s = time.monotonic()
        while True:
            tell(self._sample())
            due_s += EVERY_S
            time.sleep(max(0, due_s - time.monotonic()))

    def take(self):
        """Read the rows so far; never wait."""
        try:
            for message in self._messages:
                if message is None:
                    return
                self._rows.append(message[1])
        except OSError as error:
            self.ended_early = error.strerror

    def mark(self):
        """Take a row now."""
        self.take()
        if self.ended_early is None:
            self._rows.append(self._sample())

    def stop(self):
        """End the process, and take a last row."""
        self.mark()
        self._crew.__exit__()

    def as_timeline(self):
        return timeline_of(self._names, self._rows, EVERY_S)
