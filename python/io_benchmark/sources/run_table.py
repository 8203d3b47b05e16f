# SPDX-License-Identifier: MPL-2.0
"""Task runs from a file: CSV, a JSON list, or Firefox's daily export of its workers' tasks.

A row is a run. Columns are found by name, in any order, and unknown ones are ignored.

A file is untrusted: it has limits, and a row that cannot be used is left out and named. What is
wrong with a row or with a file is a ValueError.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from io_benchmark.costs.worker_time import LEAST_AMOUNT, MOST_AMOUNT
from io_benchmark.errors import ResultError
from io_benchmark.files import FileTooLargeError, read_file
from io_benchmark.number_text import number_of, size
from io_benchmark.results.reader import DECODE_ERRORS, decode_problem
from io_benchmark.sources.protocol import RunQuery
from io_benchmark.sources.run_results import LATEST_MS, TaskRun, parse_time
from io_benchmark.text import clean, clean_name, problem_in_words

_MOST_BYTES = 256 * 1024 * 1024  # a million rows of CSV, which are read one by one
_MOST_JSON_BYTES = 48 * 1024 * 1024  # needs memory for all values at once
_MOST_VALUES = 8_000_000
_MOST_OBJECTS = 1_500_000
_ROWS_NAMED = 3
_QUOTED_LENGTH, _NAME_LENGTH = 60, 200

_REQUIRED = ("label", "pool", "state", "started", "resolved")
# The columns of Firefox's export that are read.
_EXPORTED = ("scheduled", "started", "resolved", "labelIds", "taskQueueIdIds", "resolutionIds")
_STATES = ("completed", "failed", "exception")
# The columns with times, and the fields of a run that have them.
_TIMES = {
    name: f"{name}_ms" for name in ("scheduled", "started", "resolved", "own_started", "own_ended")
}
_SECONDS = re.compile(r"[0-9]{9,14}(\.[0-9]{1,9})?")
_Title = Annotated[str, Meta(min_length=1, max_length=_NAME_LENGTH)]  # cut, two could become one
_MILLISECONDS_FROM = 10**11  # from this number on a time without a unit is in milliseconds
_EARLIEST_MS = 946_684_800_000  # the year 2000

_clean_name = lru_cache(maxsize=65_536)(clean_name)  # most names are in many rows
_Rows = Iterator[tuple[str, Mapping[str, Any]]]


class _Row(Struct, frozen=True):
    """The columns of a row; a time is a text or a number."""

    label: _Title
    pool: _Title
    state: str
    worker: str = ""
    task_id: str = ""
    run_id: Annotated[int, Meta(ge=0, le=999_999_999)] = 0
    reason: str = ""
    scheduled: Any = None
    started: Any = None
    resolved: Any = None
    own_started: Any = None
    own_ended: Any = None
    cost: Annotated[float, Meta(ge=0, le=MOST_AMOUNT)] = 0.0  # not known, as in the export
    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$")] = "USD"
    os: str = ""


_COLUMNS = frozenset(_Row.__struct_fields__)


def read_run_table(path: Path, query: RunQuery, address: int) -> list[str]:
    """Give the runs in a file to the query; return a line for each kind of row left out.

    `address` is the file's number on the command line.
    """
    file = clean(str(path), 300)
    if not path.is_file():
        raise ResultError(f"{file}: is not a file; give a table of task runs")
    try:
        data = read_file(path, _MOST_BYTES)
    except FileTooLargeError as error:
        raise ResultError(f"{file}: {error.strerror}; split it, by day for example") from None
    except OSError as error:
        raise ResultError(f"{file}: {error.strerror}") from None
    before, bad = len(query.runs), 0
    lines: list[str] = []
    try:
        for place, row in _rows(data):
            try:
                label, pool = str(row.get("label") or ""), str(row.get("pool") or "")
                if not (label and pool) or query.wants_task(label, pool, address):
                    query.add(_run(row), address)
            except ValueError as error:
                bad += 1
                if bad <= _ROWS_NAMED:
                    lines.append(f"{file}: {place}: {error}; the row is left out")
    except ValueError as error:
        del query.runs[before:]
        raise ResultError(f"{file}: {error}") from None
    if bad > _ROWS_NAMED:
        rows = number_of(bad - _ROWS_NAMED, "more row")
        lines.append(f"{file}: {rows} left out")
    return lines


def _rows(data: bytes) -> _Rows:
    document = data.removeprefix(b"\xef\xbb\xbf")
    start = document.lstrip()[:1]
    if not start:
        raise ValueError("is empty; give a table of task runs")
    if start not in (b"{", b"["):
        return _csv_rows(document)
    if len(data) > _MOST_JSON_BYTES:
        most = size(_MOST_JSON_BYTES)
        raise ValueError(f"is JSON larger than {most}; split it, by day for example")
    if data.count(b"{") + data.count(b"[") > _MOST_OBJECTS or data.count(b",") > _MOST_VALUES:
        raise ValueError("has too many values for one file; split it, by day for example")
    try:
        decoded = msgspec.json.decode(document)
    except DECODE_ERRORS as error:
        problem = clean(decode_problem(error, document), 120)
        raise ValueError(f"cannot be read as JSON: {problem}") from None
    return _object_rows(decoded) if isinstance(decoded, list) else _export_rows(decoded)


def _object_rows(objects: Sequence[Any]) -> _Rows:
    for number, row in enumerate(objects, 1):
        if not isinstance(row, dict):
            raise ValueError(f"row {number} is not an object; write one per run")  # noqa: TRY004
        yield f"row {number}", row


def _csv_rows(data: bytes) -> _Rows:
    # Decoded as it is read: the whole text would need four bytes per character.
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(lines, strict=True, skipinitialspace=True)
    try:
        heads = next(filter(None, reader), [])
        missing = [name for name in _REQUIRED if name not in heads]
        if missing:
            raise ValueError(
                f"has no column {', '.join(missing)}; the columns are "
                f"{', '.join(_Row.__struct_fields__)}"
            )
        columns = [(place, name) for place, name in enumerate(heads) if name in _COLUMNS]
        for cells in filter(None, reader):
            # A short row has nothing in its last columns.
            cells.extend([""] * (len(heads) - len(cells)))
            yield f"line {reader.line_num}", {name: cells[place] for place, name in columns}
    except UnicodeDecodeError:
        raise ValueError("is not text in UTF-8; save it as such") from None
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: is not CSV: {error}") from None


def _export_rows(document: Mapping[str, Any]) -> _Rows:
    """Read Firefox's export, `workers-DATE-tasks.json`.

    It has columns, texts by their index, and times as differences; Firefox's
    testing/workers/JSON_FORMAT.md describes it.
    """
    tasks, tables = document.get("tasks"), document.get("tables")
    if not (isinstance(tasks, dict) and isinstance(tables, dict)):
        message = "is neither a list of runs nor Firefox's workers-DATE-tasks.json"
        raise ValueError(message)  # noqa: TRY004
    columns = {name: values for name, values in tasks.items() if isinstance(values, list)}
    missing = [name for name in _EXPORTED if name not in columns]
    if missing or len({len(values) for values in columns.values()}) > 1:
        problem = f"has no {', '.join(missing)}" if missing else "has columns that differ in length"
        raise ValueError(f"tasks {problem}; download workers-DATE-tasks.json again")
    workers = document.get("workerInfo")
    groups = workers.get("workerGroupIds") if isinstance(workers, dict) else None
    scheduled_ms = 0.0
    for number, values in enumerate(zip(*columns.values(), strict=True), 1):
        task = dict(zip(columns, values, strict=True))
        scheduled_ms += _difference_ms(task["scheduled"])
        row: dict[str, Any] = {
            "label": _entry(tables.get("labels"), task["labelIds"]),
            "pool": _entry(tables.get("taskQueueIds"), task["taskQueueIdIds"]),
            "cost": task.get("runCosts"),
            "scheduled": scheduled_ms,
        }
        # Its state and reason are one: 'exception - canceled'.
        resolution = str(_entry(tables.get("resolutions"), task["resolutionIds"]) or "")
        row["state"], _, row["reason"] = resolution.partition(" - ")
        row["task_id"], _, row["run_id"] = str(task.get("taskIds") or "").partition(".")
        worker = task.get("workerIdIds")
        group = _entry(tables.get("workerGroups"), _entry(groups, worker))
        names = (group, _entry(tables.get("workerIds"), worker))
        row["worker"] = "/".join(str(name) for name in names if name is not None)
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


def _run(columns: Mapping[str, Any]) -> TaskRun:
    given = {
        name: value
        for name, value in columns.items()
        if value is not None and value != "" and name in _COLUMNS
    }
    try:
        row = msgspec.convert(given, _Row, strict=False)
    except msgspec.ValidationError as error:
        problem, _, name = problem_in_words(str(error)).partition(" - at `$.")
        column = name.rstrip("`")
        value = f"{column}: {_quoted(given[column])}: " if column else ""
        raise ValueError(f"{value}{problem.removeprefix('$.')}") from None
    if row.state not in _STATES:
        raise ValueError(f"state: {_quoted(row.state)} is none of {', '.join(_STATES)}")
    if 0 < row.cost < LEAST_AMOUNT:
        raise ValueError(
            f"cost: {_quoted(given['cost'])} is less than {LEAST_AMOUNT:.9f}; write 0 if it is "
            "not known"
        )
    return TaskRun(
        label=_clean_name(row.label),
        pool=_clean_name(row.pool),
        task_id=clean_name(row.task_id),  # few rows have the same
        run_id=row.run_id,
        worker=_clean_name(row.worker),
        state=row.state,
        reason=_clean_name(row.reason or row.state),
        **{field: _time_ms(name, given[name]) for name, field in _TIMES.items() if name in given},
        cost=row.cost or -1.0,
        currency=row.currency if row.cost else "",
        system=_clean_name(row.os),
    )


def _time_ms(column: str, value: Any) -> int:
    """Return a time as milliseconds since 1970."""
    is_number = isinstance(value, str) and _SECONDS.fullmatch(value)
    number = float(value) if is_number else value
    if isinstance(number, int | float) and not isinstance(number, bool):
        time_ms: float | None = number if abs(number) >= _MILLISECONDS_FROM else 1000 * number
    else:
        moment = parse_time(str(value)[:40])
        time_ms = None if moment is None else moment.timestamp() * 1000
    if time_ms is None or not _EARLIEST_MS <= time_ms <= LATEST_MS:
        raise ValueError(
            f"{column}: {_quoted(value)} is not a time; write one such as 2026-03-24T10:00:00Z"
        )
    return round(time_ms)


def _quoted(value: object) -> str:
    return clean(repr(value)[: 2 * _QUOTED_LENGTH], _QUOTED_LENGTH)
