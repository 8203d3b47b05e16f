# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How results lie in a folder: TASKID.RUNID/io-benchmark.json with task.json beside it.

task.json holds what only the queue knows of a run; a result file alone does not say which worker
it came from.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.sources.budget import weight_bytes

RESULT_NAME = "io-benchmark.json"
TASK_NAME = "task.json"
MAXIMUM_TASK_BYTES = 1024 * 1024
FOLDER = re.compile(r"[A-Za-z0-9_-]{22}\.[0-9]{1,9}")


class TaskRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one task, as the queue (or a rehearsal) describes it."""

    version: int = 1
    task_id: str
    run_id: int
    label: str
    pool: str
    task_queue: str
    worker_group: str
    worker_id: str
    state: str
    image: str | None
    started: str
    resolved: str
    # Not in records of before 2026-11-21.
    reason_resolved: str | None = None
    task_group_id: str | None = None
    revision: str | None = None


@dataclass(frozen=True)
class Measured:
    """A result and, where it is known, the run that it came from."""

    result: results.Result
    task: TaskRecord | None
    source: str = ""  # where it was read from, for people
    size_bytes: int = 0  # of the result file
    weight_bytes: int = 0  # in memory

    @property
    def pool(self) -> str:
        return self.task.pool if self.task else self.result.task.pool


def run_folder(folder: Path, task_id: str, run_id: int) -> Path:
    name = f"{task_id}.{run_id}"
    if not FOLDER.fullmatch(name):
        raise ResultError(f"{name!r} is not of the form TASKID.RUNID")
    return folder / name


def write_task(folder: Path, record: TaskRecord) -> None:
    text = msgspec.json.format(msgspec.json.encode(record), indent=2)
    (folder / TASK_NAME).write_bytes(text + b"\n")


def read_run(folder: Path) -> Measured:
    """The result in one TASKID.RUNID folder."""
    measured = read_file(folder / RESULT_NAME)
    path = folder / TASK_NAME
    try:
        with path.open("rb") as file:
            data = file.read(MAXIMUM_TASK_BYTES)
        task = msgspec.json.decode(data, type=TaskRecord)
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ResultError(f"{path}: {error}") from None
    except RecursionError:
        raise ResultError(f"{path}: is nested too deeply") from None
    return replace(measured, task=task)


def read_file(path: Path) -> Measured:
    """The result in a file, whose worker nobody knows."""
    data = results.load(path)
    result = results.parse(data, str(path))
    return Measured(result, None, "", len(data), weight_bytes(result, data))
