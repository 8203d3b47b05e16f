# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The history for programs. `json_format` says what is in it."""

import dataclasses
import math
from typing import Any

from io_benchmark.analysis.history import history_model
from io_benchmark.analysis.workloads import Workload
from io_benchmark.json_schema import schema_of
from io_benchmark.report.content import series_figure
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.formats.as_json import as_text, subject_of
from io_benchmark.report.formats.json_format import Interval, Number
from io_benchmark.report.history import json_format as to
from io_benchmark.report.history.json_format import VERSION


def render(history: history_model.History) -> str:
    return as_text(_document(history))


def json_schema() -> dict[str, Any]:
    return schema_of(f"io-benchmark history, version {VERSION}", to.Document)


def _document(history: history_model.History) -> to.Document:
    return to.Document(
        version=VERSION,
        pool=history.pool,
        series=[_series(one) for one in history.series],
        left_out=[to.LeftOut(what=one.source, why=text_of(one.reason)) for one in history.left_out],
        unreadable=list(history.unreadable),
        remarks=[text_of(remark) for remark in history.remarks],
    )


def _series(series: history_model.HistorySeries) -> to.Series:
    workload = series_figure.workload_of(series)
    return to.Series(
        subject=subject_of(series.subject),
        operation=workload.operation,
        unit=workload.unit,
        higher_is_better=workload.higher_is_better,
        conditions={rule: text_of(traits) for rule, traits in series.conditions},
        points=[_point(point, workload) for point in series.points],
        levels=[
            to.Level(
                start=level.start,
                end=level.end,
                mean_ns=_number(level.mean_ns),
                value=_number(workload.shown(level.mean_ns)),
                variation_ratio=_number(level.variation_ratio),
            )
            for level in series.levels
        ],
        changes=[_change(change) for change in series.changes],
    )


def _point(point: history_model.Point, workload: Workload) -> to.Point:
    return to.Point(
        time=point.time.isoformat().replace("+00:00", "Z"),
        task_group_id=point.group,
        revision=point.revision,
        mean_ns=_number(point.mean_ns),
        value=_number(workload.shown(point.mean_ns)),
        ratio=_number(point.ratio),
        workers=[
            to.Worker(
                worker_id=worker.worker_id,
                tasks=list(worker.tasks),
                mean_ns=_number(worker.mean_ns),
            )
            for worker in point.workers
        ],
    )


def _change(change: history_model.Change) -> to.Change:
    return to.Change(
        at=change.at,
        p_value=_number(change.p_value),
        before_ns=_number(change.before_ns),
        after_ns=_number(change.after_ns),
        ratio=_number(change.ratio),
        interval=Interval(
            low_ratio=_number(change.interval.low),
            high_ratio=_number(change.interval.high),
            level_ratio=_number(change.interval.level),
        ),
        changed=[to.FactChange(**dataclasses.asdict(fact)) for fact in change.changed],
        varied=[
            to.FactSpread(name=fact.name, before=list(fact.before), after=list(fact.after))
            for fact in change.varied
        ],
        unobserved=change.unobserved,
    )


def _number(value: float | None) -> Number:
    return float(value) if value is not None and math.isfinite(value) else None
