# SPDX-License-Identifier: MPL-2.0
"""Load kinds with keys that only this package knows, and with its defaults.

A kind that has the pools of another one takes the keys of a pool's task that say where the pool is
and how it is shown. It has its own keys for what is measured, and how long, because a pool's places
and retrieves were chosen for the other kind. The `tasks-from` of taskgraph would take all keys.
"""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from taskgraph.util.templates import merge
from taskgraph.util.yaml import load_yaml

from io_benchmark_taskgraph.mistakes import quoted, there_are
from io_benchmark_taskgraph.versions import UserMistake, load_tasks

POOLS_FROM = "pools-from"
COPIED_KEYS = ("description", "worker-type", "treeherder", "worker")
DEFAULTS = Path(__file__).parent / "defaults"
_FILE = "kind.yml"


def with_defaults(
    kind: str, path: str, config: dict[str, Any], params: Any, loaded_tasks: list[Any]
) -> Iterator[dict[str, Any]]:
    """Load a kind's tasks; its `task-defaults` say what differs from the package's."""
    config = {**config, "task-defaults": merged_defaults(kind, config.get("task-defaults", {}))}
    yield from load_tasks(kind, path, config, params, loaded_tasks)


def gate(
    kind: str, path: str, config: dict[str, Any], params: Any, loaded_tasks: list[Any]
) -> Iterator[dict[str, Any]]:
    """Load a kind with the key `gate`, which has no tasks of its own (transforms/gate.py).

    taskgraph's own loader may one day refuse a key that it does not know.
    """
    yield from load_tasks(kind, path, config, params, loaded_tasks)


def merged_defaults(kind: str, own: dict[str, Any]) -> dict[str, Any]:
    """Return the package's defaults for a kind's tasks, changed by those of the project's file."""
    return dict(merge(load_yaml(f"{DEFAULTS}/{kind}.yml"), own))


def loader(
    kind: str, path: str, config: dict[str, Any], params: Any, loaded_tasks: list[Any]
) -> Iterator[dict[str, Any]]:
    name, above = config.get(POOLS_FROM, ""), Path(path).parent
    kinds = sorted({file.parent.name for file in above.glob(f"*/{_FILE}")} - {kind})
    if not isinstance(name, str) or name not in kinds:
        place = f"taskcluster/kinds/{kind}/{_FILE}: {POOLS_FROM}"
        problem = f"{quoted(name)} is not another kind; {there_are(kinds, str(name))}"
        raise UserMistake(f"{place}: {problem}")
    folder = str(above / name)
    pools = load_yaml(f"{folder}/{_FILE}")
    tasks = {key: pools[key] for key in ("tasks", "tasks-from") if key in pools}
    suffix = str(config.get("symbol-suffix", ""))
    for pool in load_tasks(kind, folder, tasks, params, loaded_tasks):
        task = merge(config.get("task-defaults", {}), _pool_keys(pool, suffix))
        yield {**task, "name": pool["name"], "task-from": _FILE}


def _pool_keys(pool: dict[str, Any], suffix: str) -> dict[str, Any]:
    """Return the copied keys, without the time limit, which is for what the other kind measures."""
    task = deepcopy({key: pool[key] for key in COPIED_KEYS if key in pool})
    task.get("worker", {}).pop("max-run-time", None)
    treeherder = task.get("treeherder", {})
    # The transforms refuse a symbol of another form.
    if str(treeherder.get("symbol")).endswith(")"):
        treeherder["symbol"] = f"{treeherder['symbol'][:-1]}{suffix})"
    return task
