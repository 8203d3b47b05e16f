# SPDX-License-Identifier: MPL-2.0
"""Change the machines of a pool in a file of pools' definitions, as Firefox's worker-pools.yml is.

The text is changed and not the data, so that comments and anchors stay. What was changed is read
again: where it is not the machines of this pool, and of those that share its entry, there is no
patch.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import yaml

from io_benchmark.adopt.changes import FileChange
from io_benchmark.adopt.defined_workers import DefinedMachines
from io_benchmark.adopt.machine_edits import NoPatchError, changed_text, is_intended, value_of
from io_benchmark.analysis.investigation.investigation_model import Fix
from io_benchmark.errors import UsageError
from io_benchmark.files import read_file
from io_benchmark.text import clean_name
from io_benchmark.yaml_reader import MOST_BYTES, Document, YamlError, parse_yaml

__all__ = ["NoPatchError", "PoolDefinitions"]

_PLACE = re.compile(r"\{([\w-]+)\}")
_TYPES = "instance_types"
_UNKNOWN_FORM = "its machines are written in a form that is not known"
# The parts of an entry that may have the types of machines.
_PARTS = ("attributes", "config")


class _Pool(NamedTuple):
    """A pool of an entry, which defines one pool per variant."""

    name: str
    path: Sequence[str | int]  # of its types, in the entry
    types: Any


class PoolDefinitions(NamedTuple):
    """A file of pools' definitions that was read whole."""

    file: str  # its name
    text: str

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the file; a UsageError says in one line why it cannot be changed."""
        option = f"--pools-file {clean_name(str(path))}"
        try:
            text = read_file(path, MOST_BYTES).decode("utf-8")
            parse_yaml(text)
        except OSError as error:
            raise UsageError(f"{option}: {error.strerror}; name a file of pools") from None
        except UnicodeDecodeError as error:
            problem = f"is not UTF-8 at byte {error.start}; save it as UTF-8"
            raise UsageError(f"{option}: {problem}") from None
        except YamlError as error:
            raise UsageError(f"{option}: is not YAML ({error}); correct it") from None
        return cls(path.name, text)

    def machines(self) -> DefinedMachines:
        """Return the machines of all pools."""
        return DefinedMachines(self.file, parse_yaml(self.text))

    def change_machines(self, queue: str, fix: Fix) -> tuple[str, Sequence[str]]:
        """Return a patch that changes the machines of a pool, and the pools that it changes.

        Raise a NoPatchError where the file does not have the pool's machine type in a form that is
        known, or where pools of another entry have the same definition.
        """
        document = Document(self.text)
        before = document.values()
        number, pool = _find_pool(_list(_mapping(before).get("pools")), queue)
        types: Any = document.root
        for step in ("pools", number, *pool.path):
            types = value_of(types, step)
        if not isinstance(types, yaml.SequenceNode):
            raise NoPatchError(f"its {_TYPES} are not a list")
        after = changed_text(self.text, document, types, fix)
        try:
            changed = parse_yaml(after)
        except YamlError:
            raise NoPatchError(_UNKNOWN_FORM) from None
        names = _changed_pools(before, changed, number, fix)
        if queue not in names:
            raise NoPatchError(_UNKNOWN_FORM)
        change = FileChange(self.file, self.text.encode(), after.encode())
        return "".join(change.patch()), names


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _find_pool(entries: Sequence[Any], queue: str) -> tuple[int, _Pool]:
    """Return a pool, and the number of its entry."""
    for number, entry in enumerate(entries):
        for pool in _pools_of(entry):
            if pool.name == queue:
                return number, pool
    raise NoPatchError(f"the file has no pool {queue}")


def _pools_of(entry: Any) -> Iterator[_Pool]:
    """Yield the pools of an entry.

    Its `config` decides about the types of all of them; where it has none, each variant has its
    own, else those of `attributes`.
    """
    usual = _mapping(_mapping(entry).get("attributes"))
    config = _mapping(_mapping(entry).get("config"))
    variants = _list(_mapping(entry).get("variants"))
    for number, variant in enumerate(variants or [{}]):
        words = {**usual, **_mapping(variant)}
        name = _filled(str(_mapping(entry).get("pool_id", "")), words)
        path: Sequence[str | int] = ("attributes", _TYPES)
        types = words.get(_TYPES)
        if config.get(_TYPES):
            path, types = ("config", _TYPES), config[_TYPES]
        elif _TYPES in _mapping(variant):
            path = ("variants", number, _TYPES)
        yield _Pool(name, path, types)


def _filled(name: str, words: Mapping[Any, Any]) -> str:
    # As its generator does it: a suffix may be empty.
    return _PLACE.sub(lambda match: str(words.get(match[1], match[0])), name).rstrip("-")


def _changed_pools(before: Any, after: Any, number: int, fix: Fix) -> Sequence[str]:
    """Return the pools of an entry whose machines differ; refuse any other difference."""
    entry_before, entry_after = before["pools"][number], after["pools"][number]
    others = [
        {**document, "pools": [*document["pools"][:number], *document["pools"][number + 1 :]]}
        for document in (before, after)
    ]
    if others[0] != others[1]:
        raise NoPatchError("others use the same definition")
    if _without_types(entry_before) != _without_types(entry_after):
        raise NoPatchError(_UNKNOWN_FORM)
    names = []
    for old, new in zip(_pools_of(entry_before), _pools_of(entry_after), strict=True):
        if old.types != new.types:
            if not is_intended(_list(old.types), _list(new.types), fix):
                raise NoPatchError(_UNKNOWN_FORM)
            names.append(old.name)
    return names


def _without_types(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    parts = {part: _rest(entry.get(part)) for part in _PARTS}
    variants = [_rest(variant) for variant in _list(entry.get("variants"))]
    return {**entry, **parts, "variants": variants}


def _rest(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: value for key, value in part.items() if key != _TYPES}
