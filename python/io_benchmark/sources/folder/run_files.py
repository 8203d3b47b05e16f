# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The files of a run in a folder: TASKID.RUNID/io-benchmark.json and task.json.

task.json holds what only the queue knows about a run; a result file alone does not name its worker.
"""

import re
from dataclasses import replace
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


def read_run_folder(folder: Path) -> RunResult:
    """Read the result and the record in one TASKID.RUNID folder."""
    run_result = read_result_file(folder / RESULT_NAME)
    path = folder / TASK_NAME
    try:
        with path.open("rb") as file:
            data = file.read(_MAXIMUM_TASK_BYTES)
        task = msgspec.json.decode(data, type=TaskRecord)
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ResultError(f"{path}: {error}") from None
    except RecursionError:
        raise ResultError(f"{path}: is nested too deeply") from None
    return replace(run_result, task=task)


def read_result_file(path: Path) -> RunResult:
    """Read the result in a file, whose worker is not known."""
    data = results.load(path)
    result = results.parse(data, str(path))
    return RunResult(result, None, "", len(data), weight_bytes(result, data))
