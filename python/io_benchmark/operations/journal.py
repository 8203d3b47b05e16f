# SPDX-License-Identifier: MPL-2.0
"""The folder of an investigation: what each step found, and the reports behind it.

Anybody may have written what is read back, so it is bounded and strictly typed.
"""

from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct

from io_benchmark.analysis.investigation.investigation_model import (
    JOURNAL_VERSION,
    Findings,
    Journal,
)
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.paths import DEFAULT_FOLDER, resolve_path, write_file
from io_benchmark.results import load
from io_benchmark.results.reader import DECODE_ERRORS, decode_problem
from io_benchmark.text import clean

_FILE = "investigation.json"
_MOST_BYTES = 256 * 1024
_ADVICE = "name another folder by --journal"


class JournalFolder(Struct):
    """A journal, written after each change."""

    folder: Path
    journal: Journal

    @classmethod
    def open(cls, folder: Path | None, task_id: str, task_url: str) -> Self:
        """Read the journal of this task, or begin one; refuse that of another task or version."""
        path = folder or Path(DEFAULT_FOLDER) / f"investigation-{task_id}"
        resolved = resolve_path(path, f"--journal {path}")
        journal = Journal(version=JOURNAL_VERSION, task=task_url, findings=Findings())
        if (resolved / _FILE).exists():
            journal = _read(resolved / _FILE, f"--journal {clean(str(path), 200)}")
        if journal.task != task_url:
            raise UsageError(
                f"--journal {clean(str(path), 200)}: is of another task, "
                f"{clean(journal.task, 200)}; {_ADVICE}"
            )
        opened = cls(resolved, journal)
        # Before anything is measured that could not be kept.
        opened.save(journal)
        return opened

    def save(self, journal: Journal) -> None:
        """Keep this journal."""
        self.journal = journal
        self.write(_FILE, msgspec.json.format(msgspec.json.encode(journal), indent=2) + b"\n")

    def write(self, name: str, data: bytes) -> None:
        """Write a file into the folder."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_file(self.folder / name, data)
        except OSError as error:
            folder = clean(str(self.folder), 200)
            raise UsageError(
                f"--journal {folder}: cannot be written ({error.strerror}); {_ADVICE}"
            ) from None


def _read(path: Path, option: str) -> Journal:
    try:
        data = load(path, _MOST_BYTES)
        if len(data) > _MOST_BYTES:
            raise UsageError(f"{option}: is larger than a journal can be; {_ADVICE}")
        return msgspec.json.decode(data, type=Journal)
    except DECODE_ERRORS as error:
        problem = clean(decode_problem(error, data), 200)
        raise UsageError(f"{option}: cannot be read ({problem}); {_ADVICE}") from None
    except ResultError as error:
        raise UsageError(f"{option}: {error}; {_ADVICE}") from None
