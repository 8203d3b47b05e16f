# SPDX-License-Identifier: MPL-2.0
"""Divide the difference of two sides' mean times into parts that were measured on both, and blocked time.

A process that waits for its disk counts in the kernel's pressure on I/O, and so does one that waits for a
flush, a journal or a cgroup's limit. One that waits for a scanner, a lock or a network file system does
not. The pressure is the whole machine's, so it shows how long the process waited for storage at most.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import accumulate, pairwise
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.levels import LEVEL
from io_benchmark.analysis.model import Entry
from io_benchmark.analysis.observed.run_windows import TimelineRows
from io_benchmark.analysis.observed.sides import Runs, Side
from io_benchmark.analysis.time_parts import ON_CPU, Kind, Part, Phase
from io_benchmark.analysis.variances import MeanVariance
from io_benchmark.results.format import RecordedTimeline

_PartMeans = Mapping[Part, float]  # nanoseconds of an operation, of one machine
_PRESSURES = ("psi_io_some_us", "psi_memory_some_us")
_BUSY = tuple(f"cpu_{name}_ms" for name in ("user", "nice", "system", "irq", "softirq", "steal"))
# Between two rows of the timeline, the samples took at least this share of the time.
_COVERED_SHARE = 0.9
# Less than this of an operation's time is what pressure and clocks do not agree on.
_LEAST_SHARE = 0.05


class PartDifference(Struct, frozen=True):
    """One part of a difference: what both sides spend in it, and the interval of the difference.

    Without several workers on both sides there is no interval.
    """

    phase: Phase
    kind: Kind
    baseline_ns: float
    candidate_ns: float
    low_ns: float | None
    high_ns: float | None

    @property
    def part(self) -> Part:
        return Part(self.phase, self.kind)

    @property
    def difference_ns(self) -> float:
        return self.candidate_ns - self.baseline_ns


class Division(Struct, frozen=True):
    """The parts of a difference, in the order of phases and kinds; they add up to the whole."""

    baseline: str
    candidate: str
    parts: tuple[PartDifference, ...]

    @classmethod
    def between(
        cls,
        candidate: Side,
        baseline: Side,
        names: tuple[str, str] | None = None,
    ) -> "Division":
        """Divide the difference of two sides, all of whose runs measured the same.

        A phase that some machine did not record in full is compared as far as all of them did.
        """
        sides = (baseline, candidate)
        common = frozenset.intersection(
            *(parts for side in sides for parts in side.by_worker(_recorded_parts))
        )
        times = [side.by_worker(_times_in(common)) for side in sides]
        parts = {part for side in times for machine in side for part in machine}
        differences = tuple(_difference(part, *times) for part in _ordered(parts))
        candidate_name, baseline_name = names or (candidate.name, baseline.name)
        return cls(baseline_name, candidate_name, differences)

    @property
    def difference_ns(self) -> float:
        return math.fsum(part.difference_ns for part in self.parts)

    def of(self, *parts: Part) -> float:
        """Return how much of the difference these parts make up."""
        return math.fsum(part.difference_ns for part in self.parts if part.part in parts)


def _machine_means(runs: Runs) -> _PartMeans:
    """Return the average of the runs of one machine, in what all of them recorded."""
    parts = [run.entry.parts_ns for run in runs if run.is_measured]
    common = set.intersection(*map(set, parts))
    merged = [_merged(run, common) for run in parts]
    return {part: fmean(run.get(part, 0.0) for run in merged) for part in merged[0]}


def _recorded_parts(runs: Runs) -> frozenset[Part]:
    return frozenset(_machine_means(runs))


@cache
def _times_in(common: frozenset[Part]) -> Callable[[Runs], _PartMeans]:
    """Return how to read a worker's times in these parts, the same for the same parts."""
    return lambda runs: _merged(_machine_means(runs), common)


def _merged(machine: _PartMeans, common: AbstractSet[Part]) -> dict[Part, float]:
    """Put what not every machine recorded into the phase's unexplained part."""
    merged: dict[Part, float] = {}
    for part, mean_ns in machine.items():
        merged_part = part
        if part not in common:
            blocked = Part(part.phase, Kind.BLOCKED)
            is_blocked = part.kind is Kind.ELSEWHERE and blocked in common
            merged_part = blocked if is_blocked else Part(part.phase, Kind.UNEXPLAINED)
        merged[merged_part] = merged.get(merged_part, 0.0) + mean_ns
    return merged


def _ordered(parts: AbstractSet[Part]) -> list[Part]:
    return [Part(phase, kind) for phase in Phase for kind in Kind if (phase, kind) in parts]


def _difference(
    part: Part, baseline: Sequence[_PartMeans], candidate: Sequence[_PartMeans]
) -> PartDifference:
    values = [[machine.get(part, 0.0) for machine in side] for side in (baseline, candidate)]
    baseline_ns, candidate_ns = map(fmean, values)
    low = high = None
    if min(map(len, values)) > 1:
        # Welch's interval of the difference of the means.
        variance = MeanVariance.of_sum([MeanVariance.of_mean(side) for side in values])
        margin, difference = variance.half_width(LEVEL), candidate_ns - baseline_ns
        low, high = difference - margin, difference + margin
    return PartDifference(part.phase, part.kind, baseline_ns, candidate_ns, low, high)


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
