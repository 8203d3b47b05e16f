# SPDX-License-Identifier: MPL-2.0
"""Changes of whole files in somebody's tree, as a patch or written."""

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.paths import write_file


class FileChange(Struct, frozen=True):
    """A file before and after."""

    path: str
    before: bytes | None  # None where it does not exist
    after: bytes

    def patch(self) -> Iterator[str]:
        """Yield the lines of the patch; one line for a file that is not text."""
        old, new = "/dev/null" if self.before is None else f"a/{self.path}", f"b/{self.path}"
        try:
            before = (self.before or b"").decode().splitlines(True)
            after = self.after.decode().splitlines(True)
        except UnicodeDecodeError:
            yield f"Binary files {old} and {new} differ\n"
            return
        for line in difflib.unified_diff(before, after, old, new):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


class Tree(Struct, frozen=True):
    """A folder that is somebody's, whose files are read as they are."""

    path: Path

    def write(self, changes: list[FileChange]) -> None:
        """Write all changes, or none: where one fails, undo those before it."""
        for number, change in enumerate(changes):
            file = self.path / change.path
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                write_file(file, change.after)
            except OSError as error:
                self._undo(changes[: number + 1])
                raise IoBenchmarkError(
                    f"{file}: {error.strerror}; make the checkout writable and try again"
                ) from None
            except KeyboardInterrupt:
                self._undo(changes[: number + 1])
                raise

    def _undo(self, changes: list[FileChange]) -> None:
        for change in changes:
            file = self.path / change.path
            with suppress(OSError):  # it was not written, or its folder has other files
                if change.before is not None:
                    write_file(file, change.before)
                else:
                    file.unlink(missing_ok=True)
                    file.parent.rmdir()

    def change(self, path: str, after: bytes) -> FileChange:
        return FileChange(path, self._read(path), after)

    def _read(self, path: str) -> bytes | None:
        file = self.path / path
        try:
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise IoBenchmarkError(f"{file}: {error.strerror}; make it readable") from None

    def text(self, path: str) -> str:
        try:
            return (self._read(path) or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise IoBenchmarkError(
                f"{self.path / path}: is not UTF-8 at byte {error.start}; save it as UTF-8"
            ) from None


def is_alias(name: str, aliases: Iterable[object]) -> bool:
    """Is a name one of a graph configuration's aliases, which may be patterns?"""
    for alias in map(str, aliases):
        try:
            if name == alias or re.fullmatch(alias, name):
                return True
        except re.error:
            continue  # taskgraph matches nothing by it either
    return False
