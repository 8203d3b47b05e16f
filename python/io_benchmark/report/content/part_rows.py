# SPDX-License-Identifier: MPL-2.0
"""The parts of one difference with plain names, in one unit; small parts share a row."""

import math
from collections.abc import Mapping, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.parts.division import Division, PartDifference
from io_benchmark.analysis.parts.time_parts import Kind, Phase
from io_benchmark.number_text import TimeScale, signed_percent, whole_percents

# A part is small where it is less than this of the difference, and of the time on both sides.
SMALL = 0.02
# Parts that cancel each other have no useful share: the largest would be this many times the whole.
_MOST_SHARE = 10
# An operation with one phase needs no name for it.
_PHASES: Mapping[Phase, str] = {Phase.LOOKUP: "lookups", Phase.COPY: "copies", Phase.OPERATION: ""}
_KINDS: Mapping[Kind, str] = {
    Kind.USER: "on a CPU in user mode",
    Kind.KERNEL: "on a CPU in the kernel",
    Kind.WAITING: "waiting for a CPU",
    Kind.BLOCKED: "blocked",
    Kind.UNEXPLAINED: "not recorded",
}
_MEANINGS: Mapping[Kind, str] = {Kind.BLOCKED: "I/O, writeback, memory"}


def part_name(phase: Phase, kind: Kind) -> str:
    """Return 'copies blocked'."""
    return " ".join(filter(None, (_PHASES[phase], _KINDS[kind])))


class PartRow(Struct, frozen=True):
    """A part, several parts, or the whole."""

    phase: str  # "copies"; empty where the row is about several phases
    kind: str  # "blocked"
    baseline_ns: float
    candidate_ns: float
    percent: int | None  # of the difference; None where parts cancel each other
    meaning: str = ""  # "I/O, writeback, memory", or nothing
    low_ns: float | None = None  # the interval of the difference; a sum has none
    high_ns: float | None = None
    is_sum: bool = False
    is_recorded: bool = True

    @property
    def difference_ns(self) -> float:
        return self.candidate_ns - self.baseline_ns

    @property
    def is_certain(self) -> bool:
        """Return whether its interval does not include zero; without one it is."""
        return self.low_ns is None or self.high_ns is None or self.low_ns > 0 or self.high_ns < 0

    @property
    def name(self) -> str:
        return (" " if self.is_recorded else ", ").join(filter(None, (self.phase, self.kind)))


class PartRows(Struct, frozen=True):
    """All parts of a difference, and the whole, in one unit."""

    parts: tuple[PartRow, ...]  # every part
    shown: tuple[PartRow, ...]  # without the small ones, which share the last row
    whole: PartRow
    scale: TimeScale

    def difference_text(self, difference_ns: float, percent: int | None = None) -> str:
        """Write '+68.0 ms (97 %)'."""
        share = "" if percent is None else f" ({signed_percent(percent)})"
        return f"{self.scale.signed(difference_ns)} {self.scale.unit}{share}"

    @classmethod
    def of(cls, division: Division) -> Self:
        """Name a division's parts; the shares are rounded so that they add up to 100 %."""
        percents = _percents(division)
        parts = tuple(map(_part, division.parts, percents))
        whole = _sum("all parts", parts, None if percents[0] is None else 100)
        shown = parts
        small = [part for part in parts if _is_small(part, whole)]
        if len(small) > 1:
            shares = [part.percent for part in small if part.percent is not None]
            others = _sum("other parts", small, sum(shares) if shares else None)
            shown = (*(part for part in parts if part not in small), others)
        totals_ns = (whole.baseline_ns, whole.candidate_ns)
        return cls(parts, shown, whole, TimeScale.of(totals_ns, division.difference_ns))


def _part(part: PartDifference, percent: int | None) -> PartRow:
    return PartRow(
        _PHASES[part.phase],
        _KINDS[part.kind],
        part.baseline_ns,
        part.candidate_ns,
        percent,
        _MEANINGS.get(part.kind, ""),
        part.low_ns,
        part.high_ns,
        is_recorded=part.kind is not Kind.UNEXPLAINED,
    )


def _sum(label: str, parts: Sequence[PartRow], percent: int | None) -> PartRow:
    baseline_ns = math.fsum(part.baseline_ns for part in parts)
    candidate_ns = math.fsum(part.candidate_ns for part in parts)
    return PartRow("", label, baseline_ns, candidate_ns, percent, is_sum=True)


def _percents(division: Division) -> list[int | None]:
    """Return the parts' signed shares, or none of them where the parts cancel each other."""
    whole_ns = division.difference_ns
    largest_ns = max(abs(part.difference_ns) for part in division.parts)
    if not whole_ns or largest_ns > _MOST_SHARE * abs(whole_ns):
        return [None] * len(division.parts)
    return [*whole_percents([part.difference_ns / whole_ns for part in division.parts])]


def _is_small(part: PartRow, whole: PartRow) -> bool:
    pairs = (
        (part.difference_ns, whole.difference_ns),
        (part.baseline_ns, whole.baseline_ns),
        (part.candidate_ns, whole.candidate_ns),
    )
    return all(abs(part_ns) < SMALL * abs(whole_ns) for part_ns, whole_ns in pairs)
