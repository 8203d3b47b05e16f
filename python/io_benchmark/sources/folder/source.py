# SPDX-License-Identifier: MPL-2.0
"""Results on this machine: a run's folder, a folder of such folders or of downloads, or a file."""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from io_benchmark.errors import MissingPathError, ResultError
from io_benchmark.results.reader import MAXIMUM_BYTES
from io_benchmark.sources.budget import SMALL_BYTES
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.folder.run_files import FoundRun
from io_benchmark.sources.folder.run_table import read_run_table
from io_benchmark.sources.folder.search import find_runs
from io_benchmark.sources.folder.zip_archive import ZipArchive
from io_benchmark.sources.protocol import (
    Position,
    ReadLog,
    ReadProgress,
    ReadRequest,
    RunQuery,
    Source,
    SourceAddress,
)
from io_benchmark.sources.run_results import RunResult
from io_benchmark.text import clean


class _Path(Struct, frozen=True, dict=True):
    """A path as an address; it is searched once, to check it and to read it."""

    path: Path

    @cached_property
    def search(self) -> tuple[list[FoundRun], list[str]]:
        return find_runs(self.path)


class FolderSource(Source):
    """Reads folders and files by their path."""

    forms = ("a folder",)
    is_local = True

    def parse(self, text: str, _environment: Mapping[str, str]) -> _Path | None:
        return None if "://" in text else _Path(Path(text))

    def check(self, addresses: Sequence[SourceAddress]) -> None:
        for address in addresses:
            _ = address.meaning.search

    def read(self, addresses: Sequence[SourceAddress], request: ReadRequest) -> ReadLog:
        log = ReadLog()
        positions: list[tuple[Position, FoundRun]] = []
        for address in addresses:
            runs, remarks = address.meaning.search
            for number, run in enumerate(runs):
                positions.append((Position(address.number, run_id=number), run))
            for remark in remarks:
                log.remark(Position(address.number), remark)
        # In order, but large ones last: they must not take the place of all others.
        positions.sort(key=lambda pair: pair[1].size_bytes > SMALL_BYTES)
        with _Reader() as reader:
            for done, (position, run) in enumerate(positions, 1):
                if request.budget.allows_reading(run.source, run.size_bytes):
                    _read(position, run, reader, request, log)
                request.progress(ReadProgress("reading results", done, len(positions)))
        return log

    def read_runs(self, addresses: Sequence[SourceAddress], query: RunQuery) -> ReadLog:
        for address in addresses:
            path = address.meaning.path
            # Unlike a Path, it takes any text.
            if not os.path.exists(path):  # noqa: PTH110
                shown = clean(address.text, run_files.SHOWN_LENGTH)
                raise MissingPathError(f"{shown}: no such file", str(path))
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


class _Reader(ExitStack):
    """Reads found runs; it keeps the last archive open, because its results follow each other."""

    _archive: ZipArchive | None = None

    def read(self, run: FoundRun) -> RunResult:
        if run.entries is None:
            return run_files.read_run(run.path)
        if self._archive is None or self._archive.path != run.path:
            self.close()
            self._archive = None
            self._archive = self.enter_context(ZipArchive(run.path))
        return self._archive.read(run.source, *run.entries)


def _read(
    position: Position, run: FoundRun, reader: _Reader, request: ReadRequest, log: ReadLog
) -> None:
    """Read one run; an unreadable one is a problem and stops nothing."""
    record = run.without_result
    if run.problem is not None:
        log.problem(position, run.problem, pool=record.pool if record else None)
        log.without_result += [record] if record else []
        return
    try:
        run_result = reader.read(run)
    except ResultError as error:
        request.budget.spend(min(run.size_bytes, MAXIMUM_BYTES))
        record = run_files.read_task_record(run.path)
        log.problem(position, str(error), pool=record.pool if record else None)
    else:
        request.budget.spend(run_result.size_bytes)
        request.accept(position, run_result, b"")
