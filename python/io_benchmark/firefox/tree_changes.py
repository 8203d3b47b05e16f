# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Finds the differences between a checkout and its expected content."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox import expected_content, older_layout
from io_benchmark.firefox.checkout import CONFIG, Checkout
from io_benchmark.firefox.doc_sections import DocSections
from io_benchmark.firefox.group_names import GroupNames
from io_benchmark.firefox.tree_paths import SCRIPT, TreePath, text_hash
from io_benchmark.graph.root import Root


class _DifferenceState(StrEnum):
    MISSING = "missing"
    OLDER = "older"
    DIFFERENT = "differs"  # edited there, or written by another version
    NEEDLESS = "no longer needed"
    EXTRA = "extra"  # a module among the script's that this version does not have


@dataclass(frozen=True)
class _Difference:
    place: TreePath
    state: _DifferenceState


@dataclass(frozen=True)
class FileChange:
    """A file before and after; None is no file."""

    path: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True)
class TreeChanges:
    differences: tuple[_Difference, ...]
    contents: tuple[FileChange, ...]

    @property
    def conflicts(self) -> tuple[_Difference, ...]:
        """Return the differences that only --force replaces."""
        kept = (_DifferenceState.DIFFERENT, _DifferenceState.EXTRA)
        return tuple(one for one in self.differences if one.state in kept)


@dataclass
class _Draft:
    checkout: Checkout
    recorded: older_layout.InstallRecord
    differences: list[_Difference] = field(default_factory=list)
    before: dict[str, bytes | None] = field(default_factory=dict)
    after: dict[str, bytes | None] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        if path not in self.before:
            self.before[path] = self.after[path] = self.checkout.read(path)
        return self.after[path]

    def compare(self, place: TreePath, current: bytes | None, wanted: bytes | None) -> bool:
        """Record the difference, if any; return whether there is one."""
        if current is None and wanted is None:
            return False
        if current is None:
            state = _DifferenceState.MISSING
        elif wanted is not None and text_hash(current) == text_hash(wanted):
            return False
        elif not self.recorded.has(place, current):
            state = _DifferenceState.EXTRA if wanted is None else _DifferenceState.DIFFERENT
        else:
            state = _DifferenceState.NEEDLESS if wanted is None else _DifferenceState.OLDER
        self.differences.append(_Difference(place, state))
        return True

    def plan(self) -> TreeChanges:
        contents = tuple(
            FileChange(path, before, self.after[path])
            for path, before in sorted(self.before.items())
            if before != self.after[path]
        )
        return TreeChanges(tuple(sorted(self.differences, key=lambda one: one.place)), contents)


def _editor(path: str) -> DocSections | GroupNames:
    return GroupNames() if path == CONFIG else DocSections(markdown=path.endswith(".md"))


def _file(draft: _Draft, path: str, wanted: bytes | None) -> None:
    current = draft.read(path)
    if draft.compare(TreePath(path), current, wanted):
        if wanted is not None and current is not None and b"\r\n" in current:
            wanted = wanted.replace(b"\n", b"\r\n")
        draft.after[path] = wanted


def _text(draft: _Draft, path: str) -> str | None:
    data = draft.read(path)
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise IoBenchmarkError(
            f"{path}: is not UTF-8 at byte {error.start}; save it as UTF-8"
        ) from None


def _entry(draft: _Draft, entry: expected_content.ExpectedEntry) -> None:
    place, editor = entry.place, _editor(entry.place.path)
    text = _text(draft, place.path) or ""
    current = editor.current(text, place.entry)
    wanted = editor.written(text, place.entry, entry.body)
    if entry.shared and current not in (None, wanted) and place not in draft.recorded.hashes:
        return
    current_bytes = None if current is None else current.encode()
    if draft.compare(place, current_bytes, wanted.encode()):
        draft.after[place.path] = editor.put(text, place.entry, entry.body).encode()


def _needless_entry(draft: _Draft, place: TreePath) -> None:
    text, editor = _text(draft, place.path), _editor(place.path)
    if text is None:
        return
    current = editor.current(text, place.entry)
    if draft.compare(place, None if current is None else current.encode(), None):
        draft.after[place.path] = editor.remove(text, place.entry).encode()


def _needless(draft: _Draft, wanted: expected_content.ExpectedContent) -> list[TreePath]:
    """Return the paths to remove: those in an older record, and extra modules of the script."""
    known = {TreePath(path) for path in wanted.files} | {entry.place for entry in wanted.entries}
    modules = (draft.checkout.path / SCRIPT).rglob("*.py")
    there = {TreePath(path.relative_to(draft.checkout.path).as_posix()) for path in modules}
    return sorted((there | set(draft.recorded.hashes)) - known)


def find_changes(root: Root, checkout: Checkout, workloads: Sequence[str] = ()) -> TreeChanges:
    """Reads everything and writes nothing."""
    wanted = expected_content.find_expected_content(root, checkout, workloads)
    draft = _Draft(checkout, older_layout.parse(checkout.read(older_layout.RECORD)))
    for path, data in wanted.files.items():
        _file(draft, path, data)
    for entry in wanted.entries:
        _entry(draft, entry)
    for place in _needless(draft, wanted):
        if place.entry:
            _needless_entry(draft, place)
        else:
            _file(draft, place.path, None)
    if draft.read(older_layout.RECORD) is not None:
        draft.after[older_layout.RECORD] = None
        place = TreePath(older_layout.RECORD)
        draft.differences.append(_Difference(place, _DifferenceState.NEEDLESS))
    return draft.plan()
