# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The timeline, one row per second: devices, dirty pages, pressure, the run's own I/O and CPU.

It runs in a separate process, so that it never delays a retrieve. It writes a line per sample into a pipe,
which the measuring process reads between retrieves. If it dies, the timeline ends with a warning, and the
measurement continues.
"""

import fcntl
import json
import os
import select
import signal
import time

from observe import devices, host
from reading import first_int, read_lines, read_text

EVERY_S = 1.0
PIPE_BYTES = 1 << 20  # an hour of samples
F_SETPIPE_SZ = 1031
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
        self.columns = _column_names(device_names)
        self.rows = []
        self.ended_early = None
        self._pending = b""
        self._open = True
        self._read_end, write_end = os.pipe()
        stop_read, self._stop_write = os.pipe()
        os.set_blocking(self._read_end, False)
        try:
            fcntl.fcntl(write_end, F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass  # the default size still holds minutes of samples
        parent = os.getpid()
        self.process_id = os.fork()
        if self.process_id == 0:
            try:
                os.close(self._read_end)
                os.close(self._stop_write)
                arguments = (parent, device_names, origin_ns)
                _sample_until_stopped(arguments, write_end, stop_read)
            finally:
                os._exit(0)
        os.close(write_end)
        os.close(stop_read)

    def take(self):
        """Read the samples so far; never wait."""
        while self._open:
            try:
                data = os.read(self._read_end, 1 << 16)
            except BlockingIOError:
                break
            if not data:
                self._reap("ended by itself")
                break
            self._pending += data
        *lines, self._pending = self._pending.split(b"\n")
        self.rows += [json.loads(line) for line in lines]

    def _reap(self, default):
        os.close(self._read_end)
        self._open = False
        _, status = os.waitpid(self.process_id, 0)
        self.ended_early = default
        if os.WIFSIGNALED(status):
            self.ended_early = "killed by signal %d" % os.WTERMSIG(status)

    def stop(self):
        """Take a last row and end; ended_early is then set if the process had died before."""
        self.take()
        os.close(self._stop_write)
        if self._open:
            os.set_blocking(self._read_end, True)
            self.take()
            self.ended_early = None

    def as_timeline(self):
        return timeline_of(dict(zip(self.columns, zip(*self.rows))), EVERY_S)


def _sample_until_stopped(arguments, write_end, stop_read):
    # Ctrl-C and a hangup reach all processes; the measuring process ends this one.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.set_blocking(write_end, False)
    due_s = time.monotonic()
    while True:
        row = _sample(*arguments)
        try:
            os.write(write_end, json.dumps(row).encode() + b"\n")
        except BlockingIOError:
            pass  # the pipe is full: this sample is lost, the next one's time shows the gap
        due_s += EVERY_S
        # The pipe's other end closes when the measuring process stops this one, or dies.
        if select.select([stop_read], [], [], max(0, due_s - time.monotonic()))[0]:
            row = _sample(*arguments)
            os.write(write_end, json.dumps(row).encode() + b"\n")
            return
