# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Treeherder's group names in taskcluster/config.yml: one line is added, the others stay.

A YAML parser finds the place, and the file is edited as text. Then it is parsed again: its contents must
be the same as before, with one more name.
"""

from typing import Any

import yaml
from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox import text_lines
from io_benchmark.firefox.checkout import CONFIG

_WHERE = ("treeherder", "group-names")
# Two nodes, key and value; PyYAML's type hints do not distinguish scalars.
_Pair = tuple[Any, Any]


def _refusal(why: str) -> IoBenchmarkError:
    return IoBenchmarkError(
        f"{CONFIG}: {why}, so it cannot be edited safely; write {' '.join(_WHERE)} with one "
        "line per group, as KEY: NAME"
    )


def _value_of(node: Any, key: str) -> Any:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == key:
                return value
    raise _refusal(f"{key} is missing")


def _names(text: str) -> list[_Pair]:
    """Return key and value of each group, in the file's order."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise IoBenchmarkError(
            f"{CONFIG}: is not valid YAML ({problem}); correct it first"
        ) from None
    for key in _WHERE:
        node = _value_of(node, key)
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise _refusal(f"{' '.join(_WHERE)} is not written as a block")
    return list(node.value)


def _is_line(pair: _Pair) -> bool:
    """Return whether a group is KEY: NAME on one line, as nearly all are."""
    are_texts = all(isinstance(node, yaml.ScalarNode) for node in pair)
    return are_texts and pair[0].start_mark.line == pair[1].end_mark.line


def _entry(text: str, key: str) -> _Pair | None:
    pairs = [pair for pair in _names(text) if pair[0].value == key]
    if len(pairs) > 1:
        raise _refusal(f"{key} is given {len(pairs)} times")
    if pairs and not _is_line(pairs[0]):
        raise _refusal(f"{key} in line {pairs[0][0].start_mark.line + 1} is not a name on one line")
    return pairs[0] if pairs else None


def _is_plain(text: str) -> bool:
    """Return whether YAML reads the text as itself without quotes."""
    try:
        return yaml.safe_load(text) == text and ": " not in text and " #" not in text
    except yaml.YAMLError:
        return False


def _quoted(text: str, style: str | None) -> str:
    """Quote the text in the style of the line next to it, and always where YAML requires it."""
    if style == '"' or "'" in text or not text.isprintable():
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if style is None and _is_plain(text):
        return text
    return f"'{text}'"


def _insert(text: str, key: str, name: str) -> str:
    """Insert a group after the one whose key sorts just before it; the list itself is unsorted."""
    names = [pair for pair in _names(text) if _is_line(pair)]
    if not names:
        raise _refusal("no group is a name on one line")
    smaller = [pair for pair in names if pair[0].value < key]
    first, value = max(smaller, key=lambda pair: str(pair[0].value)) if smaller else names[0]
    lines = text_lines.split(text)
    at = text.count("\n", 0, first.start_mark.index)  # YAML has more ends of lines
    indent = lines[at][: first.start_mark.column]
    if indent.strip():
        raise _refusal(f"line {at + 1} does not begin with a group's key")
    new = f"{indent}{_quoted(key, first.style)}: {_quoted(name, value.style)}"
    at += bool(smaller)
    return text_lines.replace_lines(lines, at, at, [new])


def _checked(before: str, after: str, key: str, name: str) -> str:
    expected = yaml.safe_load(before)
    expected["treeherder"]["group-names"][key] = name
    try:
        right = yaml.safe_load(after) == expected
    except yaml.YAMLError:
        right = False
    if not right:
        raise _refusal(f"an edit of {key} would change something else")
    return after


class GroupNames(Struct, frozen=True):
    """The entries of the mapping in the file's text, by their keys."""

    text: str

    def current(self, key: str) -> str | None:
        entry = _entry(self.text, key)
        return None if entry is None else str(entry[1].value)

    def written(self, _key: str, name: str) -> str:
        return name

    def put(self, key: str, name: str) -> str:
        entry = _entry(self.text, key)
        if entry is None:
            after = _insert(self.text, key, name)
        else:
            value = entry[1]
            start, end = value.start_mark.index, value.end_mark.index
            after = self.text[:start] + _quoted(name, value.style) + self.text[end:]
        return _checked(self.text, after, key, name)
