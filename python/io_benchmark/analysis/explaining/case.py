# SPDX-License-Identifier: MPL-2.0
"""What a rule judges: one candidate against the baseline, for one subject."""

import math
from collections.abc import Callable, Hashable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, partial
from operator import attrgetter
from statistics import fmean
from typing import Any, SupportsFloat, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.explaining.parts import divide
from io_benchmark.analysis.model.comparison import DIFFERENT, Comparison
from io_benchmark.analysis.model.figures import Division, Figures
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Part, Phase
from io_benchmark.analysis.reading.disk_rates import (
    busy_read_rate,
    busy_write_rate,
    idle_write_rate,
    moved_bytes,
    moved_bytes_per_s,
    peak_bytes_per_s,
    waits_for_disks,
)
from io_benchmark.results import workloads

# Operations are judged by their reads where the disks read at least this many times what they write.
_MOSTLY = 2
# Copies do not wait for reads of fewer bytes than this part of the writes, whatever their rate is.
_FEWEST_READS_SHARE = 0.2
# Times nearer than this differ too little for any fact to explain it.
_NOTHING_TO_EXPLAIN_RATIO = 1.02
_MOST_OF_THE_TIME_SHARE = 0.999
EVERY_WORKLOAD = frozenset(workloads.WORKLOADS)
_MEAN_NS, _BLOCKED_NS = attrgetter("known_mean_ns"), attrgetter("blocked_ns")
_WAITS_FOR_DISKS = waits_for_disks
_READ_RATES = (busy_read_rate,)
IDLE_WRITES = idle_write_rate
_WRITE_RATES = IDLE_WRITES, busy_write_rate

Value = TypeVar("Value", bound=Hashable)


class OtherMeasurement(Struct, frozen=True):
    """A measurement of the same pair of sides, with both sides' figures."""

    comparison: Comparison
    baseline: Figures
    candidate: Figures

    @property
    def subject(self) -> Subject:
        return self.comparison.subject

    @property
    def is_decided(self) -> bool:
        return self.comparison.verdict in DIFFERENT


class Case(Struct, frozen=True, dict=True):
    """One candidate against the baseline, for one subject."""

    subject: Subject
    ratio: float | None  # a positive number; None: no difference was shown
    baseline: Side
    candidate: Side
    measurements: Sequence[OtherMeasurement] = ()  # all that the two were compared on
    both_sides: "Case | None" = None  # where a single worker is judged as a side: the whole case

    def measured(self, workload: str, variant: str | None = None) -> list[OtherMeasurement]:
        """Return the measurements of a workload (or variant), in the report's order.

        Those of other places count only where this case's place has none.
        """
        matching = [
            measured
            for measured in self.measurements
            if measured.subject.workload == workload and variant in (None, measured.subject.variant)
        ]
        return [
            match for match in matching if match.subject.place == self.subject.place
        ] or matching

    def sibling(self, **changes: Any) -> OtherMeasurement | None:
        subject = replace(self.subject, **changes)
        return next((sibling for sibling in self.measurements if sibling.subject == subject), None)

    def slower_first(self, measurement: OtherMeasurement) -> tuple[Figures, Figures]:
        """Return the measurement's figures, those of this case's slower side first."""
        sides = measurement.baseline, measurement.candidate
        return (sides[1], sides[0]) if self.candidate_is_slower else sides

    def times_as_long(self, measurement: OtherMeasurement) -> float:
        """Return how many times as long this case's slower side takes for the measurement."""
        slower, faster = self.slower_first(measurement)
        return slower.mean_ns / faster.mean_ns

    def known_times_as_long(self, measurement: OtherMeasurement | None) -> float:
        """Return `times_as_long`, or 1 where that may be chance or the slower side is faster."""
        if measurement is None or not measurement.is_decided:
            return 1.0
        return max(1.0, self.times_as_long(measurement))

    def slowest(self, measurements: Sequence[OtherMeasurement]) -> OtherMeasurement | None:
        """Return the measurement that the slower side does worst at; the first of equals."""
        return max(measurements, key=self.times_as_long, default=None)

    def longer_ns(self, measurement: OtherMeasurement) -> float:
        slower, faster = self.slower_first(measurement)
        return slower.mean_ns - faster.mean_ns

    def detail(self, measurement: OtherMeasurement, name: str) -> tuple[float, float] | None:
        """Return a figure that only this workload has, the slower side's first."""
        slower, faster = (figures.detail(name) for figures in self.slower_first(measurement))
        return None if slower is None or faster is None else (slower, faster)

    def of_measurement(self, measurement: OtherMeasurement) -> "Case":
        subject = measurement.subject
        baseline, candidate = (
            Side.of_workers((run.worker for run in side), subject)
            for side in (self.baseline, self.candidate)
        )
        sides = baseline.divided_like(candidate)
        return Case(subject, measurement.comparison.ratio, *sides, self.measurements)

    def means(self, read: Callable[[Run], SupportsFloat | None]) -> list[float | None]:
        """Return the means of both sides, the slower side's first."""
        return [self.slower.mean(read), self.faster.mean(read)]

    def times_as_fast(self, read: Callable[[Run], float | None]) -> float | None:
        """Return the faster side's mean over the slower side's; None where one is 0 or unknown."""
        slower, faster = self.means(read)
        return faster / slower if slower and faster else None

    def more_bandwidth(self, *, of_reads: bool = False) -> float | None:
        """Return how much more the faster side's disks can do at most; None: not measured.

        What idle disks wrote counts as well as what busy ones kept up: a slower disk shows in both.
        """
        factors = map(self.times_as_fast, _READ_RATES if of_reads else _WRITE_RATES)
        return min((factor for factor in factors if factor is not None), default=None)

    @property
    def times(self) -> float:
        """Return how many times as long the slower side takes; 1 where no difference was shown."""
        return max(self.ratio, 1 / self.ratio) if self.ratio else 1.0

    def in_direction(self, times: float) -> float:
        """Return the slower side's time over the faster side's as the candidate's over the baseline's."""
        return times if self.candidate_is_slower else 1 / times

    def times_by_bandwidth(self, factor: float, at_most: float = 1.0) -> float:
        """Return how many times as long the slower side takes because its disks do less by this factor.

        More bandwidth saves at most the time in which copies are blocked, and in which the disks move
        bytes (`at_most`, a share of the time).
        """
        blocked_ns, mean_ns = self.slower.mean(_BLOCKED_NS), self.slower.mean(_MEAN_NS)
        if blocked_ns is not None and mean_ns:
            at_most = min(at_most, blocked_ns / mean_ns)
        return self.times_without(min(1 - 1 / factor, at_most))

    @staticmethod
    def times_without(share: float) -> float:
        """Return how many times as long it takes with this share of the time as without it."""
        return 1 / (1 - min(max(share, 0.0), _MOST_OF_THE_TIME_SHARE))

    def values(self, read: Callable[[Run], Value]) -> AbstractSet[Value]:
        return self.baseline.values(read) | self.candidate.values(read)

    @cached_property
    def division(self) -> Division | None:
        """Return what the slower side takes longer, in parts; None where a side has no times."""
        slower, faster = self.slower.measured, self.faster.measured
        return divide(slower, faster) if slower.workers and faster.workers else None

    def parts_of_workload(self, acts_through: frozenset[Part]) -> frozenset[Part]:
        """Return these parts as this workload has them: all but cache-retrieve have a single phase."""
        if self.subject.workload == "cache-retrieve":
            return acts_through
        return frozenset(Part(Phase.OPERATION, part.kind) for part in acts_through)

    def share_at_most(self, acts_through: frozenset[Part]) -> float | None:
        """Return the share of the difference in these parts and in what was not recorded of their phases."""
        division = self.division
        if division is None or division.difference_ns <= 0:
            return None
        parts = self.parts_of_workload(acts_through)
        unknown = {Part(part.phase, Kind.UNEXPLAINED) for part in parts}
        recorded = division.of(*parts) / division.difference_ns
        return recorded + max(0.0, division.of(*unknown - parts) / division.difference_ns)

    def explained_at_most(self, acts_through: frozenset[Part]) -> float:
        """Return the share that these parts can explain, as ln(explained) over ln(measured)."""
        share, division = self.share_at_most(acts_through), self.division
        if not acts_through or share is None or division is None:
            return 1.0
        slower_ns = math.fsum(part.candidate_ns for part in division.parts)
        whole_ns = division.difference_ns
        if whole_ns >= slower_ns:
            return 1.0
        explained_ns = min(max(share, 0.0), 1.0) * whole_ns
        return math.log1p(-explained_ns / slower_ns) / math.log1p(-whole_ns / slower_ns)

    def share_of_work(self, factor: float, acts_through: frozenset[Part]) -> float | None:
        """Return the share of the difference that these parts take because they are slower by a factor."""
        division, parts = self.division, self.parts_of_workload(acts_through)
        if division is None or not division.difference_ns:
            return None
        slower_ns = [part.candidate_ns for part in division.parts if part.part in parts]
        longer_ns = math.fsum(slower_ns) * (1 - 1 / factor)
        return longer_ns / abs(division.difference_ns) if slower_ns else None

    def time_in_parts(self, acts_through: frozenset[Part], runs: Sequence[Run]) -> float:
        """Return what these parts take of an operation on one machine; all of it where one is unknown."""
        recorded = [names for names in self.values(_recorded_parts) if names is not None]
        parts = self.parts_of_workload(acts_through)
        if not parts or not all(parts <= names for names in recorded):
            parts = frozenset().union(*recorded)
        return fmean(
            math.fsum(run.parts_ns.get(part, 0.0) for part in parts)
            for run in runs
            if run.is_measured
        )

    @property
    def differs(self) -> bool:
        """Return whether the times differ enough to need an explanation."""
        return self.times >= _NOTHING_TO_EXPLAIN_RATIO

    @property
    def candidate_is_slower(self) -> bool:
        return self.ratio is not None and self.ratio > 1

    @property
    def slower(self) -> Side:
        return self.candidate if self.candidate_is_slower else self.baseline

    @property
    def faster(self) -> Side:
        return self.baseline if self.candidate_is_slower else self.candidate

    @property
    def slower_never_waits(self) -> bool:
        """Return whether every worker of the slower side that shows it did not wait for its disks."""
        waits = self.slower.values(_WAITS_FOR_DISKS)
        return False in waits and True not in waits

    @property
    def mostly_reads(self) -> bool:
        """Return whether the slower side's copies wait for reads, or the disks of both sides hardly write."""
        moved = [[side.mean(way) for way in MOVED] for side in (self.slower, self.faster)]
        if self.subject.workload != "cache-retrieve":
            return all(read and read > _MOSTLY * (written or 0.0) for read, written in moved)
        (read, written), _ = moved
        reading, writing = (self.slower.mean(part) or 0.0 for part in MOVING_SHARES)
        return reading > writing and (read or 0.0) >= _FEWEST_READS_SHARE * (written or 0.0)

    def more(self, read: Callable[[Run], SupportsFloat | None]) -> float | None:
        """Return how much more the slower side has; None where one side's is unknown."""
        slower, faster = self.means(read)
        return None if slower is None or faster is None else slower - faster

    @property
    def difference_ns(self) -> float | None:
        """Return how much longer the slower side's operation takes than the faster side's."""
        return (self.both_sides or self).more(_MEAN_NS)

    def share_of(self, longer_ns: float | None) -> float | None:
        """Return the share of the difference that this time makes up; None where none is known."""
        if longer_ns is None or not self.difference_ns or not self.differs:
            return None
        return longer_ns / abs(self.difference_ns)

    def explained_share(self, cost_ns: Callable[[Run], float | None]) -> float | None:
        """Return the share of the difference that a cost within each retrieve makes up."""
        return self.share_of(self.more(cost_ns))


def _recorded_parts(run: Run) -> frozenset[Part] | None:
    return frozenset(run.parts_ns) if run.is_measured else None


def _moved(way: int, run: Run) -> float | None:
    moved = moved_bytes(run)
    return None if moved is None else float(moved[way])


def _moving_share(way: int, run: Run) -> float | None:
    """Return the part of the run in which the disks read (0) or wrote (1), at the rate they kept up."""
    rates, peaks = moved_bytes_per_s(run), peak_bytes_per_s(run)
    if rates is None or peaks is None:
        return None
    return rates[way] / peaks[way] if peaks[way] else 0.0


MOVED, MOVING_SHARES = ([partial(read, way) for way in (0, 1)] for read in (_moved, _moving_share))
