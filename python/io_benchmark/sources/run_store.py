# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The folder that `fetch` fills: each run is whole or not there.

A run is put together in a hidden folder and moved to its place in one step. While a fetch uses the
folder it holds a shared lock on it; what a killed fetch left behind is removed when nobody does.
"""

import asyncio
import fcntl
import os
import re
import secrets
import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from io_benchmark.errors import ResultError, UsageError
from io_benchmark.paths import resolve_path
from io_benchmark.sources import layout, local
from io_benchmark.sources.address import SLUG_PATTERN
from io_benchmark.sources.found import Found

_ASIDE = re.compile(rf"\.{SLUG_PATTERN}\.[0-9]{{1,9}}-[0-9a-f]{{8}}")


@dataclass
class RunStore:
    """The folder that the runs go to. It is made with the first of them."""

    folder: Path
    runs: list[tuple[layout.TaskRecord | None, str]] = field(default_factory=list)
    kept: int = 0
    _lock: int | None = None
    _locking: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        whole = resolve_path(self.folder, f"--output {self.folder}")
        if whole.exists() and not whole.is_dir():
            raise UsageError(f"--output {self.folder}: is no folder")

    def __enter__(self) -> Self:
        if self.folder.is_dir():
            self._hold()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def has(self, task_id: str, run_id: int) -> bool:
        """Is the run there already? It is read: what is there may be another's, or broken since."""
        folder = layout.run_folder(self.folder, task_id, run_id)
        if not os.path.lexists(folder):
            return False
        broken = f"{folder}: is there already and is no whole run; remove it"
        try:
            task = local.read(folder).task
        except ResultError as error:
            raise ResultError(f"{broken} ({error})") from None
        if task is None or (task.task_id, task.run_id) != (task_id, run_id):
            raise ResultError(f"{broken} ({layout.TASK_NAME} does not describe this run)")
        self.kept += 1
        self.runs.append((None, folder.name))
        return True

    async def accept(self, found: Found) -> None:
        """Takes a run in. It is written in a thread: a slow disk must not hold up what arrives.

        A thread also is not cut short by Ctrl-C, so that what it writes becomes whole.
        """
        name = await asyncio.to_thread(self._write, found.record, found.data)
        self.runs.append((found.record, name))

    def _write(self, record: layout.TaskRecord, data: bytes) -> str:
        """Puts a run together aside and moves it to its place in one step."""
        target = layout.run_folder(self.folder, record.task_id, record.run_id)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._hold()
            aside = self.folder / f".{target.name}-{secrets.token_hex(4)}"
            aside.mkdir()
            try:
                (aside / layout.RESULT_NAME).write_bytes(data)
                layout.write_task(aside, record)
                aside.rename(target)
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise
        except OSError as error:
            raise ResultError(f"{target}: cannot be written: {error.strerror}") from None
        return target.name

    def _hold(self) -> None:
        """Lock the folder against cleaning; clean it first, unless another fetch uses it."""
        with self._locking:
            if self._lock is not None:
                return
            # Kept where the file system has no locks too: then nothing is ever cleaned.
            self._lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            with suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._clean()
            with suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_SH)

    def _clean(self) -> None:
        for path in self.folder.iterdir():
            if _ASIDE.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
