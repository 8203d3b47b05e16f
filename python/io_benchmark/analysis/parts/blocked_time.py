# SPDX-License-Identifier: MPL-2.0
"""What a process was blocked on: storage or memory as far as the kernel's pressure allows, else something else.

A process that waits for its disk counts in the pressure on I/O, and so does one that waits for a flush, a
journal or a cgroup's limit. One that waits for a scanner, a lock or a network file system does not. The
pressure is the whole machine's, so it shows how long the process waited for storage at most.
"""

import math
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate, pairwise

from msgspec.structs import replace

from io_benchmark.analysis.model import Entry
from io_benchmark.analysis.observed.run_windows import TimelineRows
from io_benchmark.analysis.parts.time_parts import ON_CPU, Kind, Part, Phase
from io_benchmark.results.format import RecordedTimeline

_PRESSURES = ("psi_io_some_us", "psi_memory_some_us")
_BUSY = tuple(f"cpu_{name}_ms" for name in ("user", "nice", "system", "irq", "softirq", "steal"))
# Between two rows of the timeline, the samples took at least this share of the time.
_COVERED_SHARE = 0.9
# Less than this of an operation's time is what pressure and clocks do not agree on.
_LEAST_SHARE = 0.05


def with_other_waits(entry: Entry, timeline: RecordedTimeline | None) -> Entry:
    """Return the entry with the blocked time that was not for storage or memory in a part of its own."""
    blocked = [phase for phase in Phase if Part(phase, Kind.BLOCKED) in entry.parts_ns]
    at_most = _storage_share(entry, timeline) if blocked and timeline is not None else None
    if at_most is None:
        return entry
    parts, left_ns = dict(entry.parts_ns), at_most * entry.mean_ns
    # Lookups read files that are in memory: copies wait for the disks first.
    for phase in reversed(blocked):
        blocked_ns = parts[Part(phase, Kind.BLOCKED)]
        elsewhere_ns = max(0.0, blocked_ns - left_ns)
        if elsewhere_ns < _LEAST_SHARE * entry.mean_ns:
            elsewhere_ns = 0.0
        left_ns = max(0.0, left_ns - blocked_ns)
        parts[Part(phase, Kind.BLOCKED)] = blocked_ns - elsewhere_ns
        parts[Part(phase, Kind.ELSEWHERE)] = elsewhere_ns
    return replace(entry, parts_ns=parts)


def _storage_share(entry: Entry, timeline: RecordedTimeline) -> float | None:
    """Return the share of the samples' time in which their process waited for storage or memory at most.

    None where pressure was not recorded for most of that time, without other measurements in between.
    """
    rows = TimelineRows.of_samples(timeline, entry)
    times_ns = rows.values(timeline.columns.get("time_ns"))
    pressures, busy = (
        [rows.steps(timeline.columns.get(name)) for name in names] for names in (_PRESSURES, _BUSY)
    )
    if not times_ns or None in pressures or None in busy:
        return None
    sampled_until = _sampled_until(entry)
    covered = [
        step
        for step, (begin, end) in enumerate(pairwise(times_ns))
        if sampled_until(end) - sampled_until(begin) >= _COVERED_SHARE * (end - begin)
    ]
    covered_ns = sum(times_ns[step + 1] - times_ns[step] for step in covered)
    if 2 * covered_ns < sum(entry.total_ns):
        return None
    pressed, busy_cpus = (
        sum(column[step] for column in columns if column is not None for step in covered)
        * unit_ns
        / covered_ns
        for columns, unit_ns in ((pressures, 1e3), (busy, 1e6))
    )
    own = sum(ns for part, ns in entry.parts_ns.items() if part.kind in ON_CPU) / entry.mean_ns
    return _waited(pressed, own, busy_cpus)


def _waited(pressed: float, own: float, busy_cpus: float) -> float:
    """Return the wait of one process that causes this pressure; `own` is its time on a CPU.

    The kernel averages pressure over its CPUs by how busy each is, a CPU with a waiting process included.
    So pressed = waited (waited + own) ÷ (waited + busy CPUs), which is solved for what was waited.
    """
    difference = pressed - own
    root = math.sqrt(difference**2 + 4 * pressed * max(own, busy_cpus))
    return min(1.0, (difference + root) / 2)


def _sampled_until(entry: Entry) -> Callable[[int], int]:
    """Return how to find how much of the time before a moment the samples took."""
    before_ns = [0, *accumulate(entry.total_ns)]

    def until(moment_ns: int) -> int:
        number = bisect_right(entry.start_ns, moment_ns)
        if not number:
            return 0
        begun_ns = moment_ns - entry.start_ns[number - 1]
        return before_ns[number - 1] + min(begun_ns, entry.total_ns[number - 1])

    return until
