# SPDX-License-Identifier: MPL-2.0
"""What the picture of pools and workers draws, in which each pool is a row."""

from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.analysis.model.comparison import Interval


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
    dots: Sequence[Dot] = ()  # with titles and links
    points: Sequence[float] = ()  # the ratios of further workers

    @property
    def workers(self) -> int:
        return len(self.dots) + len(self.points)

    @property
    def ratios(self) -> list[float]:
        return sorted([*(dot.ratio for dot in self.dots), *self.points])
