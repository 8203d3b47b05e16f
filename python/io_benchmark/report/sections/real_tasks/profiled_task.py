# SPDX-License-Identifier: MPL-2.0
"""A task as a report of predictions writes it: its title, its times and what they cost."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import NamedTuple, Self

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.prediction.prediction_model import (
    PREDICTION_LEVEL,
    PoolPrediction,
    TaskPrediction,
)
from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.number_text import digits, duration_unit, is_cut
from io_benchmark.report.drawn import DrawnRatio
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.text import clean_name

_TASKS_PAID = 1000  # costs are of this many tasks: one task costs too little to write
PAID = f"{_TASKS_PAID:,} tasks"


class ProfiledTask(NamedTuple):
    """A task, the pool of its profiles, and the pools whose times are known."""

    data: TaskPrediction
    profiled_on: str
    profiled_ns: float
    known: Sequence[PoolPrediction]  # predicted, or measured by a profile
    ranges: Sequence[PoolPrediction]  # with a range and no likely time

    @classmethod
    def of(cls, task: TaskPrediction) -> Self:
        known = [pool for pool in task.pools if pool.time_ns is not None or pool.measured_ns]
        ranges = [pool for pool in task.pools if pool not in known and pool.at_least_ns is not None]
        profiled_on = task.pool or "a pool without a name"
        return cls(task, profiled_on, fmean(task.measured_ns), known, ranges)

    @property
    def title(self) -> str:
        command = f", command {self.data.sha256[:8]}" if self.data.sha256 else ""
        label = f"{clean_name(self.data.label)}: " if self.data.label else ""
        return f"{label}{clean_name(self.data.program)}{command}"

    def time(self, time_ns: float | None, write: Callable[[float], str] = digits) -> str:
        """Write a time in the unit that suits the profiled task; nothing for none."""
        if time_ns is None:
            return ""
        unit_s, unit = duration_unit(self.profiled_ns / NS_PER_S)
        return f"{write(time_ns / NS_PER_S / unit_s)} {unit}"

    def interval(self, pool: PoolPrediction) -> str:
        """Write '1.2 to 1.5 min'."""
        ends = (pool.low_ns, pool.high_ns)
        if pool.time_ns is None:
            ends = (pool.at_least_ns, pool.at_most_ns)
        if ends[0] is None:
            return "not predicted"
        if is_cut(ends[0], ends[1] or 0.0):
            return "unknown"
        low, high = map(self.time, ends)
        return f"{low.rpartition(' ')[0]} to {high}"

    def ratio(self, pool: PoolPrediction) -> DrawnRatio | None:
        """Return the predicted time divided by the profiled one, with its interval."""
        if not pool.time_ns or not pool.low_ns or not pool.high_ns:
            return None
        low, high = (end / self.profiled_ns for end in (pool.low_ns, pool.high_ns))
        bounds = Interval(low, high, PREDICTION_LEVEL)
        return DrawnRatio(pool.time_ns / self.profiled_ns, bounds)

    def price_ratio(self, pool: PoolPrediction) -> float | None:
        """Return the price there by that of the profiled pool; two currencies have no ratio."""
        here, there = self.data.price, pool.price
        if here is None or there is None or here.currency != there.currency:
            return None
        return there.per_hour / here.per_hour


def best_ns(pool: PoolPrediction) -> float | None:
    """Return the measured time, which needs no model, else the predicted one."""
    return fmean(pool.measured_ns) if pool.measured_ns else pool.time_ns


def money_text(time_ns: float | None, price: Price | None) -> str:
    """Write what this many tasks cost; nothing without a time."""
    minutes = (time_ns or 0) / NS_PER_S / 60
    return Cost((CostShare("", _TASKS_PAID, minutes, price=price),)).money if minutes else ""
