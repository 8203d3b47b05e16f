# SPDX-License-Identifier: MPL-2.0
"""The folder that `fetch` fills: each run is complete or absent.

A run is written to a hidden folder, which no command reads, and moved to its place in one step.
"""

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from msgspec import Struct, field

from io_benchmark.errors import ResultError, UsageError
from io_benchmark.paths import resolve_path
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.protocol import Position
from io_benchmark.sources.run_results import RunResult, TaskRecord


class _StoredRun(NamedTuple):
    """A run in the folder."""

    record: TaskRecord | None  # None: it was fetched before, or by another fetch
    folder_name: str


class RunStore(Struct):
    """The folder for the runs; it is created with the first run."""

    folder: Path
    runs: list[_StoredRun] = field(default_factory=list)
    # Folders of tasks that had left no result before, by task.
    _without_result: dict[str, list[Path]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        resolved = resolve_path(self.folder, f"--output {self.folder}")
        if resolved.exists() and not resolved.is_dir():
            raise UsageError(f"--output {self.folder}: is not a folder; name a folder for the runs")
        for path in self.folder.iterdir() if resolved.exists() else ():
            if run_files.FOLDER.fullmatch(path.name):
                record = run_files.read_task_record(path)
                has_result = os.path.lexists(path / run_files.RESULT_NAME)
                if record is not None and record.problem is not None and not has_result:
                    self._without_result.setdefault(path.name.rpartition(".")[0], []).append(path)

    def has_run(self, task_id: str, run_id: int) -> bool:
        """Return whether the run was fetched before; read it, as it may be damaged or another run."""
        folder = run_files.run_folder(self.folder, task_id, run_id)
        if not os.path.lexists(folder) or folder in self._without_result.get(task_id, ()):
            return False
        broken = f"{folder}: exists and is not a complete run; remove it"
        try:
            task = run_files.read_run(folder).task
        except ResultError as error:
            raise ResultError(f"{broken} ({error})") from None
        if task is None or (task.task_id, task.run_id) != (task_id, run_id):
            raise ResultError(f"{broken} ({run_files.TASK_NAME} does not describe this run)")
        self.runs.append(_StoredRun(None, folder.name))
        return True

    def accept(self, _position: Position, run_result: RunResult, data: bytes) -> None:
        """Write a run. This blocks on the disk, and may be called in several threads."""
        record = run_result.task
        if record is None:
            raise ResultError(f"{run_result.source}: its source does not know its task")
        if self._write(record, data):
            self.runs.append(_StoredRun(record, f"{record.task_id}.{record.run_id}"))
        else:
            self.has_run(record.task_id, record.run_id)

    def add_without_result(self, records: Iterable[TaskRecord]) -> None:
        """Write the records of tasks that left no result, next to the runs of others."""
        for record in records if self.runs else ():
            folder = run_files.run_folder(self.folder, record.task_id, record.run_id)
            # What is there, and was not there before, another fetch has written.
            if folder in self._without_result.get(record.task_id, ()) or not folder.exists():
                self._write(record, None)

    def _write(self, record: TaskRecord, data: bytes | None) -> bool:
        """Write a run to a hidden folder and move it to its place in one step.

        Return False if another fetch did so meanwhile.
        """
        target = run_files.run_folder(self.folder, record.task_id, record.run_id)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=f".{target.name}-", dir=self.folder) as hidden:
                unfinished = Path(hidden) / target.name
                unfinished.mkdir()
                if data is not None:
                    (unfinished / run_files.RESULT_NAME).write_bytes(data)
                run_files.write_task_record(unfinished, record)
                # The task may have a result by now.
                for earlier in self._without_result.pop(record.task_id, ()):
                    with suppress(FileNotFoundError):
                        if not (earlier / run_files.RESULT_NAME).exists():
                            (earlier / run_files.TASK_NAME).unlink()
                            earlier.rmdir()
                unfinished.rename(target)
        except OSError as error:
            if error.errno in {errno.EEXIST, errno.ENOTEMPTY} and target.is_dir():
                return False
            raise ResultError(
                f"{target}: cannot be written ({error.strerror}); free space or name another folder"
            ) from None
        return True
