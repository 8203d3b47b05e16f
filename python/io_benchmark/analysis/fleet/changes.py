# SPDX-License-Identifier: MPL-2.0
"""The changes of a pool: when it became slower, faster or dearer than in its own past.

Pushes are added one after the other, and a change is what the newest push makes certain with those
before it. So the same changes are found week by week and at once.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from operator import attrgetter
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.fleet.changed_facts import Push, facts_changed, facts_of_change, kind_of
from io_benchmark.analysis.fleet.columns import LevelStart
from io_benchmark.analysis.fleet.figure_series import FigureSeries, Shift
from io_benchmark.analysis.fleet.fleet_model import FleetChange, FleetFigure
from io_benchmark.analysis.fleet.machine_levels import Measured, PushValues
from io_benchmark.analysis.fleet.pool_readings import PoolReadings, machines_of
from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.reading.machines import Facts
from io_benchmark.analysis.statistics.levels import LEVEL

PRICE = "price"
# Figures whose work is done by the kernel: together they show its changes sooner than each alone.
_KERNEL_FIGURES = ("kernel", "spawn", "unpack")
# Figures that change within so many pushes of each other are one change.
_TOGETHER = 3
_SAME_DAYS = 7 * _TOGETHER  # of weekly pushes
# The bounds of a value, and of the logarithm of a ratio: products and ratios of these are finite.
_LEAST, _MOST = 1e-12, 1e18
_LARGEST_LOG = 99.0


def is_announced(change: FleetChange, keys: Iterable[str]) -> bool:
    """Return whether one of these keys is of this change.

    Results that arrive late can move a change by a few pushes.
    """
    name, _, day = change.key.rpartition(" ")
    for key in keys:
        announced_name, _, announced_day = key.rpartition(" ")
        if announced_name == name and _days_between(day, announced_day) <= _SAME_DAYS:
            return True
    return False


def _days_between(day: str, announced_day: str) -> float:
    try:
        return abs((date.fromisoformat(day) - date.fromisoformat(announced_day)).days)
    except ValueError:  # a key that somebody wrote
        return math.inf


class PoolChanges(Struct, frozen=True):
    """All changes of a pool, the newest first, and the current level of each figure."""

    changes: tuple[FleetChange, ...]
    levels: Mapping[str, LevelStart]


_Values = dict[str, list[Measured]]  # by the work that was done


def changes_of(
    pool: PoolReadings, figures: Sequence[FleetFigure], margin_ratio: float
) -> PoolChanges:
    """Return the changes of a pool by more than the margin, and where its levels begin."""
    pushes = list(grouped(pool.located, attrgetter("push")).values())
    watch = _Watch(figures, facts_changed(pushes), math.log1p(margin_ratio))
    changes: list[FleetChange] = []
    starts: dict[bool, int] = {}
    for number, push in enumerate(pushes):
        shifts = watch.add(number, push)
        for is_slower in (True, False):
            last_start = starts.get(is_slower, -_TOGETHER - 1)
            fresh = {
                name: shift
                for name, shift in shifts.items()
                if (shift.log_ratio > 0) == is_slower and abs(shift.start - last_start) > _TOGETHER
            }
            if fresh:
                name = max(fresh, key=lambda name: (abs(fresh[name].log_ratio), name))
                change = _change(pushes[: number + 1], name, fresh[name], watch.kinds)
                # Of new kinds of machines, only those count that have a fact which none had.
                if fresh[name].kind is None or change.facts:
                    starts[is_slower] = fresh[name].start
                    changes.append(change)
    changes += _price_changes(pushes, margin_ratio)
    changes.sort(key=lambda change: (change.found, change.since, change.key), reverse=True)
    levels = {
        name: LevelStart(work, pushes[start][0].pushed)
        for name, (work, start) in watch.levels().items()
    }
    return PoolChanges(tuple(changes), levels)


class _Watch:
    """The series of all figures of a pool, to which one push is added after the other."""

    def __init__(
        self, figures: Sequence[FleetFigure], changed_facts: Sequence[bool], margin: float
    ) -> None:
        self._figures, self._changed_facts, self._margin = figures, changed_facts, margin
        self._series: dict[tuple[str, str], FigureSeries] = {}
        self._newest: dict[str, tuple[int, int, str]] = {}
        self.kinds: dict[Facts, int] = {}

    def add(self, number: int, push: Push) -> dict[str, Shift]:
        """Return the changes that are certain with this push, by figure."""
        kinds = [
            self.kinds.setdefault(kind_of(item.reading.facts), len(self.kinds)) for item in push
        ]
        shifts: dict[str, Shift] = {}
        measured = {
            figure.name: _values(push, kinds, figure.name, -1 if figure.higher_is_better else 1)
            for figure in self._figures
        }
        for name, by_work in measured.items():
            for work, values in by_work.items():
                rank = (number, len(values), work)
                self._newest[name] = max(self._newest.get(name, rank), rank)
                self._keep(shifts, name, work, self._add(name, work, number, values))
        members = {name: measured[name] for name in _KERNEL_FIGURES if measured.get(name)}
        if len(members) > 1:
            self._add_together(shifts, number, members)
        return shifts

    def levels(self) -> dict[str, tuple[str, int]]:
        """Return the newest work of each figure, and the first push of its level."""
        return {
            name: (work, self._series[name, work].start)
            for name, (_, _, work) in self._newest.items()
        }

    def _add(self, name: str, work: str, number: int, values: list[Measured]) -> Shift | None:
        if (name, work) not in self._series:
            is_mean = "+" in name
            self._series[name, work] = FigureSeries(is_mean_of_figures=is_mean)
        series = self._series[name, work]
        return series.add(PushValues.of(number, values), self._changed_facts)

    def _keep(self, shifts: dict[str, Shift], name: str, work: str, shift: Shift | None) -> None:
        """Keep a change that is larger than the margin, and begin its level."""
        if shift is None or abs(shift.log_ratio) <= self._margin:
            return
        self._series[name, work].restart(shift)
        if name not in shifts or abs(shift.log_ratio) > abs(shifts[name].log_ratio):
            shifts[name] = shift

    def _add_together(
        self, shifts: dict[str, Shift], number: int, members: Mapping[str, _Values]
    ) -> None:
        """Add the mean of figures that have a cause in common.

        What is certain of the mean is true of those of them that differ by more than the margin.
        """
        works = {
            name: max(by_work, key=lambda work: len(by_work[work]))
            for name, by_work in members.items()
        }
        by_machine = [
            {value.machine: value for value in members[name][work]} for name, work in works.items()
        ]
        first, *rest = by_machine
        values = [
            value._replace(log=fmean(same[machine].log for same in by_machine))
            for machine, value in first.items()
            if all(machine in same for same in rest)
        ]
        if not values:
            return
        together = ("+".join(works), "+".join(works.values()))
        shift = self._add(*together, number, values)
        if shift is None or abs(shift.log_ratio) <= self._margin:
            return
        self._series[together].restart(shift)
        for name, work in works.items():
            estimate = self._series[name, work].estimate(shift.start, shift.kind)
            if name not in shifts and estimate and estimate.log_ratio * shift.log_ratio > 0:
                self._keep(shifts, name, work, estimate)


def _values(push: Push, kinds: Sequence[int], name: str, sign: int) -> _Values:
    """Return what each machine measured, by the work that was done for it."""
    logs: dict[tuple[str, str], list[float]] = {}
    kinds_of_machines: dict[str, int] = {}
    for item, kind in zip(push, kinds, strict=True):
        value = item.reading.values.get(name, 0.0)
        if _LEAST < value < _MOST:
            work = item.reading.work.get(name, "")
            logs.setdefault((work, item.machine), []).append(sign * math.log(value))
            kinds_of_machines[item.machine] = kind
    values: _Values = {}
    for (work, machine), machine_logs in logs.items():
        measured = Measured(fmean(machine_logs), machine, kinds_of_machines[machine])
        values.setdefault(work, []).append(measured)
    return values


def _change(
    pushes: Sequence[Push], figure: str, shift: Shift, kinds: Mapping[Facts, int]
) -> FleetChange:
    """Return a change of a figure, with the machines and facts that it is about."""
    located = [item for push in pushes[shift.start :] for item in push]
    affected = [
        item for item in located if shift.kind in (None, kinds[kind_of(item.reading.facts)])
    ]
    pool, since = located[0].reading.pool, located[0].pushed.date()
    low, ratio, high = (
        math.exp(max(-_LARGEST_LOG, min(shift.log_ratio + width, _LARGEST_LOG)))
        for width in (-shift.half_width, 0.0, shift.half_width)
    )
    return FleetChange(
        key=f"{pool} {'slower' if ratio > 1 else 'faster'} {since.isoformat()}",
        figure=figure,
        since=since,
        found=pushes[-1][0].pushed.date(),
        ratio=ratio,
        interval=Interval(low, high, LEVEL),
        facts=facts_of_change(pushes, shift, kinds),
        machines=machines_of(affected),
        of_machines=machines_of(located),
        is_alert=ratio > 1,
    )


def _price_changes(pushes: Sequence[Push], margin_ratio: float) -> Iterator[FleetChange]:
    """Yield the changes of a price by more than the margin.

    Only prices of the same machine type, currency and kind are compared.
    """
    before: dict[tuple[object, ...], float] = {}
    for push in pushes:
        ratios = []
        for item in push:
            price = item.reading.price
            if price is None:
                continue
            machine_type = dict(item.reading.facts).get("instance type")
            comparable = (machine_type, price.currency, price.kind)
            ratio = price.per_hour / before.setdefault(comparable, price.per_hour)
            if abs(math.log(ratio)) > math.log1p(margin_ratio):
                before[comparable] = price.per_hour
                ratios.append(ratio)
        if ratios:
            day, pool = push[0].pushed.date(), push[0].reading.pool
            ratio = max(ratios, key=lambda each: (abs(math.log(each)), each))
            yield FleetChange(f"{pool} price {day.isoformat()}", PRICE, day, day, ratio, None)
