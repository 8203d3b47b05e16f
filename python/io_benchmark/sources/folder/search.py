# SPDX-License-Identifier: MPL-2.0
"""Find the results at a path: in a folder, in the folders below it, and in zip files.

`fetch` and `rehearse` put runs side by side, as TASKID.RUNID. The downloads of CI systems nest: a folder
or a zip file per artifact, and in it the path that was uploaded. A zip file is the same as a folder of its
name without `.zip`, so a report does not depend on which of them a download left.
"""

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from io_benchmark.errors import MissingPathError, ResultError, UsageError
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.folder.run_files import FoundRun
from io_benchmark.sources.folder.zip_archive import ZipArchive
from io_benchmark.text import clean

# A folder of 1,000 downloads has a few thousand files; a checkout with all its caches has more.
_MAXIMUM_FILES = 200_000
_ARCHIVE_MAGIC = b"PK"


def find_runs(path: Path) -> tuple[list[FoundRun], list[str]]:
    """Find the results at a path, in order, with remarks; raise a UsageError where there are none."""
    shown = clean(str(path), run_files.SHOWN_LENGTH)
    try:
        path.stat()
        search = _Search(path)
        search.search()
    except FileNotFoundError:
        raise MissingPathError(f"{shown}: no such file or folder", str(path)) from None
    except OSError as error:
        raise UsageError(
            f"{shown}: cannot read this path ({error.strerror}); name a folder of results"
        ) from None
    problem = search.problem()
    if problem is not None:
        raise UsageError(f"{shown}: {problem}")
    # By their folders, so that an archive is where its folder would be.
    search.runs.sort(key=lambda run: (Path(run.source).parts, run.entries is not None))
    return search.runs, search.remarks()


class _Search(Struct):
    """A search of a folder, or of a file."""

    top: Path
    runs: list[FoundRun] = field(default_factory=list)
    _too_deep: list[Path] = field(default_factory=list)
    _stores: set[Path] = field(default_factory=set)  # folders that contain TASKID.RUNID
    _seen: int = 0

    def search(self) -> None:
        """Search the path; a file that is not an archive and a run's own folder are one run."""
        if _is_archive(self.top):
            self.runs += _in_archive(self.top)
        elif self.top.is_dir() and not _is_stored(self.top):
            self._search(self.top, 0)
        else:
            self.runs.append(_run_at(self.top))

    def problem(self) -> str | None:
        """Return why it is not known which runs are meant."""
        if self._stores and self.top not in self._stores:
            newest = clean(str(max(self._stores)), run_files.SHOWN_LENGTH)
            return f"has several folders of results; name one, such as {newest}"
        if self.runs:
            return None
        name = run_files.RESULT_NAME
        if not self.top.is_dir():
            return f"has no {name}; name an archive of results (archives in it are not read)"
        return (
            f"has no results; name a folder that contains {name}, in folders or zip files (archives "
            "in archives are not read)"
        )

    def remarks(self) -> list[str]:
        """Name the first folder that is too deep."""
        if not self._too_deep:
            return []
        text = f"is more than {run_files.MAXIMUM_DEPTH} folders deep and was not searched"
        more = len(self._too_deep) - 1
        return [f"{min(self._too_deep)}: {text}" + (f", like {more:,} more" if more else "")]

    def _search(self, folder: Path, depth: int) -> None:
        below = []
        with os.scandir(folder) as entries:
            for entry in entries:
                self._seen += 1
                if self._seen > _MAXIMUM_FILES:
                    raise UsageError(
                        f"{clean(str(self.top), run_files.SHOWN_LENGTH)}: has more than "
                        f"{_MAXIMUM_FILES:,} files and folders; name a folder that contains only results"
                    )
                path = folder / entry.name
                if entry.name == run_files.RESULT_NAME:
                    self.runs.append(_run_at(folder))
                elif entry.name.startswith("."):
                    continue
                elif _is(entry.is_dir):
                    below.append((path, entry.is_symlink()))
                elif path.suffix.lower() == run_files.ARCHIVE_SUFFIX and _is(entry.is_file):
                    self.runs += _in_archive(path)
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
                self.runs.append(FoundRun(str(folder), folder, problem=problem))
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
        return FoundRun(str(path), path, file.stat().st_size)
    except OSError:
        record = run_files.read_task_record(path)
        return run_files.without_result(str(path), path, record) or FoundRun(str(path), path)


def _is_archive(path: Path) -> bool:
    """Return whether a path is that of a zip file, by its name or its first bytes."""
    try:
        if not path.is_file() or path.suffix.lower() == run_files.ARCHIVE_SUFFIX:
            return path.is_file()
        with path.open("rb") as file:
            return file.read(len(_ARCHIVE_MAGIC)) == _ARCHIVE_MAGIC
    except OSError:
        return False


def _in_archive(path: Path) -> list[FoundRun]:
    try:
        with ZipArchive(path) as archive:
            return archive.runs()
    except ResultError as error:
        return [FoundRun(str(path), path, problem=str(error))]
