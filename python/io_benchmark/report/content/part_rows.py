# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The parts of one difference as rows of a table, with plain names; small parts share a row."""

import math
from collections.abc import Mapping, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.parts.division import Division, PartDifference
from io_benchmark.analysis.parts.time_parts import Kind, Phase
from io_benchmark.number_text import NOTHING, TimeScale, signed_percent, whole_percents

_OTHER_PARTS, _ALL_PARTS = "other parts", "all parts"
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
    """A part, several parts, or the whole; the cells of a table, and what a sentence needs."""

    phase: str  # "copies"; empty where the row is about several phases
    kind: str  # "blocked"
    meaning: str  # "I/O, writeback, memory", or nothing
    cells: tuple[str, ...]
    difference_ns: float
    percent: int | None  # of the difference; None where parts cancel each other
    is_sum: bool = False
    is_certain: bool = True  # its interval does not include zero, or there is none
    is_recorded: bool = True

    @property
    def short_name(self) -> str:
        return (" " if self.is_recorded else ", ").join(filter(None, (self.phase, self.kind)))

    @property
    def name(self) -> str:
        return self.short_name + self.explanation

    @property
    def explanation(self) -> str:
        return f" ({self.meaning})" if self.meaning else ""


class PartRows(Struct, frozen=True):
    """All parts of a difference, and the whole, in one unit."""

    parts: tuple[PartRow, ...]  # every part
    shown: tuple[PartRow, ...]  # without the small ones, which share the last row
    whole: PartRow
    baseline_ns: float
    candidate_ns: float
    scale: TimeScale
    has_intervals: bool

    @property
    def has_uncertain(self) -> bool:
        return not all(row.is_certain for row in self.shown)

    def difference_text(self, difference_ns: float, percent: int | None = None) -> str:
        """Write '+68.0 ms (97 %)'."""
        share = "" if percent is None else f" ({signed_percent(percent)})"
        return f"{self.scale.signed(difference_ns)} {self.scale.unit}{share}"

    @classmethod
    def of(cls, division: Division) -> Self:
        """Write a division's parts; the shares are rounded so that they add up to 100 %."""
        totals_ns = _totals(division.parts)
        scale = TimeScale.of(totals_ns, division.difference_ns)
        has_intervals = any(part.low_ns is not None for part in division.parts)
        percents = _percents(division)
        writer = _RowWriter(scale, has_intervals)
        parts = tuple(map(writer.part, division.parts, percents))
        whole = writer.sum_of(division.parts, _ALL_PARTS, None if percents[0] is None else 100)
        small = [each for each in division.parts if _is_small(each, division, totals_ns)]
        shown = parts
        if len(small) > 1:
            pairs = list(zip(division.parts, parts, strict=True))
            percents_of_small = [row.percent for part, row in pairs if part in small]
            others = writer.sum_of(small, _OTHER_PARTS, _sum_known(percents_of_small))
            shown = (*(row for part, row in pairs if part not in small), others)
        return cls(parts, shown, whole, *totals_ns, scale, has_intervals)


class _RowWriter(Struct, frozen=True):
    scale: TimeScale
    has_intervals: bool

    def part(self, part: PartDifference, percent: int | None) -> PartRow:
        return PartRow(
            _PHASES[part.phase],
            _KINDS[part.kind],
            _MEANINGS.get(part.kind, ""),
            self._cells(part.baseline_ns, part.candidate_ns, _interval(part, self.scale), percent),
            part.difference_ns,
            percent,
            is_certain=_is_certain(part),
            is_recorded=part.kind is not Kind.UNEXPLAINED,
        )

    def sum_of(self, parts: Sequence[PartDifference], label: str, percent: int | None) -> PartRow:
        """Write several parts as one row; the interval of a sum is not known."""
        baseline_ns, candidate_ns = _totals(parts)
        cells = self._cells(baseline_ns, candidate_ns, NOTHING, percent)
        return PartRow("", label, "", cells, candidate_ns - baseline_ns, percent, is_sum=True)

    def _cells(
        self, baseline_ns: float, candidate_ns: float, interval: str, percent: int | None
    ) -> tuple[str, ...]:
        return (
            self.scale.plain(baseline_ns),
            self.scale.plain(candidate_ns),
            self.scale.signed(candidate_ns - baseline_ns),
            *([interval] if self.has_intervals else []),
            NOTHING if percent is None else signed_percent(percent),
        )


def _totals(parts: Sequence[PartDifference]) -> tuple[float, float]:
    return (
        math.fsum(part.baseline_ns for part in parts),
        math.fsum(part.candidate_ns for part in parts),
    )


def _percents(division: Division) -> list[int | None]:
    """Return the parts' signed shares, or none of them where the parts cancel each other."""
    whole_ns = division.difference_ns
    largest_ns = max(abs(part.difference_ns) for part in division.parts)
    if not whole_ns or largest_ns > _MOST_SHARE * abs(whole_ns):
        return [None] * len(division.parts)
    return [*whole_percents([part.difference_ns / whole_ns for part in division.parts])]


def _sum_known(percents: Sequence[int | None]) -> int | None:
    known = [percent for percent in percents if percent is not None]
    return sum(known) if known else None


def _interval(part: PartDifference, scale: TimeScale) -> str:
    if part.low_ns is None or part.high_ns is None:
        return NOTHING
    return f"{scale.signed(part.low_ns)} to {scale.signed(part.high_ns)}"


def _is_certain(part: PartDifference) -> bool:
    if part.low_ns is None or part.high_ns is None:
        return True
    return part.low_ns > 0 or part.high_ns < 0


def _is_small(part: PartDifference, division: Division, totals_ns: tuple[float, float]) -> bool:
    of_times = (
        abs(part_ns) < SMALL * total_ns
        for part_ns, total_ns in zip((part.baseline_ns, part.candidate_ns), totals_ns, strict=True)
    )
    return abs(part.difference_ns) < SMALL * abs(division.difference_ns) and all(of_times)
