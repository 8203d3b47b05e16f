# SPDX-License-Identifier: MPL-2.0
"""The timelines of a run and of a command: disks, dirty pages, pressure, CPU.

The counters are the kernel's totals since the boot. So a row that is missing loses nothing.
"""

import os
import re
import time
from functools import partial

from accounting import times_with_children
from observe import devices
from reading import first_int, read_lines, read_text

EVERY_S = 1.0
COMMAND_EVERY_S = 0.1
# The share of the time that rows may cost while a command runs; costly rows are further apart.
COST_SHARE = 0.005
ROWS_AT_MOST = 40_000  # an hour at ten per second
CELLS_AT_MOST = 400_000  # about 4 MB of JSON
PRESSURE = (("io", "some"), ("io", "full"), ("memory", "some"), ("cpu", "some"))
CPU_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
TOTAL_US = r" .*total=(\d+)"
DISK_COLUMNS = devices.COLUMNS[:3]  # bytes read, bytes written, busy milliseconds
_MEMORY = re.compile(r"^(Dirty|Writeback|MemAvailable): +(\d+) kB$", re.MULTILINE)


def _memory_bytes(*fields):
    kib = dict(_MEMORY.findall(read_text("/proc/meminfo") or ""))
    return [int(kib[field]) * 1024 if field in kib else None for field in fields]


def column_names(disks):
    names = ["time_ns", "dirty_bytes", "writeback_bytes", "memory_available_bytes"]
    names += ["psi_%s_%s_us" % pressure for pressure in PRESSURE]
    names += ["cpu_%s_ms" % name for name in CPU_TICKS]
    names += ["own_read_bytes", "own_written_bytes", "own_user_ms", "own_system_ms"]
    return names + ["%s:%s" % (disk, column) for disk in disks for column in DISK_COLUMNS]


def sample(process_id, disks, origin_ns=0):
    """Return one row in the order of column_names(); a missing value is None."""
    row = [time.monotonic_ns() - origin_ns]
    row += _memory_bytes("Dirty", "Writeback", "MemAvailable")
    for part, which in PRESSURE:
        row.append(first_int(which + TOTAL_US, "/proc/pressure/" + part))
    row += _cpu_ms()
    # I/O and CPU of the measuring process and of the children that it waited for.
    path = "/proc/%d/io" % process_id
    row += [first_int(r"^%s: (\d+)" % key, path) for key in ("read_bytes", "write_bytes")]
    times_ns = times_with_children(process_id)
    row += [None, None] if times_ns is None else [time_ns // 1_000_000 for time_ns in times_ns]
    return row + _disk_totals(disks, len(DISK_COLUMNS))


def _cpu_ms():
    tick_ms = 1000 // os.sysconf("SC_CLK_TCK")
    ticks = (read_lines("/proc/stat") or ["cpu"])[0].split()[1:][: len(CPU_TICKS)]
    return [int(count) * tick_ms for count in ticks] + [None] * (len(CPU_TICKS) - len(ticks))


def _disk_totals(disks, count):
    """Return the first columns of each disk, one disk after the other."""
    counters = devices.counters()
    return [total for disk in disks for total in counters.get(disk, devices.UNSEEN)[:count]]


def _timeline(names, rows, interval_s):
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

        self._sample = partial(sample, os.getpid(), disks, origin_ns)
        self._names = column_names(disks)
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

    def stop(self):
        """End the process, and take a last row."""
        self.take()
        self._crew.__exit__()
        if self.ended_early is None:
            self._rows.append(self._sample())

    def as_timeline(self):
        return _timeline(self._names, self._rows, EVERY_S)


class CommandTimeline:
    """Rows about disks, CPUs and dirty pages while a command runs, ten per second; the first is at time 0.

    In a long run, every second row is dropped and the interval doubles, as often as needed.
    """

    def __init__(self, disks):
        self._disks = disks
        self._origin_ns = time.monotonic_ns()
        self._names = ["time_ns", "dirty_bytes", "writeback_bytes", "psi_io_some_us"]
        self._names += ["cpu_%s_ms" % name for name in CPU_TICKS]
        self._names += ["%s:%s" % (disk, column) for disk in disks for column in devices.COLUMNS]
        self._rows = []
        # Even: the last row is never dropped.
        self._rows_at_most = min(ROWS_AT_MOST, CELLS_AT_MOST // len(self._names)) // 2 * 2
        self._every_s = COMMAND_EVERY_S
        self._due_s = time.monotonic()
        self.take()

    def rest_s(self):
        """Return the seconds until the next row is due."""
        return max(0.0, self._due_s - time.monotonic())

    def take(self):
        """Add a row."""
        before_ns = time.thread_time_ns()
        row = [time.monotonic_ns() - self._origin_ns, *_memory_bytes("Dirty", "Writeback")]
        row += [first_int("some" + TOTAL_US, "/proc/pressure/io"), *_cpu_ms()]
        self._rows.append(row + _disk_totals(self._disks, len(devices.COLUMNS)))
        if len(self._rows) > self._rows_at_most:
            self._rows = self._rows[::2]
            self._every_s *= 2
        cost_s = (time.thread_time_ns() - before_ns) / 1e9
        rest_s = max(self._every_s, cost_s / COST_SHARE)
        # After a pause of the machine, rows that were missed are not made up for.
        self._due_s = max(self._due_s + rest_s, time.monotonic())

    def as_timeline(self):
        return _timeline(self._names, self._rows, self._every_s)
