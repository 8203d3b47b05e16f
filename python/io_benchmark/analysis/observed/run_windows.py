# SPDX-License-Identifier: MPL-2.0
"""A run in windows of its timeline: what the disks moved in each, and how long the process was blocked.

An average over a run hides a limit that binds only while the cache is cold or after a burst. Windows
show the rate at which the disks worked while something waited for them.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import add, truediv
from statistics import quantiles
from typing import NamedTuple

from io_benchmark.analysis.model import Entry
from io_benchmark.results.format import RecordedTimeline
from io_benchmark.results.workload import NS_PER_S

_BLOCKED_SHARE = 0.5
# A process that is blocked for less does not wait for its reads.
_READS_SHARE = 0.05
# With fewer windows a rate is the run's average.
_FEWEST = 4


class Window(NamedTuple):
    seconds: float
    read_bytes_per_s: float
    written_bytes_per_s: float
    blocked_share: float  # of the time

    @classmethod
    def of_run(
        cls,
        entry: Entry,
        timeline: RecordedTimeline,
        inside: Sequence[int],
        disks: Collection[str],
    ) -> "tuple[Window, ...]":
        """Return the windows within the samples; none where the disks' counters were not recorded.

        `inside` are the rows of the timeline that are within the samples.
        """
        counters = [timeline.devices[name] for name in disks if name in timeline.devices]
        if len(inside) <= _FEWEST or len(counters) < len(disks) or not disks:
            return ()
        times_ns = [timeline.columns["time_ns"][row] or 0 for row in inside]
        lasted_s = [length_ns / NS_PER_S for length_ns in growths(times_ns)]
        read, written = (
            _growth(counters, name, inside) for name in ("read_bytes", "written_bytes")
        )
        if read is None or written is None or min(lasted_s) <= 0:
            return ()
        blocked_s = _blocked_s(entry, timeline, inside, times_ns)
        rates = (map(truediv, column, lasted_s) for column in (read, written, blocked_s))
        return tuple(map(cls, lasted_s, *rates))

    @staticmethod
    def peak(windows: "Sequence[Window]") -> tuple[float, float] | None:
        """Return the rates of reads and of writes that were kept up while blocked, else at any time."""
        blocked = [window for window in windows if window.blocked_share >= _BLOCKED_SHARE]
        chosen = blocked if len(blocked) >= _FEWEST else windows
        if not chosen:
            return None
        reading = [window.reading_bytes_per_s for window in chosen]
        writing = [window.written_bytes_per_s for window in chosen]
        # 90 % of the windows have at most this rate. Most are the same, and some are less.
        return _last_decile(reading), _last_decile(writing)

    @property
    def reading_bytes_per_s(self) -> float:
        """Return the rate of the reads while the process was blocked: it waits for each of them."""
        return self.read_bytes_per_s / max(self.blocked_share, _READS_SHARE)


def _last_decile(values: Sequence[float]) -> float:
    return quantiles(values, n=10, method="inclusive")[-1]


def growths(values: Sequence[float]) -> list[float]:
    return [after - before for before, after in pairwise(values)]


def _growth(
    counters: Sequence[Mapping[str, Sequence[int | None]]], name: str, inside: Sequence[int]
) -> list[float] | None:
    sums = []
    for row in inside:
        values = [columns[name][row] if name in columns else None for columns in counters]
        present = [value for value in values if value is not None]
        if len(present) < len(values):
            return None
        sums.append(sum(present))
    return growths(sums)


def _blocked_s(
    entry: Entry, timeline: RecordedTimeline, inside: Sequence[int], times_ns: Sequence[int]
) -> list[float]:
    """Return how long the process was blocked in each window.

    Where that was not recorded, the system's pressure on I/O counts; without any, all of the time.
    """
    samples_ns = _samples_blocked_ns(entry)
    if samples_ns is not None:
        ends_ns = [entry.start_ns[0], *map(add, entry.start_ns, entry.total_ns)]
        until_then_ns = [0.0, *accumulate(samples_ns)]
        at_times_ns = [_interpolated(time, ends_ns, until_then_ns) for time in times_ns]
        return [blocked_ns / NS_PER_S for blocked_ns in growths(at_times_ns)]
    pressure = _growth([timeline.columns], "psi_io_some_us", inside)
    if pressure is None:
        return [length_ns / NS_PER_S for length_ns in growths(times_ns)]
    return [waited_us / 1e6 for waited_us in pressure]


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
    rest_ns = [total_ns - lookup_ns - size * ns_per_byte for total_ns, lookup_ns, size in samples]
    return [blocked_ns if blocked_ns > 0 else 0.0 for blocked_ns in rest_ns]


def _interpolated(place: int, places: Sequence[int], values: Sequence[float]) -> float:
    """Return the value at a place between known ones, else that of the nearest."""
    after = bisect_right(places, place)
    if after in (0, len(places)):
        return values[max(0, after - 1)]
    before = after - 1
    share = (place - places[before]) / (places[after] - places[before])
    return values[before] + share * (values[after] - values[before])
