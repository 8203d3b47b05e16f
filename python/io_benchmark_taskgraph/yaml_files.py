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


def _problem(event: Any, parents: list[_Collection]) -> str | None:
    """Return what is wrong with an event of the parser; update the open collections around it.

    Events are known by name, because their classes belong to taskgraph.
    """
    kind = type(event).__name__
    if kind == "AliasEvent":
        return f"the alias *{plain(event.anchor)} is not supported; write the value out"
    if kind in ("MappingEndEvent", "SequenceEndEvent"):
        parents.pop()
    if kind not in ("MappingStartEvent", "SequenceStartEvent", "ScalarEvent"):
        return None
    if parents:
        parent = parents[-1]
        is_key = parent.is_mapping and parent.children % 2 == 0
        parent.children += 1
        if is_key and kind == "ScalarEvent":
            if event.value in parent.keys:
                return (
                    f"the key {plain(event.value)} is given twice in one mapping and only the "
                    "last would count; rename or remove one"
                )
            parent.keys.add(event.value)
    if kind != "ScalarEvent":
        parents.append(_Collection(kind == "MappingStartEvent"))
    if len(parents) > MAX_DEPTH:
        return f"values are nested more than {MAX_DEPTH} deep; nest them less"
    return None


def _check(path: Path, name: str) -> None:
    """Refuse the file at its first mistake of this kind; messages use `name` for it."""
    parents: list[_Collection] = []
    with path.open("rb") as file:
        loader = UnicodeLoader(file)
        try:
            while loader.check_event():
                event = loader.get_event()
                problem = _problem(event, parents)
                if problem is not None:
                    raise UserMistake(f"{name} line {event.start_mark.line + 1}: {problem}")
        finally:
            loader.dispose()


def check_tree(folder: Path) -> None:
    """Check the files of the benchmark's kinds in `taskcluster/`, which is `folder`."""
    for path in sorted(folder.glob("kinds/io-benchmark*/**/*.yml")):
        name = str(path.relative_to(folder.parent))
        if path.is_file():
            _check(path, name)
        elif path.exists() and not path.is_dir():
            # Reading a named pipe or a device may never end.
            raise UserMistake(f"{name}: is not a regular file; remove it")
