# SPDX-License-Identifier: MPL-2.0
"""What the supported causes do not explain of a difference, as data."""

from msgspec import Struct

from io_benchmark.analysis.parts.time_parts import Kind, Phase


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
