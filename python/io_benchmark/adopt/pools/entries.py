# SPDX-License-Identifier: MPL-2.0
"""The pools of a file of definitions, and the machines of each.

The file is fxci-config's worker-pools.yml, whose entries define one pool per variant, or what
Taskcluster's worker-manager has: entries with `workerPoolId`.
"""

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from io_benchmark.adopt.pools.keyed_values import (
    Path,
    UnknownFormError,
    Words,
    filled,
    find,
    part_of,
)

POOLS = "pools"
# Of entries: fxci-config, a list of worker-manager's, what `tc-admin generate --json` prints.
_LISTS = (POOLS, "workerPools", "resources")
TYPES, SIZES, LAUNCH_CONFIGS = "instance_types", "vmSizes", "launchConfigs"
# A pool of Firefox has one machine, in worker-manager's form one per zone. Chosen far above that.
_MOST_MACHINES = 1_000
_LONGEST_NAME = 500  # of a pool, with the places of its words


class Pool(NamedTuple):
    """A pool of an entry, which defines one pool per variant."""

    name: str
    number: int  # of its entry
    variant: int
    entry: Mapping[Any, Any]
    words: Words

    @property
    def config(self) -> Mapping[Any, Any]:
        return mapping_of(self.entry.get("config"))

    @property
    def machines_path(self) -> Path:
        """Return the steps from the entry to the pool's machines; raise an UnknownFormError.

        Its `config` decides about all variants; where it has none, each variant has its own, else
        those of `attributes`.
        """
        for key in (TYPES, SIZES, LAUNCH_CONFIGS):
            machines, path = find(self.config.get(key), (), self.words)
            if machines:
                return ("config", key, *path)
        if TYPES in mapping_of(part_of(self.entry.get("variants"), self.variant)):
            return ("variants", self.variant, TYPES)
        return ("attributes", TYPES)

    def machines(self) -> Sequence[Any]:
        """Return the machines as they are written; raise an UnknownFormError."""
        machines: Any = self.entry
        for step in self.machines_path:
            machines = part_of(machines, step)
        if machines is None:
            return ()
        if not isinstance(machines, list) or len(machines) > _MOST_MACHINES:
            raise UnknownFormError
        return machines


def mapping_of(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def entries_of(document: Any) -> Sequence[Any]:
    if isinstance(document, list):
        return document
    lists = [document[key] for key in _LISTS if isinstance(mapping_of(document).get(key), list)]
    return lists[0] if lists else [document]


def pools_of(entry: Any, number: int) -> Iterator[Pool]:
    """Yield the pools of an entry, which has this number."""
    if not isinstance(entry, dict):
        return
    if isinstance(entry.get("workerPoolId"), str):
        yield Pool(entry["workerPoolId"], number, 0, entry, {})
    template = entry.get("pool_id")
    if not isinstance(template, str) or len(template) > _LONGEST_NAME:
        return
    usual = dict(mapping_of(entry.get("attributes")))
    for variant, words in enumerate(list_of(entry.get("variants")) or [{}]):
        all_words = ChainMap(dict(mapping_of(words)), usual)
        yield Pool(filled(template, all_words), number, variant, entry, all_words)
