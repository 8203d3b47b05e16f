# SPDX-License-Identifier: MPL-2.0
"""Changes of whole files in somebody's tree, as a patch or written."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.paths import explain_refusal, write_file


class FileChange(Struct, frozen=True):
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
        with ExitStack() as undo:
            for change in changes:
                file = self.path / change.path
                undo.callback(self._undo, change)
                with explain_refusal(str(file), "make the checkout writable and try again"):
                    file.parent.mkdir(parents=True, exist_ok=True)
                    write_file(file, change.after)
            undo.pop_all()

    def _undo(self, change: FileChange) -> None:
        file = self.path / change.path
        with suppress(OSError):  # it was not written, or its folder has other files
            if change.before is not None:
                write_file(file, change.before)
            else:
                file.unlink(missing_ok=True)
                file.parent.rmdir()

    def changes_to(self, contents: Mapping[str, bytes]) -> list[FileChange]:
        """Return the changes after which the files have these contents."""
        changes = (FileChange(path, self.read(path), data) for path, data in contents.items())
        return [change for change in changes if change.before != change.after]

    def read(self, path: str) -> bytes | None:
        """Return what a file contains; None where it does not exist."""
        file, absent = self.path / path, suppress(FileNotFoundError, NotADirectoryError)
        with explain_refusal(str(file), "make it readable"), absent:
            return file.read_bytes()
        return None

    def text(self, path: str) -> str:
        try:
            return (self.read(path) or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise IoBenchmarkError(
                f"{self.path / path}: is not UTF-8 at byte {error.start}; save it as UTF-8"
            ) from None

    def yaml(self, path: str) -> Any:
        try:
            return yaml.safe_load(self.text(path))
        except yaml.YAMLError as error:
            raise IoBenchmarkError(
                f"{self.path / path}: is not YAML ({' '.join(str(error).split())}); correct it"
            ) from None

    def with_line(self, path: str, behind: str, line: str, expected: Any, problem: str) -> str:
        """Return a YAML file with a line behind the first match; refuse where it does not then have this content."""
        changed = re.sub(behind, rf"\g<0>{line}", self.text(path), count=1, flags=re.MULTILINE)
        if yaml.safe_load(changed) != expected:
            raise IoBenchmarkError(f"{self.path / path}: {problem}")
        return changed

    def check_aliases(self, config: str, pools: Mapping[str, str], aliases: Sequence[str]) -> None:
        """Refuse pools whose worker type is none of the aliases in `config`, which may be patterns."""
        missing = [
            name for name in pools.values() if not any(_matches(name, alias) for alias in aliases)
        ]
        if missing or not pools:
            raise IoBenchmarkError(
                f"{self.path / config}: has no alias {', '.join(missing) or 'that is one pool'}, but "
                f"{', '.join(aliases) or 'none for Linux'}; name the pools as --pool NAME=ALIAS"
            )


def _matches(name: str, alias: str) -> bool:
    try:
        return name == alias or re.fullmatch(alias, name) is not None
    except re.error:
        return False  # taskgraph matches nothing by it either
