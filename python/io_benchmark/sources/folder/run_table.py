# SPDX-License-Identifier: MPL-2.0
"""Task runs from a file: CSV, JSON, JSON lines, or Firefox's daily export of its workers' tasks.

A row is a run. Columns are found by name, in any order, and unknown ones are ignored; names are read
without regard to case, so that `taskQueueId`, `task_queue_id` and `Task queue ID` are one.

A file is untrusted: it has limits, and a row that cannot be used is left out and named. What is wrong
with a row or with a file is a ValueError.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.results.reader import DECODE_ERRORS, decode_problem
from io_benchmark.sources.protocol import RunQuery
from io_benchmark.sources.run_results import LATEST_MS, TaskRun, parse_time
from io_benchmark.text import clean, clean_name

_MOST_BYTES = 48 * 1024 * 1024
_MOST_VALUES = 8_000_000
_MOST_OBJECTS = 1_500_000
_ROWS_NAMED = 3
_QUOTED_LENGTH, _NAME_LENGTH = 60, 200

_COLUMNS = (
    *("label", "pool", "worker", "worker_group", "task_id", "run_id", "state", "reason"),
    *("resolution", "scheduled", "started", "resolved", "own_started", "own_ended", "cost"),
    "currency",
)
_ALIASES = {
    **dict.fromkeys(("task_label", "task_name", "name"), "label"),
    **dict.fromkeys(
        ("task_queue_id", "task_queue", "worker_pool", "worker_pool_id", "worker_type"), "pool"
    ),
    "worker_id": "worker",
    "run": "run_id",
    "reason_resolved": "reason",
    "run_cost": "cost",
}
_REQUIRED = (("label",), ("pool",), ("state", "resolution"), ("started",), ("resolved",))
# Of Firefox's export: the table of a column's texts, and the name of the indices into it.
_EXPORTED = {
    "label": ("labels", "labelIds"),
    "pool": ("taskQueueIds", "taskQueueIdIds"),
    "resolution": ("resolutions", "resolutionIds"),
    "worker": ("workerIds", "workerIdIds"),
}
_EXPORTED_COLUMNS = (
    *("scheduled", "started", "resolved", "labelIds", "taskQueueIdIds", "resolutionIds"),
)
_STATES = ("completed", "failed", "exception")
_TIMES = ("scheduled", "started", "resolved", "own_started", "own_ended")
_TASK_RUN = re.compile(r"(.*)\.([0-9]{1,9})")
# From this number on a time without a unit is in milliseconds.
_MILLISECONDS_FROM = 10**11
_EARLIEST_MS = 946_684_800_000  # the year 2000
_MOST_COST = 1_000_000.0

_Row = Mapping[str, Any]
_Rows = Iterator[tuple[str, _Row]]


def read_run_table(path: Path, query: RunQuery) -> list[str]:
    """Give the runs in a file to the query; return a line for each kind of row left out."""
    file = clean(str(path), 300)
    if not path.is_file():
        raise ResultError(f"{file}: is not a file; give a table of task runs")
    data = results.load(path, _MOST_BYTES)
    if len(data) > _MOST_BYTES:
        most = f"{_MOST_BYTES // 1024**2} MiB"
        raise ResultError(f"{file}: is larger than {most}; split it, by day for example")
    before, bad = len(query.runs), 0
    lines: list[str] = []
    try:
        for place, row in _rows(data):
            try:
                label, pool = str(row.get("label", "")), str(row.get("pool", ""))
                if not (label and pool) or query.wants_task(label, pool):
                    query.accept(_run(row))
            except ValueError as error:
                bad += 1
                if bad <= _ROWS_NAMED:
                    lines.append(f"{file}: {place}: {error}; the row is left out")
    except ValueError as error:
        del query.runs[before:]
        raise ResultError(f"{file}: {error}") from None
    if bad > _ROWS_NAMED:
        lines.append(f"{file}: {bad - _ROWS_NAMED:,} more rows are left out")
    return lines


def _rows(data: bytes) -> _Rows:
    """Return the rows, each with its place."""
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        raise ValueError("is empty; give a table of task runs")
    if start not in (b"{", b"["):
        return _csv_rows(data)
    if data.count(b"{") + data.count(b"[") > _MOST_OBJECTS or data.count(b",") > _MOST_VALUES:
        raise ValueError("has too many values for one file; split it, by day for example")
    document = _json(data.removeprefix(b"\xef\xbb\xbf"))
    if isinstance(document, dict) and isinstance(document.get("tasks"), dict):
        return _export_rows(document)
    return _object_rows(document if isinstance(document, list) else [document])


def _json(data: bytes) -> Any:
    """Decode a document, or the documents of JSON lines as a list."""
    try:
        return msgspec.json.decode(data)
    except DECODE_ERRORS as error:
        problem = decode_problem(error, data)
    try:
        return [msgspec.json.decode(line) for line in data.splitlines() if line.strip()]
    except DECODE_ERRORS:
        raise ValueError(f"cannot be read as JSON: {clean(problem, 120)}") from None


def _object_rows(objects: Sequence[Any]) -> _Rows:
    names: dict[str, None] = {}
    for number, row in enumerate(objects, 1):
        if not isinstance(row, dict):
            raise ValueError(f"row {number} is not an object; write one per run")  # noqa: TRY004
        names |= dict.fromkeys(row)
    columns = _columns(names)
    for number, row in enumerate(objects, 1):
        yield f"row {number}", _by_column(columns, row.items())


def _csv_rows(data: bytes) -> _Rows:
    try:
        document = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is not text in UTF-8; save it as such") from None
    delimiter = max(",;\t", key=document.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(document, newline=""), delimiter=delimiter, strict=True)
    try:
        names = next(reader)
        columns = _columns(names)
        for cells in reader:
            named = zip(names, map(str.strip, cells), strict=False)
            if cells:
                row = _by_column(columns, ((name, cell) for name, cell in named if cell))
                yield f"line {reader.line_num}", row
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: is not CSV: {error}") from None


def _columns(names: Iterable[str]) -> dict[str, str]:
    """Return the columns that are used, by their names in the file."""
    columns = {}
    for name in names:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()[:100])
        plain = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
        column = _ALIASES.get(plain, plain)
        if column in _COLUMNS:
            columns[name] = column
    missing = [" or ".join(group) for group in _REQUIRED if not {*group} & {*columns.values()}]
    if missing:
        raise ValueError(
            f"has no column {', '.join(missing)}; the columns are {', '.join(_COLUMNS)}"
        )
    return columns


def _by_column(columns: Mapping[str, str], cells: Iterable[tuple[str, Any]]) -> _Row:
    """Return the cells of the columns that are used; the first of a column counts."""
    return {columns[name]: value for name, value in reversed([*cells]) if name in columns}


def _export_rows(document: Mapping[str, Any]) -> _Rows:
    """Read Firefox's export, `workers-DATE-tasks.json`: columns, texts by index, times as differences.

    Firefox's testing/workers/JSON_FORMAT.md describes it.
    """
    tasks, tables = document["tasks"], document.get("tables")
    if not isinstance(tables, dict):
        raise ValueError("is an export without tables; download it again")  # noqa: TRY004
    if "labelIds" not in tasks:
        raise ValueError(
            "is the summary of a day, which has no labels; give workers-DATE-tasks.json"
        )
    columns = {name: values for name, values in tasks.items() if isinstance(values, list)}
    missing = [name for name in _EXPORTED_COLUMNS if name not in columns]
    if missing or len({len(values) for values in columns.values()}) > 1:
        problem = f"has no {', '.join(missing)}" if missing else "has columns that differ in length"
        raise ValueError(f"tasks {problem}; download the export again")
    workers = document.get("workerInfo")
    groups = workers.get("workerGroupIds") if isinstance(workers, dict) else None
    scheduled_ms = 0.0
    for number, values in enumerate(zip(*columns.values(), strict=True), 1):
        task = dict(zip(columns, values, strict=True))
        scheduled_ms += _difference_ms(task["scheduled"])
        row: dict[str, Any] = {
            column: _entry(tables.get(table), task.get(index))
            for column, (table, index) in _EXPORTED.items()
        }
        group = _entry(groups, task.get("workerIdIds"))
        row["worker_group"] = _entry(tables.get("workerGroups"), group)
        row |= {"task_id": task.get("taskIds"), "cost": task.get("runCosts")}
        row["scheduled"] = scheduled_ms
        for name in ("started", "resolved"):
            row[name] = None if task[name] is None else scheduled_ms + _difference_ms(task[name])
        yield f"row {number}", row


def _entry(values: object, index: object) -> Any:
    if isinstance(values, list) and type(index) is int and 0 <= index < len(values):
        return values[index]
    return None


def _difference_ms(value: object) -> float:
    if isinstance(value, int | float) and abs(value) <= LATEST_MS:
        return float(value)
    raise ValueError(f"{_quoted(value)} is not a number of milliseconds; download it again")


def _run(row: _Row) -> TaskRun:
    task_id, run = _name(row, "task_id"), _name(row, "run_id")
    if match := _TASK_RUN.fullmatch(task_id):
        task_id, run = match[1], run or match[2]
    if not re.fullmatch("[0-9]{0,9}", run):
        raise ValueError(f"run_id: {_quoted(run)} is not the number of a run")
    # The export has state and reason as one: 'exception - canceled'.
    state, _, reason = _name(row, "resolution").partition(" - ")
    state = _name(row, "state") or state
    if state not in _STATES:
        problem = f"{_quoted(state)} is none of {', '.join(_STATES)}" if state else "is empty"
        raise ValueError(f"state: {problem}")
    worker, group = _name(row, "worker"), _name(row, "worker_group")
    cost, currency = _cost(row.get("cost")), _name(row, "currency") or "USD"
    if cost >= 0 and not re.fullmatch("[A-Z]{3}", currency):
        raise ValueError(f"currency: {_quoted(currency)} is not a code such as USD")
    return TaskRun(
        label=_required(row, "label"),
        pool=_required(row, "pool"),
        task_id=task_id,
        run_id=int(run or 0),
        worker=f"{group}/{worker}" if group and worker else worker,
        state=state,
        reason=_name(row, "reason") or reason or state,
        **{f"{name}_ms": _time_ms(row, name) for name in _TIMES},
        cost=cost,
        currency=currency if cost >= 0 else "",
    )


def _name(row: _Row, column: str) -> str:
    value = row.get(column)
    if value is None:
        return ""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise ValueError(f"{column}: {_quoted(value)} is not text")  # noqa: TRY004
    return clean_name(str(value))


def _required(row: _Row, column: str) -> str:
    name = _name(row, column)
    if not name:
        raise ValueError(f"{column}: is empty")
    if len(str(row[column])) > _NAME_LENGTH:
        # Cut, two names could become one.
        raise ValueError(f"{column}: is longer than {_NAME_LENGTH} characters")
    return name


def _time_ms(row: _Row, column: str) -> int:
    """Return a time as milliseconds since 1970, -1 where there is none."""
    value = row.get(column)
    if value in (None, ""):
        return -1
    number = value
    if isinstance(value, str) and re.fullmatch(r"[0-9]{9,14}(\.[0-9]{1,9})?", value):
        number = float(value)
    if isinstance(number, int | float) and not isinstance(number, bool):
        time_ms: float | None = number if abs(number) >= _MILLISECONDS_FROM else 1000 * number
    else:
        moment = parse_time(str(value)[:40].replace(" UTC", "Z"))
        time_ms = None if moment is None else moment.timestamp() * 1000
    if time_ms is None or not _EARLIEST_MS <= time_ms <= LATEST_MS:
        raise ValueError(
            f"{column}: {_quoted(value)} is not a time; write one such as 2026-03-24T10:00:00Z"
        )
    return round(time_ms)


def _cost(value: Any) -> float:
    """Return a cost; -1 where there is none: the export writes 0 then."""
    if value in (None, ""):
        return -1.0
    try:
        amount = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        amount = math.nan
    if not 0 <= amount <= _MOST_COST:
        raise ValueError(f"cost: {_quoted(value)} is not a cost such as 0.31")
    return amount or -1.0


def _quoted(value: object) -> str:
    return clean(repr(value)[: 2 * _QUOTED_LENGTH], _QUOTED_LENGTH)
