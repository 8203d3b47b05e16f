# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A run in windows of its timeline: what the disks moved in each, and how long the process was blocked.

An average over a run hides a limit that binds only while the cache is cold or after a burst. Windows
show the rate at which the disks worked while something waited for them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from io_benchmark.analysis.model import Entry, Numbers
from io_benchmark.results.format import RecordedTimeline

_BLOCKED_SHARE = 0.5
# A process that is blocked for less does not wait for its reads.
_READS_SHARE = 0.05
# With fewer windows a rate is the run's average.
_FEWEST = 4
# Of the windows in which the process is blocked: the rate of most is the same, of some less.
_PEAK_SHARE = 0.9


class Window(NamedTuple):
    seconds: float
    read_bytes_per_s: float
    written_bytes_per_s: float
    blocked_share: float  # of the time

    @classmethod
    def of_run(
        cls, entry: Entry, timeline: RecordedTimeline, disks: Collection[str]
    ) -> "tuple[Window, ...]":
        """Return the windows within the samples; none where the disks' counters were not recorded."""
        times = timeline.columns.get("time_ns") or []
        begin_ns, end_ns = _span(entry)
        inside = [at for at, time in enumerate(times) if time and begin_ns <= time <= end_ns]
        counters = [timeline.devices[name] for name in disks if name in timeline.devices]
        if len(inside) <= _FEWEST or len(counters) < len(disks) or not disks:
            return ()
        time_s = np.array([times[at] for at in inside], dtype=np.float64) / 1e9
        lasted_s = np.diff(time_s)
        read, written = (
            _growth(counters, name, inside) for name in ("read_bytes", "written_bytes")
        )
        if read is None or written is None or not np.all(lasted_s > 0):
            return ()
        blocked = _blocked_s(entry, timeline, inside, time_s)
        columns = (lasted_s, read / lasted_s, written / lasted_s, blocked / lasted_s)
        return tuple(map(cls, *(column.tolist() for column in columns)))

    @staticmethod
    def peak(windows: "Sequence[Window]") -> tuple[float, float] | None:
        """Return the rates of reads and of writes that were kept up while blocked, else at any time."""
        blocked = [window for window in windows if window.blocked_share >= _BLOCKED_SHARE]
        chosen = blocked if len(blocked) >= _FEWEST else windows
        if not chosen:
            return None
        return (
            _kept_up([window.reading_bytes_per_s for window in chosen]),
            _kept_up([window.written_bytes_per_s for window in chosen]),
        )

    @property
    def reading_bytes_per_s(self) -> float:
        """Return the rate of the reads while the process was blocked: it waits for each of them."""
        return self.read_bytes_per_s / max(self.blocked_share, _READS_SHARE)


def _kept_up(rates: Sequence[float]) -> float:
    """Return the percentile as np.percentile does, without what that imports."""
    ordered = sorted(rates)
    at = _PEAK_SHARE * (len(ordered) - 1)
    low, high = ordered[int(at)], ordered[min(int(at) + 1, len(ordered) - 1)]
    part = at - int(at)
    return high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part


def _span(entry: Entry) -> tuple[int, int]:
    return int(entry.start_ns[0]), int(entry.start_ns[-1]) + int(entry.total_ns[-1])


def _growth(
    counters: Sequence[Mapping[str, Sequence[int | None]]], name: str, inside: Sequence[int]
) -> Numbers | None:
    """Return how much the counters grew together in each window."""
    columns = [columns.get(name) for columns in counters]
    known = [[column[at] for at in inside] for column in columns if column is not None]
    if len(known) < len(columns) or any(None in column for column in known):
        return None
    together: Numbers = np.diff(np.sum(np.array(known, dtype=np.float64), axis=0))
    return together


def _blocked_s(
    entry: Entry, timeline: RecordedTimeline, inside: Sequence[int], time_s: Numbers
) -> Numbers:
    """Return how long the process was blocked in each window.

    Where that was not recorded, the system's pressure on I/O counts; without any, all of the time.
    """
    of_samples = entry.samples_blocked_ns
    if of_samples is not None:
        ends_s = (entry.start_ns + entry.total_ns) / 1e9
        at_s = np.concatenate(([entry.start_ns[0] / 1e9], ends_s))
        until_then_s = np.concatenate(([0.0], np.cumsum(of_samples) / 1e9))
        return np.diff(np.interp(time_s, at_s, until_then_s))
    pressure = _growth([timeline.columns], "psi_io_some_us", inside)
    return np.diff(time_s) if pressure is None else pressure / 1e6
