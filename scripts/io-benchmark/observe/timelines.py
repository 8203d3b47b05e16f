# SPDX-License-Identifier: MPL-2.0
"""The timeline of a run, and its parts for that of a command: disks, dirty pages, pressure, CPU.

The counters are the kernel's totals since the boot. So a row that is missing loses nothing.
"""

import os
import re
import time
from typing import Tuple

from kernel import first_int, read_lines, read_text, times_with_children
from observe import devices

EVERY_S = 1.0
MEMORY = {"Dirty": "dirty", "Writeback": "writeback", "MemAvailable": "memory_available"}
PRESSURE = (("io", "some"), ("io", "full"), ("memory", "some"), ("cpu", "some"))
CPU_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
CPU_COLUMNS = ["cpu_%s_ms" % name for name in CPU_TICKS]
_MEMORY_LINE = re.compile("^(%s): +(\\d+) kB$" % "|".join(MEMORY), re.MULTILINE)


def cpu_columns(stat=None):
    tick_ms = 1000 // os.sysconf("SC_CLK_TCK")
    first_line = (stat or read_lines("/proc/stat") or ["cpu"])[0]
    ticks = first_line.split()[1:][: len(CPU_TICKS)]
    return [int(count) * tick_ms for count in ticks] + [None] * (len(CPU_TICKS) - len(ticks))


def _runnable_threads(stat):
    """Return how many threads run or wait for a CPU now, without the one that reads this."""
    for line in reversed(stat):
        if line.startswith("procs_running "):
            return max(0, int(line.split()[1]) - 1)
    return None


class Timeline:
    """Rows of what the machine and its disks did; a missing value is None.

    With a process, also of its CPU time and that of the children that it waited for.
    """

    memory: Tuple[str, ...] = tuple(MEMORY)
    pressure: Tuple[Tuple[str, str], ...] = PRESSURE
    # Bytes read, bytes written, busy milliseconds.
    disk_columns: Tuple[str, ...] = devices.COLUMNS[:3]
    has_threads = False  # a column of how many threads are runnable, at the time of each row

    def __init__(self, disks, every_s, origin_ns, process_id=None):
        self._disks, self._process_id = disks, process_id
        self._every_s, self._origin_ns, self._rows = every_s, origin_ns, []
        self._names = ["time_ns", *(MEMORY[field] + "_bytes" for field in self.memory)]
        self._names += ["psi_%s_%s_us" % part for part in self.pressure]
        self._names += CPU_COLUMNS
        if self.has_threads:
            self._names.append("runnable_threads")
        if process_id:
            self._names += ["own_user_ms", "own_system_ms"]
        self._names += ["%s:%s" % (disk, name) for disk in disks for name in self.disk_columns]

    def _row(self):
        row = [time.monotonic_ns() - self._origin_ns]
        kib = dict(_MEMORY_LINE.findall(read_text("/proc/meminfo") or ""))
        row += [int(kib[field]) * 1024 if field in kib else None for field in self.memory]
        for part, which in self.pressure:
            row.append(first_int(which + r" .*total=(\d+)", "/proc/pressure/" + part))
        stat = read_lines("/proc/stat")
        row += cpu_columns(stat)
        if self.has_threads:
            row.append(_runnable_threads(stat))
        if self._process_id:
            times_ns = times_with_children(self._process_id)
            row += [None, None] if times_ns is None else [ns // 1_000_000 for ns in times_ns]
        counters = devices.counters()
        for disk in self._disks:
            row += counters.get(disk, devices.UNSEEN)[: len(self.disk_columns)]
        return row

    def as_timeline(self):
        """Return columns of integers, without the columns that never had a value."""
        plain, by_disk = {}, {}
        for name, values in zip(self._names, zip(*self._rows)):
            if any(value is not None for value in values):
                disk, colon, column = name.rpartition(":")
                table = by_disk.setdefault(disk, {}) if colon else plain
                table[column] = list(values)
        return {"interval_s": self._every_s, "columns": plain, "devices": by_disk}


class Sampler(Timeline):
    """A row per second, taken by a separate process, so that it never delays a retrieve.

    Its pipe is read between retrieves. If it dies, the timeline ends with a warning, and the
    measurement continues.
    """

    def __init__(self, disks, origin_ns):
        from crew import Crew  # noqa: PLC0415 - measure needs the columns alone

        super().__init__(disks, EVERY_S, origin_ns, process_id=os.getpid())
        self.ended_early = None
        self._crew = Crew(1, self._sample_until_killed)
        self._crew.__enter__()
        self._messages = self._crew.messages(every_s=0)

    def _sample_until_killed(self, _number, _ready, tell):
        due_s = time.monotonic()
        while True:
            tell(self._row())
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
        self.take()
        if self.ended_early is None:
            self._rows.append(self._row())

    def stop(self):
        """End the process, and take a last row."""
        self.mark()
        self._crew.__exit__()
