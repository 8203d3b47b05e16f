# SPDX-License-Identifier: MPL-2.0
"""Where the time of sides goes: the parts of their difference, and what each side's storage did.

A difference of two sides' mean times is divided into parts that were measured on both, and blocked time.

The same program measures different things where copies wait for storage and where they do not, and a
different figure is steady: the mean, or the median where the page cache takes everything.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from operator import attrgetter
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.levels import LEVEL
from io_benchmark.analysis.observed.sides import Runs, Side
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
        sides = baseline.divided_like(candidate)
        common = frozenset.intersection(
            *(parts for side in sides for parts in side.by_worker(_recorded_parts))
        )
        times = [side.by_worker(_times_in(common)) for side in sides]
        parts = {part for side in times for machine in side for part in machine}
        differences = tuple(
            _difference(Part(phase, kind), *times)
            for phase in Phase
            for kind in Kind
            if (phase, kind) in parts
        )
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
    merged: dict[Part, float] = defaultdict(float)
    for part, mean_ns in machine.items():
        merged[part if part in common else Part(part.phase, Kind.UNEXPLAINED)] += mean_ns
    return merged


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


class SideStorage(Struct, frozen=True):
    """Where one side's bytes went, and what its storage did meanwhile: means over its workers."""

    copied_bytes: float | None
    written_bytes: float | None  # what reached the disks, the final sync's included
    io_wait_ratio: float | None  # the part of the time in which something waited for I/O
    busiest_disk_ratio: float | None  # the part of the time in which the busiest disk was busy
    written_bytes_per_s: float | None
    write_cap_bytes_per_s: float | None  # published, or by a cgroup

    @classmethod
    def of_side(cls, side: Side) -> "SideStorage":
        return cls(
            copied_bytes=side.mean(attrgetter("copied_bytes")),
            written_bytes=side.mean(lambda run: run.moved_bytes and run.moved_bytes[1]),
            io_wait_ratio=side.mean(attrgetter("io_wait_share")),
            busiest_disk_ratio=side.mean(attrgetter("busiest_share")),
            written_bytes_per_s=side.mean(attrgetter("written_bytes_per_s")),
            write_cap_bytes_per_s=side.mean(attrgetter("write_cap")),
        )
