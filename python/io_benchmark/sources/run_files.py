# SPDX-License-Identifier: MPL-2.0
"""Runs in a folder: TASKID.RUNID/io-benchmark.json and task.json.

task.json holds what only the queue knows about a run; a result file alone does not name its worker.
`fetch` writes a run to a hidden folder, which no command reads, and moves it to its place in one
step, so that a run is complete or absent. Several processes may fill one folder at the same time,
and the first one that has a run writes it. What a killed one left is removed by the next.
"""

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark import results
from io_benchmark.errors import MissingError, ResultError, UsageError
from io_benchmark.paths import resolve_path
from io_benchmark.results.reader import DECODE_ERRORS, decode_problem
from io_benchmark.sources.protocol import Position
from io_benchmark.sources.run_results import RunResult, TaskRecord
from io_benchmark.text import clean

RESULT_NAME, TASK_NAME = "io-benchmark.json", "task.json"
_MAXIMUM_TASK_BYTES = 1024 * 1024
LABEL_LENGTH = 300  # of a path in a message
FOLDER = re.compile(r"[A-Za-z0-9_-]{22}\.[0-9]{1,9}")
_HIDDEN = re.compile(rf"\.{FOLDER.pattern}-.*")


def run_folder(folder: Path, task_id: str, run_id: int) -> Path:
    name = f"{task_id}.{run_id}"
    if not FOLDER.fullmatch(name):
        raise ResultError(f"{clean(name, 100)!r} is not of the form TASKID.RUNID")
    return folder / name


def read_task_record(folder: Path) -> TaskRecord | None:
    """Read the task.json in a folder; None where there is none that can be read."""
    with suppress(ResultError):
        return _task_record(folder / TASK_NAME)
    return None


def read_run(path: Path) -> RunResult:
    """Read a run's folder, or a bare file, whose worker is not known."""
    folder, file = (path, path / RESULT_NAME) if path.is_dir() else (path.parent, path)
    try:
        data = results.load(file)
    except MissingError:
        label = clean(str(file), LABEL_LENGTH)
        raise ResultError(f"{label}: does not exist: the run left no result") from None
    run_result = RunResult.parse(data, str(file), str(path))
    record_file = folder / TASK_NAME
    if file.name == RESULT_NAME and os.path.lexists(record_file):
        return replace(run_result, task=_task_record(record_file))
    return run_result


def _task_record(path: Path) -> TaskRecord:
    data = results.load(path, _MAXIMUM_TASK_BYTES)
    try:
        return msgspec.json.decode(data, type=TaskRecord)
    except DECODE_ERRORS as error:
        raise ResultError(f"{path}: {decode_problem(error, data)}") from None


class RunStore(Struct):
    """The folder that `fetch` fills; it is created with the first run."""

    folder: Path
    fetched: int = 0
    skipped: int = 0  # runs that were fetched before, or by another process meanwhile
    # Folders of tasks that had left no result before, by task.
    _without_result: dict[str, list[Path]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        resolved = resolve_path(self.folder, f"--output {self.folder}")
        if not resolved.exists():
            return
        if not resolved.is_dir():
            raise UsageError(f"--output {self.folder}: is not a folder; name a folder for the runs")
        with _locked(self.folder):
            for path in self.folder.iterdir():
                if _HIDDEN.fullmatch(path.name):
                    shutil.rmtree(path, ignore_errors=True)
                elif FOLDER.fullmatch(path.name) and _has_no_result(path):
                    self._without_result.setdefault(path.name.rpartition(".")[0], []).append(path)

    def has_run(self, task_id: str, run_id: int) -> bool:
        """Return whether the run was fetched before; read it, as it may be damaged."""
        if not self._is_there(task_id, run_id):
            return False
        self.skipped += 1
        return True

    def accept(self, _position: Position, run_result: RunResult, data: bytes) -> None:
        if run_result.task is None:
            raise ResultError(f"{run_result.source}: its source does not know its task")
        if self._write(run_result.task, data):
            self.fetched += 1
        else:
            self.skipped += 1

    def add_without_result(self, records: Iterable[TaskRecord]) -> None:
        if self.fetched or self.skipped:
            for record in records:
                self._write(record, None)

    def _is_there(self, task_id: str, run_id: int) -> bool:
        """Return whether the folder has the run's result; raise a ResultError if it is damaged."""
        folder = run_folder(self.folder, task_id, run_id)
        if _has_no_result(folder):
            return False
        broken = f"{folder}: exists and is not a complete run; remove it"
        try:
            task = read_run(folder).task
        except ResultError as error:
            raise ResultError(f"{broken} ({error})") from None
        if task is None or (task.task_id, task.run_id) != (task_id, run_id):
            raise ResultError(f"{broken} ({TASK_NAME} does not describe this run)")
        return True

    def _write(self, record: TaskRecord, data: bytes | None) -> bool:
        """Write a run; return False where another process has written its result meanwhile."""
        target = run_folder(self.folder, record.task_id, record.run_id)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with _locked(self.folder):
                if self._is_there(record.task_id, record.run_id):
                    return False
                # The task has a result now, or another record that it has none.
                for earlier in {target, *self._without_result.pop(record.task_id, ())}:
                    _remove_without_result(earlier)
                self._write_new(target, record, data)
        except OSError as error:
            # Where the file system has no locks.
            is_taken = error.errno in (errno.EEXIST, errno.ENOTEMPTY)
            if is_taken and self._is_there(record.task_id, record.run_id):
                return False
            raise ResultError(
                f"{target}: cannot be written ({error.strerror}); free space or name another folder"
            ) from None
        return True

    def _write_new(self, target: Path, record: TaskRecord, data: bytes | None) -> None:
        """Write a run to a hidden folder and move it to its place in one step."""
        with TemporaryDirectory(prefix=f".{target.name}-", dir=self.folder) as hidden:
            unfinished = Path(hidden) / target.name
            unfinished.mkdir()
            if data is not None:
                (unfinished / RESULT_NAME).write_bytes(data)
            record.write(unfinished / TASK_NAME)
            unfinished.rename(target)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let other processes wait before they change the folder; a killed one does not hold it."""
    number = os.open(folder, os.O_RDONLY)
    try:
        # Some network file systems cannot lock a folder.
        with suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _has_no_result(folder: Path) -> bool:
    """Return whether a run's folder is absent, empty, or says why its task left no result."""
    if os.path.lexists(folder / RESULT_NAME):
        return False
    if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
        return True
    record = read_task_record(folder)
    return record is not None and record.problem is not None


def _remove_without_result(folder: Path) -> None:
    if folder.is_dir() and _has_no_result(folder):
        (folder / TASK_NAME).unlink(missing_ok=True)
        folder.rmdir()
