# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Write all files or none: each is written next to its place first, then moved there.

A step that fails undoes the steps before it. Only a crash of the machine can leave some of them done.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.checkout import SCRIPT
from io_benchmark.firefox.tree_changes import FileChange


class _Transaction:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.undo: list[Callable[[], object]] = []

    def make_folder(self, folder: Path) -> None:
        missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
        for parent in reversed(missing):
            parent.mkdir()
            self.undo.append(parent.rmdir)

    def stage(self, content: FileChange) -> Path:
        """Write the new content to a temporary file in the same folder."""
        target = self.root / content.path
        self.make_folder(target.parent)
        return self._write(target, content.after or b"")

    def put(self, staged: Path, content: FileChange) -> None:
        target = self.root / content.path
        staged.replace(target)
        self.undo.append(lambda: self._restore(target, content.before))

    def remove(self, content: FileChange) -> None:
        target = self.root / content.path
        mode = target.stat().st_mode
        target.unlink()
        self.undo.append(lambda: self._restore(target, content.before, mode))

    def roll_back(self) -> None:
        for step in reversed(self.undo):
            step()

    def _write(self, target: Path, data: bytes, mode: int | None = None) -> Path:
        staged = target.with_name(f".{target.name}.{os.getpid()}.new")
        # A new file gets its mode from the umask; an existing one keeps its mode.
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        self.undo.append(lambda: staged.unlink(missing_ok=True))
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        if mode is None and target.exists():
            mode = target.stat().st_mode
        if mode is not None:
            staged.chmod(mode & 0o7777)
        return staged

    def _restore(self, target: Path, before: bytes | None, mode: int | None = None) -> None:
        if before is None:
            target.unlink(missing_ok=True)
        else:
            self._write(target, before, mode).replace(target)


def _remove_empty_folders(root: Path, removed: Sequence[FileChange]) -> None:
    for content in removed:
        folder = Path(content.path).parent
        while folder.is_relative_to(SCRIPT):
            try:
                (root / folder).rmdir()
            except OSError:  # not empty, perhaps because of Python's cache
                break
            folder = folder.parent


def write_all(root: Path, contents: Sequence[FileChange]) -> None:
    transaction = _Transaction(root)
    removed = [content for content in contents if content.after is None]
    try:
        staged = [
            (transaction.stage(content), content)
            for content in contents
            if content.after is not None
        ]
        for path, content in staged:
            transaction.put(path, content)
        for content in removed:
            transaction.remove(content)
    except BaseException as error:
        transaction.roll_back()
        if isinstance(error, OSError):
            raise IoBenchmarkError(
                f"{error.filename or root}: {error.strerror}; nothing was changed; make the "
                "checkout writable and try again"
            ) from None
        raise
    _remove_empty_folders(root, removed)
