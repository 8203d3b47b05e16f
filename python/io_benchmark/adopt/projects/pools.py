# SPDX-License-Identifier: MPL-2.0
"""The pools of a project: the aliases of its workers, but those that build images."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from io_benchmark.adopt.changes import Tree
from io_benchmark.adopt.worker_aliases import WorkerAliases
from io_benchmark.errors import IoBenchmarkError
from io_benchmark_taskgraph.engines import is_pattern
from io_benchmark_taskgraph.names import POOL_NAME

CONFIG = "taskcluster/config.yml"
# taskgraph builds images, and runs fetches, on the alias of this name.
_BUILDS_IMAGES = "images"


class Pools(Struct, frozen=True):
    aliases: Mapping[str, str]  # by the pool's name
    notes: list[str]
    # The report's task needs docker, which native workers have not; None where a pool has it.
    report_alias: str | None = None

    @property
    def have_images(self) -> bool:
        return self.report_alias is None


def choose_pools(tree: Tree, named: Mapping[str, str]) -> Pools:
    """Return the named pools; without any, each alias of workers that is another pool."""
    aliases = WorkerAliases.read(tree, CONFIG)
    notes: list[str] = []
    pools = named or _distinct_pools(aliases, notes)
    aliases.check(pools.values())
    different = sorted(set(pools.values()))
    if len(different) == 1:
        notes.append(
            f"{different[0]} is the only pool, so there is nothing to compare; name each of "
            f"several as --pool NAME=ALIAS, with aliases of {CONFIG}"
        )
    if any(aliases.has_images(alias) for alias in different):
        return Pools(pools, notes)
    for alias in aliases.workers:
        if not is_pattern(alias) and aliases.has_images(alias):
            return Pools(pools, notes, report_alias=alias)
    raise IoBenchmarkError(
        f"{aliases.file}: has no alias of docker-worker, which IOB(report) needs; add one"
    )


def _distinct_pools(aliases: WorkerAliases, notes: list[str]) -> dict[str, str]:
    """Return the pools that are no patterns, each once; note what is left out."""
    supported = [alias for alias in aliases.workers if aliases.is_supported(alias)]
    notes += (
        f"the alias {alias} is a pattern and not added; name what it matches as --pool "
        "NAME=WORKER-TYPE"
        for alias in supported
        if is_pattern(alias)
    )
    names = [alias for alias in supported if POOL_NAME.fullmatch(alias)]
    # Where there is no other pool, tasks run there too.
    names = [alias for alias in names if not alias.startswith(_BUILDS_IMAGES)] or names
    alias_of_place: dict[str, str] = {}
    # Where docker runs on a pool as well, the image has what the benchmark needs.
    for alias in sorted(names, key=aliases.has_images, reverse=True):
        place = _place(alias, aliases.workers[alias])
        if place in alias_of_place:
            notes.append(
                f"the alias {alias} is not added, because it is the pool of {alias_of_place[place]}"
            )
        else:
            alias_of_place[place] = alias
    if not names:
        present = ", ".join(supported) or "none for the benchmark"
        raise IoBenchmarkError(
            f"{aliases.file}: has no alias that is one pool, but {present}; name the pools as "
            "--pool NAME=ALIAS"
        )
    chosen = set(alias_of_place.values())
    return {alias: alias for alias in names if alias in chosen}


def _place(alias: str, worker: Mapping[str, Any]) -> str:
    """Return what aliases of one pool have in common; each may be keyed by level."""
    place = [worker.get("provisioner", alias), worker.get("worker-type", alias)]
    return json.dumps(place, sort_keys=True, default=str).replace("{alias}", alias)
