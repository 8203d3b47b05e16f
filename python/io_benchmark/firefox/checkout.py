# SPDX-License-Identifier: MPL-2.0
"""A Firefox checkout: what differs from the expected content, as changes of whole files.

Three files are this project's. Two files of Firefox's get an entry each: the group's name in config.yml,
and a section in the page of kinds. Nothing that has other content is overwritten.
"""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import yaml
from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.firefox.kind import NAME, FirefoxKind
from io_benchmark.paths import resolve_path, write_file

CONFIG = "taskcluster/config.yml"
KINDS_PAGE = "taskcluster/docs/kinds.md"
_MARKS = (CONFIG, "taskcluster/gecko_taskgraph/transforms/task.py", KINDS_PAGE)
_HEADING = f"## {NAME}\n\n"
_SECTION = f"""\
{_HEADING}The same I/O benchmark on every worker pool, to say which pool is slower, by how much and why. A task
is a pool. It runs only on request, by mach try fuzzy with --full.
The command io-benchmark firefox put it here from <https://github.com/mozilla-releng/io-benchmark>.
"""
_GROUP_LINE = r"^( +)(['\"]?){}\2: *(['\"]?)(.*?)\3 *(?:#.*)?\n"


class FileChange(Struct, frozen=True):
    """A file before and after; None where it does not exist."""

    path: str
    before: bytes | None
    after: bytes | None

    def patch(self) -> Iterator[str]:
        """Yield the lines of the patch; one line for a file that is not text."""
        old = "/dev/null" if self.before is None else f"a/{self.path}"
        new = "/dev/null" if self.after is None else f"b/{self.path}"
        try:
            before, after = (
                (data or b"").decode().splitlines(True) for data in (self.before, self.after)
            )
        except UnicodeDecodeError:
            yield f"Binary files {old} and {new} differ\n"
            return
        for line in difflib.unified_diff(before, after, old, new):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


class Checkout(Struct, frozen=True):
    path: Path

    @classmethod
    def open(cls, path: Path) -> Self:
        root = resolve_path(path, str(path))
        missing = [mark for mark in _MARKS if not (root / mark).is_file()]
        if missing:
            raise UsageError(
                f"{path}: is not a Firefox checkout: {missing[0]} is missing; name the folder that "
                "contains mach"
            )
        return cls(root)

    def installing(self, kind: FirefoxKind) -> list[FileChange]:
        """Return the changes that add what is missing; refuse to overwrite other content."""
        changes = [self._change(path, data) for path, data in kind.files.items()]
        conflicts = [change.path for change in changes if change.before not in (None, change.after)]
        if conflicts:
            raise IoBenchmarkError(
                f"{self.path}: {', '.join(conflicts)}: edited there or from another version, so "
                "nothing was written; to replace it, look at it with git or hg, then use --remove and "
                "install again"
            )
        page = self._text(KINDS_PAGE)
        if _SECTION not in page:
            self._refuse_other(page)
            page = f"{page.rstrip()}\n\n{_SECTION}"
        changes.append(self._change(KINDS_PAGE, page.encode()))
        changes.append(self._change(CONFIG, self._with_group(kind).encode()))
        return [change for change in changes if change.before != change.after]

    def removing(self, kind: FirefoxKind) -> list[FileChange]:
        """Return the changes that remove the files, whatever they contain, and both entries."""
        changes = [self._change(path, None) for path in kind.files]
        page = self._text(KINDS_PAGE).replace(f"\n{_SECTION}", "")
        self._refuse_other(page)
        changes.append(self._change(KINDS_PAGE, page.encode()))
        config = re.sub(_group_line(kind.group), "", self._text(CONFIG), flags=re.MULTILINE)
        changes.append(self._change(CONFIG, config.encode()))
        return [change for change in changes if change.before != change.after]

    def write(self, changes: list[FileChange]) -> None:
        """Write the changes; a call that failed half-way can be repeated."""
        for change in changes:
            file = self.path / change.path
            try:
                if change.after is None:
                    file.unlink()
                    if not any(file.parent.iterdir()):
                        file.parent.rmdir()
                else:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    write_file(file, change.after)
            except OSError as error:
                raise IoBenchmarkError(
                    f"{file}: {error.strerror}; make the checkout writable and try again"
                ) from None

    def _change(self, path: str, after: bytes | None) -> FileChange:
        return FileChange(path, self._read(path), after)

    def _read(self, path: str) -> bytes | None:
        file = self.path / path
        try:
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise IoBenchmarkError(f"{file}: {error.strerror}; make it readable") from None

    def _text(self, path: str) -> str:
        try:
            return (self._read(path) or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise IoBenchmarkError(
                f"{self.path / path}: is not UTF-8 at byte {error.start}; save it as UTF-8"
            ) from None

    def _refuse_other(self, page: str) -> None:
        if f"\n{_HEADING}" in page:
            raise IoBenchmarkError(
                f"{self.path / KINDS_PAGE}: has another section {NAME}; remove it first"
            )

    def _with_group(self, kind: FirefoxKind) -> str:
        """Return config.yml with the group's name, behind the name that sorts before it."""
        text = self._text(CONFIG)
        advice = f"write treeherder.group-names there as one line per group, with {kind.group}"
        try:
            config = yaml.safe_load(text)
            names = config["treeherder"]["group-names"]
        except (yaml.YAMLError, KeyError, TypeError):
            raise IoBenchmarkError(f"{self.path / CONFIG}: has no group names; {advice}") from None
        if names.get(kind.group) == kind.group_name:
            return text
        smaller = [name for name in names if name < kind.group] or list(names)
        pattern = re.compile(_group_line(max(smaller)), re.MULTILINE)
        new = rf"\g<0>\1'{kind.group}': '{kind.group_name}'\n"
        changed = pattern.sub(new, text, count=1)
        names[kind.group] = kind.group_name
        # A group of this name that means something else is given twice now.
        if yaml.safe_load(changed) != config or re.search(
            _group_line(kind.group), text, re.MULTILINE
        ):
            raise IoBenchmarkError(
                f"{self.path / CONFIG}: the group {kind.group} cannot be added; {advice}: "
                f"{kind.group_name}"
            )
        return changed


def _group_line(group: str) -> str:
    return _GROUP_LINE.format(re.escape(group))
