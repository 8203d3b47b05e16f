# SPDX-License-Identifier: MPL-2.0
"""Predictions: how long profiled tasks take on other pools, and why some could not be predicted."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

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
from io_benchmark.report.blocks import Block, Document, Heading, Items, Paragraph, Row, Table
from io_benchmark.report.content.harmless import make_harmless
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.results.workload import NS_PER_S
from io_benchmark.text import clean_name

_UNNAMED = "a pool without a name"
# Less is not shown as added.
_LEAST_ADDED = 0.005
_NS_PER_MINUTE = 60 * NS_PER_S
_TASKS_PAID = 1000
_PAID = f"{_TASKS_PAID:,} tasks"
# Columns that are left out first where there is no room.
_DROP = ("CPU", "syncs", "writes", "measured", "ratio")


def document(predictions: Predictions) -> Document:
    """Write everything that a report of predictions says."""
    predictions = make_harmless(predictions)
    blocks = [block for task in predictions.tasks for block in _task(task)]
    for title, lines in (
        ("Results that could not be read", predictions.unreadable),
        ("Messages about the results", predictions.remarks),
    ):
        blocks += [Heading(title), Items.of(lines)] if lines else []
    return Document("How long tasks take on other pools", tuple(blocks))


def _task(task: TaskPrediction) -> Iterator[Block]:
    profiles = len(task.measured_ns)
    basis = "1 profile" if profiles == 1 else f"{profiles:,} profiles"
    pool, own_ns = task.pool or _UNNAMED, fmean(task.measured_ns)
    yield Heading(f"{clean_name(task.program)}, command {task.sha256[:8]}")
    yield Paragraph(f"{_time(own_ns, own_ns)} on {pool}, by {basis}.")
    if (
        task.cpus_used is not None
        and task.written_bytes is not None
        and task.read_bytes is not None
    ):
        yield Paragraph(_meanwhile(task.cpus_used, task.written_bytes, task.read_bytes, task.syncs))
    predicted = [pool for pool in task.pools if pool.time_ns is not None or pool.measured_ns]
    notes = [f"{text_of(note)}." for note in task.notes]
    if predicted:
        table = _table(task, pool, predicted, own_ns)
        yield table
        if _PAID in table.heads:
            notes.append("Costs are of this command's time alone, without the rest of its task.")
    if not task.pools:
        yield Items.of(["--on has no results of other pools."], "Nothing to predict")
    refusals = list(_refusals(task.pools))
    if refusals:
        yield Items.of(refusals, "Not predicted")
    if notes:
        yield Items.of(notes, "Notes")


def _meanwhile(cpus: float, written_bytes: float, read_bytes: float, syncs: float | None) -> str:
    """Return 'Meanwhile: 0.17 CPUs used, 327 MiB written to its disks, 16 KiB read.'"""
    parts = [
        f"{digits(cpus)} CPUs used",
        f"{size(written_bytes)} written to its disks",
        f"{size(read_bytes)} read",
    ]
    if syncs:
        parts.append(f"up to {count(syncs)} syncs")
    return f"Meanwhile: {', '.join(parts)}."


def _refusals(pools: Sequence[PoolPrediction]) -> Iterator[str]:
    """Write each reason once, with the pools that it is about; a measured pool needs none."""
    reasons: dict[str, list[str]] = {}
    for pool in pools:
        if pool.reason and not pool.measured_ns:
            reasons.setdefault(text_of(pool.reason), []).append(pool.pool)
    return (f"{', '.join(names)}: {reason}." for reason, names in reasons.items())


def _table(
    task: TaskPrediction, profiled_on: str, pools: Sequence[PoolPrediction], own_ns: float
) -> Table:
    """Write what was profiled, then a row per pool; a column without any cell is left out."""
    heads = (
        *("time", f"{percent(PREDICTION_LEVEL)} of tasks", "ratio", "writes", "syncs", "CPU"),
        *("measured", _PAID),
    )
    profiled = ("", "", "", "", "")
    rows = [
        Row(
            profiled_on,
            (_time(own_ns, own_ns), "profiled", *profiled, _money(own_ns, task.price)),
        )
    ]
    for pool in pools:
        measured_ns = fmean(pool.measured_ns) if pool.measured_ns else None
        cells = (
            _time(pool.time_ns, own_ns),
            _interval(pool, own_ns),
            ratio(pool.time_ns / own_ns) if pool.time_ns else "",
            _added(pool.added_by_writes_ns, own_ns),
            _added(pool.added_by_syncs_ns, own_ns),
            _added(pool.added_by_cpu_ns, own_ns),
            _time(measured_ns, own_ns),
            # A measured time needs no model.
            _money(measured_ns or pool.time_ns, pool.price),
        )
        rows.append(Row(pool.pool, cells))
    table = Table("pool", heads, tuple(rows), drop=_DROP)
    return table.keep_columns(
        [at for at in range(len(heads)) if any(row.cells[at] for row in rows)]
    )


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
