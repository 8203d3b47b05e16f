# SPDX-License-Identifier: MPL-2.0
"""The journal of a submission: a local file with the tasks to create, until all are created.

It is written before the first task is created. So a submission that was killed can be completed with
the same ids and the same definitions. Each group has one file, which is complete or absent.
"""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct

from io_benchmark.errors import UsageError
from io_benchmark.submit.definitions import SelectedTask
from io_benchmark.submit.submission import VERSION, Submission

STATE_VARIABLE = "XDG_STATE_HOME"
_FOLDER = Path("io-benchmark", "submissions")
# Nobody resumes a group after this time, so its file is removed.
_KEPT = timedelta(days=28)


# The queue accepts a task until 15 minutes after its `created`. Until shortly before, the tasks keep their
# first dates. So a late request of the stopped process creates the same task.
_SAME_DATES = timedelta(minutes=10)


class Journal(Struct, frozen=True):
    """A submission, where it goes, and its tasks with dates that are still relative."""

    root_url: str
    group_id: str
    created: datetime
    submission: Submission
    chosen: tuple[SelectedTask, ...]

    def dates_start(self, now: datetime) -> datetime:
        """Return the time from which the dates of the missing tasks count."""
        return self.created if timedelta() <= now - self.created < _SAME_DATES else now


class JournalFile(Struct, frozen=True):
    """The file of one group's journal."""

    path: Path

    @classmethod
    def of(cls, group_id: str, environment: Mapping[str, str]) -> "JournalFile":
        """Return the group's file in the user's state folder, by the XDG base directories."""
        state = Path(environment.get(STATE_VARIABLE, ""))
        if not state.is_absolute():  # the specification: such a value is ignored
            state = _home(environment) / ".local" / "state"
        return cls(state / _FOLDER / f"{group_id}.json")

    def write(self, journal: Journal) -> None:
        """Write a journal so that it survives a crash; raise an OSError where that fails."""
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _remove_old(folder, journal.created - _KEPT)
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=".", suffix=".json")
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(journal))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(folder)

    def read(self) -> Journal | None:
        """Read the journal; None if it is missing, unreadable or of another version."""
        if not self.path.is_file():  # reading a pipe might never end
            return None
        try:
            journal: Journal = msgspec.json.decode(self.path.read_bytes(), type=Journal)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if journal.submission.version != VERSION or len(journal.chosen) != journal.submission.tasks:
            return None
        return journal

    def remove(self) -> None:
        """Remove the journal, after all tasks were created, or were cancelled."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def _home(environment: Mapping[str, str]) -> Path:
    try:
        return Path(environment["HOME"]) if environment.get("HOME") else Path.home()
    except RuntimeError:
        raise UsageError(f"HOME is not set; set HOME or {STATE_VARIABLE}") from None


def _remove_old(folder: Path, limit: datetime) -> None:
    for path in folder.glob("*.json"):
        with suppress(OSError):
            if path.stat().st_mtime < limit.timestamp():
                path.unlink()


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so that the file's name survives a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
