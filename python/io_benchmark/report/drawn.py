# SPDX-License-Identifier: MPL-2.0
"""What pictures draw: ratios, and pools with their workers."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from io_benchmark.analysis.model.comparison import Interval, Verdict
from io_benchmark.number_text import number_of


class Dot(Struct, frozen=True):
    """A worker: its mean time, divided by the mean of the baseline."""

    ratio: float
    title: str = ""
    link: str = ""


class StripRow(Struct, frozen=True, kw_only=True):
    """A pool: its verdict in words, its ratio with intervals, and its workers."""

    name: str
    detail: str = ""  # below the name, such as the measurement
    verdict: str  # BASELINE, a Verdict's value, NO_VERDICT or NOISE
    chip: str  # the verdict in a few words
    ratio: float | None = None
    interval: Interval | None = None
    interval_90: Interval | None = None
    is_compared: bool = True  # otherwise its workers are drawn hollow
    noun: str = "worker"  # what a dot is
    dots: Sequence[Dot] = ()  # with titles and links
    points: Sequence[float] = ()  # the ratios of further workers
    limit_ratio: float | None = None  # of a gate: what is below it passes

    @property
    def workers(self) -> int:
        return len(self.dots) + len(self.points)

    @property
    def counted(self) -> str:
        """Return '3 workers', or that they are not drawn."""
        if self.workers:
            return number_of(self.workers, self.noun)
        return "not drawn" if self.noun == "worker" else ""

    @property
    def ratios(self) -> list[float]:
        return sorted([*(dot.ratio for dot in self.dots), *self.points])


class DrawnRatio(NamedTuple):
    """A ratio in a picture that is not of a comparison: its verdict is where its interval is."""

    ratio: float
    interval: Interval

    @property
    def interval_90(self) -> Interval:
        return self.interval

    @property
    def verdict(self) -> Verdict:
        if self.interval.excludes(1.0):
            return Verdict.SLOWER if self.ratio > 1 else Verdict.FASTER
        return Verdict.INCONCLUSIVE

    def times(self, factor: float) -> "DrawnRatio":
        low, high = (factor * end for end in (self.interval.low_ratio, self.interval.high_ratio))
        return DrawnRatio(factor * self.ratio, Interval(low, high, self.interval.level_ratio))


class AmountRow(Struct, frozen=True, kw_only=True):
    """An amount with its interval, such as hours per month."""

    name: str
    detail: str
    verdict: str
    outcome: str  # the amount in words
    amount: float
    low: float
    high: float


class BarPart(NamedTuple):
    """A part of a bar: what it waits for is its kind."""

    length: float
    kind: str
    title: str


class BarRow(NamedTuple):
    """A bar of parts that follow each other, such as the phases of a run."""

    name: str
    detail: str
    outcome: str  # its length in words
    parts: Sequence[BarPart]

    @property
    def length(self) -> float:
        return sum(part.length for part in self.parts)
