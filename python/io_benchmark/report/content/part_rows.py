# SPDX-License-Identifier: MPL-2.0
"""The parts of one difference with plain names, in one unit; small parts share a row."""

import math
from collections.abc import Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.parts.division import Division
from io_benchmark.analysis.parts.time_parts import Kind, Phase
from io_benchmark.number_text import TimeScale, signed_percent, whole_percents

# A part is small where it is less than this of the difference, and of the time on both sides.
SMALL = 0.02
# Parts that cancel each other have no useful share: the largest would be this many times the whole.
_MOST_SHARE = 10
_BLOCKED, _NOT_RECORDED = "blocked", "not recorded"
# An operation with one phase needs no name for it.
_PHASES = {Phase.LOOKUP: "lookups", Phase.COPY: "copies", Phase.OPERATION: ""}
_KINDS = {
    Kind.USER: "on a CPU in user mode",
    Kind.KERNEL: "on a CPU in the kernel",
    Kind.WAITING: "waiting for a CPU",
    Kind.BLOCKED: _BLOCKED,
    Kind.UNEXPLAINED: _NOT_RECORDED,
}


def part_name(phase: Phase, kind: Kind) -> str:
    """Return 'copies blocked'."""
    return " ".join(filter(None, (_PHASES[phase], _KINDS[kind])))


class PartRow(Struct, frozen=True):
    """A part, several parts, or the whole."""

    phase: str  # "copies"; empty where the row is about several phases
    kind: str  # "blocked"
    baseline_ns: float
    candidate_ns: float
    percent: int | None = None  # of the difference; None where parts cancel each other
    low_ns: float | None = None  # the interval of the difference; a sum has none
    high_ns: float | None = None
    is_sum: bool = False

    @property
    def difference_ns(self) -> float:
        return self.candidate_ns - self.baseline_ns

    @property
    def meaning(self) -> str:
        return "I/O, writeback, memory" if self.kind == _BLOCKED else ""

    @property
    def is_recorded(self) -> bool:
        return self.kind != _NOT_RECORDED

    @property
    def is_certain(self) -> bool:
        """Return whether its interval does not include zero; without one it is."""
        return self.low_ns is None or self.high_ns is None or self.low_ns > 0 or self.high_ns < 0

    @property
    def name(self) -> str:
        return (" " if self.is_recorded else ", ").join(filter(None, (self.phase, self.kind)))


class PartRows(Struct, frozen=True):
    """All parts of a difference, and the whole, in one unit."""

    parts: Sequence[PartRow]  # every part
    shown: Sequence[PartRow]  # without the small ones, which share the last row
    whole: PartRow
    scale: TimeScale

    def difference_text(self, difference_ns: float, percent: int | None = None) -> str:
        """Write '+68.0 ms (97 %)'."""
        share = "" if percent is None else f" ({signed_percent(percent)})"
        return f"{self.scale.signed(difference_ns)} {self.scale.unit}{share}"

    @classmethod
    def of(cls, division: Division) -> Self:
        """Name a division's parts; the shares are rounded so that they add up to 100 %."""
        parts = [
            PartRow(
                _PHASES[part.phase],
                _KINDS[part.kind],
                *(part.baseline_ns, part.candidate_ns, percent, part.low_ns, part.high_ns),
            )
            for part, percent in zip(division.parts, _percents(division), strict=True)
        ]
        whole = _sum("all parts", parts)
        small = [part for part in parts if _is_small(part, whole)]
        shown = parts
        if len(small) > 1:
            large = [part for part in parts if part not in small]
            shown = [*large, _sum("other parts", small)]
        totals_ns = (whole.baseline_ns, whole.candidate_ns)
        return cls(parts, shown, whole, TimeScale.of(totals_ns, division.difference_ns))


def _sum(label: str, parts: Sequence[PartRow]) -> PartRow:
    baseline_ns = math.fsum(part.baseline_ns for part in parts)
    candidate_ns = math.fsum(part.candidate_ns for part in parts)
    percents = [part.percent for part in parts if part.percent is not None]
    percent = sum(percents) if percents else None
    return PartRow("", label, baseline_ns, candidate_ns, percent, is_sum=True)


def _percents(division: Division) -> Sequence[int | None]:
    """Return the parts' signed shares, or none of them where the parts cancel each other."""
    whole_ns = division.difference_ns
    largest_ns = max(abs(part.difference_ns) for part in division.parts)
    if not whole_ns or largest_ns > _MOST_SHARE * abs(whole_ns):
        return [None] * len(division.parts)
    return whole_percents([part.difference_ns / whole_ns for part in division.parts])


def _is_small(part: PartRow, whole: PartRow) -> bool:
    pairs = (
        (part.difference_ns, whole.difference_ns),
        (part.baseline_ns, whole.baseline_ns),
        (part.candidate_ns, whole.candidate_ns),
    )
    return all(abs(part_ns) < SMALL * abs(whole_ns) for part_ns, whole_ns in pairs)
