# SPDX-License-Identifier: MPL-2.0
"""The files of a project as they will be, with what a person has to know and to do."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from io_benchmark.adopt.changes import Tree


class Draft(Struct):
    """Parts of the changes are made one after another; each sees those before it."""

    tree: Tree
    texts: dict[str, str] = {}
    notes: list[str] = []
    steps: list[str] = []

    def content(self, path: str) -> str:
        """Return what a file will contain; nothing where it does not exist."""
        return self.texts[path] if path in self.texts else self.tree.text(path)

    def exists(self, path: str) -> bool:
        return path in self.texts or self.tree.read(path) is not None


def end_of_lines(content: str) -> str:
    return "\r\n" if "\r\n" in content else "\n"


def with_last_line(content: str, line: str) -> str:
    """Return a text with a line at its end, which ends as the text's other lines do."""
    end = end_of_lines(content)
    separator = "" if not content or content.endswith("\n") else end
    return f"{content}{separator}{line}{end}"


def without(value: Any, added: str) -> Any:
    """Return a value of YAML or TOML without the items and keys of this name, at any depth."""
    if isinstance(value, Mapping):
        return {key: without(item, added) for key, item in value.items() if key != added}
    if isinstance(value, list):
        return [without(item, added) for item in value if item != added]
    return value
