# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The differences between a checkout and its expected content, also as a patch."""

import difflib
from collections.abc import Container, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct, field

from io_benchmark.firefox import text_lines
from io_benchmark.firefox.checkout import CONFIG, SCRIPT, Checkout, TreePath
from io_benchmark.firefox.doc_page import DocPage
from io_benchmark.firefox.expected_content import ExpectedEntry, find_expected_content
from io_benchmark.firefox.group_names import GroupNames
from io_benchmark.graph.root import Root


class _DifferenceState(StrEnum):
    MISSING = "missing"
    DIFFERENT = "differs"  # edited there, or written by another version
    EXTRA = "extra"  # a module in the script's folder that this version does not have


class _Difference(Struct, frozen=True):
    place: TreePath
    state: _DifferenceState


class FileChange(Struct, frozen=True):
    """The contents of a file before and after; None where the file does not exist."""

    path: str
    before: bytes | None
    after: bytes | None

    def diff(self) -> Iterator[str]:
        """Yield the lines of the patch. An empty file has none; `__init__.py` files have a header."""
        old = "/dev/null" if self.before is None else f"a/{self.path}"
        new = "/dev/null" if self.after is None else f"b/{self.path}"
        for line in difflib.unified_diff(_lines(self.before), _lines(self.after), old, new):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


class TreeChanges(Struct, frozen=True):
    differences: tuple[_Difference, ...]
    contents: tuple[FileChange, ...]

    @staticmethod
    def find(root: Root, checkout: Checkout, workloads: Sequence[str] = ()) -> "TreeChanges":
        """Compare everything and write nothing; `workloads` are measured besides those of the kind."""
        files, entries = find_expected_content(root, checkout, workloads)
        draft = _Draft(checkout)
        for path, data in files.items():
            _file(draft, path, data)
        for entry in entries:
            _entry(draft, entry)
        for path in _extra_modules(checkout, files):
            _file(draft, path, None)
        return draft.plan()

    @property
    def conflicts(self) -> tuple[_Difference, ...]:
        """Return the differences that only --force replaces."""
        return tuple(
            difference
            for difference in self.differences
            if difference.state is not _DifferenceState.MISSING
        )

    def patch(self) -> str:
        """Return the changes for `git apply` and `patch -p1`."""
        return "".join(line for content in self.contents for line in content.diff())

    def stat(self) -> str:
        """Return the numbers of lines added and removed per file, and in all."""
        rows = []
        for content in self.contents:
            lines = [line[0] for line in content.diff() if line[:3] not in ("+++", "---")]
            rows.append((content.path, lines.count("+"), lines.count("-")))
        text = "".join(f"{added:>6} + {removed:>4} -  {path}\n" for path, added, removed in rows)
        added, removed = sum(row[1] for row in rows), sum(row[2] for row in rows)
        return f"{text}{added:>6} + {removed:>4} -  {len(rows)} files\n"


def _lines(data: bytes | None) -> list[str]:
    return text_lines.split((data or b"").decode("utf-8", errors="replace"))


class _Draft(Struct):
    checkout: Checkout
    differences: list[_Difference] = field(default_factory=list)
    before: dict[str, bytes | None] = field(default_factory=dict)
    after: dict[str, bytes | None] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        if path not in self.before:
            self.before[path] = self.after[path] = self.checkout.read(path)
        return self.after[path]

    def compare(self, place: TreePath, current: bytes | None, wanted: bytes | None) -> bool:
        """Record the difference, if any; return whether there is one."""
        if current is None:
            state = _DifferenceState.MISSING
        elif wanted is None:
            state = _DifferenceState.EXTRA
        elif _same_text(current, wanted):
            return False
        else:
            state = _DifferenceState.DIFFERENT
        self.differences.append(_Difference(place, state))
        return True

    def plan(self) -> TreeChanges:
        contents = tuple(
            FileChange(path, before, self.after[path])
            for path, before in sorted(self.before.items())
            if before != self.after[path]
        )
        return TreeChanges(
            tuple(sorted(self.differences, key=lambda difference: difference.place)), contents
        )


def _same_text(first: bytes, second: bytes) -> bool:
    return text_lines.normalize_line_ends(first) == text_lines.normalize_line_ends(second)


def _editor(path: str, text: str) -> DocPage | GroupNames:
    return GroupNames(text) if path == CONFIG else DocPage(text, markdown=path.endswith(".md"))


def _file(draft: _Draft, path: str, wanted: bytes | None) -> None:
    current = draft.read(path)
    if draft.compare(TreePath(path), current, wanted):
        if wanted is not None and current is not None and b"\r\n" in current:
            wanted = wanted.replace(b"\n", b"\r\n")
        draft.after[path] = wanted


def _entry(draft: _Draft, entry: ExpectedEntry) -> None:
    place = entry.place
    editor = _editor(place.path, text_lines.decode(draft.read(place.path) or b"", place.path))
    current = editor.current(place.entry)
    wanted = editor.written(place.entry, entry.body)
    if entry.shared and current is not None:
        return
    current_bytes = None if current is None else current.encode()
    if draft.compare(place, current_bytes, wanted.encode()):
        draft.after[place.path] = editor.put(place.entry, entry.body).encode()


def _extra_modules(checkout: Checkout, wanted: Container[str]) -> list[str]:
    """Return the modules in the script's folder that are not wanted there."""
    modules = (checkout.path / SCRIPT).rglob("*.py")
    paths = (path.relative_to(checkout.path).as_posix() for path in modules)
    return sorted(path for path in paths if path not in wanted)
