# SPDX-License-Identifier: MPL-2.0
"""The files of a run in a folder: TASKID.RUNID/io-benchmark.json and task.json.

task.json holds what only the queue knows about a run; a result file alone does not name its worker.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.results.reader import DECODE_ERRORS, decode_problem
from io_benchmark.sources.run_results import RunResult, TaskRecord
from io_benchmark.text import clean

if TYPE_CHECKING:
    from zipfile import ZipInfo

RESULT_NAME = "io-benchmark.json"
TASK_NAME = "task.json"
ARCHIVE_SUFFIX = ".zip"
MAXIMUM_TASK_BYTES = 1024 * 1024
SHOWN_LENGTH = 300  # of a path in a message
# Of the folders below an address, and of those in an archive.
MAXIMUM_DEPTH = 10
FOLDER = re.compile(r"[A-Za-z0-9_-]{22}\.[0-9]{1,9}")


class FoundRun(Struct, frozen=True):
    """A result that is there, or should be: in a folder, a file or an archive."""

    source: str  # for people: its folder, as if it were unpacked
    path: Path  # its folder or file, or its archive
    size_bytes: int = 0
    # In an archive, the entries of the result and of the task record next to it.
    entries: tuple[ZipInfo, ZipInfo | None] | None = None
    problem: str | None = None  # why it is not read
    without_result: TaskRecord | None = None  # of a task that left none


def run_folder(folder: Path, task_id: str, run_id: int) -> Path:
    """Return the folder of a run below `folder`."""
    name = f"{task_id}.{run_id}"
    if not FOLDER.fullmatch(name):
        raise ResultError(f"{clean(name, 100)!r} is not of the form TASKID.RUNID")
    return folder / name


def write_task_record(folder: Path, record: TaskRecord) -> None:
    """Write the task.json of a run."""
    text = msgspec.json.format(msgspec.json.encode(record), indent=2)
    (folder / TASK_NAME).write_bytes(text + b"\n")


def parse_task_record(name: str, data: bytes) -> TaskRecord:
    """Parse a task.json; `name` is for messages."""
    try:
        return msgspec.json.decode(data, type=TaskRecord)
    except DECODE_ERRORS as error:
        raise ResultError(f"{name}: {decode_problem(error, data)}") from None


def read_task_record(folder: Path) -> TaskRecord | None:
    """Read the task.json in a folder; None where there is none that can be read."""
    with suppress(ResultError):
        return _task_record(folder / TASK_NAME)
    return None


def without_result(source: str, path: Path, record: TaskRecord | None) -> FoundRun | None:
    """Return the run of a task that left no result, as `fetch` records it; None for any other."""
    if record is None or record.problem is None:
        return None
    return FoundRun(source, path, problem=record.problem, without_result=record)


def read_run(path: Path) -> RunResult:
    """Read a run's folder, or a bare file, whose worker is not known."""
    folder, file = (path, path / RESULT_NAME) if path.is_dir() else (path.parent, path)
    _check_regular(file)
    run_result = RunResult.parse(results.load(file), str(file), str(path))
    record_file = folder / TASK_NAME
    if file.name == RESULT_NAME and os.path.lexists(record_file):
        return replace(run_result, task=_task_record(record_file))
    return run_result


def _task_record(path: Path) -> TaskRecord:
    _check_regular(path)
    return parse_task_record(str(path), results.load(path, MAXIMUM_TASK_BYTES))


def _check_regular(path: Path) -> None:
    """Refuse what is not a regular file: reading a pipe or a device might never end."""
    shown = clean(str(path), SHOWN_LENGTH)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ResultError(f"{shown}: is not a regular file")
    except FileNotFoundError:
        raise ResultError(f"{shown}: does not exist: the run left no result") from None
    except OSError as error:
        raise ResultError(f"{shown}: {error.strerror}") from None
