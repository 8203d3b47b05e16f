# SPDX-License-Identifier: MPL-2.0
"""The timeline of a run, and its parts for that of a command: disks, dirty pages, pressure, CPU.

The counters are the kernel's totals since the boot. So a row that is missing loses nothing.
"""

import os
import time
from typing import Tuple

from system import accounts, clock, counters, crews, devices

EVERY_S = 1.0


class Timeline:
    """Rows of what the machine and its disks did; a missing value is None.

    With a process, also of its CPU time and that of the children that it waited for.
    """

    memory: Tuple[str, ...] = tuple(counters.MEMORY)
    pressure: Tuple[Tuple[str, str], ...] = counters.PRESSURE
    # Bytes read, bytes written, busy milliseconds.
    disk_columns: Tuple[str, ...] = devices.COLUMNS[:3]
    has_threads = False  # a column of how many threads are runnable, at the time of each row

    def __init__(self, disks, every_s, origin_ns, process_id=None):
        self._disks, self._process_id = disks, process_id
        self._every_s, self._origin_ns, self._rows = every_s, origin_ns, []
        self._names = ["time_ns", *(name + "_bytes" for name in self.memory)]
        self._names += ["psi_%s_%s_us" % part for part in self.pressure]
        self._names += counters.CPU_COLUMNS
        if self.has_threads:
            self._names.append("runnable_threads")
        if process_id:
            self._names += ["own_user_ms", "own_system_ms"]
        self._names += ["%s:%s" % (disk, name) for disk in disks for name in self.disk_columns]

    def row(self):
        row = [clock.now_ns() - self._origin_ns]
        row += counters.memory_bytes(self.memory)
        row += counters.pressure_us(self.pressure)
        cpu_ms, threads = counters.cpu_ms_and_threads()
        row += cpu_ms
        if self.has_threads:
            row.append(threads)
        if self._process_id:
            times_ns = accounts.times_with_children(self._process_id)
            row += [None, None] if times_ns is None else [ns // 1_000_000 for ns in times_ns]
        totals = devices.counters()
        for disk in self._disks:
            row += totals.get(disk, devices.UNSEEN)[: len(self.disk_columns)]
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
        super().__init__(disks, EVERY_S, origin_ns, process_id=os.getpid())
        self.ended_early = None
        self._crew = crews.Crew(1, _sample_until_killed, disks, origin_ns, os.getpid())
        self._crew.__enter__()
        self._messages = self._crew.messages(every_s=0)

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
            self._rows.append(self.row())

    def stop(self):
        """End the process, and take a last row."""
        self.mark()
        self._crew.__exit__()


def _sample_until_killed(_number, _ready, tell, disks, origin_ns, process_id):
    timeline = Timeline(disks, EVERY_S, origin_ns, process_id)
    due_s = time.monotonic()
    while True:
        tell(timeline.row())
        due_s += EVERY_S
        time.sleep(max(0, due_s - time.monotonic()))
