# SPDX-License-Identifier: MPL-2.0
"""Results on this machine, at a path: in a folder, and in the folders below it.

`fetch` and `rehearse` put runs side by side, as TASKID.RUNID. The downloads of CI systems nest: a folder
per artifact, and in it the path that was uploaded.
"""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field

from io_benchmark.errors import ResultError, UsageError
from io_benchmark.results.reader import MAXIMUM_BYTES
from io_benchmark.sources.budget import SMALL_BYTES
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.folder.run_files import FoundRun
from io_benchmark.sources.folder.run_table import read_run_table
from io_benchmark.sources.protocol import (
    Addresses,
    Environment,
    Position,
    ReadLog,
    ReadProgress,
    ReadRequest,
    RunQuery,
    Source,
)
from io_benchmark.text import clean

# A folder of 1,000 downloads has a few thousand files; a checkout with all its caches has more.
_MAXIMUM_FILES = 200_000
_ARCHIVE_SUFFIX = ".zip"
_ABSENT = "no such file or folder; check the path, or give an address, which --help describes"


class _Path(Struct, frozen=True, dict=True):
    """A path as an address; it is searched once, to check it and to read it."""

    path: Path

    @cached_property
    def search(self) -> "_Search":
        label = clean(str(self.path), run_files.LABEL_LENGTH)
        search = _Search(self.path, label)
        try:
            self.path.stat()
            search.search()
        except FileNotFoundError:
            raise UsageError(f"{label}: {_ABSENT}") from None
        except OSError as error:
            raise UsageError(
                f"{label}: cannot read this path ({error.strerror}); name a folder of results"
            ) from None
        search.check()
        search.runs.sort(key=lambda run: run.path.parts)
        return search


class FolderSource(Source):
    """Reads folders and files by their path."""

    forms = ("a folder",)
    is_local = True

    def parse(self, address: str, _environment: Environment) -> _Path | None:
        return None if "://" in address else _Path(Path(address))

    def check(self, addresses: Addresses) -> None:
        for address in addresses:
            _ = address.meaning.search

    def read(self, addresses: Addresses, request: ReadRequest) -> ReadLog:
        log = ReadLog()
        positions: list[tuple[Position, FoundRun]] = []
        for address in addresses:
            search: _Search = address.meaning.search
            for number, run in enumerate(search.runs):
                positions.append((Position(address.number, run_id=number), run))
            for remark in search.remarks():
                log.remark(Position(address.number), remark)
        # In order, but large ones last: they must not take the place of all others.
        positions.sort(key=lambda pair: pair[1].size_bytes > SMALL_BYTES)
        for done, (position, run) in enumerate(positions, 1):
            if request.budget.allows_reading(str(run.path), run.size_bytes):
                _read(position, run, request, log)
            request.progress(ReadProgress("reading results", done, len(positions)))
        return log

    def read_runs(self, addresses: Addresses, query: RunQuery) -> ReadLog:
        for address in addresses:
            path = address.meaning.path
            # Unlike a Path, it takes any text.
            if not os.path.exists(path):  # noqa: PTH110
                label = clean(address.text, run_files.LABEL_LENGTH)
                raise UsageError(f"{label}: {_ABSENT}")
        log = ReadLog()
        for done, address in enumerate(addresses, 1):
            position = Position(address.number)
            try:
                for line in read_run_table(address.meaning.path, query):
                    log.problem(position, line)
            except ResultError as error:
                log.problem(position, str(error))
            query.progress(ReadProgress("reading tables", done, len(addresses)))
        return log


def _read(position: Position, run: FoundRun, request: ReadRequest, log: ReadLog) -> None:
    """Read one run; an unreadable one is a problem and stops nothing."""
    record = run.without_result
    if run.problem is not None:
        log.problem(position, run.problem, pool=record.pool if record else None)
        log.without_result += [record] if record else []
        return
    try:
        run_result = run_files.read_run(run.path)
    except ResultError as error:
        request.budget.spend(min(run.size_bytes, MAXIMUM_BYTES))
        record = run_files.read_task_record(run.path)
        log.problem(position, str(error), pool=record.pool if record else None)
    else:
        request.budget.spend(run_result.size_bytes)
        request.accept(position, run_result, b"")


class _Search(Struct):
    """A search of a folder, or of a file."""

    top: Path
    label: str
    runs: list[FoundRun] = field(default_factory=list)
    _too_deep: list[Path] = field(default_factory=list)
    _archives: list[Path] = field(default_factory=list)
    _stores: set[Path] = field(default_factory=set)  # folders that contain TASKID.RUNID
    _seen: int = 0

    def search(self) -> None:
        """Search the path; a file and a run's own folder are one run."""
        if self.top.is_dir() and not _is_stored(self.top):
            self._search(self.top, 0)
        else:
            self.runs.append(_run_at(self.top))

    def check(self) -> None:
        """Raise a UsageError where there is no result, or where it is not known which are meant."""
        if self._stores and self.top not in self._stores:
            newest = clean(str(max(self._stores)), run_files.LABEL_LENGTH)
            problem = f"has several folders of results; name one, such as {newest}"
        elif self.runs:
            return
        else:
            advice = f"name a folder that contains {run_files.RESULT_NAME}, or folders with it"
            problem = f"has no results; {'unpack its zip files' if self._archives else advice}"
        raise UsageError(f"{self.label}: {problem}")

    def remarks(self) -> list[str]:
        """Name the first folder that is too deep, and the first zip file."""
        too_deep = f"is more than {run_files.MAXIMUM_DEPTH} folders deep and was not searched"
        return [
            f"{min(paths)}: {remark}" + (f", like {len(paths) - 1:,} more" if paths[1:] else "")
            for paths, remark in (
                (self._too_deep, too_deep),
                (self._archives, "is a zip file and was not read; unpack it"),
            )
            if paths
        ]

    def _search(self, folder: Path, depth: int) -> None:
        below = []
        with os.scandir(folder) as entries:
            for entry in entries:
                self._seen += 1
                if self._seen > _MAXIMUM_FILES:
                    raise UsageError(
                        f"{self.label}: has more than {_MAXIMUM_FILES:,} files and folders; name a "
                        "folder that contains only results"
                    )
                path = folder / entry.name
                if entry.name == run_files.RESULT_NAME:
                    self.runs.append(_run_at(folder))
                elif entry.name.startswith("."):
                    continue
                elif _is(entry.is_dir):
                    below.append((path, entry.is_symlink()))
                elif path.suffix.lower() == _ARCHIVE_SUFFIX:
                    self._archives.append(path)
        for path, is_link in below:
            self._enter(path, depth + 1, is_link=is_link)

    def _enter(self, folder: Path, depth: int, *, is_link: bool) -> None:
        before = len(self.runs)
        if _is_stored(folder):
            self._stores.add(folder.parent)
        elif is_link:
            # A run, but nothing below it: links may lead in circles.
            if os.path.lexists(folder / run_files.RESULT_NAME):
                self.runs.append(_run_at(folder))
            return
        elif depth > run_files.MAXIMUM_DEPTH:
            self._too_deep.append(folder)
        else:
            try:
                self._search(folder, depth)
            except OSError as error:
                problem = f"{folder}: cannot be searched ({error.strerror})"
                self.runs.append(FoundRun(folder, problem=problem))
        is_run = run_files.FOLDER.fullmatch(folder.name) is not None
        if is_run and depth == 1 and len(self.runs) == before:
            self.runs.append(_run_at(folder))


def _is(kind: Callable[[], bool]) -> bool:
    """Return the answer of an entry; a link that cannot be followed is neither folder nor file."""
    try:
        return kind()
    except OSError:
        return False


def _is_stored(folder: Path) -> bool:
    """Return whether a folder is a run's, as `fetch` writes it; an artifact may have such a name."""
    is_named = run_files.FOLDER.fullmatch(folder.name) is not None
    return is_named and os.path.lexists(folder / run_files.TASK_NAME)


def _run_at(path: Path) -> FoundRun:
    """Return a run's folder or file, with its size; 0 where reading it will fail."""
    try:
        file = path / run_files.RESULT_NAME if path.is_dir() else path
        return FoundRun(path, file.stat().st_size)
    except OSError:
        record = run_files.read_task_record(path)
        return run_files.without_result(path, record) or FoundRun(path)
