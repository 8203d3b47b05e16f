# SPDX-License-Identifier: MPL-2.0
"""Firefox's daily export of its workers' tasks, as rows: `workers-DATE-tasks.json`.

It has a column per property, with indices into tables of strings and times as differences, as Firefox's
testing/workers/JSON_FORMAT.md describes. What is wrong with it is a ValueError.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from io_benchmark.sources.task_runs import LATEST_MS
from io_benchmark.text import clean

_SHOWN_LENGTH = 60
# The table of a column's texts, and the name of the indices into it.
_INDICES = {
    "label": ("labels", "labelIds"),
    "pool": ("taskQueueIds", "taskQueueIdIds"),
    "resolution": ("resolutions", "resolutionIds"),
    "worker": ("workerIds", "workerIdIds"),
}


def export_rows(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Read Firefox's daily export: columns, strings by index, times by difference."""
    tasks, tables = document["tasks"], document.get("tables")
    if not isinstance(tables, dict):
        raise ValueError("is an export without tables; download it again")  # noqa: TRY004
    if "labelIds" not in tasks:
        raise ValueError(
            "is the summary of a day, which has no labels; give workers-DATE-tasks.json"
        )
    columns = {name: values for name, values in tasks.items() if isinstance(values, list)}
    needed = ("scheduled", "started", "resolved", "resolutionIds", "labelIds", "taskQueueIdIds")
    missing = [name for name in needed if name not in columns]
    if missing:
        raise ValueError(f"tasks has no {', '.join(missing)}; download the export again")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise ValueError("the columns of tasks differ in length; download the export again")
    worker_groups = _worker_groups(document, tables)
    scheduled = itertools.accumulate(map(_number, columns["scheduled"]))
    cells = zip(*columns.values(), strict=True)
    for number, (scheduled_ms, values) in enumerate(zip(scheduled, cells, strict=True), 1):
        task = dict(zip(columns, values, strict=True))
        row: dict[str, Any] = {
            column: _entry(tables.get(table), task.get(index))
            for column, (table, index) in _INDICES.items()
        }
        row |= {
            "worker_group": _entry(worker_groups, task.get("workerIdIds")),
            "task_id": task.get("taskIds"),
            "cost": task.get("runCosts"),
            "scheduled": scheduled_ms,
        }
        for name in ("started", "resolved"):
            row[name] = None if task[name] is None else scheduled_ms + _number(task[name])
        yield f"row {number}", row


def _worker_groups(document: Mapping[str, Any], tables: Mapping[str, Any]) -> list[Any]:
    information = document.get("workerInfo")
    ids = information.get("workerGroupIds") if isinstance(information, dict) else None
    groups = tables.get("workerGroups")
    return [_entry(groups, index) for index in ids] if isinstance(ids, list) else []


def _entry(values: object, index: object) -> Any:
    if isinstance(values, list) and type(index) is int and 0 <= index < len(values):
        return values[index]
    return None


def _number(value: object) -> float:
    if isinstance(value, int | float) and abs(value) <= LATEST_MS:
        return float(value)
    raise ValueError(
        f"{clean(repr(value)[:120], _SHOWN_LENGTH)} is not a number of milliseconds; download it again"
    )
