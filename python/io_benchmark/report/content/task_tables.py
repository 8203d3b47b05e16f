# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The tables of a report about real tasks: cells, without any markup."""

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from io_benchmark.analysis.model import DIFFERENT, Interval
from io_benchmark.analysis.tasks.task_model import (
    LabelRow,
    TaskComparison,
    TaskReport,
    TaskTimes,
)
from io_benchmark.number_text import (
    MINUS,
    NOTHING,
    count,
    digits,
    duration_unit,
    interval,
    percent,
    ratio,
)
from io_benchmark.text import name

POOLS_NAMED = 4
_LABELS_SHOWN = 40
_HEAD_CELLS = 26


class TaskTable(Struct, frozen=True):
    title: str
    heads: tuple[str, ...]  # of all columns but the first
    rows: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> tuple[Sequence[str], ...]:
        """Return the labels of the rows, then the cells by column."""
        return tuple(zip(*self.rows, strict=True))


def pair_table(report: TaskReport) -> TaskTable:
    """Write the parts of the time of the two sides, and how their runs ended."""
    (each,) = report.comparisons
    names = (each.baseline, each.candidate)
    times = [each.times[side] for side in names]
    whole_s = times[0].task_s
    of_time: list[tuple[str, Callable[[TaskTimes], float | None]]] = [
        ("Pending", lambda part: part.pending_s),
        ("Set-up", lambda part: part.set_up_s),
        ("Set-up and tear-down", lambda part: part.around_work_s),
        ("Own work", lambda part: part.work_s),
        ("Tear-down", lambda part: part.tear_down_s),
        ("Task", lambda part: part.task_s),
    ]
    if times[0].set_up_s is not None:
        del of_time[2]
    rows = [
        (title, *(_time(value_of(part), whole_s) for part in times))
        for title, value_of in of_time
        if any(value_of(part) is not None for part in times)
    ]
    if each.cost is not None:
        costs = (each.cost.baseline, each.cost.candidate)
        rows.append(
            (f"1,000 tasks, {each.cost.currency}", *(_amount(cost.per_1000) for cost in costs))
        )
    rows.append(("Workers", *map(count, each.workers)))
    rows.append(("Completed runs", *map(count, each.completed)))
    for title, values in (
        ("Failed runs", each.failed),
        ("Lost runs", each.lost),
        ("Stopped runs", each.stopped),
    ):
        if any(values):
            rows.append((title, *map(_with_share, values, each.shares(values))))
    if each.cost is not None and any(cost.lost_share for cost in costs):
        rows.append(("Time of lost runs", *(f"+{percent(cost.lost_share)}" for cost in costs)))
    heads = tuple(name(side, _HEAD_CELLS) for side in names)
    return TaskTable("", heads, tuple(rows))


def _with_share(runs: int, share: float) -> str:
    """Write '1 (7.7 %)': the runs that ended in some way, of these and the completed ones."""
    return f"{count(runs)} ({percent(share)})" if runs else count(runs)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else digits(value)


def sides_table(report: TaskReport) -> TaskTable:
    """Write a row for each comparison, or for each side where there is none."""
    if not report.comparisons:
        rows = tuple(
            (name(side.side), *map(count, (side.completed, side.failed, side.lost, side.stopped)))
            for side in report.sides
        )
        return TaskTable("", ("Completed", "Failed", "Lost", "Stopped"), rows)
    rows = tuple(
        (
            name(each.candidate),
            _time(each.times[each.baseline].task_s, each.times[each.baseline].task_s),
            _time(each.times[each.candidate].task_s, each.times[each.baseline].task_s),
            ratio(each.ratio),
            each.verdict.value,
            NOTHING if each.cost is None else percent_change(each.cost.ratio - 1),
            _with_share(each.lost[1], each.shares(each.lost)[1]),
        )
        for each in in_order(report.comparisons)
    )
    return TaskTable("", ("Baseline", "Task", "Ratio", "Verdict", "Cost", "Lost"), rows)


def labels_table(each: TaskComparison) -> TaskTable:
    rows = [_label(row) for row in each.labels[:_LABELS_SHOWN]]
    left = len(each.labels) - _LABELS_SHOWN
    title = f"{name(each.candidate)} against {name(each.baseline)}, by label"
    if left > 0:
        title += f" (the {_LABELS_SHOWN} with most time, of {len(each.labels):,})"
    heads = ("Share", "Baseline", "Task", "Ratio", "Interval", "Workers")
    return TaskTable(title, heads, tuple(rows))


def _label(row: LabelRow) -> tuple[str, ...]:
    unit_s = row.means_s[0]
    ends = NOTHING if row.interval is None else ends_of(row.interval)
    return (
        name(row.label) + (" *" if row.differs else ""),
        percent(row.share),
        *(_time(mean_s, unit_s) for mean_s in row.means_s),
        ratio(row.ratio),
        ends,
        f"{row.workers[0]:,}, {row.workers[1]:,}",
    )


def in_order(comparisons: Sequence[TaskComparison]) -> Sequence[TaskComparison]:
    """Of many, those that differ most come first."""
    if len(comparisons) <= POOLS_NAMED:
        return comparisons
    return sorted(
        comparisons,
        key=lambda each: (
            each.verdict not in DIFFERENT,
            -abs(math.log(each.ratio)),
            each.candidate,
        ),
    )


def ends_of(found: Interval) -> str:
    return interval(found.low_ratio, found.high_ratio)


def _time(seconds: float | None, of: float) -> str:
    """Write a time in the unit and with the decimals that suit another one."""
    if seconds is None:
        return NOTHING
    size_s, unit = duration_unit(of)
    decimals = min(max(2 - math.floor(math.log10(of / size_s)), 0), 3)
    return f"{seconds / size_s:,.{decimals}f} {unit}"


def percent_change(value: float) -> str:
    text = percent(abs(value))
    sign = "" if text == "0 %" else MINUS if value < 0 else "+"
    return f"{sign}{text}"
