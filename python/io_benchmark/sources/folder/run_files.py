# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The files of a run in a folder: TASKID.RUNID/io-benchmark.json and task.json.

task.json holds what only the queue knows about a run; a result file alone does not name its worker.
"""

import os
import re
import stat
from pathlib import Path

import msgspec

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.sources.budget import weight_bytes
from io_benchmark.sources.protocol import RunResult, TaskRecord
from io_benchmark.text import clean

RESULT_NAME = "io-benchmark.json"
TASK_NAME = "task.json"
_MAXIMUM_TASK_BYTES = 1024 * 1024
_SHOWN_LENGTH = 300
FOLDER = re.compile(r"[A-Za-z0-9_-]{22}\.[0-9]{1,9}")


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


def read_run(path: Path) -> RunResult:
    """Read a run's folder, or a bare file, whose worker is not known."""
    folder, file = (path, path / RESULT_NAME) if path.is_dir() else (path.parent, path)
    _check_regular(file)
    record = folder / TASK_NAME
    has_record = file.name == RESULT_NAME and os.path.lexists(record)
    data = results.load(file)
    result = results.parse(data, str(file))
    task = _read_task_record(record) if has_record else None
    return RunResult(result, task, str(path), len(data), weight_bytes(result, data))


def _read_task_record(path: Path) -> TaskRecord:
    _check_regular(path)
    try:
        return msgspec.json.decode(results.load(path, _MAXIMUM_TASK_BYTES), type=TaskRecord)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ResultError(f"{path}: {error}") from None
    except RecursionError:
        raise ResultError(f"{path}: is nested too deeply") from None


def _check_regular(path: Path) -> None:
    """Refuse what is not a regular file: reading a pipe or a device might never end."""
    shown = clean(str(path), _SHOWN_LENGTH)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ResultError(f"{shown}: is not a regular file")
    except FileNotFoundError:
        raise ResultError(f"{shown}: does not exist: the run left no result") from None
    except OSError as error:
        raise ResultError(f"{shown}: {error.strerror}") from None
