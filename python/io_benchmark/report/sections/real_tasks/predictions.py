# SPDX-License-Identifier: MPL-2.0
"""Predictions: how long profiled tasks take on other pools, and why some could not be predicted."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.prediction.prediction_model import (
    PREDICTION_LEVEL,
    PoolPrediction,
    Predictions,
    TaskPrediction,
)
from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN
from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.number_text import (
    compact,
    count,
    digits,
    duration_unit,
    is_cut,
    number_of,
    percent,
    ratio,
    signed,
    size,
)
from io_benchmark.report import blocks
from io_benchmark.report.content import sharing, text_of
from io_benchmark.report.drawn import DrawnRatio
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.text import clean_name

_LEAST_ADDED = 0.005  # a smaller share of the profiled time is not shown
_TASKS_PAID = 1000  # costs are of this many tasks: one task costs too little to write
_PAID = f"{_TASKS_PAID:,} tasks"


def document(predictions: Predictions) -> blocks.Document:
    content = [block for task in predictions.tasks for block in _task(task)]
    content += blocks.Items.lists(
        ("Results that could not be read", predictions.unreadable),
        ("Messages about the results", predictions.remarks),
    )
    return blocks.Document("How long tasks take on other pools", content)


def _task(task: TaskPrediction) -> Iterator[blocks.Block]:
    """Write one task: what its profiles recorded, its times on other pools, and why some lack."""
    profiled_on, profiled_ns = task.pool or "a pool without a name", fmean(task.measured_ns)
    command = f", command {task.sha256[:8]}" if task.sha256 else ""
    label = f"{clean_name(task.label)}: " if task.label else ""
    yield blocks.Heading(f"{label}{clean_name(task.program)}{command}")
    basis = number_of(len(task.measured_ns), "profile" if task.sha256 else "resource profile")
    yield blocks.Paragraph(f"{_time(profiled_ns, profiled_ns)} on {profiled_on}, by {basis}.")
    if None not in (task.cpus_used, task.written_bytes, task.read_bytes):
        syncs = f", up to {count(task.syncs)} syncs" if task.syncs else ""
        yield blocks.Paragraph(
            f"Meanwhile: {digits(task.cpus_used or 0)} CPUs used, {size(task.written_bytes or 0)} "
            f"written to its disks, {size(task.read_bytes or 0)} read{syncs}."
        )
    notes = [f"{text_of(note)}." for note in task.notes]
    predicted = [pool for pool in task.pools if pool.time_ns is not None or pool.measured_ns]
    if predicted:
        table = _table(task, profiled_on, predicted, profiled_ns)
        yield table
        yield from _pictures(task, profiled_on, predicted, profiled_ns)
        if _PAID in table.heads and task.sha256:
            notes.append("Costs are of this command's time alone, without the rest of its task.")
    if not task.pools:
        yield blocks.Items.of(["--on has no results of other pools."], "Nothing to predict")
    # A measured pool needs no reason.
    reasons = [
        (pool.pool, f"{text_of(pool.reason)}.")
        for pool in task.pools
        if pool.reason and not pool.measured_ns
    ]
    shared = (f"{names}: {reason}" for names, reason in sharing(reasons))
    yield blocks.Items.of(shared, "Not predicted")
    yield blocks.Items.of(notes, "Notes")


def _pictures(
    task: TaskPrediction, profiled_on: str, pools: Sequence[PoolPrediction], profiled_ns: float
) -> Iterator[blocks.Block]:
    """Draw the ratios of the times, those of the costs, and what the task wrote."""
    times: dict[str, DrawnRatio] = {}
    costs: dict[str, tuple[object, object]] = {}
    for pool in pools:
        if not pool.time_ns or not pool.low_ns or not pool.high_ns:
            continue
        bounds = Interval(pool.low_ns / profiled_ns, pool.high_ns / profiled_ns, PREDICTION_LEVEL)
        time = DrawnRatio(pool.time_ns / profiled_ns, bounds)
        times[pool.pool] = time
        here, there = task.price, pool.price
        # Amounts of two currencies have no ratio.
        if here is not None and there is not None and there.currency == here.currency:
            costs[pool.pool] = (time, time.times(there.per_hour / here.per_hour))
    share = percent(PREDICTION_LEVEL)
    caption = f"Time divided by that on {profiled_on}; {share} of tasks are on the line"
    yield from blocks.Picture.forest(caption, times, DEFAULT_MARGIN)
    yield from blocks.Picture.costs(profiled_on, costs)
    yield from blocks.Picture.demand(task.written)


def _table(
    task: TaskPrediction, profiled_on: str, pools: Sequence[PoolPrediction], profiled_ns: float
) -> blocks.Table:
    """Write what was profiled, then a row per pool; a column without any cell is left out."""
    interval_head = f"{percent(PREDICTION_LEVEL)} of tasks"
    profiled = {
        "time": _time(profiled_ns, profiled_ns),
        interval_head: "profiled",
        "at ceiling": _share(task.at_ceiling_share),
        _PAID: _money(profiled_ns, task.price),
    }
    rows = [(profiled_on, profiled)]
    for pool in pools:
        measured_ns = fmean(pool.measured_ns) if pool.measured_ns else None
        cells = {
            "time": _time(pool.time_ns, profiled_ns),
            interval_head: _interval(pool, profiled_ns),
            "ratio": ratio(pool.time_ns / profiled_ns) if pool.time_ns else "",
            "writes": _added(pool.added_by_writes_ns, profiled_ns),
            "syncs": _added(pool.added_by_syncs_ns, profiled_ns),
            "CPU": _added(pool.added_by_cpu_ns, profiled_ns),
            "at ceiling": _share(pool.at_ceiling_share),
            "measured": _time(measured_ns, profiled_ns),
            # A measured time needs no model.
            _PAID: _money(measured_ns or pool.time_ns, pool.price),
        }
        rows.append((pool.pool, cells))
    heads = list(cells)
    table = [blocks.Row(name, [cells.get(head, "") for head in heads]) for name, cells in rows]
    drop = ("CPU", "syncs", "at ceiling", "writes", "measured", "ratio")
    return blocks.Table("pool", heads, table, drop=drop).without_empty_columns()


def _money(time_ns: float | None, price: Price | None) -> str:
    """Write what this many tasks cost; nothing without a time."""
    minutes = (time_ns or 0) / NS_PER_S / 60
    return Cost((CostShare("", _TASKS_PAID, minutes, price=price),)).money if minutes else ""


def _share(share: float | None) -> str:
    """Write a share; nothing where it is not worth a number."""
    return percent(share) if share and share >= _LEAST_ADDED else ""


def _interval(pool: PoolPrediction, profiled_ns: float) -> str:
    """Write '1.2 to 1.5 min'."""
    if pool.time_ns is None:
        return "not predicted"
    if is_cut(pool.low_ns or 0.0, pool.high_ns or 0.0):
        return "unknown"
    low, high = (_time(end, profiled_ns) for end in (pool.low_ns, pool.high_ns))
    return f"{low.rpartition(' ')[0]} to {high}"


def _added(added_ns: float | None, profiled_ns: float) -> str:
    """Return what waiting adds; nothing where it is not worth a number."""
    if not added_ns or abs(added_ns) < _LEAST_ADDED * profiled_ns:
        return ""
    return signed(_time(abs(added_ns), profiled_ns, compact), added_ns)


def _time(time_ns: float | None, profiled_ns: float, write: Callable[[float], str] = digits) -> str:
    """Write a time in the unit that suits the profiled task; nothing for none."""
    if time_ns is None:
        return ""
    unit_s, unit = duration_unit(profiled_ns / NS_PER_S)
    return f"{write(time_ns / NS_PER_S / unit_s)} {unit}"
