# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Predictions as text: as wide as the terminal, or plain."""

from collections.abc import Sequence
from statistics import fmean

from io_benchmark import number_text
from io_benchmark.analysis.prediction.prediction_model import (
    PoolPrediction,
    Predictions,
    TaskPrediction,
)
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.page import Page
from io_benchmark.text import clean, clean_name, name

_NS_PER_S = 1e9
_UNKNOWN = "pool not named"
# Less is not shown as added.
_LEAST_ADDED = 0.005
# Columns are left out in this order where there is no room.
_DROPPED = ("CPU", "syncs", "writes", "measured", "ratio")


def render_predictions(predictions: Predictions, layout: Layout = PLAIN) -> str:
    page = Page(layout)
    page.paragraph("How long tasks take on other pools", "bold", indent="")
    for task in predictions.tasks:
        _show_task(page, task)
    for title, lines in (
        ("Results that could not be read", predictions.unreadable),
        ("Messages about the results", predictions.remarks),
    ):
        if lines:
            page.heading(title)
            page.items(map(clean, lines))
    return page.text()


def _show_task(page: Page, task: TaskPrediction) -> None:
    pool = name(task.pool) if task.pool else _UNKNOWN
    program = clean_name(task.program)
    page.heading(f"{program}, command {task.sha256[:8]}")
    count = len(task.measured_ns)
    profiles = "1 profile" if count == 1 else f"{count} profiles"
    page.paragraph(f"{_seconds(fmean(task.measured_ns))} on {pool}, by {profiles}.")
    page.paragraph(_asked_text(task))
    predicted = [each for each in task.pools if each.time_ns is not None]
    if predicted:
        page.line()
        _show_times(page, task, predicted)
    refused = [each for each in task.pools if each.reason is not None]
    if refused:
        page.line()
        page.paragraph("Not predicted:", "bold")
        page.items(f"{name(each.pool)}: {text_of(each.reason)}." for each in refused if each.reason)
    if not task.pools:
        page.paragraph("--on has no results of other pools.")
    if task.notes:
        page.line()
        page.paragraph("Notes:", "bold")
        page.items(f"{text_of(note)}." for note in task.notes)


def _asked_text(task: TaskPrediction) -> str:
    """Return 'While it ran: 0.17 CPUs used, 327 MiB written to its disks, 16 KiB read.'"""
    parts = (
        [f"{number_text.digits(task.cpus_used)} CPUs used"] if task.cpus_used is not None else []
    )
    parts.append(f"{number_text.size(task.written_bytes)} written to its disks")
    parts.append(f"{number_text.size(task.read_bytes)} read")
    if task.syncs:
        parts.append(f"up to {number_text.count(task.syncs)} syncs")
    return f"While it ran: {', '.join(parts)}."


def _show_times(page: Page, task: TaskPrediction, pools: Sequence[PoolPrediction]) -> None:
    own_ns = fmean(task.measured_ns)
    columns = {
        "time": [_seconds(each.time_ns or 0) for each in pools],
        "90 % of tasks": [_interval(each) for each in pools],
        "ratio": [number_text.ratio((each.time_ns or 0) / own_ns) for each in pools],
        "writes": [_added(each.added_by_writes_ns, own_ns) for each in pools],
        "syncs": [_added(each.added_by_syncs_ns, own_ns) for each in pools],
        "CPU": [_added(each.added_by_cpu_ns, own_ns) for each in pools],
    }
    columns["measured"] = [
        _seconds(fmean(each.measured_ns)) if each.measured_ns else "" for each in pools
    ]
    columns = {head: cells for head, cells in columns.items() if any(cells)}
    labels = [name(each.pool) for each in pools]
    for dropped in _DROPPED:
        if page.fits(labels, [*columns], [*columns.values()]):
            break
        columns.pop(dropped, None)
    page.grid("pool", labels, [*columns], [*columns.values()])


def _interval(pool: PoolPrediction) -> str:
    low, high = (_seconds(end or 0) for end in (pool.low_ns, pool.high_ns))
    return f"{low.removesuffix(' s')} to {high}"


def _added(added_ns: float | None, own_ns: float) -> str:
    """Return what waiting adds; nothing where it is not worth a number."""
    if not added_ns or abs(added_ns) < _LEAST_ADDED * own_ns:
        return ""
    return ("+" if added_ns > 0 else number_text.MINUS) + _seconds(abs(added_ns))


def _seconds(time_ns: float) -> str:
    return f"{number_text.digits(time_ns / _NS_PER_S)} s"
