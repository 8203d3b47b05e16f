# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Load a kind that has the pools of another kind, so that there is one list of pools.

The kind takes the keys of a pool's task that say where the pool is and how it is shown. It has its own
keys for what is measured, and how long: a pool's places or retrieves were chosen for the other kind.
taskgraph's `tasks-from` would take all keys.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taskgraph.loader import transform
from taskgraph.util.templates import merge

from io_benchmark_taskgraph.mistakes import UserMistake, shown, suggestion

POOLS_FROM = "pools-from"
SYMBOL_SUFFIX = "symbol-suffix"
COPIED_KEYS = ("description", "worker-type", "treeherder", "worker")
_FILE = "kind.yml"
_TASKS = ("tasks", "tasks-from")


def loader(
    kind: str,
    path: str,
    config: dict[str, Any],
    params: Any,
    loaded_tasks: list[Any],
    write_artifacts: bool,
) -> Iterator[dict[str, Any]]:
    other = _other_kind(kind, Path(path), config)
    whole = transform.load_yaml(str(other / _FILE))
    listed = {key: whole[key] for key in _TASKS if key in whole}
    defaults = config.get("task-defaults", {})
    suffix = str(config.get(SYMBOL_SUFFIX, ""))
    for pool in transform.loader(
        kind, str(other), listed, params, loaded_tasks, write_artifacts
    ):
        task = merge(defaults, _pool_keys(pool, suffix))
        yield {**task, "name": pool["name"], "task-from": _FILE}


def _other_kind(kind: str, path: Path, config: dict[str, Any]) -> Path:
    name = config.get(POOLS_FROM, "")
    known = sorted(file.parent.name for file in path.parent.glob(f"*/{_FILE}"))
    others = [other for other in known if other != kind]
    if not isinstance(name, str) or name not in others:
        mistake: Exception = UserMistake(
            f"taskcluster/kinds/{kind}/{_FILE}: {POOLS_FROM}: {shown(name)} is not another kind; "
            f"{suggestion(name, others)}"
        )
        raise mistake
    return path.parent / name


def _pool_keys(pool: dict[str, Any], suffix: str) -> dict[str, Any]:
    """Return the copied keys, without the time limit, which is for what the other kind measures."""
    task = {key: pool[key] for key in COPIED_KEYS if key in pool}
    if isinstance(task.get("worker"), dict):
        task["worker"] = {
            k: v for k, v in task["worker"].items() if k != "max-run-time"
        }
    shown = task.get("treeherder")
    if isinstance(shown, dict) and str(shown.get("symbol", "")).endswith(")"):
        task["treeherder"] = {
            **shown,
            "symbol": f"{str(shown['symbol'])[:-1]}{suffix})",
        }
    return task
