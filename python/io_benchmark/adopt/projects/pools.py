# SPDX-License-Identifier: MPL-2.0
"""The pools of a project: the aliases of its Linux workers, but those that build images.

Workers run tasks in docker images, or themselves (native). The kind takes both.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from io_benchmark.adopt.changes import Tree, matches_alias
from io_benchmark.errors import IoBenchmarkError

CONFIG = "taskcluster/config.yml"
KIND = "taskcluster/kinds/io-benchmark/kind.yml"
_DOCKER, _NATIVE = "docker-worker", "generic-worker"
# As the kind takes them.
_POOL_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,44}")
# What makes an alias a regular expression. Dots and hyphens are in many plain names.
_PATTERN = re.compile(r"[*+?^$|\\()\[\]{}]")
# taskgraph builds images, and runs fetches, on the alias of this name.
_BUILDS_IMAGES = "images"
_NAME_IT = "name what it matches as --pool NAME=WORKER-TYPE"


class Pools(Struct, frozen=True):
    aliases: Mapping[str, str]  # by the pool's name
    notes: list[str]
    # The report's task needs docker, which native workers have not; None where a pool has it.
    report_alias: str | None = None

    @property
    def have_images(self) -> bool:
        return self.report_alias is None


def choose_pools(tree: Tree, config: Any, named: Mapping[str, str]) -> Pools:
    """Return the named pools; without any, each alias of Linux workers that is another pool."""
    workers = _linux_workers(tree, config)
    if named:
        for alias in named.values():
            _check_named(tree, config["workers"]["aliases"].get(alias), alias, workers)
        tree.check_aliases(CONFIG, named, list(workers))
        return _with_report(tree, workers, named, [])
    names = [alias for alias in workers if _POOL_NAME.fullmatch(alias)]
    notes = [
        f"the alias {alias} is a pattern and not added; {_NAME_IT}"
        for alias in workers
        if _PATTERN.search(alias)
    ]
    # Where there is no other pool, tasks run there too.
    names = [alias for alias in names if not alias.startswith(_BUILDS_IMAGES)] or names
    pools: dict[str, str] = {}
    for alias in names:
        place = _place(alias, workers[alias])
        if place in pools:
            notes.append(
                f"the alias {alias} is not added, because it is the pool of {pools[place]}"
            )
        else:
            pools[place] = alias
    aliases = {alias: alias for alias in pools.values()}
    tree.check_aliases(CONFIG, aliases, list(workers))
    return _with_report(tree, workers, aliases, notes)


def _check_named(tree: Tree, worker: Any, alias: str, workers: Mapping[str, Any]) -> None:
    """Refuse an alias that config.yml has, but that is not a pool of Linux."""
    if worker is None:
        return
    problem = None
    if alias not in workers:
        what = f"{worker.get('implementation')} on {worker['os']}"
        problem = f"is {what}, where the benchmark does not run; name Linux workers"
    elif _PATTERN.search(alias):
        problem = f"is a pattern, not a pool; {_NAME_IT}"
    if problem is not None:
        raise IoBenchmarkError(f"{tree.path / CONFIG}: the alias {alias} {problem}")


def _linux_workers(tree: Tree, config: Any) -> dict[str, Mapping[str, Any]]:
    """Return the workers that run tasks on Linux, by their alias; not those of other services."""
    workers = {}
    try:
        for name, worker in config["workers"]["aliases"].items():
            if not isinstance(name, str):
                raise IoBenchmarkError(
                    f"{tree.path / CONFIG}: the name {name} in workers.aliases is not text; "
                    "write it in quotes"
                )
            implementation = worker.get("implementation", _DOCKER)
            if worker["os"] == "linux" and implementation in (_DOCKER, _NATIVE):
                workers[name] = worker
    except (AttributeError, KeyError, TypeError):
        raise IoBenchmarkError(
            f"{tree.path / CONFIG}: has no workers.aliases with their os; correct it"
        ) from None
    return workers


def _place(alias: str, worker: Mapping[str, Any]) -> str:
    """Return what aliases of one pool have in common; each may be keyed by level."""
    place = [worker.get("provisioner", alias), worker.get("worker-type", alias)]
    return json.dumps(place, sort_keys=True, default=str).replace("{alias}", alias)


def _with_report(
    tree: Tree, workers: Mapping[str, Any], aliases: Mapping[str, str], notes: list[str]
) -> Pools:
    """Return the pools, with where the report's task runs and a note if there is only one."""
    different = sorted(set(aliases.values()))
    if len(different) == 1:
        notes.append(
            f"{different[0]} is the only pool, so there is nothing to compare; name each of "
            f"several as --pool NAME=ALIAS, with aliases of {CONFIG}"
        )
    docker = [
        alias
        for alias, worker in workers.items()
        if worker.get("implementation", _DOCKER) == _DOCKER
    ]
    if any(matches_alias(name, alias) for name in different for alias in docker):
        return Pools(aliases, notes)
    if not docker:
        raise IoBenchmarkError(
            f"{tree.path / CONFIG}: has no alias of {_DOCKER}, which IOB(report) needs; add one"
        )
    return Pools(aliases, notes, docker[0])
