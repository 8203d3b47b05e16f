# SPDX-License-Identifier: MPL-2.0
"""Check a kind's files before taskgraph uses them.

YAML silently uses the last of two equal keys. With aliases, a small file can hold more values than fit into
memory, or a value that contains itself; so they are refused. One pass over the parser's events finds this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taskgraph.util.yaml import UnicodeLoader

from io_benchmark_taskgraph.mistakes import UserMistake, plain

# The largest file of this project is 5 deep.
MAX_DEPTH = 50


@dataclass
class _Collection:
    """A mapping or list whose end is not yet read."""

    is_mapping: bool
    children: int = 0
    keys: set[str] = field(default_factory=set)


class _Reader:
    """Reads the parser's events, which it knows by name: their classes belong to taskgraph."""

    def __init__(self, name: str) -> None:
        self._name = name  # of the file, for messages
        self._open: list[_Collection] = []

    def read(self, event: Any) -> None:
        kind = type(event).__name__
        if kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()
        elif kind == "AliasEvent":
            text = f"the alias *{plain(event.anchor)} is not supported; write the value out"
            raise self._mistake(event, text)
        elif kind in ("MappingStartEvent", "SequenceStartEvent", "ScalarEvent"):
            self._count(event, is_scalar=kind == "ScalarEvent")
            if kind != "ScalarEvent":
                self._open.append(_Collection(kind == "MappingStartEvent"))
            if len(self._open) > MAX_DEPTH:
                text = f"values are nested more than {MAX_DEPTH} deep; nest them less"
                raise self._mistake(event, text)

    def _count(self, event: Any, *, is_scalar: bool) -> None:
        if not self._open:
            return
        parent = self._open[-1]
        is_key = parent.is_mapping and parent.children % 2 == 0
        parent.children += 1
        if is_key and is_scalar:
            if event.value in parent.keys:
                raise self._mistake(
                    event,
                    f"the key {plain(event.value)} is given twice in one mapping and only the "
                    "last would count; rename or remove one",
                )
            parent.keys.add(event.value)

    def _mistake(self, event: Any, text: str) -> UserMistake:
        line = event.start_mark.line + 1
        return UserMistake(f"{self._name} line {line}: {text}")


def _check(path: Path, name: str) -> None:
    """Refuse the file at its first mistake of this kind; messages use `name` for it."""
    reader = _Reader(name)
    with path.open("rb") as file:
        loader = UnicodeLoader(file)
        try:
            while loader.check_event():
                reader.read(loader.get_event())
        finally:
            loader.dispose()


def check_tree(folder: Path) -> None:
    """Check the configuration and all kinds' files in `taskcluster/`, which is `folder`."""
    for path in [folder / "config.yml", *sorted(folder.glob("kinds/**/*.yml"))]:
        name = str(path.relative_to(folder.parent))
        if path.is_file():
            _check(path, name)
        elif path.exists() and not path.is_dir():
            # Reading a named pipe or a device may never end.
            raise UserMistake(f"{name}: is not a regular file; remove it")
