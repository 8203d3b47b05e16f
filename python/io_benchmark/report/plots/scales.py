# SPDX-License-Identifier: MPL-2.0
"""Where values and round numbers are on an axis."""

import math
from collections.abc import Iterable
from typing import Self

from msgspec import Struct

# Below this ratio of its ends, ticks of a logarithmic axis are spaced as on a linear one.
_NARROW = 4.0
# At both ends, as a part of the length
_ROOM = 0.06


class Scale(Struct, frozen=True):
    """A range of values; a place is a part of the axis: 0 at its start, 1 at its end."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def around(cls, values: Iterable[float], *, logarithmic: bool = False) -> Self:
        """Return a scale of all finite values, with room at both ends."""
        finite = [value for value in values if math.isfinite(value)]
        if logarithmic:
            positive = [value for value in finite if value > 0] or [1.0]
            low, high = math.log(min(positive)), math.log(max(positive))
            margin = max((high - low) * _ROOM, 0.02)
            return cls(math.exp(low - margin), math.exp(high + margin), logarithmic=True)
        low, high = min(finite, default=0.0), max(finite, default=0.0)
        margin = (high - low) * _ROOM or 1.0
        return cls(low - margin, high + margin)

    @classmethod
    def from_zero(cls, values: Iterable[float]) -> Self:
        """Return a linear scale from 0 to a little above the largest value."""
        return cls(0.0, max(values, default=0.0) * 1.05 or 1.0)

    def place(self, value: float) -> float:
        """Return the place of a value; one beyond an end is at that end."""
        inside = max(self.low, min(self.high, value))
        if self.logarithmic:
            return math.log(inside / self.low) / math.log(self.high / self.low)
        return (inside - self.low) / (self.high - self.low)

    def ticks(self, most: int) -> list[float]:
        """Return at most this many round values on the axis."""
        if self.logarithmic and self.high / self.low >= _NARROW:
            return _round_decades(self.low, self.high, most)
        return _round_steps(self.low, self.high, most)


def _round_decades(low: float, high: float, most: int) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        values = (digit * 10.0**decade for decade in decades for digit in digits)
        ticks = [value for value in values if low <= value <= high]
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]


def _round_steps(low: float, high: float, most: int) -> list[float]:
    decade = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(
        factor * decade for factor in (1, 2, 5, 10, 20) if (high - low) / (factor * decade) <= most
    )
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
