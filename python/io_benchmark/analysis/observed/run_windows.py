# SPDX-License-Identifier: MPL-2.0
"""A run in windows of its timeline: what the disks moved in each, and how long the process was blocked.

An average over a run hides a limit that binds only while the cache is cold or after a burst. Windows
show the rate at which the disks worked while something waited for them.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import accumulate
from operator import add, sub, truediv
from statistics import quantiles
from typing import NamedTuple

from msgspec import Struct

from io_benchmark.analysis.model import Entry
from io_benchmark.results.format import RecordedTimeline
from io_benchmark.results.parts import NS_PER_S

_BLOCKED_SHARE = 0.5
# A process that is blocked for less does not wait for its reads.
_READS_SHARE = 0.05
# With fewer windows a rate is the run's average.
_FEWEST = 4


class TimelineRows(Struct, frozen=True, dict=True):
    """Some rows of a timeline, in order; the reader checks that all columns have the same length."""

    timeline: RecordedTimeline
    rows: Sequence[int]

    @classmethod
    def of_samples(cls, timeline: RecordedTimeline, entry: Entry) -> "TimelineRows":
        """Return the rows within the samples of an entry."""
        begin_ns, end_ns = entry.start_ns[0], entry.start_ns[-1] + entry.total_ns[-1]
        times_ns = timeline.columns.get("time_ns", ())
        rows = [row for row, time in enumerate(times_ns) if time and begin_ns <= time <= end_ns]
        return cls(timeline, rows)

    def values(self, column: Sequence[int | None] | None) -> list[int] | None:
        """Return the values of a column; None where one is missing."""
        values = [None if column is None else column[row] for row in self.rows]
        present = [value for value in values if value is not None]
        return present if len(present) == len(values) else None

    def steps(self, column: Sequence[int | None] | None) -> list[int] | None:
        """Return how much a counter grew between two rows each; None where a value is missing."""
        values = self.values(column)
        return None if values is None else list(map(sub, values[1:], values))

    @property
    def seconds(self) -> list[float]:
        """Return the time between two rows each; nothing where it is not recorded."""
        steps_ns = self.steps(self.timeline.columns.get("time_ns")) or []
        return [step_ns / NS_PER_S for step_ns in steps_ns]

    def growth(self, column: Sequence[int | None] | None) -> int | None:
        """Return how much a counter grew from the first row to the last, where time passed."""
        if column is None or len(self.rows) < 2 or self.lasted_s <= 0:
            return None
        first, last = column[self.rows[0]], column[self.rows[-1]]
        return None if first is None or last is None else last - first

    @cached_property
    def lasted_s(self) -> float:
        """Return the time between the first row and the last."""
        times_ns = self.values(self.timeline.columns.get("time_ns"))
        return (times_ns[-1] - times_ns[0]) / NS_PER_S if times_ns else 0.0


class Window(NamedTuple):
    seconds: float
    read_bytes_per_s: float
    written_bytes_per_s: float
    blocked_share: float  # of the time

    @classmethod
    def of_run(
        cls, entry: Entry, inside: TimelineRows, disks: Collection[str]
    ) -> "tuple[Window, ...]":
        """Return the windows within the samples; none where the disks' counters were not recorded."""
        seconds, devices = inside.seconds, inside.timeline.devices
        if len(inside.rows) <= _FEWEST or not disks or min(seconds) <= 0:
            return ()
        rates = []
        for name in ("read_bytes", "written_bytes"):
            counters = [inside.steps(devices.get(disk, {}).get(name)) for disk in disks]
            complete = [steps for steps in counters if steps is not None]
            if len(complete) < len(counters):
                return ()
            rates.append(map(truediv, map(sum, zip(*complete, strict=True)), seconds))
        return tuple(map(cls, seconds, *rates, map(truediv, _blocked_s(entry, inside), seconds)))

    @staticmethod
    def peak(windows: "Sequence[Window]") -> tuple[float, float] | None:
        """Return the rates of reads and of writes that were kept up while blocked, else at any time."""
        blocked = [window for window in windows if window.blocked_share >= _BLOCKED_SHARE]
        chosen = blocked if len(blocked) >= _FEWEST else windows
        if not chosen:
            return None
        rates = [(window.reading_bytes_per_s, window.written_bytes_per_s) for window in chosen]
        # 90 % of the windows have at most this rate. Most are the same, and some are less.
        deciles = [
            quantiles(column, n=10, method="inclusive") for column in zip(*rates, strict=True)
        ]
        return deciles[0][-1], deciles[1][-1]

    @property
    def reading_bytes_per_s(self) -> float:
        """Return the rate of the reads while the process was blocked: it waits for each of them."""
        return self.read_bytes_per_s / max(self.blocked_share, _READS_SHARE)


def _blocked_s(entry: Entry, inside: TimelineRows) -> list[float]:
    """Return how long the process was blocked in each window.

    Where that was not recorded, the system's pressure on I/O counts; without any, all of the time.
    """
    samples_ns = _samples_blocked_ns(entry)
    columns = inside.timeline.columns
    if samples_ns is not None:
        ends_ns = [entry.start_ns[0], *map(add, entry.start_ns, entry.total_ns)]
        until_then_ns = [0.0, *accumulate(samples_ns)]
        times_ns = inside.values(columns["time_ns"]) or []
        blocked_ns = [_interpolated(time, ends_ns, until_then_ns) for time in times_ns]
        return [step_ns / NS_PER_S for step_ns in map(sub, blocked_ns[1:], blocked_ns)]
    pressure_us = inside.steps(columns.get("psi_io_some_us"))
    if pressure_us is None:
        return inside.seconds
    return [waited_us / 1e6 for waited_us in pressure_us]


def _samples_blocked_ns(entry: Entry) -> list[float] | None:
    """Return how long each copy was blocked: its time less its work, in proportion to its size.

    The samples of other workloads were blocked for the same share of their time.
    """
    if entry.blocked_ns is None:
        return None
    if entry.retrieves is None:
        share = entry.blocked_ns / entry.mean_ns
        return [time_ns * share for time_ns in entry.total_ns]
    size_bytes = sum(entry.size_bytes)
    if entry.lookup_ns is None or not size_bytes:
        return None
    ns_per_byte = entry.copy_work_ns * len(entry.size_bytes) / size_bytes
    samples = zip(entry.total_ns, entry.lookup_ns, entry.size_bytes, strict=True)
    share = entry.storage_share
    rest_ns = [total_ns - lookup_ns - size * ns_per_byte for total_ns, lookup_ns, size in samples]
    return [share * blocked_ns if blocked_ns > 0 else 0.0 for blocked_ns in rest_ns]


def _interpolated(place: int, places: Sequence[int], values: Sequence[float]) -> float:
    """Return the value at a place between known ones, else that of the nearest."""
    after = bisect_right(places, place)
    if after in (0, len(places)):
        return values[max(0, after - 1)]
    before = after - 1
    share = (place - places[before]) / (places[after] - places[before])
    return values[before] + share * (values[after] - values[before])
