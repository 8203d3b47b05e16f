# SPDX-License-Identifier: MPL-2.0
"""Where values and ticks are on an axis, and what an axis of times or rates shows."""

import math
from collections.abc import Iterable
from typing import Self

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from io_benchmark.analysis.history.history_model import HistorySeries
from io_benchmark.analysis.model import Integers, Subject
from io_benchmark.number_text import digits, tick, time_unit, times
from io_benchmark.results import workloads
from io_benchmark.results.workload import NS_PER_S

# Below this ratio of its ends, ticks of a logarithmic axis are spaced as on a linear one.
_NARROW = 4.0
# An axis of a history has at least this on both sides of the newest level.
_STEADY_RATIO = 0.1
_TIME_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)


class Scale(Struct, frozen=True):
    """A range of values; a place is a part of the axis: 0 at its start, 1 at its end."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def of_means(cls, series: HistorySeries, means_ns: Iterable[float]) -> Self:
        """Return a scale of a history's means that is never narrow, so that noise looks small."""
        shown = workloads.of(series.subject.workload).shown
        newest = shown(series.levels[-1].mean_ns)
        steady = (newest * (1 - _STEADY_RATIO), newest * (1 + _STEADY_RATIO))
        return cls.around([*map(shown, means_ns), *steady], logarithmic=False, room=0.06)

    @classmethod
    def around(cls, values: Iterable[float], *, logarithmic: bool, room: float) -> Self:
        """Return a scale of all finite values, with room (a part of its length) at both ends."""
        known = [value for value in values if math.isfinite(value)]
        if logarithmic:
            known = [value for value in known if value > 0] or [1.0]
            low, high = math.log(min(known)), math.log(max(known))
            margin = max((high - low) * room, 0.02)
            return cls(math.exp(low - margin), math.exp(high + margin), logarithmic=True)
        known = known or [0.0]
        low, high = min(known), max(known)
        margin = (high - low) * room or 1.0
        return cls(low - margin, high + margin)

    @classmethod
    def from_zero(cls, values: Iterable[float]) -> Self:
        """Return a linear scale from 0 to a little above the largest value."""
        highest = max((value for value in values if math.isfinite(value)), default=0.0)
        return cls(0.0, highest * 1.05 or 1.0)

    def places(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the places of values; those beyond an end are at that end."""
        clipped = np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        if self.logarithmic:
            return np.log(clipped / self.low) / math.log(self.high / self.low)
        return (clipped - self.low) / (self.high - self.low)

    def place(self, value: float) -> float:
        return float(self.places(value))

    def ticks(self, most: int) -> list[float]:
        """Return at most this many round values on the axis."""
        if self.logarithmic and self.high / self.low >= _NARROW:
            return _round_decades(self.low, self.high, most)
        return _round_steps(self.low, self.high, most)

    def clock_ticks(self, most: int) -> list[tuple[float, str]]:
        """Return the places and labels of ticks in seconds and minutes, as on a clock."""
        length_s = self.high - self.low
        step_s = next((step for step in _TIME_STEPS_S if length_s / step <= most), 0)
        if step_s:
            first, last = math.ceil(self.low / step_s), math.floor(self.high / step_s)
            ticks_s = [float(at * step_s) for at in range(first, last + 1)]
        else:
            ticks_s = _round_steps(self.low, self.high, most)
        return [(self.place(time_s), _clock_text(time_s)) for time_s in ticks_s]


class Axis(Struct, frozen=True):
    """An axis of times, or of operations per second in the unit `rate`."""

    rate: str = ""

    def values(self, times_ns: Integers) -> NDArray[np.float64]:
        """Return times, or rates."""
        known: NDArray[np.float64] = np.maximum(np.asarray(times_ns), 1).astype(np.float64)
        return NS_PER_S / known if self.rate else known

    def place(self, time_ns: float) -> float:
        """Return where a time is among the values."""
        return NS_PER_S / time_ns if self.rate and time_ns > 0 else time_ns

    def tick(self, value: float) -> str:
        if not self.rate:
            return _time_label(value)
        return tick(value)

    def text(self, time_ns: float) -> str:
        return f"{digits(self.place(time_ns))} {self.rate}" if self.rate else times([time_ns])[0]


TIMES = Axis()


def axis_of(subject: Subject) -> Axis:
    workload = workloads.of(subject.workload)
    return Axis(workload.unit) if workload.higher_is_better else TIMES


def _time_label(tick_ns: float) -> str:
    size, unit = time_unit(tick_ns)
    return f"{tick(tick_ns / size)} {unit}"


def _clock_text(time_s: float) -> str:
    return f"{tick(time_s / 60)} min" if time_s >= 60 and time_s % 30 == 0 else f"{tick(time_s)} s"


def _round_decades(low: float, high: float, most: int) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for leading in ((1, 2, 5), (1, 3), (1,)):
        ticks = [
            digit * 10.0**decade
            for decade in decades
            for digit in leading
            if low <= digit * 10.0**decade <= high
        ]
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]


def _round_steps(low: float, high: float, most: int) -> list[float]:
    decade = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(
        factor * decade for factor in (1, 2, 5, 10, 20) if (high - low) / (factor * decade) <= most
    )
    first = math.ceil(low / step)
    return [at * step for at in range(first, math.floor(high / step) + 1)]
