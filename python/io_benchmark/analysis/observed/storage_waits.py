# SPDX-License-Identifier: MPL-2.0
"""For what a process was blocked: storage and memory at most, or something else.

A process that waits for its disk counts in the kernel's pressure on I/O, and idle CPUs count as waiting for I/O.
The pressure of one process is divided by as many CPUs as it uses in turn; the CPUs' waiting leaves out those
that do something else. So the larger of both counts. A process that waits until its file system has written a
journal, or has room for metadata, is in neither, but then pages are being written. For one that waits for a
scanner, a lock or a network file system, none of this has to be so. All are the whole machine's, so they show
how long the process waited for storage at most.
"""

import math
from collections.abc import Sequence

from msgspec.structs import replace

from io_benchmark.analysis.model import Entry
from io_benchmark.analysis.observed.run_windows import BUSY_COLUMNS, TimelineRows
from io_benchmark.analysis.time_parts import ON_CPU, Kind, Part, Phase
from io_benchmark.results import workloads
from io_benchmark.results.format import RecordedTimeline

_PRESSURES = ("psi_io_some_us", "psi_memory_some_us")
_IO_WAIT = ("cpu_iowait_ms",)
# Idle CPUs count 0.83 to 0.98 of what one process waits, where nothing else runs.
_IO_WAIT_SEEN_SHARE = 0.8
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

    None where that was not recorded for most of that time, without other measurements in between.
    """
    rows = TimelineRows.of_samples(timeline, entry)
    sampled_ns = rows.sampled_ns(entry)
    lasted_ns = [end - begin for begin, end in rows.spans_ns]
    covered = [step for step, ns in enumerate(lasted_ns) if sampled_ns[step] >= _COVERED_SHARE * ns]
    if 2 * sum(lasted_ns[step] for step in covered) < sum(entry.total_ns):
        return None
    return waited_share(entry, rows, covered)


def waited_share(entry: Entry, rows: TimelineRows, steps: Sequence[int]) -> float | None:
    """Return the share of these steps in which the process waited for storage or memory at most."""
    lasted_ms = sum(rows.spans_ns[step][1] - rows.spans_ns[step][0] for step in steps) / 1e6

    def share(names: Sequence[str], unit_ms: float) -> float | None:
        """Return how much counters grew in these steps, together, per time; None where one is missing."""
        columns = [rows.steps(rows.timeline.columns.get(name)) for name in names]
        recorded = [column for column in columns if column is not None]
        if len(recorded) < len(names) or not lasted_ms:
            return None
        return sum(column[step] for column in recorded for step in steps) * unit_ms / lasted_ms

    pressed, busy_cpus = share(_PRESSURES, 1e-3), share(BUSY_COLUMNS, 1)
    if pressed is None or busy_cpus is None:
        return None
    own = sum(ns for part, ns in entry.parts_ns.items() if part.kind in ON_CPU) / entry.mean_ns
    idle_waiting = (share(_IO_WAIT, 1) or 0.0) / _IO_WAIT_SEEN_SHARE
    waited = max(_waited(pressed, own, busy_cpus), min(1.0, idle_waiting))
    if entry.retrieves is not None:
        return waited  # copies of large files hardly wait for a journal
    synced = workloads.of(entry.subject.workload).synced(entry.measured) or 0.0
    return synced + max(waited, rows.writing_share(steps) or 0.0)


def _waited(pressed: float, own: float, busy_cpus: float) -> float:
    """Return the wait of one process on one CPU that causes this pressure; `own` is its time on the CPU.

    The kernel averages pressure over its CPUs by how busy each is, a CPU with a waiting process included.
    So pressed = waited (waited + own) ÷ (waited + busy CPUs), which is solved for what was waited.
    """
    difference = pressed - own
    root = math.sqrt(difference**2 + 4 * pressed * max(own, busy_cpus))
    return min(1.0, (difference + root) / 2)
