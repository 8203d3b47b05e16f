# SPDX-License-Identifier: MPL-2.0
"""What the network disks of a side may do, and what they were seen to do."""

from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import (
    Quantity,
    Statement,
    Unit,
    joined,
    statement,
)
from io_benchmark.analysis.reading.cap_ways import OPERATIONS, READING, WRITING, CapWay
from io_benchmark.analysis.reading.network_disks import Limits, PlaceDisk, place_disk
from io_benchmark.results.machine import WINDOWS

_SEVERAL = statement("What several network disks under one place may do is not published.")
_UNPUBLISHED = statement("What its network disk may do is not published.")
_SAME_CAP_RATIO = 1.05  # caps nearer than this are alike
_BURSTING_RATIO = 1.25  # above so many times its rate without credits, a disk spends them
_STEP_SHARES = (0.75, 1.25)  # a step is that of credits if rates fall by this much of theirs


class SideDisk(Struct, frozen=True, kw_only=True):
    """The network disk of a side's workers: means where they differ."""

    way: CapWay
    places: Sequence[PlaceDisk]
    limits: Limits
    measured: float | None
    is_held_by_machine: bool

    @classmethod
    def of(cls, side: Side, way: CapWay) -> "SideDisk | Statement":
        """Return the side's disk, or why it is not known what it may do."""
        places = [place_disk(run) for run in side]
        if None in places:
            return _SEVERAL
        known = [place for place in places if place is not None and place.caps]
        limits = [place.limits(way) for place in known]
        published = [each for each in limits if each is not None]
        if not published:
            problems = [place.problem for place in places if place is not None and place.problem]
            return problems[0] if problems else _UNPUBLISHED
        measured = side.mean(way.measured)
        return cls(
            way=way,
            places=known,
            limits=Limits(
                fmean(each.least for each in published), fmean(each.most for each in published)
            ),
            measured=measured,
            is_held_by_machine=all(place.is_held_by_machine(way, measured) for place in known),
        )

    @property
    def name(self) -> Statement:
        return joined((place.name for place in self.places), " or ")

    @property
    def machine_type(self) -> str:
        return self.places[0].machine.machine_type

    def amount(self, per_s: float) -> Quantity:
        return Quantity(per_s, self.way.unit)

    def is_like(self, disk: "SideDisk") -> bool:
        """Return whether another side's disk may do the same: now, or with the same credits."""
        if _are_near(self.rate, disk.rate):
            return True
        own, its = self.limits, disk.limits
        return _are_near(own.least, its.least) and _are_near(own.most, its.most)

    @property
    def rate(self) -> float:
        return self.limits.rate(self.measured)

    @property
    def is_certain(self) -> bool:
        return all(place.is_certain for place in self.places)

    @property
    def is_defined(self) -> bool:
        return all(place.is_defined for place in self.places)

    @property
    def has_spent_credits(self) -> bool:
        """Return whether a disk that bursts was seen at its rate without credits."""
        if self.after_credits is None or self.measured is None:
            return False
        return self.measured < _BURSTING_RATIO * self.after_credits

    @property
    def after_credits(self) -> float | None:
        """Return the rate once the credits of a burst are spent; None without a burst."""
        return self.limits.least if any(place.has_burst for place in self.places) else None


def _are_near(first: float, second: float) -> bool:
    return max(first, second) <= _SAME_CAP_RATIO * min(first, second)


def cap_way(case: Case) -> CapWay:
    """Return by which of its caps a disk holds the slower side back, if by any."""
    if case.subject.workload == "random-io":
        return OPERATIONS["read" if "read" in case.subject.variant else "write"]
    # On Windows, copies may wait for reads alone, and leave the writes for later.
    only_reads = case.system == WINDOWS and case.slower.mean(WRITING.measured) is None
    return READING if case.mostly_reads or only_reads else WRITING


@cache
def may_do(way: CapWay) -> Callable[[Run], float | None]:
    """Return the function that reads of a run what its disk may do."""

    def read(run: Run) -> float | None:
        disk = place_disk(run)
        limits = disk.limits(way) if disk is not None else None
        return None if limits is None else limits.rate(way.measured(run))

    return read


def end_of_credits(side: Side, late_over_early: float | None) -> Statement | None:
    """Return why the disks of a side slowed down, where they spent the credits of a burst."""
    disk = SideDisk.of(side, WRITING)
    if isinstance(disk, Statement) or disk.after_credits is None or late_over_early is None:
        return None
    expected = disk.limits.least / disk.limits.most
    if not _STEP_SHARES[0] <= late_over_early / expected <= _STEP_SHARES[1]:
        return None
    return statement(
        "This is what {disk} does: it may write {most} until its credits are spent, and {least} "
        "from then on.",
        disk=disk.name,
        most=Quantity(disk.limits.most, Unit.BYTES_PER_SECOND),
        least=Quantity(disk.limits.least, Unit.BYTES_PER_SECOND),
    )
