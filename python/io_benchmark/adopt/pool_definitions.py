# SPDX-License-Identifier: MPL-2.0
"""Change the machines of a pool in a file of pools' definitions, as Firefox's worker-pools.yml is.

The text is changed and not the data, so that comments and anchors stay. What was changed is read again:
where it is more or less than one pool's machines, there is no patch.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import yaml

from io_benchmark.adopt.changes import FileChange
from io_benchmark.analysis.investigation.investigation_model import Fix
from io_benchmark.errors import UsageError

_PLACE = re.compile(r"\{([\w-]+)\}")
_TYPES, _MACHINE = "instance_types", "machine_type"
_Span = tuple[int, int]
_Aliases = Sequence[tuple[_Span, yaml.Node]]
_Words = dict[_Span, str]  # that replace those of the file


class NoPatchError(Exception):
    """Why a file cannot be changed."""


class _Loader(yaml.SafeLoader):
    """Remembers what anchors name, and where each alias is."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.anchored: dict[str, yaml.Node] = {}
        self.aliases: list[tuple[_Span, yaml.Node]] = []

    def compose_node(self, parent: Any, index: Any) -> yaml.Node:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        node = cast("yaml.Node", super().compose_node(parent, index))
        span = (event.start_mark.index, event.end_mark.index)
        if isinstance(event, yaml.AliasEvent):
            self.aliases.append((span, node))
        elif getattr(event, "anchor", None):
            self.anchored[event.anchor] = node
        return node


def change_machines(text: str, file: str, queue: str, fix: Fix) -> tuple[str, int]:
    """Return a patch that changes the machines of a pool, and how many pools it changes.

    Several pools may share an entry. Raise a NoPatchError where the file does not have the pool's machine
    type in a form that is known.
    """
    loader = _Loader(text)
    try:
        root: Any = loader.get_single_node()
        before = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" line {mark.line + 1}" if mark else ""
        raise UsageError(f"--pools-file {file}{place}: is not YAML; correct it there") from None
    position, types, pools = _find_types(root, queue)
    aliases = [(span, node) for span, node in loader.aliases if _within(span, types)]
    if fix.new_machine_type:
        words = _other_type(aliases, loader.anchored, fix)
    elif fix.local_ssds_to_add:
        words = _more_disks(text, types, loader.aliases, fix)
    else:
        words = _without_type(text, aliases, fix.machine_type)
    after = text
    for (begin, end), word in sorted(words.items(), reverse=True):
        after = after[:begin] + word + after[end:]
    changed = yaml.safe_load(after)
    # Whatever shares a definition with the pool would change with it.
    before["pools"].pop(position)
    changed["pools"].pop(position)
    if before != changed:
        raise NoPatchError("others use the same definition")
    return "".join(FileChange(file, text.encode(), after.encode()).patch()), pools


def _value(node: Any, key: str) -> Any:
    """Return the value of a key; None without it."""
    if not isinstance(node, yaml.MappingNode):
        return None
    pairs = [(name.value, value) for name, value in node.value]
    merged = [_value(value, key) for name, value in pairs if name == "<<"]
    own = [value for name, value in pairs if name == key]
    return next((value for value in (*own, *merged) if value is not None), None)


def _words(node: yaml.Node | None) -> Mapping[str, str]:
    """Return the texts in a mapping by their keys."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return {key.value: value.value for key, value in pairs if isinstance(value, yaml.ScalarNode)}


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _find_types(root: yaml.Node | None, queue: str) -> tuple[int, yaml.SequenceNode, int]:
    """Return the number of the entry in the file, the list of its machines, and how many pools have it."""
    for position, pool in enumerate(_items(_value(root, "pools"))):
        usual = _words(_value(pool, "attributes"))
        name = _words(pool).get("pool_id", "")
        variants = _items(_value(pool, "variants"))
        for variant in variants or [pool]:
            if _filled(name, {**usual, **_words(variant)}) != queue:
                continue
            own = _value(variant, _TYPES)
            types = own if own is not None else _value(_value(pool, "config"), _TYPES)
            if isinstance(types, yaml.SequenceNode):
                return position, types, len(variants) if own is None and variants else 1
            raise NoPatchError(f"its {_TYPES} are not a list")
    raise NoPatchError(f"the file has no pool {queue}")


def _filled(name: str, words: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: words.get(match[1], ""), name)


def _is_type(node: yaml.Node, machine_type: str) -> bool:
    return _words(node).get(_MACHINE) == machine_type


def _other_type(aliases: _Aliases, anchored: Mapping[str, yaml.Node], fix: Fix) -> dict[_Span, str]:
    """Name another anchor, whose disks are those of the new machine type."""
    spans = [span for span, node in aliases if _is_type(node, fix.machine_type)]
    new_type = fix.new_machine_type
    anchor = next((name for name in anchored if _is_type(anchored[name], new_type)), None)
    if not spans:
        raise NoPatchError("the pool's machines are written out; another type has other disks")
    if anchor is None:
        raise NoPatchError(f"the file defines no {new_type}")
    return dict.fromkeys(spans, f"*{anchor}")


def _more_disks(text: str, types: yaml.SequenceNode, aliases: _Aliases, fix: Fix) -> _Words:
    """Repeat the line of a local SSD in the disks of this machine type."""
    inserted: _Words = {}
    for machine in _items(types):
        disks = _value(machine, "disks")
        if disks is None or (fix.machine_type and not _is_type(machine, fix.machine_type)):
            continue
        local = [span for span, disk in aliases if _within(span, disks) and _is_local(disk)]
        if local:
            begin, end = _line_of(text, local[-1])
            inserted[end, end] = text[begin:end] * fix.local_ssds_to_add
    if not inserted:
        raise NoPatchError("its local SSDs are not lines of their own")
    return inserted


def _is_local(disk: yaml.Node) -> bool:
    return _words(_value(disk, "initializeParams")).get("diskType", "").endswith("local-ssd")


def _within(span: _Span, node: Any) -> bool:
    return bool(node.start_mark.index <= span[0] < node.end_mark.index)


def _line_of(text: str, span: _Span) -> _Span:
    begin, end = text.rfind("\n", 0, span[0]) + 1, text.find("\n", span[1])
    return begin, len(text) if end < 0 else end + 1


def _without_type(text: str, aliases: _Aliases, machine_type: str) -> _Words:
    spans = [span for span, node in aliases if _is_type(node, machine_type)]
    if not spans or len(spans) == len(aliases):
        raise NoPatchError("the pool's list does not name the slower machines beside others")
    return {_with_separator(text, span): "" for span in spans}


def _with_separator(text: str, span: _Span) -> _Span:
    """Return the place of an item of a list with what separates it from the next one."""
    line = _line_of(text, span)
    if text[line[0] : span[0]].strip() == "-":
        return line
    begin, end = span
    after = re.compile(r"\s*,\s*").match(text, end)
    before = re.compile(r"\s*,\s*$").search(text[:begin])
    return (begin, after.end()) if after else (before.start() if before else begin, end)
