# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Results on this machine: a run's folder, a folder of such folders, or a bare file."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from io_benchmark.errors import MissingPathError, ResultError, UsageError
from io_benchmark.results.reader import MAXIMUM_BYTES
from io_benchmark.sources.budget import SMALL_BYTES
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.protocol import (
    Position,
    ReadLog,
    ReadProgress,
    ReadRequest,
    Source,
    SourceAddress,
)
from io_benchmark.sources.task_runs import RunQuery
from io_benchmark.text import clean

_SHOWN_LENGTH = 300


class FolderSource(Source):
    """Reads folders and files by their path."""

    forms = ("a folder",)
    is_local = True

    def parse(self, text: str, _environment: Mapping[str, str]) -> Path | None:
        return None if "://" in text else Path(text)

    def check(self, addresses: Sequence[SourceAddress]) -> None:
        for address in addresses:
            _list_runs(address.meaning)

    def read(self, addresses: Sequence[SourceAddress], request: ReadRequest) -> ReadLog:
        log = ReadLog()
        paths = [
            (Position(address.number, run_id=number), path)
            for address in addresses
            for number, path in enumerate(_list_runs(address.meaning))
        ]
        # In order, but large ones last: they must not take the place of all others.
        paths.sort(key=lambda pair: _size_bytes(pair[1]) > SMALL_BYTES)
        for done, (position, path) in enumerate(paths, 1):
            if request.budget.allows_reading(str(path), _size_bytes(path)):
                _read(position, path, request, log)
            request.progress(ReadProgress("reading results", done, len(paths)))
        return log

    def check_runs(self, addresses: Sequence[SourceAddress]) -> None:
        for address in addresses:
            # Unlike a Path, it takes any text.
            if not os.path.exists(address.meaning):  # noqa: PTH110
                shown = clean(address.text, _SHOWN_LENGTH)
                raise MissingPathError(f"{shown}: no such file", str(address.meaning))

    def read_runs(self, addresses: Sequence[SourceAddress], query: RunQuery) -> ReadLog:
        # Results are read without it.
        from io_benchmark.sources.folder.run_table import read_run_table  # noqa: PLC0415

        log = ReadLog()
        for done, address in enumerate(addresses, 1):
            position = Position(address.number)
            if address.meaning.is_dir():
                text = (
                    f"{clean(address.text, _SHOWN_LENGTH)}: is a folder; give a table of task runs"
                )
                log.problem(position, text)
                continue
            try:
                for line in read_run_table(address.meaning, query):
                    log.problem(position, line)
            except ResultError as error:
                log.problem(position, str(error))
            query.progress(ReadProgress("reading tables", done, len(addresses)))
        return log


def _read(position: Position, path: Path, request: ReadRequest, log: ReadLog) -> None:
    """Read one run; an unreadable one is a problem and stops nothing."""
    try:
        run_result = run_files.read_run(path)
    except ResultError as error:
        request.budget.spend(min(_size_bytes(path), MAXIMUM_BYTES))
        log.problem(position, str(error))
    else:
        request.budget.spend(run_result.size_bytes)
        request.accept(position, run_result, b"")


def _list_runs(path: Path) -> list[Path]:
    """List the folders and files to read, in order; raise a UsageError where there are none."""
    shown = clean(str(path), _SHOWN_LENGTH)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISDIR(mode):
            return [path]
        if os.path.lexists(path / run_files.RESULT_NAME):
            return [path]
        folders = sorted(below for below in path.iterdir() if _is_run(below))
        if folders:
            return folders
        candidates = [
            below.name for below in path.iterdir() if below.is_dir() and any(_runs_in(below))
        ]
    except FileNotFoundError:
        raise MissingPathError(f"{shown}: no such file or folder", str(path)) from None
    except OSError as error:
        raise UsageError(
            f"{shown}: cannot read this path ({error.strerror}); name a folder of results"
        ) from None
    if candidates:
        newest = clean(str(path / max(candidates)), _SHOWN_LENGTH)
        raise UsageError(f"{shown}: has several folders of results; name one, such as {newest}")
    raise UsageError(
        f"{shown}: has no results; name a folder that contains TASKID.RUNID/{run_files.RESULT_NAME}"
    )


def _size_bytes(path: Path) -> int:
    """Return the size of a listed path's result file; 0 where reading it will fail."""
    try:
        return (path / run_files.RESULT_NAME if path.is_dir() else path).stat().st_size
    except OSError:
        return 0


def _is_run(path: Path) -> bool:
    """Return whether a folder has a result, or should have one by its name."""
    if not path.is_dir() or path.name.startswith("."):
        return False
    has_result = os.path.lexists(path / run_files.RESULT_NAME)
    return bool(run_files.FOLDER.fullmatch(path.name)) or has_result


def _runs_in(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.iterdir() if _is_run(path))
    except OSError:
        return
