# SPDX-License-Identifier: MPL-2.0
"""Task runs from a file: CSV, JSON, JSON lines, or Firefox's daily export of its workers' tasks.

A row is a run. Columns are found by name, in any order, and unknown ones are ignored; names are read
without regard to case, so that `taskQueueId`, `task_queue_id` and `Task queue ID` are one. The export
is in `firefox_export.py`.

A file is untrusted: it has limits, and a row that cannot be used is left out and named.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.results.reader import DECODE_ERRORS, decode_problem
from io_benchmark.sources.folder.firefox_export import export_rows
from io_benchmark.sources.protocol import RunQuery
from io_benchmark.sources.task_runs import LATEST_MS, TaskRun, parse_milliseconds
from io_benchmark.text import clean, clean_name

_MOST_BYTES = 48 * 1024 * 1024
_MOST_VALUES = 8_000_000
_MOST_OBJECTS = 1_500_000
_ROWS_NAMED = 3
_SHOWN_LENGTH, _NAME_LENGTH = 60, 200

# The names of a column, the first being the documented one.
_COLUMNS = {
    "label": ("label", "task_label", "task_name", "name"),
    "pool": ("pool", "task_queue_id", "task_queue", "worker_pool", "worker_pool_id", "worker_type"),
    "worker": ("worker", "worker_id"),
    "worker_group": ("worker_group",),
    "task_id": ("task_id",),
    "run_id": ("run_id", "run"),
    "state": ("state",),
    "reason": ("reason", "reason_resolved"),
    "resolution": ("resolution",),
    "scheduled": ("scheduled",),
    "started": ("started",),
    "resolved": ("resolved",),
    "own_started": ("own_started",),
    "own_ended": ("own_ended",),
    "cost": ("cost", "run_cost"),
    "currency": ("currency",),
}
_REQUIRED = (("label",), ("pool",), ("state", "resolution"), ("started",), ("resolved",))
_STATES = ("completed", "failed", "exception")
_TASK_RUN = re.compile(r"(.*)\.([0-9]{1,9})")
# From this number on a time without a unit is in milliseconds.
_MILLISECONDS_FROM = 10**11
_EARLIEST_MS = 946_684_800_000  # the year 2000
_MOST_COST = 1_000_000.0

_Row = Mapping[str, Any]


class _BadRowError(ValueError):
    """What is wrong with a row."""


def read_run_table(path: Path, query: RunQuery) -> list[str]:
    """Give the runs in a file to the query; return a line for each kind of row left out."""
    shown = clean(str(path), 300)
    if not path.is_file():
        raise ResultError(f"{shown}: is not a file; give a table of task runs")
    data = results.load(path, _MOST_BYTES)
    if len(data) > _MOST_BYTES:
        most = f"{_MOST_BYTES // 1024**2} MiB"
        raise ResultError(f"{shown}: is larger than {most}; split it, by day for example")
    before = len(query.runs)
    try:
        return [f"{shown}: {line}" for line in _accept_rows(_rows(data), query)]
    except ValueError as error:
        del query.runs[before:]
        raise ResultError(f"{shown}: {error}") from None


def _accept_rows(rows: Iterable[tuple[str, _Row]], query: RunQuery) -> list[str]:
    lines: list[str] = []
    bad = 0
    for where, row in rows:
        label, pool = row.get("label"), row.get("pool")
        if isinstance(label, str) and isinstance(pool, str) and not query.wants_task(label, pool):
            continue
        try:
            query.accept(_run(row))
        except _BadRowError as error:
            bad += 1
            if bad <= _ROWS_NAMED:
                lines.append(f"{where}: {error}; the row is left out")
    if bad > _ROWS_NAMED:
        lines.append(f"{bad - _ROWS_NAMED:,} more rows are left out")
    return lines


def _rows(data: bytes) -> Iterator[tuple[str, _Row]]:
    """Return the rows, each with its place; raise a _BadRowError where it is no table of runs."""
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        raise _BadRowError("is empty; give a table of task runs")
    if start not in (b"{", b"["):
        return _csv_rows(data)
    if data.count(b"{") + data.count(b"[") > _MOST_OBJECTS or data.count(b",") > _MOST_VALUES:
        raise _BadRowError("has too many values for one file; split it, by day for example")
    document = _json(data)
    if isinstance(document, dict) and isinstance(document.get("tasks"), dict):
        return export_rows(document)
    if isinstance(document, dict):
        document = next((document[key] for key in ("runs", "tasks") if key in document), [document])
    if not isinstance(document, list):
        raise _BadRowError("is JSON without a list of runs; see the manual for the columns")
    return _object_rows(document)


def _json(data: bytes) -> Any:
    """Decode a document, or the documents of JSON lines as a list."""
    text = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return msgspec.json.decode(text)
    except DECODE_ERRORS as error:
        problem = decode_problem(error, text)
    try:
        return [msgspec.json.decode(line) for line in text.splitlines() if line.strip()]
    except DECODE_ERRORS:
        raise _BadRowError(f"cannot be read as JSON: {clean(problem, 120)}") from None


def _object_rows(objects: Sequence[Any]) -> Iterator[tuple[str, _Row]]:
    columns: dict[str, str | None] = {}
    for number, row in enumerate(objects, 1):
        if not isinstance(row, dict):
            raise _BadRowError(f"row {number} is not an object; write one per run")
        columns |= {name: _column(name) for name in row if name not in columns}
    _check_columns(columns.values())
    for number, row in enumerate(objects, 1):
        yield f"row {number}", _by_column((columns[name], value) for name, value in row.items())


def _csv_rows(data: bytes) -> Iterator[tuple[str, _Row]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _BadRowError("is not text in UTF-8; save it as such") from None
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [_column(name) for name in next(reader)]
        _check_columns(columns)
        for cells in reader:
            if cells:
                pairs = zip(columns, map(str.strip, cells), strict=False)
                row = _by_column((column, cell) for column, cell in pairs if cell)
                yield f"line {reader.line_num}", row
    except csv.Error as error:
        raise _BadRowError(f"line {reader.line_num}: is not CSV: {error}") from None


def _by_column(cells: Iterable[tuple[str | None, Any]]) -> _Row:
    """Return the cells of the columns that are used; the first of a column counts."""
    row: dict[str, Any] = {}
    for column, value in cells:
        if column is not None:
            row.setdefault(column, value)
    return row


def _column(name: str) -> str | None:
    """Return the column that a name means, if it is one that is used."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()[:100])
    plain = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    return next((column for column, names in _COLUMNS.items() if plain in names), None)


def _check_columns(columns: Iterable[str | None]) -> None:
    present = set(columns)
    missing = [" or ".join(names) for names in _REQUIRED if present.isdisjoint(names)]
    if missing:
        raise _BadRowError(
            f"has no column {', '.join(missing)}; the columns are {', '.join(_COLUMNS)}"
        )


def _run(row: _Row) -> TaskRun:
    task_id, run_id = _task_run(row)
    state, reason = _ending(row)
    worker, group = _text(row, "worker"), _text(row, "worker_group")
    cost = _cost(row.get("cost"))
    return TaskRun(
        label=_needed(row, "label"),
        pool=_needed(row, "pool"),
        task_id=task_id,
        run_id=run_id,
        worker=f"{group}/{worker}" if group and worker else worker,
        state=state,
        reason=reason,
        **{
            f"{name}_ms": _time_ms(row, name)
            for name in ("scheduled", "started", "resolved", "own_started", "own_ended")
        },
        cost=cost,
        currency=_currency(row) if cost >= 0 else "",
    )


def _text(row: _Row, name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise _BadRowError(f"{name}: {_shown(value)} is not text")
    return clean_name(str(value))


def _needed(row: _Row, name: str) -> str:
    text = _text(row, name)
    if not text:
        raise _BadRowError(f"{name}: is empty")
    if len(str(row[name])) > _NAME_LENGTH:
        # Cut, two names could become one.
        raise _BadRowError(f"{name}: is longer than {_NAME_LENGTH} characters")
    return text


def _task_run(row: _Row) -> tuple[str, int]:
    task_id, run = _text(row, "task_id"), _text(row, "run_id")
    match = _TASK_RUN.fullmatch(task_id)
    if match:
        task_id, run = match[1], run or match[2]
    if not re.fullmatch("[0-9]{0,9}", run):
        raise _BadRowError(f"run_id: {_shown(run)} is not the number of a run")
    return task_id, int(run or 0)


def _ending(row: _Row) -> tuple[str, str]:
    """Return state and reason; the export has them as one: 'exception - canceled'."""
    state, _, reason = _text(row, "resolution").partition(" - ")
    state = _text(row, "state") or state
    reason = _text(row, "reason") or reason or state
    if state not in _STATES:
        if not state:
            raise _BadRowError("state: is empty")
        raise _BadRowError(f"state: {_shown(state)} is none of {', '.join(_STATES)}")
    return state, reason


def _time_ms(row: _Row, name: str) -> int:
    value = row.get(name)
    if value is None or value == "":
        return -1
    time_ms = _parsed_ms(value)
    if time_ms is None or not _EARLIEST_MS <= time_ms <= LATEST_MS:
        raise _BadRowError(
            f"{name}: {_shown(value)} is not a time; write one such as 2026-03-24T10:00:00Z"
        )
    return round(time_ms)


def _parsed_ms(value: object) -> float | None:
    """Return milliseconds since 1970, of a number or of a date with its time."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{9,14}(\.[0-9]{1,9})?", value):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if abs(value) >= _MILLISECONDS_FROM else 1000 * value
    return parse_milliseconds(str(value)[:40].replace(" UTC", "Z"))


def _cost(value: object) -> float:
    """Return a cost; -1 where there is none: the export writes 0 then."""
    if value is None or value == "":
        return -1.0
    amount = math.nan
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            amount = float(value)
    if not 0 <= amount <= _MOST_COST:
        raise _BadRowError(f"cost: {_shown(value)} is not a cost such as 0.31")
    return amount or -1.0


def _currency(row: _Row) -> str:
    currency = _text(row, "currency") or "USD"
    if not re.fullmatch("[A-Z]{3}", currency):
        raise _BadRowError(f"currency: {_shown(currency)} is not a code such as USD")
    return currency


def _shown(value: object) -> str:
    return clean(repr(value)[: 2 * _SHOWN_LENGTH], _SHOWN_LENGTH)
