# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Load a kind whose tasks are another kind's pools, so that there is one list of them.

Of a pool's task the kind takes what says where the pool is and how it is shown. What is measured
there, and for how long, is the kind's own: a pool's places or retrieves were chosen for the other one.
taskgraph's `tasks-from` would bring all of it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taskgraph.loader import transform
from taskgraph.util.templates import merge

from io_benchmark_taskgraph.mistakes import UserMistake, shown, suggestion

POOLS_FROM = "pools-from"
SYMBOL_SUFFIX = "symbol-suffix"
TAKEN = ("description", "worker-type", "treeherder", "worker")
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
        task = merge(defaults, _taken(pool, suffix))
        yield {**task, "name": pool["name"], "task-from": _FILE}


def _other_kind(kind: str, path: Path, config: dict[str, Any]) -> Path:
    name = config.get(POOLS_FROM, "")
    known = sorted(file.parent.name for file in path.parent.glob(f"*/{_FILE}"))
    others = [one for one in known if one != kind]
    if not isinstance(name, str) or name not in others:
        mistake: Exception = UserMistake(
            f"taskcluster/kinds/{kind}/{_FILE}: {POOLS_FROM}: {shown(name)} is not another kind; "
            f"{suggestion(name, others)}"
        )
        raise mistake
    return path.parent / name


def _taken(pool: dict[str, Any], suffix: str) -> dict[str, Any]:
    """A limit that a pool has for what the other kind measures is not taken either."""
    task = {key: pool[key] for key in TAKEN if key in pool}
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
