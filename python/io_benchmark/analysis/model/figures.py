# SPDX-License-Identifier: MPL-2.0
"""The figures of sides on one subject, and the parts of their difference."""

import math
from collections.abc import Mapping

from msgspec import Struct

from io_benchmark.analysis.model.time_parts import Kind, Part, Phase


class Detail(Struct, frozen=True):
    """A figure that only one workload has, for one side."""

    name: str  # "scaling"
    label: str  # "scaling from 1 thread"
    value: float
    unit: str  # "×", or nothing for a count
    higher_is_better: bool


class Figures(Struct, frozen=True):
    """One side's times for one subject. Each figure is the mean over its workers."""

    workers: int
    samples: int
    operations: int  # a retrieve is one; a batch has as many as were timed together
    mean_ns: float  # of one operation, like all times here except the total
    value: float  # the mean in the workload's unit, which may be a rate
    percentiles_ns: Mapping[int, float]  # one for each of `workloads.PERCENTILES`
    total_ns: float
    lookup_mean_ns: float | None  # only cache-retrieve has lookups and copies
    copy_mean_ns: float | None
    # The largest standard error of a worker's own mean (moving blocks), as a part of the mean.
    within_worker_ratio: float
    # Standard deviation of the workers' log means; None with a single worker.
    between_workers_ratio: float | None
    details: tuple[Detail, ...] = ()

    def detail(self, name: str) -> float | None:
        return next((detail.value for detail in self.details if detail.name == name), None)


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

    @property
    def difference_ns(self) -> float:
        return math.fsum(part.difference_ns for part in self.parts)

    def of(self, *parts: Part) -> float:
        """Return how much of the difference these parts make up."""
        return math.fsum(part.difference_ns for part in self.parts if part.part in parts)


class SideStorage(Struct, frozen=True):
    """Where one side's bytes went, and what its storage did meanwhile: means over its workers."""

    copied_bytes: float | None
    written_bytes: float | None  # what reached the disks, the final sync's included
    io_wait_ratio: float | None  # the part of the time in which something waited for I/O
    busiest_disk_ratio: float | None  # the part of the time in which the busiest disk was busy
    written_bytes_per_s: float | None
    write_cap_bytes_per_s: float | None  # published, or by a cgroup
