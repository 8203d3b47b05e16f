# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Check a kind's files before taskgraph uses them.

YAML silently uses the last of two equal keys. With aliases, a small file can hold more
values than fit into memory, or a value that contains itself. One pass over the parser's
events finds all of this, in time linear in the file's size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taskgraph.util.yaml import UnicodeLoader

from io_benchmark_taskgraph.mistakes import UserMistake, plain

# The largest file of this project has about 100 values, 5 deep; Firefox's about 10,000.
MAX_VALUES = 100_000
MAX_DEPTH = 50


@dataclass(frozen=True)
class _Extent:
    """The size of a value with each of its aliases written out."""

    values: int = 1
    depth: int = 0


@dataclass
class _Collection:
    """A mapping or list whose end is not yet read."""

    anchor: str | None
    is_mapping: bool
    values: int = 1
    depth: int = 0
    children: int = 0
    keys: set[str] = field(default_factory=set)


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name  # of the file, for messages
        self._open: list[_Collection] = []
        self._anchors: dict[str, _Extent | None] = {}  # None: its value is not yet read

    def read(self, event: Any) -> None:
        # By name: the library's classes belong to taskgraph, not to this package.
        name = type(event).__name__
        if name in ("MappingStartEvent", "SequenceStartEvent"):
            self._begin(event, is_mapping=name == "MappingStartEvent")
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            self._end(event)
        elif name == "ScalarEvent":
            self._note_key(event)
            self._finish(event, event.anchor, _Extent())
        elif name == "AliasEvent":
            self._follow(event)

    def _begin(self, event: Any, *, is_mapping: bool) -> None:
        self._open.append(_Collection(event.anchor, is_mapping))
        self._check(event, _Extent(0))
        if event.anchor:
            self._anchors[event.anchor] = None

    def _end(self, event: Any) -> None:
        ended = self._open.pop()
        self._finish(event, ended.anchor, _Extent(ended.values, ended.depth + 1))

    def _follow(self, event: Any) -> None:
        # taskgraph reports an unknown alias when it loads the file.
        extent = self._anchors.get(event.anchor, _Extent())
        if extent is None:
            raise self._mistake(
                event,
                f"the alias *{plain(event.anchor)} is inside the value that it names, which would "
                "never end; write the value without it",
            )
        self._finish(event, None, extent)

    def _note_key(self, event: Any) -> None:
        parent = self._open[-1] if self._open else None
        if parent is None or not parent.is_mapping or parent.children % 2:
            return
        if event.value in parent.keys:
            raise self._mistake(
                event,
                f"the key {plain(event.value)} is given twice in one mapping and only the "
                "last would count; rename or remove one",
            )
        parent.keys.add(event.value)

    def _finish(self, event: Any, anchor: str | None, extent: _Extent) -> None:
        if anchor:
            self._anchors[anchor] = extent
        self._check(event, extent)
        if self._open:
            parent = self._open[-1]
            parent.children += 1
            parent.values += extent.values
            parent.depth = max(parent.depth, extent.depth)

    def _check(self, event: Any, extent: _Extent) -> None:
        if len(self._open) + extent.depth > MAX_DEPTH:
            raise self._mistake(
                event,
                f"values are nested more than {MAX_DEPTH} deep, with aliases written out; "
                "nest them less",
            )
        within = self._open[-1].values if self._open else 0
        if within + extent.values > MAX_VALUES:
            raise self._mistake(
                event,
                f"there are more than {MAX_VALUES:,} values, with aliases written out; "
                "write fewer, or repeat fewer by aliases",
            )

    def _mistake(self, event: Any, text: str) -> UserMistake:
        line = event.start_mark.line + 1
        return UserMistake(f"{self._name} line {line}: {text}")


def _events(path: Path) -> Iterator[Any]:
    """Yield the parser's events; text that is not YAML is the loader's error, as in taskgraph."""
    with path.open("rb") as file:
        loader = UnicodeLoader(file)
        try:
            while loader.check_event():
                yield loader.get_event()
        finally:
            loader.dispose()


def _check(path: Path, name: str) -> None:
    """Refuse the file at its first mistake of this kind; messages use `name` for it."""
    reader = _Reader(name)
    for event in _events(path):
        reader.read(event)


def check_tree(folder: Path) -> None:
    """Check the configuration and all kinds' files in `taskcluster/`, which is `folder`."""
    for path in [folder / "config.yml", *sorted(folder.glob("kinds/**/*.yml"))]:
        name = str(path.relative_to(folder.parent))
        if path.is_file():
            _check(path, name)
        elif path.exists() and not path.is_dir():
            # Reading a named pipe or a device may never end.
            raise UserMistake(f"{name}: is not a regular file; remove it")
