# SPDX-License-Identifier: MPL-2.0
"""A run in windows of its timeline: what the disks moved in each, and what blocked the process.

An average over a run hides a limit that binds only while the cache is cold or after a burst.
Windows show the rate at which the disks worked while something waited for them.

A process that waits for its disk counts in the kernel's pressure on I/O, and idle CPUs count as
waiting for I/O. The pressure of one process is divided by as many CPUs as it uses in turn; the
CPUs' waiting leaves out those that do something else. So the larger of both counts. A process that
waits until its file system has written a journal, or has room for metadata, is in neither, but then
pages are being written. For one that waits for a scanner, a lock or a network file system, none of
this has to be so. All are the whole machine's, so they show how long the process waited for storage
at most.
"""

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, chain, pairwise, repeat
from operator import add, sub, truediv
from statistics import fmean, quantiles
from typing import Any, NamedTuple

from msgspec import Struct

from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, Part, Phase
from io_benchmark.results import workloads
from io_benchmark.results.format import RecordedTimeline
from io_benchmark.results.parts import NS_PER_S

_BLOCKED_SHARE = 0.5
# A process that is blocked for less does not wait for its reads.
_READS_SHARE = 0.05
# Fewer reads than this part of the writes hardly keep a disk from these.
_FEW_READS_SHARE = 0.05
# With fewer windows a rate is the run's average.
_FEWEST = 4
_AVERAGES = 10
_BUSY_TIMES = ("user", "nice", "system", "irq", "softirq", "steal")
BUSY_COLUMNS = tuple(f"cpu_{name}_ms" for name in _BUSY_TIMES)
# A turn's first and last rows are taken just before and after it; others may be close to them.
_NEARBY_NS, _CLOSE_NS = 10_000_000, 500_000_000
# The kernel's counter of pages that are being written may be wrong by less than this.
_WRITING_BYTES = 1 << 18
_PRESSURES = ("psi_io_some_us", "psi_memory_some_us")
# Idle CPUs count 0.83 to 0.98 of what one process waits, where nothing else runs.
_IO_WAIT_SEEN_SHARE = 0.8


class TimelineRows(Struct, frozen=True, dict=True):
    """Some rows of a timeline, in order; the reader checks that all columns have the same length.

    A stretch is without interruption. A measurement that took turns with others has one for each
    turn.
    """

    timeline: RecordedTimeline
    stretches: Sequence[Sequence[int]]

    @classmethod
    def of_samples(cls, timeline: RecordedTimeline, entry: Run) -> "TimelineRows":
        times_ns = timeline.columns.get("time_ns", ())
        ends, nearby_ns = entry.turn_ends, _NEARBY_NS if entry.turn_ends else 0
        stretches = []
        for start, end in pairwise((0, *(ends or (len(entry.start_ns),)))):
            begin_ns = min(entry.start_ns[start:end]) - nearby_ns
            # Of samples that overlap, the last one to start need not be the last one to end.
            ends_ns = map(add, entry.start_ns[start:end], entry.total_ns[start:end])
            end_ns = max(ends_ns) + nearby_ns
            rows = [row for row, time in enumerate(times_ns) if time and begin_ns <= time <= end_ns]
            stretches.append(_spaced(rows, times_ns) if ends else rows)
        return cls(timeline, stretches)

    @cached_property
    def _steps(self) -> tuple[list[int], list[int]]:
        """Return the first rows of all steps, and the last: a step is from a row to the next."""
        firsts = chain.from_iterable(rows[:-1] for rows in self.stretches)
        return list(firsts), list(chain.from_iterable(rows[1:] for rows in self.stretches))

    def steps(self, column: Sequence[int | None] | None) -> list[int] | None:
        """Return how much a counter grew between two rows each; None where a value is missing."""
        firsts, lasts = (_values(column, rows) for rows in self._steps)
        return None if firsts is None or lasts is None else list(map(sub, lasts, firsts))

    def waited_share(self, entry: Run, steps: Sequence[int]) -> float | None:
        """Return the share of these steps in which the process waited for storage at most."""
        lasted_ms = sum(self.spans_ns[step][1] - self.spans_ns[step][0] for step in steps) / 1e6

        def share(unit_ms: float, *names: str) -> float | None:
            """Return how much counters grew together in these steps; None if one lacks."""
            columns = [self.steps(self.timeline.columns.get(name)) for name in names]
            recorded = [column for column in columns if column is not None]
            if len(recorded) < len(names) or not lasted_ms:
                return None
            return sum(column[step] for column in recorded for step in steps) * unit_ms / lasted_ms

        pressed, busy_cpus = share(1e-3, *_PRESSURES), share(1, *BUSY_COLUMNS)
        if pressed is None or busy_cpus is None:
            return None
        own = sum(ns for part, ns in entry.parts_ns.items() if part.kind in ON_CPU) / entry.mean_ns
        idle_waiting = (share(1, "cpu_iowait_ms") or 0.0) / _IO_WAIT_SEEN_SHARE
        waited = max(_waited(pressed, own, busy_cpus), min(1.0, idle_waiting))
        if entry.retrieves is not None:
            return waited  # copies of large files hardly wait for a journal
        synced = workloads.of(entry.subject.workload).synced(entry.measured) or 0.0
        return synced + max(waited, self._writing_share(steps) or 0.0)

    def _writing_share(self, steps: Sequence[int]) -> float | None:
        """Return in which share of these steps pages were being written at the end."""
        column = self.timeline.columns.get("writeback_bytes")
        amounts = [column[self._steps[1][step]] for step in steps] if column is not None else []
        are_written = [amount >= _WRITING_BYTES for amount in amounts if amount is not None]
        return sum(are_written) / len(are_written) if are_written else None

    @cached_property
    def spans_ns(self) -> list[tuple[int, int]]:
        """Return when each step began and ended; nothing where times are not recorded."""
        times = (_values(self.timeline.columns.get("time_ns"), rows) for rows in self._steps)
        return [*zip(*(ends_ns or () for ends_ns in times), strict=False)]

    @property
    def seconds(self) -> list[float]:
        return [(end_ns - begin_ns) / NS_PER_S for begin_ns, end_ns in self.spans_ns]

    def sampled_ns(self, entry: Run) -> list[float]:
        """Return in how much of each step there was a sample; some overlap, as exec's do."""
        ends_ns = map(add, entry.start_ns, entry.total_ns)
        moments_ns, sums_ns, sum_ns, until_ns = list[int](), list[int](), 0, 0
        for start_ns, end_ns in sorted(zip(entry.start_ns, ends_ns, strict=True)):
            begin_ns = max(start_ns, until_ns)
            if end_ns <= begin_ns:
                continue
            moments_ns += (begin_ns, end_ns)
            sums_ns += (sum_ns, sum_ns + end_ns - begin_ns)
            sum_ns, until_ns = sums_ns[-1], end_ns
        return self.grown(moments_ns, sums_ns)

    def grown(self, moments_ns: Sequence[int], sums_ns: Sequence[float]) -> list[float]:
        """Return how much a sum that is known at some moments grew in each step."""
        at_ends_ns = (
            [_interpolated(time_ns, moments_ns, sums_ns) for time_ns in span]
            for span in self.spans_ns
        )
        return [end_ns - begin_ns for begin_ns, end_ns in at_ends_ns]

    def growth(self, column: Sequence[int | None] | None) -> int | None:
        """Return how much a counter grew within each stretch, where time passed."""
        firsts, lasts = (
            _values(column, [rows[at] for rows in self.stretches if len(rows) > 1])
            for at in (0, -1)
        )
        if firsts is None or lasts is None or self.lasted_s <= 0:
            return None
        return sum(lasts) - sum(firsts)

    @cached_property
    def lasted_s(self) -> float:
        return sum(self.seconds)


def _waited(pressed: float, own: float, busy_cpus: float) -> float:
    """Return the wait of one process on one CPU that causes this pressure.

    `own` is its time on the CPU. The kernel averages pressure over its CPUs by how busy each is, a
    CPU with a waiting process included. So pressed = waited (waited + own) ÷ (waited + busy CPUs),
    which is solved for what was waited.
    """
    difference = pressed - own
    root = math.sqrt(difference**2 + 4 * pressed * max(own, busy_cpus))
    return min(1.0, (difference + root) / 2)


def _values(column: Sequence[int | None] | None, rows: Iterable[int]) -> list[int] | None:
    """Return the values of a column in some rows; None where one is missing."""
    values: Any = [None] if column is None else list(map(column.__getitem__, rows))
    return None if None in values else values


def _spaced(rows: list[int], times_ns: Sequence[int | None]) -> list[int]:
    """Return the first row, the last, and those between that are not close to another."""
    kept = rows[:1]
    for row in rows[1:-1]:
        before, now, end = (times_ns[each] or 0 for each in (kept[-1], row, rows[-1]))
        if min(now - before, end - now) >= _CLOSE_NS:
            kept.append(row)
    return kept + rows[1:][-1:]


class Window(NamedTuple):
    seconds: float
    read_bytes_per_s: float
    written_bytes_per_s: float
    blocked_share: float  # of the time
    busy_s: float = 0.0  # of the busiest disk; 0 where nothing asks for it, or it was not recorded

    @classmethod
    def of_run(
        cls, entry: Run, inside: TimelineRows, disks: Collection[str], *, has_busy: bool
    ) -> "tuple[Window, ...]":
        """Return the windows within the samples; none without the disks' counters."""
        seconds, devices = inside.seconds, inside.timeline.devices
        if len(seconds) < _FEWEST or not disks or min(seconds) <= 0:
            return ()

        def grown(name: str) -> list[tuple[int, ...]]:
            """Return how much a counter of each disk grew in each window; nothing if one lacks."""
            counters = [inside.steps(devices.get(disk, {}).get(name)) for disk in disks]
            complete = [steps for steps in counters if steps is not None]
            return [*zip(*complete, strict=True)] if len(complete) == len(counters) else []

        moved = [grown(name) for name in ("read_bytes", "written_bytes")]
        if not all(moved):
            return ()
        rates = (map(truediv, map(sum, steps), seconds) for steps in moved)
        blocked = map(truediv, _blocked_s(entry, inside), seconds)
        # Only limits need it, and what Windows does not record.
        busy_ms = grown("busy_ms") if has_busy else []
        busy_s = [max(step) / 1000 for step in busy_ms] or repeat(0.0)
        return tuple(map(cls, seconds, *rates, blocked, busy_s))

    @staticmethod
    def peak(windows: "Sequence[Window]") -> tuple[float, float] | None:
        """Return the rates of reads and writes that were kept up while blocked, else ever."""
        blocked = [window for window in windows if window.blocked_share >= _BLOCKED_SHARE]
        chosen = blocked if len(blocked) >= _FEWEST else windows
        if not chosen:
            return None
        reading = _kept_up([window.reading_bytes_per_s for window in chosen])
        return reading, _kept_up([window.written_bytes_per_s for window in chosen])

    @property
    def hardly_reads(self) -> bool:
        return self.read_bytes_per_s <= _FEW_READS_SHARE * self.written_bytes_per_s

    @property
    def hardly_writes(self) -> bool:
        return self.written_bytes_per_s <= _FEW_READS_SHARE * self.read_bytes_per_s

    @property
    def reading_bytes_per_s(self) -> float:
        """Return the rate of the reads while the process was blocked: it waits for each of them."""
        return self.read_bytes_per_s / max(self.blocked_share, _READS_SHARE)

    @property
    def writing_bytes_per_s(self) -> float:
        """Return the rate of the writes, if the disks write only while they block the process."""
        is_blocked = self.blocked_share >= _BLOCKED_SHARE
        return self.written_bytes_per_s / (self.blocked_share if is_blocked else 1.0)


def _kept_up(rates: Sequence[float]) -> float:
    """Return the rate that 90 % of these reach at most: most are the same, and some are less.

    A large request counts in the window where it ends. So the averages of a few windows each are
    judged.
    """
    size = max(1, len(rates) // _AVERAGES)
    averages = [fmean(rates[at : at + size]) for at in range(0, len(rates) - size + 1, size)]
    return quantiles(averages, n=10, method="inclusive")[-1]


def _blocked_s(entry: Run, inside: TimelineRows) -> list[float]:
    """Return how long the process was blocked in each window.

    Where that was not recorded, the system's pressure on I/O counts; without any, all of the time.
    """
    samples_ns = _samples_blocked_ns(entry)
    if samples_ns is not None:
        # By their ends: some samples overlap, and results of 1.0.0 have some in another order.
        ends_ns = map(add, entry.start_ns, entry.total_ns)
        by_end = sorted(zip(ends_ns, samples_ns, strict=True))
        sums_ns = accumulate((sample_ns for _, sample_ns in by_end), initial=0.0)
        moments_ns = [min(entry.start_ns), *(end_ns for end_ns, _ in by_end)]
        blocked_ns = inside.grown(moments_ns, list(sums_ns))
        return [step_ns / NS_PER_S for step_ns in blocked_ns]
    pressure_us = inside.steps(inside.timeline.columns.get("psi_io_some_us"))
    return inside.seconds if pressure_us is None else [us / 1e6 for us in pressure_us]


def _samples_blocked_ns(entry: Run) -> list[float] | None:
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
    # The blocked time that was for storage or memory, as far as is known.
    elsewhere_ns = entry.parts_ns.get(Part(Phase.COPY, Kind.ELSEWHERE), 0.0)
    blocked_ns = entry.blocked_ns + elsewhere_ns
    share = 1 - elsewhere_ns / blocked_ns if blocked_ns else 1.0
    rest_ns = [total_ns - lookup_ns - size * ns_per_byte for total_ns, lookup_ns, size in samples]
    return [share * max(0.0, left_ns) for left_ns in rest_ns]


def _interpolated(place: int, places: Sequence[int], values: Sequence[float]) -> float:
    """Return the value at a place between known ones, else that of the nearest."""
    after = bisect_right(places, place)
    if after in (0, len(places)):
        return values[max(0, after - 1)]
    before = after - 1
    share = (place - places[before]) / (places[after] - places[before])
    return values[before] + share * (values[after] - values[before])
