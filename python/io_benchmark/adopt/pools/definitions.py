# SPDX-License-Identifier: MPL-2.0
"""Change the machines of a pool in a file of pools' definitions, as Firefox's worker-pools.yml is.

The text is changed and not the data, so that comments and anchors stay. What was changed is read
again: where it is not the machines of this pool, and of those that share its entry, there is no
patch.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import yaml

from io_benchmark.adopt.changes import FileChange
from io_benchmark.adopt.pools.entries import (
    POOLS,
    SIZES,
    TYPES,
    Pool,
    list_of,
    mapping_of,
    pools_of,
)
from io_benchmark.adopt.pools.keyed_values import UnknownFormError, resolved
from io_benchmark.adopt.pools.named_machines import NoPatchError, changed_text, is_intended
from io_benchmark.adopt.pools.workers import DefinedMachines
from io_benchmark.adopt.pools.written_machines import (
    machines_with_values,
    sets_values,
    text_with_values,
)
from io_benchmark.adopt.pools.yaml_values import value_of
from io_benchmark.analysis.investigation.investigation_model import Fix
from io_benchmark.errors import UsageError
from io_benchmark.files import read_file
from io_benchmark.text import clean_name
from io_benchmark.yaml_reader import MOST_BYTES, Document, YamlError, parse_yaml

__all__ = ["NoPatchError", "PoolDefinitions"]

_UNKNOWN_FORM = "its machines are written in a form that is not known"
# The parts of an entry that may have machines.
_PARTS = ("attributes", "config")
_MOST_VARIANTS = 2_000  # of an entry that is changed. Firefox's largest has 43.


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
        before = parse_yaml(self.text)
        pool = _find_pool(before, queue)
        try:
            after = self._changed_text(pool, fix)
            changed = parse_yaml(after)
            names = _changed_pools(before, changed, pool.number, fix)
        except (UnknownFormError, YamlError):
            raise NoPatchError(_UNKNOWN_FORM) from None
        if queue not in names:
            raise NoPatchError(_UNKNOWN_FORM)
        change = FileChange(self.file, self.text.encode(), after.encode())
        return "".join(change.patch()), names

    def _changed_text(self, pool: Pool, fix: Fix) -> str:
        if sets_values(pool, fix):
            return text_with_values(self.text, pool, fix)
        document = Document(self.text)
        document.values()
        types: Any = document.root
        for step in (POOLS, pool.number, *pool.machines_path):
            types = value_of(types, step)
        if not isinstance(types, yaml.SequenceNode):
            raise NoPatchError(f"its {TYPES} are not a list")
        return changed_text(self.text, document, types, fix)


def _find_pool(document: Any, queue: str) -> Pool:
    entries = list_of(mapping_of(document).get(POOLS))
    pools = [
        pool
        for number, entry in enumerate(entries)
        for pool in pools_of(entry, number)
        if pool.name == queue and "pool_id" in entry
    ]
    if len(pools) > 1:
        raise NoPatchError(f"the file defines {queue} more than once")
    if not pools:
        raise NoPatchError(f"the file has no pool {queue}")
    return pools[0]


def _changed_pools(before: Any, after: Any, number: int, fix: Fix) -> Sequence[str]:
    """Return the pools of an entry whose machines differ; refuse any other difference."""
    if len(list_of(mapping_of(after).get(POOLS))) != len(before[POOLS]):
        raise NoPatchError(_UNKNOWN_FORM)
    entry_before, entry_after = before[POOLS][number], after[POOLS][number]
    others = [
        {**document, POOLS: [*document[POOLS][:number], *document[POOLS][number + 1 :]]}
        for document in (before, after)
    ]
    if others[0] != others[1]:
        raise NoPatchError("others use the same definition")
    if _without_machines(entry_before) != _without_machines(entry_after):
        raise NoPatchError(_UNKNOWN_FORM)
    if len(list_of(entry_before.get("variants"))) > _MOST_VARIANTS:
        raise NoPatchError(f"its entry has more variants than {_MOST_VARIANTS:,}")
    names = []
    for old, new in zip(pools_of(entry_before, number), pools_of(entry_after, number), strict=True):
        machines, new_machines = old.machines(), new.machines()
        if machines == new_machines:
            continue
        machines, new_machines = resolved(machines, old.words), resolved(new_machines, new.words)
        if machines != new_machines:
            if not _is_intended(old, machines, new_machines, fix):
                raise NoPatchError(_UNKNOWN_FORM)
            names.append(old.name)
    return names


def _is_intended(
    pool: Pool, machines: Sequence[Any], new_machines: Sequence[Any], fix: Fix
) -> bool:
    if sets_values(pool, fix):
        return new_machines == machines_with_values(pool, machines, fix)
    return is_intended(machines, new_machines, fix)


def _without_machines(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    parts = {part: _rest(entry.get(part)) for part in _PARTS}
    variants = [_rest(variant) for variant in list_of(entry.get("variants"))]
    return {**entry, **parts, "variants": variants}


def _rest(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: value for key, value in part.items() if key not in (TYPES, SIZES)}
