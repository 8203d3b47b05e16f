# SPDX-License-Identifier: MPL-2.0
"""What to change in the text of a list of machines, and whether its data is then as intended."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from io_benchmark.adopt.pools.yaml_values import value_of
from io_benchmark.analysis.investigation.investigation_model import Fix
from io_benchmark.yaml_reader import Alias, Document

MACHINE = "machine_type"
_Span = tuple[int, int]
_Words = dict[_Span, str]  # that replace those of the file


class NoPatchError(Exception):
    """Why a file cannot be changed."""


def changed_text(text: str, document: Document, types: yaml.SequenceNode, fix: Fix) -> str:
    """Return the file's text after the change of a list of machines."""
    aliases = [alias for alias in document.aliases if _within(alias, types)]
    if fix.new_machine_type:
        words = _other_type(aliases, document.anchored, fix)
    elif fix.local_ssds_to_add:
        words = _more_disks(text, types, document.aliases, fix)
    else:
        words = _without_type(text, aliases, fix.machine_type)
    for (begin, end), word in sorted(words.items(), reverse=True):
        text = text[:begin] + word + text[end:]
    return text


def is_intended(before: Sequence[Any], after: Sequence[Any], fix: Fix) -> bool:
    """Return whether these machines differ by this change and by nothing else."""
    if not (fix.new_machine_type or fix.local_ssds_to_add):
        kept = [machine for machine in before if _type_of(machine) != fix.machine_type]
        return bool(kept) and list(after) == kept
    if len(before) != len(after):
        return False
    return all(_is_changed(old, new, fix) for old, new in zip(before, after, strict=True))


def _is_changed(old: Any, new: Any, fix: Fix) -> bool:
    """Return whether a machine is the new one, or the same if the change is not of its type."""
    if fix.machine_type and _type_of(old) != fix.machine_type:
        return bool(old == new)
    if fix.new_machine_type:
        return bool(_type_of(new) == fix.new_machine_type)
    local_disks = _local_disks_of(old)
    if not local_disks:
        return bool(old == new)
    return (
        {**old, "disks": None} == {**new, "disks": None}
        and len(_disks_of(new)) == len(_disks_of(old)) + fix.local_ssds_to_add
        and len(_local_disks_of(new)) == len(local_disks) + fix.local_ssds_to_add
    )


def _type_of(machine: Any) -> Any:
    return machine.get(MACHINE) if isinstance(machine, dict) else None


def _disks_of(machine: Any) -> Sequence[Any]:
    disks = machine.get("disks") if isinstance(machine, dict) else None
    return disks if isinstance(disks, list) else ()


def _local_disks_of(machine: Any) -> Sequence[Any]:
    return [disk for disk in _disks_of(machine) if _is_local(disk)]


def _is_local(disk: Any) -> bool:
    parameters = disk.get("initializeParams") if isinstance(disk, dict) else None
    return isinstance(parameters, dict) and str(parameters.get("diskType")).endswith("local-ssd")


def _is_type(node: Any, machine_type: str) -> bool:
    value = value_of(node, MACHINE)
    return isinstance(value, yaml.ScalarNode) and bool(value.value == machine_type)


def _is_local_node(node: Any) -> bool:
    value = value_of(value_of(node, "initializeParams"), "diskType")
    return isinstance(value, yaml.ScalarNode) and bool(value.value.endswith("local-ssd"))


def _other_type(aliases: Sequence[Alias], anchored: Mapping[str, yaml.Node], fix: Fix) -> _Words:
    """Name another anchor, whose disks are those of the new machine type."""
    spans = [
        (alias.begin, alias.end) for alias in aliases if _is_type(alias.node, fix.machine_type)
    ]
    if not spans:
        raise NoPatchError("the pool's machines are written out; another type has other disks")
    # An alias can only name what comes before it.
    before = min(spans)[0]
    for name, node in anchored.items():
        if _is_type(node, fix.new_machine_type) and node.start_mark.index < before:
            return dict.fromkeys(spans, f"*{name}")
    raise NoPatchError(f"the file defines no {fix.new_machine_type} before the pool")


def _more_disks(text: str, types: yaml.SequenceNode, aliases: Sequence[Alias], fix: Fix) -> _Words:
    """Repeat the line of a local SSD in the disks of this machine type."""
    inserted: _Words = {}
    for machine in types.value:
        disks = value_of(machine, "disks")
        if disks is None or (fix.machine_type and not _is_type(machine, fix.machine_type)):
            continue
        local = [alias for alias in aliases if _within(alias, disks) and _is_local_node(alias.node)]
        if local:
            begin, end = _line_of(text, local[-1])
            inserted[end, end] = text[begin:end] * fix.local_ssds_to_add
    if not inserted:
        raise NoPatchError("its local SSDs are not lines of their own")
    return inserted


def _within(alias: Alias, node: Any) -> bool:
    return bool(node.start_mark.index <= alias.begin < node.end_mark.index)


def _line_of(text: str, alias: Alias) -> _Span:
    """Return the place of the line that an alias is in, with its end."""
    begin = text.rfind("\n", 0, alias.begin) + 1
    end = text.find("\n", alias.end)
    return begin, len(text) if end < 0 else end + 1


def _without_type(text: str, aliases: Sequence[Alias], machine_type: str) -> _Words:
    slower = [alias for alias in aliases if _is_type(alias.node, machine_type)]
    if not slower or len(slower) == len(aliases):
        raise NoPatchError("the pool's list does not name the slower machines beside others")
    return {_with_separator(text, alias): "" for alias in slower}


def _with_separator(text: str, alias: Alias) -> _Span:
    """Return the place of an item of a list with what separates it from the next one."""
    begin, end = alias.begin, alias.end
    line_begin, line_end = _line_of(text, alias)
    if text[line_begin:begin].strip() == "-":
        return line_begin, line_end
    after = re.compile(r"\s*,\s*").match(text, end)
    if after:
        return begin, after.end()
    before = re.search(r"\s*,\s*\Z", text[:begin])
    return (before.start(), end) if before else (begin, end)
