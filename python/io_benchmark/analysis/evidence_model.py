# SPDX-License-Identifier: MPL-2.0
"""What the workers of a side showed about a cause, and what the causes leave over, as data."""

from msgspec import Struct

from io_benchmark.analysis.parts.time_parts import Kind, Phase
from io_benchmark.analysis.statements import Statement


class Seen(Struct, frozen=True):
    """A value of an observation, and on how many workers it was seen."""

    value: Statement
    count: int


class Observation(Struct, frozen=True):
    """One kind of fact about a side's workers, the most frequent value first.

    A single worker's runs are counted instead where they differ.
    """

    name: str  # "write-rate"
    seen: tuple[Seen, ...]
    total: int  # how many workers, or runs, the side has; 0 for a figure of the whole side
    counts_runs: bool = False

    @classmethod
    def of_side(cls, name: str, figure: Statement) -> "Observation":
        return cls(name, (Seen(figure, 0),), 0)


class Evidence(Struct, frozen=True):
    """What one side's workers showed about a cause."""

    observations: tuple[Observation, ...] = ()
    summary: Statement | None = None  # leads a report's sentence: "1 disk"

    @classmethod
    def led_by(cls, *observations: Observation) -> "Evidence":
        return cls(observations, observations[0].seen[0].value)


class LeftoverPart(Struct, frozen=True):
    """What the supported causes leave over in one part of the time."""

    phase: Phase
    kind: Kind
    difference_ns: float


class Leftover(Struct, frozen=True):
    """What the supported causes do not explain of a difference, and the parts that it lies in."""

    difference_ns: float
    share: float
    parts: tuple[LeftoverPart, ...]  # the largest first
