# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What disks and dirty pages do while a command runs, ten times per second.

The counters are the kernel's totals since the boot, for the whole machine. So a dropped row loses no
bytes. In a long run, every second row is dropped and the interval doubles, as often as needed.
"""

import re
import time
from array import array
from typing import List, Optional

from observe import devices, sampler
from reading import read_text

EVERY_S = 0.1
# The share of the time that rows may cost; rows that cost more are further apart.
COST_SHARE = 0.005
ROWS_AT_MOST = 40_000  # an hour at ten per second
CELLS_AT_MOST = 400_000  # about 4 MB as text
COLUMNS = ("time_ns", "dirty_bytes", "writeback_bytes")
_MEMORY = re.compile(r"^(Dirty|Writeback): +(\d+) kB$", re.MULTILINE)
_MISSING = -1


class DiskTimeline:
    """Columns that begin with a row, at time 0."""

    def __init__(self, device_names):
        self._device_names = device_names
        self._origin_ns = time.monotonic_ns()
        self._names = list(COLUMNS)
        for name in device_names:
            self._names += ["%s:%s" % (name, part) for part in devices.COLUMNS]
        self._columns = [array("q") for _ in self._names]
        rows = min(ROWS_AT_MOST, CELLS_AT_MOST // len(self._names))
        self._rows_at_most = rows // 2 * 2  # even: the last row is never dropped
        self._every_s = EVERY_S
        self._due_s = time.monotonic()
        self.take()

    def rest_s(self):
        """Return the seconds until the next row is due."""
        return max(0.0, self._due_s - time.monotonic())

    def take(self):
        """Add a row."""
        before_ns = time.thread_time_ns()
        row: List[Optional[int]] = [time.monotonic_ns() - self._origin_ns]
        kib = dict(_MEMORY.findall(read_text("/proc/meminfo") or ""))
        row += [int(kib[name]) * 1024 if name in kib else None for name in ("Dirty", "Writeback")]
        counters = devices.counters()
        for name in self._device_names:
            row += counters.get(name, devices.UNSEEN)
        for column, value in zip(self._columns, row):
            column.append(_MISSING if value is None else value)
        if len(self._columns[0]) > self._rows_at_most:
            self._columns = [column[::2] for column in self._columns]
            self._every_s *= 2
        cost_s = (time.thread_time_ns() - before_ns) / 1e9
        rest_s = max(self._every_s, cost_s / COST_SHARE)
        # After a pause of the machine, rows that were missed are not made up for.
        self._due_s = max(self._due_s + rest_s, time.monotonic())

    def as_timeline(self):
        table = {
            name: [None if value == _MISSING else value for value in column]
            for name, column in zip(self._names, self._columns)
        }
        return sampler.timeline_of(table, self._every_s)
