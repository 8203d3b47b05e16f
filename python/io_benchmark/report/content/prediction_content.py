# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The content of every report of predictions for people, in plain text and in order.

All text is harmless here, and still unescaped: a format escapes its own markup.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.prediction.prediction_model import (
    PREDICTION_LEVEL,
    PoolPrediction,
    Predictions,
    TaskPrediction,
)
from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.number_text import (
    MINUS,
    compact,
    count,
    digits,
    duration_unit,
    is_cut,
    percent,
    ratio,
    size,
)
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.results.workload import NS_PER_S
from io_benchmark.text import clean, clean_name, name

_UNNAMED = "a pool without a name"
# Less is not shown as added.
_LEAST_ADDED = 0.005
_NS_PER_MINUTE = 60 * NS_PER_S
_TASKS_PAID = 1000
_PAID = f"{_TASKS_PAID:,} tasks"


class _TaskPart(Struct, frozen=True):
    """One task. `columns` has the cells of each column by its head; the first row is what was profiled."""

    title: str
    profiled: str
    asked: str  # what it did meanwhile, or nothing
    pools: tuple[str, ...]
    columns: dict[str, list[str]]
    lists: tuple[tuple[str, tuple[str, ...]], ...]  # titles and lines, below the table


class _PredictionContent(Struct, frozen=True):
    title: str
    tasks: tuple[_TaskPart, ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]  # titles and lines, at the end


def build(predictions: Predictions) -> _PredictionContent:
    """Write everything that a report of predictions says."""
    return _PredictionContent(
        "How long tasks take on other pools",
        tuple(map(_task, predictions.tasks)),
        _lists(
            ("Results that could not be read", map(clean, predictions.unreadable)),
            ("Messages about the results", map(clean, predictions.remarks)),
        ),
    )


def _task(task: TaskPrediction) -> _TaskPart:
    shown = [each for each in task.pools if each.time_ns is not None or each.measured_ns]
    profiles = len(task.measured_ns)
    by = "1 profile" if profiles == 1 else f"{profiles:,} profiles"
    pool = name(task.pool) if task.pool else _UNNAMED
    columns = _columns(task, shown) if shown else {}
    notes = [f"{text_of(note)}." for note in task.notes]
    if any(columns.get(_PAID, [])):
        notes.append("Costs are of this command's time alone, without the rest of its task.")
    return _TaskPart(
        title=f"{clean_name(task.program)}, command {task.sha256[:8]}",
        profiled=f"{_time(_own_ns(task), _own_ns(task))} on {pool}, by {by}.",
        asked=_asked(task),
        pools=(pool, *(name(each.pool) for each in shown)),
        columns={head: cells for head, cells in columns.items() if any(cells)},
        lists=_lists(
            ("Not predicted", _refused(task.pools)),
            ("Nothing to predict", [] if task.pools else ["--on has no results of other pools."]),
            ("Notes", notes),
        ),
    )


def _refused(pools: Sequence[PoolPrediction]) -> Iterator[str]:
    """Write each reason once, with the pools that it is about; a measured pool needs none."""
    reasons: dict[str, list[str]] = {}
    for each in pools:
        if each.reason and not each.measured_ns:
            reasons.setdefault(text_of(each.reason), []).append(name(each.pool))
    return (f"{', '.join(names)}: {reason}." for reason, names in reasons.items())


def _lists(*lists: tuple[str, Iterable[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the titles and lines of those that are not empty."""
    known = ((title, tuple(lines)) for title, lines in lists)
    return tuple((title, lines) for title, lines in known if lines)


def _own_ns(task: TaskPrediction) -> float:
    return fmean(task.measured_ns)


def _asked(task: TaskPrediction) -> str:
    """Return 'Meanwhile: 0.17 CPUs used, 327 MiB written to its disks, 16 KiB read.'"""
    if task.cpus_used is None or task.written_bytes is None or task.read_bytes is None:
        return ""
    parts = [
        f"{digits(task.cpus_used)} CPUs used",
        f"{size(task.written_bytes)} written to its disks",
        f"{size(task.read_bytes)} read",
    ]
    if task.syncs:
        parts.append(f"up to {count(task.syncs)} syncs")
    return f"Meanwhile: {', '.join(parts)}."


def _columns(task: TaskPrediction, pools: Sequence[PoolPrediction]) -> dict[str, list[str]]:
    own_ns = _own_ns(task)
    measured_ns = [fmean(each.measured_ns) if each.measured_ns else None for each in pools]
    times_ns = [own_ns, *(each.time_ns for each in pools)]
    # A measured time needs no model.
    paid_ns = [
        own_ns,
        *(more or each.time_ns for more, each in zip(measured_ns, pools, strict=True)),
    ]
    prices = [task.price, *(each.price for each in pools)]
    added = {
        "writes": [each.added_by_writes_ns for each in pools],
        "syncs": [each.added_by_syncs_ns for each in pools],
        "CPU": [each.added_by_cpu_ns for each in pools],
    }
    return {
        "time": [_time(time_ns, own_ns) for time_ns in times_ns],
        f"{percent(PREDICTION_LEVEL)} of tasks": [
            "profiled",
            *(_interval(each, own_ns) for each in pools),
        ],
        "ratio": ["", *(ratio(time / own_ns) if time else "" for time in times_ns[1:])],
        **{head: ["", *(_added(each, own_ns) for each in more)] for head, more in added.items()},
        "measured": ["", *(_time(time_ns, own_ns) for time_ns in measured_ns)],
        _PAID: [_money(*pair) for pair in zip(paid_ns, prices, strict=True)],
    }


def _money(time_ns: float | None, price: Price | None) -> str:
    if not time_ns:
        return ""
    return Cost((CostShare("", _TASKS_PAID, time_ns / _NS_PER_MINUTE, price=price),)).money


def _interval(pool: PoolPrediction, own_ns: float) -> str:
    if pool.time_ns is None:
        return "not predicted"
    if is_cut(pool.low_ns or 0.0, pool.high_ns or 0.0):
        return "unknown"
    low, high = (_time(end, own_ns) for end in (pool.low_ns, pool.high_ns))
    return f"{low.rpartition(' ')[0]} to {high}"


def _added(added_ns: float | None, own_ns: float) -> str:
    """Return what waiting adds; nothing where it is not worth a number."""
    if not added_ns or abs(added_ns) < _LEAST_ADDED * own_ns:
        return ""
    return ("+" if added_ns > 0 else MINUS) + _time(abs(added_ns), own_ns, compact)


def _time(time_ns: float | None, own_ns: float, write: Callable[[float], str] = digits) -> str:
    """Write a time in the unit that suits the profiled task; nothing for none."""
    if time_ns is None:
        return ""
    size_s, unit = duration_unit(own_ns / NS_PER_S)
    return f"{write(time_ns / NS_PER_S / size_s)} {unit}"
