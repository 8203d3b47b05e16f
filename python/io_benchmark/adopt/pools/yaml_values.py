# SPDX-License-Identifier: MPL-2.0
"""Set a value in the text of a YAML file: comments, anchors and all other lines stay.

An alias on the way becomes a mapping that merges what it names, so that only this place changes.
Whoever uses this reads the new content, and compares.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import yaml

from io_benchmark.adopt.pools.keyed_values import part_of
from io_benchmark.yaml_reader import Document

Path = Sequence[str | int]


class _Place(NamedTuple):
    """Where the text has a value."""

    begin: int
    end: int
    node: yaml.Node
    is_alias: bool


def value_of(node: Any, key: str | int) -> Any:
    """Return the value of a key, or the item of this number; None without it.

    What a mapping merges is in front of its own pairs once its document's values were made.
    """
    if isinstance(node, yaml.SequenceNode):
        return node.value[key] if isinstance(key, int) and key < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        for name, value in reversed(node.value):
            if name.value == str(key):
                return value
    return None


def with_value(content: str, path: Path, value: Any) -> str:
    """Return a text whose value at this path is another; raise a YamlError if it is no YAML."""
    document = Document(content)
    data = document.values()
    if _has(data, path, value):
        return content  # by an alias, another place has it
    node: Any = document.root
    for depth, step in enumerate(path):
        rest = path[depth + 1 :]
        place, data = _place(document, node, step), part_of(data, step)
        if place is None:
            word = _written(document, value_of(node, step), data, rest, value)
            return _with_pair(content, document, node, f"{_flow(step)}: {word}")
        if place.is_alias or not rest or not isinstance(place.node, yaml.CollectionNode):
            word = _written(document, place.node, data, rest, value)
            return content[: place.begin] + _fitted(content, place, word) + content[place.end :]
        node = place.node
    return content


def _has(data: Any, path: Path, value: Any) -> bool:
    for step in path:
        data = part_of(data, step)
    return bool(data == value)


def with_part(data: Any, path: Path, value: Any) -> Any:
    """Return data whose value at this path is another one; mappings that are missing are made."""
    if not path:
        return value
    step, *rest = path
    part = with_part(part_of(data, step), rest, value)
    if isinstance(data, list):
        return [part if number == step else item for number, item in enumerate(data)]
    mapping = data if isinstance(data, dict) else {}
    return {**mapping, step: part}


def _place(document: Document, node: Any, step: str | int) -> _Place | None:
    """Return where a node itself has the value of a key or an item."""
    index: Any = step
    if isinstance(node, yaml.MappingNode):
        pairs = [
            pair for pair in node.value if pair[0].value == str(step) and _is_in(pair[0], node)
        ]
        if not pairs:
            return None
        index = pairs[-1][0]
    for alias in document.aliases:
        if alias.parent is node and alias.index == index:
            return _Place(alias.begin, alias.end, alias.node, is_alias=True)
    child = value_of(node, step)
    if child is None:
        return None
    return _Place(child.start_mark.index, child.end_mark.index, child, is_alias=False)


def _is_in(part: yaml.Node, node: yaml.Node) -> bool:
    return bool(node.start_mark.index <= part.start_mark.index < node.end_mark.index)


def _written(document: Document, node: Any, data: Any, path: Path, value: Any) -> str:
    """Return one line for a node with another value at a path below it."""
    if not path:
        return _flow(value)
    step, *rest = path
    anchor = _anchor_of(document, node)
    if isinstance(node, yaml.MappingNode) and anchor:
        word = _written(document, value_of(node, step), part_of(data, step), rest, value)
        return f"{{<<: *{anchor}, {_flow(step)}: {word}}}"
    if isinstance(node, yaml.SequenceNode) and isinstance(data, list):
        words = []
        for number, (item, values) in enumerate(zip(node.value, data, strict=True)):
            anchor = _anchor_of(document, item)
            if number == step:
                words.append(_written(document, item, values, rest, value))
            else:
                words.append(f"*{anchor}" if anchor else _flow(values))
        return f"[{', '.join(words)}]"
    return _flow(with_part(data, path, value))


def _anchor_of(document: Document, node: Any) -> str | None:
    return next((name for name, anchored in document.anchored.items() if anchored is node), None)


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    line = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf
    )
    return line.removesuffix("\n").removesuffix("\n...")


def _fitted(content: str, place: _Place, word: str) -> str:
    """Return a value for its place: one that merges an item of a list has lines of its own."""
    line_begin = content.rfind("\n", 0, place.begin) + 1
    merged, comma, pair = word.removeprefix("{").removesuffix("}").partition(", ")
    if place.begin == place.end:
        return f" {word}"  # a value that is missing
    is_item = content[line_begin : place.begin].strip() == "-"
    if not is_item or not merged.startswith("<<: *") or not comma:
        return word
    indentation = " " * (place.begin - line_begin)
    return f"{merged}{_line_end(content)}{indentation}{pair}"


def _line_end(content: str) -> str:
    return "\r\n" if "\r\n" in content else "\n"


def _with_pair(content: str, document: Document, node: Any, pair: str) -> str:
    """Return a text with one more pair in a mapping."""
    if not isinstance(node, yaml.MappingNode):
        return content
    if node.flow_style:
        body = content[: node.end_mark.index - 1].rstrip()
        separator = "" if body.endswith("{") else ", "
        return f"{body}{separator}{pair}{content[len(body) :]}"
    new_line = _line_end(content)
    ends = [*_pair_ends(document, node)]
    if not ends:
        keys = [key for key, _ in node.value if _is_in(key, node)]
        if not keys:
            return content  # such as `<<: [*a, *b]` alone
        first = keys[0].start_mark
        head, tail = content[: first.index], content[first.index :]
        return f"{head}{pair}{new_line}{' ' * first.column}{tail}"
    last_end, column = max(ends)
    line_end = last_end + len(content[last_end:].split("\n", 1)[0].rstrip("\r"))
    return f"{content[:line_end]}{new_line}{' ' * column}{pair}{content[line_end:]}"


def _pair_ends(document: Document, node: Any) -> Iterator[tuple[int, int]]:
    """Yield where values of a mapping in block style end, with the column of their key."""
    for alias in document.aliases:
        if alias.parent is node and alias.index is not None:
            yield alias.end, alias.index.start_mark.column
    for key, value in node.value:
        is_line = isinstance(value, yaml.ScalarNode) or value.flow_style
        if is_line and _is_in(key, node) and _is_in(value, node):
            yield value.end_mark.index, key.start_mark.column
