# SPDX-License-Identifier: MPL-2.0
"""The results in a zip file, which is how CI systems hand out artifacts.

Any job can have made it, so nothing in it is trusted. Only results and their task records are read, in
memory, and nothing is written. What is limited: the list of entries before it is decoded, the depth of
an entry, and its size, by what the list says and again while it is read. Entries that zip files can hold
and that no upload makes are refused: encrypted ones, links, paths that lead out, names given twice,
compressions whose output cannot be limited.
"""

import io
import re
import stat
import struct
import zipfile
import zlib
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from zipfile import ZipInfo

from msgspec.structs import replace

from io_benchmark.errors import ResultError
from io_benchmark.results.reader import MAXIMUM_BYTES, other_content
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.folder.run_files import FoundRun
from io_benchmark.sources.run_results import RunResult
from io_benchmark.text import clean

# Of 40,000 entries with paths of 60 characters.
_MAXIMUM_LIST_BYTES = 4 * 1024 * 1024
_MAXIMUM_RESULTS = 10_000
_CHUNK_BYTES = 1024 * 1024
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_PRINTABLE = re.compile(rb"[\x20-\x7e]*")
_DRIVE = re.compile(r"[A-Za-z]:")
_START_BYTES = 60  # of a file that is no zip file
# All that the standard library raises for files that are not as they should be.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
)


class _LimitedFile(io.BufferedReader):
    """Refuses to read a long list of entries, which takes twenty times its size once decoded."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _MAXIMUM_LIST_BYTES:
            raise ResultError(
                f"its list of entries has {size:,} bytes, more than {_MAXIMUM_LIST_BYTES:,}; unpack it"
            )
        return super().read(size)


class ZipArchive(ExitStack):
    """An open zip file; a ResultError is one line that names the file and the reason."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        try:
            file = self.enter_context(_LimitedFile(io.FileIO(path)))
            self._archive = self.enter_context(zipfile.ZipFile(file))
        except (OSError, ResultError, *_BROKEN) as error:
            self.close()
            problem = str(error)
            if isinstance(error, OSError):
                problem = error.strerror or problem
            elif not isinstance(error, ResultError):
                problem = _not_an_archive(path, error)
            raise self._error(problem) from None

    def runs(self) -> list[FoundRun]:
        """List the results; those in hidden folders are left out, as in a folder."""
        results: dict[PurePosixPath, list[ZipInfo]] = {}
        records: dict[PurePosixPath, ZipInfo] = {}
        for entry in self._archive.infolist():
            path = _path(entry)
            if any(part.startswith(".") and part != ".." for part in path.parts):
                continue
            if path.name == run_files.RESULT_NAME:
                results.setdefault(path.parent, []).append(entry)
            elif path.name == run_files.TASK_NAME:
                records[path.parent] = entry
        lost = [
            folder
            for folder in records
            if folder not in results and run_files.FOLDER.fullmatch(folder.name)
        ]
        count = len(results) + len(lost)
        if count > _MAXIMUM_RESULTS:
            raise self._error(f"has {count:,} results, more than {_MAXIMUM_RESULTS:,}")
        runs = [
            self._run(folder, entries, records.get(folder)) for folder, entries in results.items()
        ]
        recorded = (self._without_result(folder, records[folder]) for folder in lost)
        return runs + [run for run in recorded if run is not None]

    def read(self, source: str, result: ZipInfo, record: ZipInfo | None) -> RunResult:
        """Read one of its results."""
        data, name = self._content(result), self._name(result)
        run_result = RunResult.parse(data, name, source, str(self.path))
        if record is None:
            return run_result
        task = run_files.parse_task_record(self._name(record), self._content(record))
        return replace(run_result, task=task)

    def _run(
        self, folder: PurePosixPath, results: list[ZipInfo], record: ZipInfo | None
    ) -> FoundRun:
        result = refused = results[0]
        problem = _problem(result, MAXIMUM_BYTES)
        if problem is None and len(results) > 1:
            problem = f"is in it {len(results):,} times; which one is meant is not known"
        if problem is None and record is not None:
            refused, problem = record, _problem(record, run_files.MAXIMUM_TASK_BYTES)
        if problem is not None:
            problem = str(self._error(f"{refused.filename} {problem}"))
        source = str(_unpacked(self.path, folder))
        return FoundRun(source, self.path, result.file_size, (result, record), problem)

    def _without_result(self, folder: PurePosixPath, entry: ZipInfo) -> FoundRun | None:
        """Return the run of a task that left no result; None where the record is another's."""
        if _problem(entry, run_files.MAXIMUM_TASK_BYTES) is not None:
            return None
        name, data = self._name(entry), self._content(entry)
        with suppress(ResultError):
            record = run_files.parse_task_record(name, data)
            return run_files.without_result(str(_unpacked(self.path, folder)), self.path, record)
        return None

    def _content(self, entry: ZipInfo) -> bytes:
        """Return an entry's bytes, never more than its checked size."""
        try:
            with self._archive.open(entry) as content:
                return b"".join(iter(lambda: content.read(_CHUNK_BYTES), b""))
        except (OSError, *_BROKEN) as error:
            raise self._error(
                f"{entry.filename} cannot be read ({_reason(error)}); download it again"
            ) from None

    def _name(self, entry: ZipInfo) -> str:
        return f"{self.path}: {entry.filename}"

    def _error(self, problem: str) -> ResultError:
        return ResultError(clean(f"{self.path}: {problem}", run_files.LABEL_LENGTH))


def _path(entry: ZipInfo) -> PurePosixPath:
    """Return an entry's path; archives from Windows may have backslashes."""
    return PurePosixPath(entry.filename.replace("\\", "/"))


def _unpacked(path: Path, folder: PurePosixPath) -> Path:
    """Return where an entry's folder would be: in a folder that is named like its archive.

    Some systems put that folder into the archive as well (`archive.zip`, `drop.zip`).
    """
    top = path.with_suffix("") if path.suffix.lower() == run_files.ARCHIVE_SUFFIX else path
    parts = folder.parts[1:] if folder.parts[:1] == (top.name,) else folder.parts
    return top.joinpath(*parts)


def _problem(entry: ZipInfo, maximum_bytes: int) -> str | None:
    """Return why an entry is not read."""
    path = _path(entry)
    if path.is_absolute() or ".." in path.parts or _DRIVE.match(entry.filename):
        return "leads out of it; make the archive again with relative paths"
    if len(path.parent.parts) > run_files.MAXIMUM_DEPTH:
        return f"is more than {run_files.MAXIMUM_DEPTH} folders deep; unpack it"
    if entry.flag_bits & _ENCRYPTED:
        return "is encrypted; unpack it with its password"
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        return "is not a regular file; make the archive again without links"
    if entry.compress_type not in _COMPRESSIONS:
        return f"is compressed by method {entry.compress_type}; only deflate is read: unpack it"
    if entry.file_size > maximum_bytes:
        return f"has {entry.file_size:,} bytes, more than {maximum_bytes:,}; remove it"
    return None


def _not_an_archive(path: Path, error: Exception) -> str:
    """Return what a file is that is no zip file, by its start, and what to do."""
    with suppress(OSError), path.open("rb") as file:
        start = file.read(_START_BYTES)
        if not start.startswith(b"PK"):
            begin = f" (it begins with {start.decode()!r})" if _PRINTABLE.fullmatch(start) else ""
            return other_content(start) or f"is not a zip file{begin}; download it again"
    return f"is cut or damaged ({_reason(error)}); download it again"


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "a name in it is not UTF-8"
    return str(error) or type(error).__name__
