# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
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

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.results.reader import DECODE_ERRORS, decode_problem
from io_benchmark.sources.budget import weight_bytes
from io_benchmark.sources.protocol import RunResult, TaskRecord
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


_NamedBytes = tuple[str, bytes]  # a file's content after its name for messages


class FoundRun(Struct, frozen=True):
    """A result that is there, or should be: in a folder, a file or an archive."""

    source: str  # for people: its folder, as if it were unpacked
    path: Path  # its folder or file, or its archive
    size_bytes: int = 0
    # In an archive, the entries of the result and of the task record next to it.
    entries: tuple[ZipInfo, ZipInfo | None] | None = None
    problem: str | None = None  # why it is not read
    without_result: TaskRecord | None = None  # of a task that left none

    def parse(self, result_file: _NamedBytes, record_file: _NamedBytes | None) -> RunResult:
        """Parse the files of the run."""
        name, data = result_file
        result = results.parse(data, name)
        return RunResult(
            result,
            None if record_file is None else _parse_task_record(*record_file),
            self.source,
            len(data),
            weight_bytes(result, data),
            "" if self.entries is None else str(self.path),
        )

    @staticmethod
    def of_record(source: str, path: Path, record_file: _NamedBytes) -> FoundRun | None:
        """Return the run of a task that left no result, as `fetch` records it; None for any other."""
        with suppress(ResultError):
            record = _parse_task_record(*record_file)
            if record.problem is not None:
                return FoundRun(source, path, problem=record.problem, without_result=record)
        return None

    @staticmethod
    def recorded_in(folder: Path) -> FoundRun | None:
        """Return the run of a task that left no result, if its record is in the folder."""
        file = folder / TASK_NAME
        with suppress(ResultError):
            return FoundRun.of_record(str(folder), folder, _record_file(file))
        return None


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


def recorded_pool(folder: Path) -> str | None:
    """Return the pool of a run whose result cannot be read; None: its folder does not say."""
    with suppress(ResultError):
        return _parse_task_record(*_record_file(folder / TASK_NAME)).pool
    return None


def read_run(path: Path) -> RunResult:
    """Read a run's folder, or a bare file, whose worker is not known."""
    folder, file = (path, path / RESULT_NAME) if path.is_dir() else (path.parent, path)
    _check_regular(file)
    data = results.load(file)
    record_file = folder / TASK_NAME
    record = None
    if file.name == RESULT_NAME and os.path.lexists(record_file):
        record = _record_file(record_file)
    return FoundRun(str(path), path).parse((str(file), data), record)


def _record_file(path: Path) -> _NamedBytes:
    _check_regular(path)
    return str(path), results.load(path, MAXIMUM_TASK_BYTES)


def _parse_task_record(name: str, data: bytes) -> TaskRecord:
    try:
        return msgspec.json.decode(data, type=TaskRecord)
    except DECODE_ERRORS as error:
        raise ResultError(f"{name}: {decode_problem(error, data)}") from None


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
