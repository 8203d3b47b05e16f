# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The timeline, one row per second: devices, dirty pages, pressure, the run's own I/O and CPU.

It runs in a separate process, so that it never delays a retrieve. Its pipe is read between retrieves. If it
dies, the timeline ends with a warning, and the measurement continues.
"""

import os
import time

from observe import devices, host
from reading import first_int, read_lines, read_text

EVERY_S = 1.0
PRESSURE = (("io", "some"), ("io", "full"), ("memory", "some"), ("cpu", "some"))
CPU_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
TOTAL_US = r" .*total=(\d+)"
USAGE = ("own_read_bytes", "own_written_bytes", "own_user_ms", "own_system_ms")
DEVICE_COLUMNS = devices.COLUMNS[:3]  # bytes read, bytes written, busy milliseconds


def _column_names(device_names):
    names = ["time_ns", "dirty_bytes", "writeback_bytes", "memory_available_bytes"]
    names += ["psi_%s_%s_us" % pressure for pressure in PRESSURE]
    names += ["cpu_%s_ms" % name for name in CPU_TICKS]
    names += USAGE
    names += ["%s:%s" % (d, column) for d in device_names for column in DEVICE_COLUMNS]
    return names


def _sample(process_id, device_names, origin_ns):
    """Return one row in the order of column_names; a missing value is None."""
    row = [time.monotonic_ns() - origin_ns]
    row += [host.memory_bytes(name) for name in ("Dirty", "Writeback", "MemAvailable")]
    for part, which in PRESSURE:
        row.append(first_int(which + TOTAL_US, "/proc/pressure/" + part))
    ticks = (read_lines("/proc/stat") or ["cpu"])[0].split()[1:][: len(CPU_TICKS)]
    row += [int(count) * 1000 // os.sysconf("SC_CLK_TCK") for count in ticks]
    row += [None] * (len(CPU_TICKS) - len(ticks))
    row += _usage(process_id)
    counters = devices.counters()
    for name in device_names:
        row += counters.get(name, devices.UNSEEN)[: len(DEVICE_COLUMNS)]
    return row


def _usage(process_id):
    """Return I/O and CPU of the measuring process and of the children that it waited for."""
    path, keys = "/proc/%d/io" % process_id, ("read_bytes", "write_bytes")
    row = [first_int(r"^%s: (\d+)" % key, path) for key in keys]
    fields = (read_text("/proc/%d/stat" % process_id) or "").rpartition(")")[2].split()
    if len(fields) < 15:
        return [*row, None, None]
    user, system, waited_user, waited_system = map(int, fields[11:15])
    tick_ms = 1000 // os.sysconf("SC_CLK_TCK")
    return [*row, (user + waited_user) * tick_ms, (system + waited_system) * tick_ms]


def snapshot(device_names):
    """Return one row by the names of its columns, about the calling process."""
    row = _sample(os.getpid(), device_names, 0)
    return dict(zip(_column_names(device_names), row))


def timeline_of(table, interval_s):
    """Return columns of integers, without the columns that never had a value."""
    plain, by_device = {}, {}
    for name, values in table.items():
        if all(value is None for value in values):
            continue
        device, colon, column = name.rpartition(":")
        target = by_device.setdefault(device, {}) if colon else plain
        target[column] = list(values)
    return {"interval_s": interval_s, "columns": plain, "devices": by_device}


class Sampler:
    def __init__(self, device_names, origin_ns):
        from crew import Crew  # noqa: PLC0415 - measure needs the columns alone

        self._arguments = (os.getpid(), device_names, origin_ns)
        self._names = _column_names(device_names)
        self._rows = []
        self.ended_early = None
        self._crew = Crew(1, self._sample_until_killed)
        self._crew.__enter__()
        self._messages = self._crew.messages(every_s=0)

    def _sample_until_killed(self, _number, _ready, tell):
        due_s = time.monotonic()
        while True:
            tell(_sample(*self._arguments))
            due_s += EVERY_S
            time.sleep(max(0, due_s - time.monotonic()))

    def take(self):
        """Read the samples so far; never wait."""
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
            self._rows.append(_sample(*self._arguments))

    def as_timeline(self):
        return timeline_of(dict(zip(self._names, zip(*self._rows))), EVERY_S)
