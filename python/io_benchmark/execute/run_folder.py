# SPDX-License-Identifier: MPL-2.0
"""The folders of one run: its workspace, and its output with the log and the artifacts.

A worker uploads only regular files. Anything else, such as a missing file or a symlink, becomes an
*error artifact*, and the task still completes. Here it is named in the outcome and in the log.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.child import hold_interrupts
from io_benchmark.execute.local_run import Artifact, LocalRun, RunOutcome
from io_benchmark.sources.run_results import queue_time

LIVE_LOG = "live.log"

# The caller writes the second one.
RESERVED_NAMES = frozenset({LIVE_LOG, "task.json"})

# Returns where an artifact's path is here, None where it does not exist.
Locate = Callable[[Artifact], Path | None]


class RunOutput:
    """The output folder of a run."""

    def __init__(self, run: LocalRun, stream: BinaryIO) -> None:
        self._run = run
        self._stream = stream
        self._started = datetime.now(UTC)

    @classmethod
    @contextmanager
    def started(cls, run: LocalRun) -> Iterator["RunOutput"]:
        """Make the folder and its log.

        An interrupted run's files are removed, because half of a run looks like a complete one.
        """
        folder = run.output
        is_new = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ExecutionError(
                f"{folder}: {error.strerror}; name another output folder"
            ) from error
        before = {path.name for path in folder.iterdir()}
        if LIVE_LOG in before:
            raise ExecutionError(
                f"{folder}: already contains a run's {LIVE_LOG}; name a new folder"
            )
        try:
            with (folder / LIVE_LOG).open("xb") as stream:
                yield cls(run, stream)
        except BaseException:
            with hold_interrupts():
                for path in [path for path in folder.iterdir() if path.name not in before]:
                    remove(path)
                if is_new:
                    folder.rmdir()
            raise

    def finish(self, exit_code: int, locate: Locate, *, is_late: bool) -> RunOutcome:
        """Take the artifacts, and return the outcome; a run is late that was stopped at its limit."""
        state, explanation = self._run.state(exit_code), ""
        if is_late:
            limit_s = self._run.max_run_time_s()
            self._write_error(f"Task aborted - max run time exceeded ({limit_s:g} s)")
            state, explanation = "failed", f"stopped at its maxRunTime of {limit_s:g} s"
        missing = self._take_artifacts(locate)
        started, resolved = queue_time(self._started), queue_time(datetime.now(UTC))
        return RunOutcome(exit_code, state, started, resolved, missing, explanation)

    def write(self, line: bytes) -> None:
        """Write a line that has its prefix already. A terminal's line ends become plain ones."""
        content = line.rstrip(b"\r\n")
        try:
            self._stream.write(content + b"\n")
            self._stream.flush()
        except OSError as error:
            raise ExecutionError(f"{self._stream.name}: {error.strerror}") from error

    def write_task(self, line: bytes) -> None:
        """Write a line of the command's output, prefixed as run-task does."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.write(b"[task %s] %s" % (time.encode("ascii"), line))

    def _write_error(self, message: str) -> None:
        """Write a line of the worker, which the log's viewers show as an error."""
        self.write(f"[taskcluster:error] {message}".encode())

    def _take_artifacts(self, locate: Locate) -> tuple[str, ...]:
        """Copy every artifact; return the names of those that could not be taken.

        A folder's files keep their place below the folder: public/io-benchmark/x.json becomes x.json.
        """
        missing = []
        for artifact in self._run.artifacts():
            for name, source, target in _files(artifact, locate(artifact)):
                reason = _copy(name, source, self._run.output / target)
                if reason:
                    missing.append(name)
                    self._write_error(f"Could not upload artifact {name}: {reason}")
        return tuple(missing)


@contextmanager
def new_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Make an empty folder in another; it is gone after the block."""
    folder: Path | None = None
    try:
        with hold_interrupts():
            folder = _make_folder(parent, prefix)
        yield folder
    finally:
        if folder is not None:
            with hold_interrupts():
                remove(folder)


def _make_folder(parent: Path, prefix: str) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix=prefix, dir=parent.resolve()))
    except OSError as error:
        raise ExecutionError(
            f"{parent}: cannot create a folder: {error.strerror}; name another folder"
        ) from error


def remove(path: Path) -> None:
    """Remove a file or a whole folder."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise ExecutionError(
            f"{path}: cannot be removed: {error.strerror}; remove it by hand"
        ) from error


def _files(artifact: Artifact, source: Path | None) -> Iterator[tuple[str, Path | None, str]]:
    """Return name, place and target of every file; an artifact that cannot be one yields itself."""
    is_folder = source is not None and source.is_dir() and source.resolve() == source
    if source is None or not artifact.is_directory or not is_folder:
        # A file instead of a folder is as wrong as no folder.
        place = None if artifact.is_directory else source
        yield artifact.name, place, PurePosixPath(artifact.name).name
        return
    for folder, folders, files in os.walk(source):
        folders.sort()
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for file in sorted(files + links):
            path = Path(folder, file)
            inside = path.relative_to(source).as_posix()
            yield f"{artifact.name}/{inside}", path, inside


def _copy(name: str, source: Path | None, target: Path) -> str:
    """Copy a file; return why the worker would upload an error artifact, if so."""
    if source is None or not os.path.lexists(source):
        return "it does not exist"
    if source.resolve() != source or not source.is_file():
        return "it is not a regular file"
    if target.name in {"", ".."} or target.name in RESERVED_NAMES or target.exists():
        raise ExecutionError(
            f"artifact {name}: a file {target.name} already exists; "
            "give the artifact another name in kind.yml"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    except OSError as error:
        raise ExecutionError(
            f"{target}: {error.strerror}; the run is incomplete, run it again"
        ) from error
    return ""
