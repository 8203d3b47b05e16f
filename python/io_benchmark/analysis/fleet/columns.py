# SPDX-License-Identifier: MPL-2.0
"""The columns of the table: for each figure, the cells of all pools, which are ranked together.

An index has results of several program versions and sizes of workloads. Only the same work is
ranked: the newest that most pools of a system have. A pool without it has a cell with its own
newest work, and no rank.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from itertools import product
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.fleet.cells import MachineValue, MeanValue, mean_value, ranks
from io_benchmark.analysis.fleet.fleet_model import Cell, FleetFigure, WeekPoint
from io_benchmark.analysis.fleet.pool_readings import Located, PoolReadings
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.costs.worker_time import Price


class LevelStart(NamedTuple):
    """Where the current level of a pool's figure begins."""

    work: str
    start: datetime


# By pool and figure.
Levels = Mapping[str, Mapping[str, LevelStart]]
Cells = dict[str, dict[str, Cell]]  # by pool and figure


class _PoolMean(NamedTuple):
    pool: str
    mean: MeanValue
    work: str
    since: date


def cells_of(
    pools: Sequence[PoolReadings], figures: Iterable[FleetFigure], levels: Levels
) -> Cells:
    """Return the cells of each pool, with ranks among those of its system with the same work."""
    cells: Cells = {pool.pool: {} for pool in pools}
    by_system = grouped(pools, attrgetter("system"))
    for figure, members in product(figures, by_system.values()):
        by_work = {pool.pool: _by_work(pool, figure.name) for pool in members}
        usual = _usual_work(list(by_work.values()))
        means = [
            _pool_mean(pool.pool, by_work[pool.pool], usual, figure, levels)
            for pool in members
            if by_work[pool.pool]
        ]
        ranked = [mean for mean in means if mean.work == usual]
        intervals = [mean.mean.interval for mean in ranked]
        both = ranks(intervals, higher_is_better=figure.higher_is_better)
        rank_of = {mean.pool: rank for mean, rank in zip(ranked, both, strict=True)}
        for pool, mean, work, since in means:
            best, worst = rank_of.get(pool, (None, None))
            cells[pool][figure.name] = Cell(
                value=mean.value,
                interval=mean.interval,
                machines=mean.machines,
                best_rank=best,
                worst_rank=worst,
                since=since,
                work=work,
                is_assumed=mean.is_assumed,
            )
    return cells


_ByWork = Mapping[str, Sequence[Located]]


def _by_work(pool: PoolReadings, name: str) -> _ByWork:
    """Return the readings with a figure, by the work that was done for it."""
    by_work: dict[str, list[Located]] = {}
    for item in pool.located:
        if item.reading.values.get(name, 0.0) > 0:
            by_work.setdefault(item.reading.work.get(name, ""), []).append(item)
    return by_work


def _usual_work(pools: Sequence[_ByWork]) -> str:
    """Return the newest work that most pools did; without such, what the most pools did."""
    having = sum(map(bool, pools))
    done_by: dict[str, int] = {}
    begun: dict[str, datetime] = {}
    for by_work in pools:
        for work, located in by_work.items():
            done_by[work] = done_by.get(work, 0) + 1
            begun[work] = min(begun.get(work, located[0].pushed), located[0].pushed)
    most = [work for work, count in done_by.items() if 2 * count > having]
    if most:
        return max(most, key=lambda work: (begun[work], work))
    return max(done_by, key=lambda work: (done_by[work], begun[work], work), default="")


def _pool_mean(
    pool: str, by_work: _ByWork, usual: str, figure: FleetFigure, levels: Levels
) -> _PoolMean:
    """Return the mean of a pool's current level."""
    newest = max(by_work, key=lambda work: (by_work[work][-1].pushed, work))
    work = usual if usual in by_work else newest
    located, level = by_work[work], levels.get(pool, {}).get(figure.name)
    if level is not None and level.work == work:
        located = [item for item in located if item.pushed >= level.start] or located
    values = [
        MachineValue(item.machine, item.push, item.reading.values[figure.name]) for item in located
    ]
    mean = mean_value(values, is_counted=figure.is_counted)
    return _PoolMean(pool, mean, work, located[0].pushed.date())


def points_of(pool: PoolReadings, name: str, cell: Cell | None) -> tuple[WeekPoint, ...]:
    """Return the pushes of a pool that did the work of its cell, the oldest first."""
    if cell is None:
        return ()
    located = _by_work(pool, name)[cell.work]
    points = []
    for push in grouped(located, lambda item: item.push).values():
        by_machine: dict[str, list[float]] = {}
        for item in push:
            by_machine.setdefault(item.machine, []).append(math.log(item.reading.values[name]))
        logs = [fmean(values) for values in by_machine.values()]
        points.append(WeekPoint(push[0].pushed, math.exp(fmean(logs))))
    return tuple(points)


def with_costs(
    cells: Mapping[str, Cell], figures: Iterable[FleetFigure], price: Price | None
) -> dict[str, Cell]:
    """Return cells with what a unit of each figure's work costs."""
    return {
        figure.name: replace(cell, cost=figure.cost_of(cell.value, price))
        for figure in figures
        if (cell := cells.get(figure.name)) is not None
    }
