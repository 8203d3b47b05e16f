# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The folders of one run: its workspace, and its output with the log in it."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.child import hold_interrupts

LIVE_LOG = "live.log"


class LiveLog:
    """Writes each line to the file as it came and hands it to the caller as text."""

    def __init__(self, stream: BinaryIO, on_line: Callable[[str], None]) -> None:
        self._stream = stream
        self._on_line = on_line

    def raw(self, line: bytes) -> None:
        """Write a line that has its prefix already. A terminal's line ends become plain ones."""
        text = line.rstrip(b"\r\n")
        try:
            self._stream.write(text + b"\n")
            self._stream.flush()
        except OSError as error:
            raise ExecutionError(f"{self._stream.name}: {error.strerror}") from error
        self._on_line(text.decode("utf-8", errors="replace"))

    def task(self, line: bytes) -> None:
        """Write a line of the command's output, prefixed as run-task does."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.raw(b"[task %s] %s" % (time.encode("ascii"), line))

    def worker_error(self, message: str) -> None:
        """Write a line that the log's viewers show as an error."""
        self.raw(f"[taskcluster:error] {message}".encode())

    def time_limit_exceeded(self, limit_s: float) -> str:
        """Write what a worker writes at a task's maxRunTime; return the run's explanation."""
        self.worker_error(f"Task aborted - max run time exceeded ({limit_s:g} s)")
        return f"stopped at its maxRunTime of {limit_s:g} s"


@contextmanager
def workspace(pool: str, default: Path, by_pool: Mapping[str, Path]) -> Iterator[Path]:
    """Make an empty folder for one task, in its pool's folder, else in the default."""
    parent = by_pool.get(pool, default)
    made: Path | None = None
    try:
        with hold_interrupts():
            made = Path(tempfile.mkdtemp(prefix=f"io-benchmark-{pool}-", dir=parent))
        yield made
    except PermissionError as error:
        raise ExecutionError(
            f"{parent}: cannot create a workspace for {pool}: {error.strerror}; name another folder"
        ) from None
    finally:
        if made is not None:
            with hold_interrupts():
                remove(made)


@contextmanager
def output_folder(folder: Path, on_line: Callable[[str], None]) -> Iterator[LiveLog]:
    """Make the folder and its log.

    What was put there is removed again if the run is broken off: half of a run looks like a run.
    """
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExecutionError(f"{folder}: {error.strerror}; name another output folder") from error
    before = {path.name for path in folder.iterdir()}
    if LIVE_LOG in before:
        raise ExecutionError(f"{folder}: already contains a run's {LIVE_LOG}; name a new folder")
    try:
        with (folder / LIVE_LOG).open("xb") as stream:
            yield LiveLog(stream, on_line)
    except BaseException:
        with hold_interrupts():
            for path in [path for path in folder.iterdir() if path.name not in before]:
                remove(path)
            if made:
                folder.rmdir()
        raise


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
