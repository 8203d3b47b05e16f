# SPDX-License-Identifier: MPL-2.0
"""What a pool's times may follow besides steps: a trend, the days of a week, the hours of a day.

Each is some columns of a linear model of the points' logarithms, from the points' dates (UTC).
"""

import math
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from msgspec import Struct

from io_benchmark.analysis.arrays import Numbers

TREND, WEEK, WEEKENDS, DAY = "trend", "week", "weekends", "day"
DAY_S = 86_400.0
YEAR_DAYS, _WEEK_DAYS = 365.25, 7.0
# What happens within fewer days is no trend.
_TREND_DAYS = 14
# A wave of a week or a day must repeat this often.
_CYCLES = 3
# A week and a day are divided into parts; enough of the parts must have enough points.
_PARTS, _FEWEST_PER_PART = {_WEEK_DAYS: 7, 1.0: 8}, 3
_FEWEST_PARTS = 4
# 1970-01-01 was a Thursday; weeks begin on Monday.
_THURSDAY = 3
_SATURDAY = 5

WAVES = {WEEK: _WEEK_DAYS, DAY: 1.0}


class Calendar(Struct, frozen=True):
    """The days of points, counted from Monday, 1969-12-29, 0:00 UTC."""

    days: Numbers

    @classmethod
    def of(cls, times: Sequence[datetime]) -> "Calendar":
        return cls(np.array([time.timestamp() for time in times]) / DAY_S + _THURSDAY)

    @property
    def length_days(self) -> float:
        return float(self.days[-1] - self.days[0])

    def seasons(self) -> list[tuple[str, ...]]:
        """Return the seasons that the points can show, in all combinations."""
        of_week = [(WEEK,), (WEEKENDS,)] if self._shows(_WEEK_DAYS) else []
        of_day = [(DAY,)] if self._shows(1.0) else []
        return [(*week, *day) for week in [(), *of_week] for day in [(), *of_day]]

    @property
    def shows_trend(self) -> bool:
        return self.length_days >= _TREND_DAYS

    def columns(self, names: Sequence[str]) -> Numbers:
        """Return a column of ones, and those of each name."""
        columns = [np.ones(len(self.days))]
        for name in names:
            columns += self._columns_of(name)
        return np.column_stack(columns)

    def _shows(self, cycle_days: float) -> bool:
        if self.length_days < _CYCLES * cycle_days:
            return False
        parts = np.floor(self.days % cycle_days / cycle_days * _PARTS[cycle_days])
        _, counts = np.unique(parts, return_counts=True)
        return int(np.sum(counts >= _FEWEST_PER_PART)) >= _FEWEST_PARTS

    def _columns_of(self, name: str) -> list[Numbers]:
        if name == TREND:
            return [(self.days - np.mean(self.days)) / YEAR_DAYS]
        if name == WEEKENDS:
            is_weekend = np.floor(self.days % _WEEK_DAYS) >= _SATURDAY
            return [is_weekend.astype(np.float64)]
        angles = 2 * math.pi * self.days / WAVES[name]
        return [np.cos(angles), np.sin(angles)]
