# SPDX-License-Identifier: MPL-2.0
"""Results on this machine, at a path: in a folder, and in the folders below it.

`fetch` and `rehearse` put runs side by side, as TASKID.RUNID. The downloads of CI systems nest: a
folder per artifact, and in it the path that was uploaded.
"""

import os
from contextlib import suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct, field

from io_benchmark.errors import ResultError, UsageError
from io_benchmark.results.format import TaskProfile
from io_benchmark.results.reader import MAXIMUM_BYTES, load
from io_benchmark.results.resource_profile import MAXIMUM_RESOURCE_BYTES, parse_any_profile
from io_benchmark.sources import protocol, run_files
from io_benchmark.sources.budget import SMALL_BYTES, Budget
from io_benchmark.sources.run_results import RunProfile
from io_benchmark.sources.run_table import read_run_table
from io_benchmark.text import clean

# A folder of 1,000 downloads has a few thousand files; a checkout with all its caches has more.
_MAXIMUM_FILES = 200_000
_MAXIMUM_DEPTH = 10  # of the folders below an address
_TOO_DEEP = f"is more than {_MAXIMUM_DEPTH} folders deep and was not searched"
_ARCHIVE = "is a zip file and was not read; unpack it"
_ABSENT = "no such file or folder; check the path, or give an address, which --help describes"


class FolderSource(protocol.Source):
    forms = ("a folder",)
    is_local = True

    def parse(self, address: str, _environment: protocol.Environment) -> Path | None:
        return None if "://" in address else Path(address)

    def read(self, addresses: protocol.Addresses, request: protocol.Reading) -> None:
        found_runs: list[tuple[protocol.Position, Path, int]] = []
        for address in addresses:
            search = _Search.of(address.meaning)
            for number, path in enumerate(sorted(search.sizes, key=lambda path: path.parts)):
                position = protocol.Position(address.number, run_id=number)
                found_runs.append((position, path, search.sizes[path]))
            for problem in search.problems:
                request.problem(protocol.Position(address.number), problem)
            for remark in search.remarks():
                request.remark(protocol.Position(address.number), remark)
        # In order, but large ones last: they must not take the place of all others.
        found_runs.sort(key=lambda run: run[2] > SMALL_BYTES)
        for done, (position, path, size_bytes) in enumerate(found_runs, 1):
            if request.budget.allows_reading(str(path), size_bytes):
                _read(position, path, size_bytes, request)
            request.progress("reading results", done, len(found_runs))

    def wait(
        self,
        addresses: protocol.Addresses,
        _environment: protocol.Environment,
        _limit_s: float,
        _tell: protocol.Tell,
    ) -> None:
        """Find mistakes in the addresses before others are waited for."""
        for address in addresses:
            _Search.of(address.meaning)

    def read_runs(self, addresses: protocol.Addresses, query: protocol.RunQuery) -> None:
        for address in addresses:
            # Unlike a Path, it takes any text.
            if not os.path.exists(address.meaning):  # noqa: PTH110
                raise UsageError(f"{clean(address.text, run_files.LABEL_LENGTH)}: {_ABSENT}")
        for done, address in enumerate(addresses, 1):
            position = protocol.Position(address.number)
            try:
                for line in read_run_table(address.meaning, query, address.number):
                    query.problem(position, line)
            except ResultError as error:
                query.problem(position, str(error))
            query.progress("reading tables", done, len(addresses))

    def read_profiles(self, addresses: protocol.Addresses, query: protocol.Reading) -> None:
        for address in addresses:
            top = Path(address.meaning)
            files = top.rglob("*profile*.json") if top.is_dir() else [top]
            paths = sorted(islice(files, 1_000))
            if not paths:
                raise UsageError(
                    f"{clean(str(top), run_files.LABEL_LENGTH)}: has no file whose name contains "
                    "profile and ends in .json"
                )
            for number, path in enumerate(paths):
                position = protocol.Position(address.number, run_id=number)
                try:
                    if query.budget.allows_reading(str(path)):
                        query.profiles.append((position, _read_profile(path, query.budget)))
                except ResultError as error:
                    if path == top:
                        raise
                    query.problem(position, str(error))

    def read_logs(self, addresses: protocol.Addresses, query: protocol.LogQuery) -> None:
        # What reads a task beside a log takes long to load, and no other command needs it here.
        from io_benchmark.sources.run_logs import read_log_file  # noqa: PLC0415

        for address in addresses:
            top = Path(address.meaning)
            files = top.rglob("*.log") if top.is_dir() else [top]
            paths = sorted(islice(files, query.limits.runs))
            if not paths:
                label = clean(str(top), run_files.LABEL_LENGTH)
                raise UsageError(f"{label}: has no file whose name ends in .log; name a task's log")
            for number, path in enumerate(paths):
                position = protocol.Position(address.number, run_id=number)
                query.progress("reading logs", number, len(paths))
                try:
                    query.accept_phases(position, read_log_file(path))
                except ResultError as error:
                    query.problem(position, str(error))


def _read(
    position: protocol.Position, path: Path, size_bytes: int, request: protocol.Reading
) -> None:
    """Read one run; an unreadable one is a problem and stops nothing."""
    try:
        run_result = run_files.read_run(path)
    except ResultError as error:
        request.budget.read_bytes -= min(size_bytes, MAXIMUM_BYTES)
        problem, record = str(error), run_files.read_task_record(path)
        if record is not None and record.problem is not None:  # `fetch` found no result
            problem = record.problem
            request.without_result.append(record)
        request.problem(position, problem, pool=record.pool if record else None)
    else:
        request.budget.read_bytes -= run_result.size_bytes
        request.accept(position, run_result, b"")


def _read_profile(path: Path, budget: Budget) -> RunProfile:
    name = str(path)
    data = load(path, MAXIMUM_RESOURCE_BYTES)
    budget.read_bytes -= len(data)
    profile = parse_any_profile(data, name)
    pool = profile.task.pool if isinstance(profile, TaskProfile) else None
    return RunProfile(profile, name, name, pool)


class _Search(Struct):
    top: Path
    label: str
    # The size of each result that is there, or should be, by its folder or file.
    sizes: dict[Path, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)  # folders that cannot be searched
    _skipped: dict[str, list[Path]] = field(default_factory=dict)  # by the reason
    _stores: set[Path] = field(default_factory=set)  # folders that contain TASKID.RUNID

    @classmethod
    def of(cls, top: Path) -> "_Search":
        """Search a path; a file and a run's own folder are one run.

        Raise a UsageError where there is no result, or where it is not known which are meant.
        """
        search = cls(top, clean(str(top), run_files.LABEL_LENGTH))
        try:
            top.stat()
            if top.is_dir() and not _is_stored(top):
                search._search()
            else:
                search._add(top)
        except FileNotFoundError:
            raise UsageError(f"{search.label}: {_ABSENT}") from None
        except OSError as error:
            raise UsageError(
                f"{search.label}: cannot read this path ({error.strerror}); name a folder of "
                "results"
            ) from None
        if search._stores and top not in search._stores:
            newest = clean(str(max(search._stores)), run_files.LABEL_LENGTH)
            raise UsageError(
                f"{search.label}: has several folders of results; name one, such as {newest}"
            )
        if not search.sizes and not search.problems:
            advice = f"name a folder that contains {run_files.RESULT_NAME}, or folders with it"
            if _ARCHIVE in search._skipped:
                advice = "unpack its zip files"
            raise UsageError(f"{search.label}: has no results; {advice}")
        return search

    def remarks(self) -> list[str]:
        """Name the first folder that is too deep, and the first zip file."""
        return [
            f"{min(paths)}: {reason}" + (f", like {len(paths) - 1:,} more" if paths[1:] else "")
            for reason, paths in self._skipped.items()
        ]

    def _search(self) -> None:
        count = 0
        for name, folders, files in os.walk(self.top, onerror=self._add_problem):
            folder = Path(name)
            count += len(folders) + len(files)
            if count > _MAXIMUM_FILES:
                raise UsageError(
                    f"{self.label}: has more than {_MAXIMUM_FILES:,} files and folders; name a "
                    "folder that contains only results"
                )
            if run_files.RESULT_NAME in (*folders, *files):
                self._add(folder)
            for file in files:
                if file.lower().endswith(".zip") and not file.startswith("."):
                    self._skipped.setdefault(_ARCHIVE, []).append(folder / file)
            folders[:] = [below for below in folders if self._is_searched(folder / below)]

    def _add_problem(self, error: OSError) -> None:
        if Path(error.filename) == self.top:
            raise error
        self.problems.append(f"{error.filename}: cannot be searched ({error.strerror})")

    def _is_searched(self, folder: Path) -> bool:
        """Return whether to search a folder below; add one that is a run or a link to one."""
        is_stored = _is_stored(folder)
        if folder.name.startswith("."):
            return False
        if is_stored:
            self._stores.add(folder.parent)
        # Nothing below a link is read: links may lead in circles.
        if is_stored or (folder.is_symlink() and os.path.lexists(folder / run_files.RESULT_NAME)):
            self._add(folder)
            return False
        if len(folder.relative_to(self.top).parts) > _MAXIMUM_DEPTH:
            self._skipped.setdefault(_TOO_DEEP, []).append(folder)
            return False
        return not folder.is_symlink()

    def _add(self, path: Path) -> None:
        """Add a run's folder or file, with its size; 0 where reading it will fail."""
        self.sizes[path] = 0
        with suppress(OSError):
            file = path / run_files.RESULT_NAME if path.is_dir() else path
            self.sizes[path] = file.stat().st_size


def _is_stored(folder: Path) -> bool:
    """Return whether a folder is a run's, as `fetch` writes it, not only named like one."""
    is_named = run_files.FOLDER.fullmatch(folder.name)
    return bool(is_named and os.path.lexists(folder / run_files.TASK_NAME))
