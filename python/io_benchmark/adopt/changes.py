# SPDX-License-Identifier: MPL-2.0
"""Changes of whole files in somebody's tree, as a patch or written.

Anybody may have made the tree: what is read is bounded, and nothing is written outside of it.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from io_benchmark.adopt.patch import patch_lines
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.files import find_link, read_file, remove_below, write_below
from io_benchmark.paths import explain_refusal
from io_benchmark.yaml_reader import MOST_BYTES, YamlError, parse_yaml


class FileChange(Struct, frozen=True):
    path: str
    before: bytes | None  # None where it does not exist
    after: bytes | None  # None where it is removed

    @property
    def kind(self) -> str:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    def patch(self) -> list[str]:
        """Return the lines of the patch; one line for a file that is not text."""
        return patch_lines(self.path, self.before, self.after)


class Tree(Struct, frozen=True):
    """A folder that is somebody's, whose files are read as they are."""

    path: Path

    def write(self, changes: list[FileChange]) -> None:
        """Write all changes, or none: where one fails, undo those before it."""
        with ExitStack() as undo:
            for change in changes:
                file = self.path / change.path
                new_folders = [folder for folder in file.parents if not folder.exists()]
                undo.callback(self._undo, change, new_folders)
                with explain_refusal(str(file), "make the checkout writable and try again"):
                    if change.after is None:
                        remove_below(self.path, change.path)
                    else:
                        write_below(self.path, change.path, change.after)
            undo.pop_all()

    def _undo(self, change: FileChange, new_folders: Sequence[Path]) -> None:
        with suppress(OSError):  # it was not written
            if find_link(self.path, change.path) is not None:
                pass  # nor was this, which is somebody's
            elif change.before is not None:
                write_below(self.path, change.path, change.before)
            else:
                remove_below(self.path, change.path)
        for folder in new_folders:
            with suppress(OSError):  # it was not made, or has other files
                folder.rmdir()

    def changes_to(self, contents: Mapping[str, bytes | None]) -> list[FileChange]:
        """Return the changes after which the files have these contents; refuse links on the way.

        A file whose content is None is removed.
        """
        for path in contents:
            link = find_link(self.path, path)
            if link is not None:
                raise IoBenchmarkError(
                    f"{link}: is a link, and files are written only inside of the project; replace "
                    "it by what it leads to"
                )
        changes = (FileChange(path, self.read(path), data) for path, data in contents.items())
        return [change for change in changes if change.before != change.after]

    def read(self, path: str, most_bytes: int = MOST_BYTES) -> bytes | None:
        """Return what a file contains; None where it does not exist."""
        file = self.path / path
        with explain_refusal(str(file), "replace it by a readable file"):
            try:
                return read_file(file, most_bytes)
            except (FileNotFoundError, NotADirectoryError):
                return None

    def text(self, path: str, most_bytes: int = MOST_BYTES) -> str:
        try:
            return (self.read(path, most_bytes) or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"is not UTF-8 at byte {error.start}; save it as UTF-8"
            raise IoBenchmarkError(f"{self.path / path}: {problem}") from None

    def yaml(self, path: str) -> Any:
        try:
            return parse_yaml(self.text(path))
        except YamlError as error:
            message = f"{self.path / path}: is not YAML ({error}); correct it"
            raise IoBenchmarkError(message) from None

    def with_line(self, path: str, behind: str, line: str, expected: Any, problem: str) -> str:
        """Return a YAML file with a line behind a pattern; refuse if its data is not expected."""
        changed = re.sub(behind, rf"\g<0>{line}", self.text(path), count=1, flags=re.MULTILINE)
        with suppress(YamlError):
            if parse_yaml(changed) == expected:
                return changed
        raise IoBenchmarkError(f"{self.path / path}: {problem}")
