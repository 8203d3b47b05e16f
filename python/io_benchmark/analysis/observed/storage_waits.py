# SPDX-License-Identifier: MPL-2.0
"""For what a process was blocked: storage and memory at most, or something else.

A process that waits for its disk counts in the kernel's pressure on I/O. One that waits until its file system
has written a journal, or has room for metadata, does not, but then pages are being written. For one that waits
for a scanner, a lock or a network file system, neither has to be so. Both are the whole machine's, so they
show how long the process waited for storage at most.
"""

import math
from itertools import chain

from msgspec.structs import replace

from io_benchmark.analysis.model import Entry
from io_benchmark.analysis.observed.run_windows import BUSY_COLUMNS, TimelineRows
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.time_parts import ON_CPU, Kind, Part, Phase
from io_benchmark.results import workloads
from io_benchmark.results.format import RecordedTimeline

_PRESSURES = ("psi_io_some_us", "psi_memory_some_us")
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


def divided_alike(side: Side, other: Side) -> tuple[Side, Side]:
    """Return the sides with blocked time in one part, where a run of one of them does not divide it."""
    runs = [run for run in chain(side, other) if run.is_measured]
    if len(set(map(_is_divided, runs))) < 2:
        return side, other
    return Side.of(map(_undivided, side)), Side.of(map(_undivided, other))


def _is_divided(run: Run) -> bool:
    return any(part.kind is Kind.ELSEWHERE for part in run.entry.parts_ns)


def _undivided(run: Run) -> Run:
    parts: dict[Part, float] = {}
    for (phase, kind), mean_ns in run.entry.parts_ns.items():
        part = Part(phase, Kind.BLOCKED if kind is Kind.ELSEWHERE else kind)
        parts[part] = parts.get(part, 0.0) + mean_ns
    return Run(run.worker, replace(run.entry, parts_ns=parts))


def _storage_share(entry: Entry, timeline: RecordedTimeline) -> float | None:
    """Return the share of the samples' time in which their process waited for storage or memory at most.

    None where pressure was not recorded for most of that time, without other measurements in between.
    """
    rows = TimelineRows.of_samples(timeline, entry)
    pressures, busy = (
        [rows.steps(timeline.columns.get(name)) for name in names]
        for names in (_PRESSURES, BUSY_COLUMNS)
    )
    if not rows.spans_ns or None in pressures or None in busy:
        return None
    sampled_ns = rows.sampled_ns(entry)
    lasted_ns = [end - begin for begin, end in rows.spans_ns]
    covered = [step for step, ns in enumerate(lasted_ns) if sampled_ns[step] >= _COVERED_SHARE * ns]
    covered_ns = sum(lasted_ns[step] for step in covered)
    if 2 * covered_ns < sum(entry.total_ns):
        return None
    pressed, busy_cpus = (
        sum(column[step] for column in columns if column is not None for step in covered)
        * unit_ns
        / covered_ns
        for columns, unit_ns in ((pressures, 1e3), (busy, 1e6))
    )
    own = sum(ns for part, ns in entry.parts_ns.items() if part.kind in ON_CPU) / entry.mean_ns
    waited = _waited(pressed, own, busy_cpus)
    if entry.retrieves is not None:
        return waited  # copies of large files hardly wait for a journal
    synced = workloads.of(entry.subject.workload).synced_share(entry.measured)
    return synced + max(waited, rows.writing_share(covered) or 0.0)


def _waited(pressed: float, own: float, busy_cpus: float) -> float:
    """Return the wait of one process that causes this pressure; `own` is its time on a CPU.

    The kernel averages pressure over its CPUs by how busy each is, a CPU with a waiting process included.
    So pressed = waited (waited + own) ÷ (waited + busy CPUs), which is solved for what was waited.
    """
    difference = pressed - own
    root = math.sqrt(difference**2 + 4 * pressed * max(own, busy_cpus))
    return min(1.0, (difference + root) / 2)
