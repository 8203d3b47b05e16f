# SPDX-License-Identifier: MPL-2.0
"""What a rule judges: one candidate against the baseline, for one subject."""

import math
from collections.abc import Callable, Hashable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from operator import attrgetter
from statistics import fmean
from typing import Any, SupportsFloat, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.explaining.facts.disks import READS, WRITES
from io_benchmark.analysis.explaining.parts import divide, waits_longer_ns
from io_benchmark.analysis.model.figures import Division, Figures
from io_benchmark.analysis.model.measurement import OtherMeasurement
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Part, Phase
from io_benchmark.analysis.reading.disk_rates import waited_share_at_most, waits_for_disks

_MOSTLY = 2  # operations are judged by reads where disks read so many times what they write
_FEWEST_READS_SHARE = 0.2  # copies do not wait for reads of a smaller part of the written bytes
_NOTHING_TO_EXPLAIN_RATIO = 1.02  # times nearer than this differ too little to explain
_MOST_OF_THE_TIME_SHARE = 0.999  # nothing becomes more than a thousand times as fast
AS_FAST_SHARE = 0.9  # chosen: a disk that moves this share of the other's rate or more is as fast
_MEAN_NS, _BLOCKED_NS = attrgetter("known_mean_ns"), attrgetter("blocked_ns")

Value = TypeVar("Value", bound=Hashable)


class Case(Struct, frozen=True, dict=True):
    """One candidate against the baseline, for one subject, and whose facts are read.

    Rules read the facts of `slower` and `faster`. These are the two sides, or where a cause is
    judged worker by worker, one worker and those that it is compared with. The difference to
    explain is always that of the sides.
    """

    subject: Subject
    ratio: float | None  # a positive number; None: no difference was shown
    baseline: Side
    candidate: Side
    slower: Side
    faster: Side
    measurements: Sequence[OtherMeasurement] = ()  # all that the two were compared on
    as_fast_share: float = AS_FAST_SHARE  # rates nearer than this do not differ

    @classmethod
    def of(
        cls,
        subject: Subject,
        ratio: float | None,
        baseline: Side,
        candidate: Side,
        measurements: Sequence[OtherMeasurement] = (),
    ) -> "Case":
        """Return the case in which the facts of whole sides are read."""
        slower, faster = baseline, candidate
        if ratio is not None and ratio > 1:
            slower, faster = candidate, baseline
        return cls(subject, ratio, baseline, candidate, slower, faster, measurements)

    def of_worker(self, slower: Side, faster: Side) -> "Case":
        """Return the case in which these facts are read: one of the two is a single worker.

        Its side differs by more than chance already, so any difference of a rate counts.
        """
        return replace(self, slower=slower, faster=faster, as_fast_share=1.0)

    def measured(self, workload: str, variant: str | None = None) -> list[OtherMeasurement]:
        """Return the measurements of a workload (or variant), in the report's order.

        Those of other places count only where this case's place has none.
        """
        matching = [
            measured
            for measured in self.measurements
            if measured.subject.workload == workload and variant in (None, measured.subject.variant)
        ]
        here = [match for match in matching if match.subject.place == self.subject.place]
        return here or matching

    def sibling(self, **changes: Any) -> OtherMeasurement | None:
        subject = replace(self.subject, **changes)
        return next((sibling for sibling in self.measurements if sibling.subject == subject), None)

    def slower_first(self, measurement: OtherMeasurement) -> tuple[Figures, Figures]:
        """Return the measurement's figures, those of this case's slower side first."""
        sides = measurement.baseline, measurement.candidate
        return (sides[1], sides[0]) if self.candidate_is_slower else sides

    def longer_ns(self, measurement: OtherMeasurement) -> float:
        slower, faster = self.slower_first(measurement)
        return slower.mean_ns - faster.mean_ns

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
        return Case.of(subject, measurement.comparison.ratio, *sides, self.measurements)

    def means(self, read: Callable[[Run], SupportsFloat | None]) -> list[float | None]:
        """Return the means of both sides, the slower side's first."""
        return [self.slower.mean(read), self.faster.mean(read)]

    def times_as_fast(self, read: Callable[[Run], float | None]) -> float | None:
        """Return the faster side's mean over the slower side's; None where one is 0 or unknown."""
        slower, faster = self.means(read)
        return faster / slower if slower and faster else None

    def is_as_fast(self, factor: float) -> bool:
        """Return whether the slower side's rate, which is this many times lower, hardly differs."""
        return factor * self.as_fast_share < 1

    def more_bandwidth(self, *, of_reads: bool = False) -> float | None:
        """Return how much more the faster side's disks can do at most; None: not measured.

        A slower disk shows in every rate that is known.
        """
        way = READS if of_reads else WRITES
        factors = [self.times_as_fast(rate) for rate in way.known_rates]
        return min((factor for factor in factors if factor is not None), default=None)

    @property
    def times(self) -> float:
        """Return how many times as long the slower side takes; 1 where no difference was shown."""
        return max(self.ratio, 1 / self.ratio) if self.ratio else 1.0

    def in_direction(self, times: float) -> float:
        """Return a ratio of slower to faster as one of the candidate to the baseline."""
        return times if self.candidate_is_slower else 1 / times

    def times_by_bandwidth(self, factor: float, at_most: float = 1.0) -> float:
        """Return how many times as long the slower side takes by disks that do less by a factor.

        More bandwidth saves at most the time in which copies are blocked, and in which the disks
        move bytes (`at_most`, a share of the time).
        """
        blocked_ns, mean_ns = self.slower.mean(_BLOCKED_NS), self.slower.mean(_MEAN_NS)
        if blocked_ns is not None and mean_ns:
            at_most = min(at_most, blocked_ns / mean_ns)
        waited_share = self.slower.mean(waited_share_at_most)
        if waited_share is not None:
            at_most = min(at_most, waited_share)
        return self.times_without(min(1 - 1 / factor, at_most))

    @staticmethod
    def times_without(share: float) -> float:
        """Return how many times as long it takes with this share of the time as without it."""
        return 1 / (1 - min(max(share, 0.0), _MOST_OF_THE_TIME_SHARE))

    def values(self, read: Callable[[Run], Value]) -> AbstractSet[Value]:
        return self.slower.values(read) | self.faster.values(read)

    @cached_property
    def division(self) -> Division | None:
        """Return what the slower side takes longer, in parts; None where a side has no times."""
        slower, faster = self.slower.measured, self.faster.measured
        return divide(slower, faster) if slower.workers and faster.workers else None

    def parts_of_workload(self, acts_through: frozenset[Part]) -> frozenset[Part]:
        """Return these parts as this workload has them: only cache-retrieve has two phases."""
        if self.subject.workload == "cache-retrieve":
            return acts_through
        return frozenset(Part(Phase.OPERATION, part.kind) for part in acts_through)

    def share_at_most(self, acts_through: frozenset[Part]) -> float | None:
        """Return these parts' share of the difference, with what is unknown of their phases."""
        division = self.division
        if division is None or division.difference_ns <= 0:
            return None
        parts = self.parts_of_workload(acts_through)
        unknown = {Part(part.phase, Kind.UNEXPLAINED) for part in parts}
        unknown_ns = division.of(*unknown - parts)
        if all(part.kind is not Kind.WAITING for part in parts):
            unknown_ns -= self.waits_longer_ns(parts)[0]
        return (division.of(*parts) + max(0.0, unknown_ns)) / division.difference_ns

    def waits_longer_ns(self, parts: frozenset[Part]) -> tuple[float, float]:
        """Return how much longer the slower side waits for CPUs: about, and at most, as known."""
        phases = {part.phase for part in self.parts_of_workload(parts)}
        return waits_longer_ns(self.slower, self.faster, self.division, phases)

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
        """Return the share of the difference by which a factor makes these parts take longer."""
        division, parts = self.division, self.parts_of_workload(acts_through)
        if division is None or not division.difference_ns:
            return None
        slower_ns = [part.candidate_ns for part in division.parts if part.part in parts]
        longer_ns = math.fsum(slower_ns) * (1 - 1 / factor)
        return longer_ns / abs(division.difference_ns) if slower_ns else None

    def time_in_parts(self, acts_through: frozenset[Part], runs: Sequence[Run]) -> float:
        """Return the time of these parts of an operation; all of it where one is unknown."""
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
    def system(self) -> str:
        """Return the system of both sides: a difference between two of them is not explained."""
        return next(iter(self.slower)).system

    @property
    def differs(self) -> bool:
        """Return whether the times differ enough to need an explanation."""
        return self.times >= _NOTHING_TO_EXPLAIN_RATIO

    @property
    def candidate_is_slower(self) -> bool:
        return self.ratio is not None and self.ratio > 1

    @property
    def whole_slower(self) -> Side:
        return self.candidate if self.candidate_is_slower else self.baseline

    @property
    def whole_faster(self) -> Side:
        return self.baseline if self.candidate_is_slower else self.candidate

    @property
    def slower_never_waits(self) -> bool:
        """Return whether none of the slower side is known to wait, and some are known not to."""
        waits = self.slower.values(waits_for_disks)
        return False in waits and True not in waits

    @property
    def mostly_reads(self) -> bool:
        """Return whether the slower side's copies wait for reads, or both sides hardly write."""
        if self.subject.workload != "cache-retrieve":
            return all(_hardly_writes(side) for side in (self.slower, self.faster))
        read_bytes = self.slower.mean(READS.moved_bytes) or 0.0
        written_bytes = self.slower.mean(WRITES.moved_bytes) or 0.0
        reading_share = self.slower.mean(READS.moving_share) or 0.0
        writing_share = self.slower.mean(WRITES.moving_share) or 0.0
        return reading_share > writing_share and read_bytes >= _FEWEST_READS_SHARE * written_bytes

    def more(self, read: Callable[[Run], SupportsFloat | None]) -> float | None:
        """Return how much more the slower side has; None where one side's is unknown."""
        slower, faster = self.means(read)
        return None if slower is None or faster is None else slower - faster

    @property
    def difference_ns(self) -> float | None:
        """Return how much longer the slower side's operation takes than the faster side's."""
        slower_ns, faster_ns = self.whole_slower.mean(_MEAN_NS), self.whole_faster.mean(_MEAN_NS)
        return None if slower_ns is None or faster_ns is None else slower_ns - faster_ns

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


def _hardly_writes(side: Side) -> bool:
    read_bytes = side.mean(READS.moved_bytes) or 0.0
    return read_bytes > 0 and read_bytes > _MOSTLY * (side.mean(WRITES.moved_bytes) or 0.0)
