# SPDX-License-Identifier: MPL-2.0
"""Where the time of sides goes: the parts of their difference, and the bottleneck of each side's copies.

A difference of two sides' mean times is divided into parts that were measured on both, and blocked time.

A bottleneck is memory, writeback, a disk, a cap, the CPU or reading. The same program measures different
things with different bottlenecks, and a different figure is steady: the median where the page cache takes
everything, the mean where writers wait for the disk. taskcluster/docs/statistics.md has the signatures.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import cache
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.levels import LEVEL
from io_benchmark.analysis.model import Subject
from io_benchmark.analysis.observed.runs import WAITS_SHARE, Run
from io_benchmark.analysis.observed.sides import Runs, Side
from io_benchmark.analysis.statements import Quantity, Statement, Unit, joined, share, statement
from io_benchmark.analysis.time_parts import Kind, Part, Phase
from io_benchmark.analysis.variances import MeanVariance

_PartMeans = Mapping[Part, float]  # nanoseconds of an operation, of one machine


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
        cls, candidate: Side, baseline: Side, names: tuple[str, str] | None = None
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


# Fewer bytes than this part of those copied do not count.
_MOVED_SHARE = 0.2
# A rate this near to a cap is the cap's; a disk this busy is the one that is waited for.
_AT_CAP_SHARE = 0.85
_BUSY_SHARE = 0.8


class Bottleneck(StrEnum):
    """The resource that the copies of a run waited for."""

    PAGE_CACHE = "absorbed by the page cache"
    WRITEBACK = "bound by writeback"
    DEVICE = "bound by a device"
    CAP = "bound by a cap"
    CPU = "bound by the CPU"
    READING = "bound by reading"
    UNKNOWN = "unknown"

    @property
    def median_is_steady(self) -> bool:
        """Return whether identical runs have the same median; where they do not, their means agree."""
        return self in (Bottleneck.PAGE_CACHE, Bottleneck.CPU)


class SideBottleneck(Struct, frozen=True):
    """The bottleneck of one side, and where its bytes went: means over its workers."""

    bottleneck: Bottleneck
    reason: Statement
    copied_bytes: float | None
    written_bytes: float | None  # what reached the disks, the final sync's included
    left_dirty_bytes: float | None  # what the last copy left to be written
    drain_ns: float | None  # how long writing that took


_Judgement = tuple[Bottleneck, list[Statement]]
# Looking up takes longer than copying, or runnable processes wait for a CPU.
_LOOKUPS_SHARE = 0.5
_CPU_PRESSURE_SHARE = 0.3


def bottlenecks_of_sides(subject: Subject, sides: Mapping[str, Side]) -> dict[str, SideBottleneck]:
    """Return each side's bottleneck; only cache-retrieve has them."""
    if subject.workload != "cache-retrieve":
        return {}
    return {side: _side_bottleneck(views) for side, views in sides.items()}


def _side_bottleneck(side: Side) -> SideBottleneck:
    judged = side.readings(_judge)
    bottleneck = _most_common([_most_common([kind for kind, _ in runs]) for runs in judged])
    # The reason of the run in the middle, so that the order of the runs does not matter.
    reasons = sorted(
        (joined(reasons) for runs in judged for kind, reasons in runs if kind is bottleneck),
        key=repr,
    )
    if not reasons:
        reasons = [statement("its workers have different bottlenecks")]
    return SideBottleneck(
        bottleneck=bottleneck,
        reason=reasons[len(reasons) // 2],
        copied_bytes=side.mean(lambda run: run.copied_bytes),
        written_bytes=side.mean(lambda run: run.moved_bytes and run.moved_bytes[1]),
        left_dirty_bytes=side.mean(_left_dirty),
        drain_ns=side.mean(
            lambda run: run.entry.retrieves.final_sync_ns if run.entry.retrieves else None
        ),
    )


def _most_common(bottlenecks: Sequence[Bottleneck]) -> Bottleneck:
    """Return the bottleneck of more than half of those that are known."""
    counts = Counter(kind for kind in bottlenecks if kind is not Bottleneck.UNKNOWN)
    for bottleneck, count in counts.most_common(1):
        if 2 * count > counts.total():
            return bottleneck
    return Bottleneck.UNKNOWN


def _judge(run: Run) -> _Judgement:
    if run.moved_bytes is None or not run.copied_bytes:
        return Bottleneck.UNKNOWN, [statement("the disks' counters were not recorded")]
    read_bytes, written_bytes = run.moved_bytes
    # What reached the disks before the final sync.
    written = max(0, written_bytes - (_left_dirty(run) or 0)) / run.copied_bytes
    read = read_bytes / run.copied_bytes
    waits = run.io_wait_share
    bytes_written = statement("{written} of the bytes written meanwhile", written=share(written))
    if max(written, read) < _MOVED_SHARE:
        return _in_memory(run, [bytes_written])
    if waits is None:
        unknown = statement("{written}, but no pressure was recorded", written=bytes_written)
        return Bottleneck.UNKNOWN, [unknown]
    waited = statement("waiting for I/O {waiting} of the time", waiting=share(waits))
    if waits < WAITS_SHARE:
        return _in_memory(run, [waited, bytes_written])
    if written >= _MOVED_SHARE:
        bottleneck, reasons = _writing(run)
        return bottleneck, [waited, bytes_written, *reasons]
    bytes_read = statement("{read} of the bytes read from disk", read=share(read))
    return Bottleneck.READING, [waited, bytes_read]


def _in_memory(run: Run, reasons: list[Statement]) -> _Judgement:
    lookups = (run.entry.lookup_mean_ns or 0.0) / (run.mean_ns or math.inf)
    if lookups >= _LOOKUPS_SHARE:
        looking_up = statement("{lookups} of the time looking up", lookups=share(lookups))
        return Bottleneck.CPU, [*reasons, looking_up]
    pressure = (run.growth("psi_cpu_some_us") or 0) / 1e6
    if pressure >= _CPU_PRESSURE_SHARE:
        waiting = statement("waiting for a CPU {pressure} of the time", pressure=share(pressure))
        return Bottleneck.CPU, [*reasons, waiting]
    return Bottleneck.PAGE_CACHE, reasons


def _writing(run: Run) -> _Judgement:
    rate, cap, busy = run.written_bytes_per_s, run.write_cap, run.busiest_share
    if rate is not None and cap is not None and rate >= _AT_CAP_SHARE * cap:
        rates = {
            "rate": Quantity(rate, Unit.BYTES_PER_SECOND),
            "cap": Quantity(cap, Unit.BYTES_PER_SECOND),
        }
        return Bottleneck.CAP, [statement("at {rate} of a cap of {cap}", **rates)]
    if busy is None:
        return Bottleneck.WRITEBACK, []
    if busy >= _BUSY_SHARE:
        return Bottleneck.DEVICE, [statement("a disk busy {busy}", busy=share(busy))]
    return Bottleneck.WRITEBACK, [statement("no disk busy more than {busy}", busy=share(busy))]


def _left_dirty(run: Run) -> int | None:
    """Return what the final sync wrote; in older results, all that was dirty on the machine."""
    if run.entry.retrieves is None:
        return None
    if run.entry.retrieves.final_sync_device_bytes:
        return sum(
            device.written for device in run.entry.retrieves.final_sync_device_bytes.values()
        )
    dirty = run.entry.retrieves.dirty_before_sync_bytes
    writeback = run.entry.retrieves.writeback_before_sync_bytes
    return None if dirty is None else dirty + (writeback or 0)
