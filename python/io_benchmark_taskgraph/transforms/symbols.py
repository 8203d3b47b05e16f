# SPDX-License-Identifier: MPL-2.0
"""Check that each task has its own symbol in Treeherder: platform, group and symbol.

The tasks of the kinds that this one depends on are included, because a push may run all of them. In a
project whose config.yml has no `treeherder`, tasks get no symbols: with one they could not depend on an
image's task, which has none there.
"""

import re
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, quoted, task_name
from io_benchmark_taskgraph.transforms import Tasks

_PLATFORM = re.compile(r"[A-Za-z0-9_-]{1,50}/[A-Za-z0-9_-]{1,50}")
_SYMBOL = re.compile(r"[^()\s]{1,25}\([^()\s]{1,25}\)")


def _dependencies_symbols(config: Any) -> dict[tuple[str, str], str]:
    """Return the labels by (platform, symbol) of the tasks of `kind-dependencies`."""
    used: dict[tuple[str, str], str] = {}
    for task in config.kind_dependencies_tasks.values():
        treeherder = task.task.get("extra", {}).get("treeherder", {})
        symbol = f"{treeherder.get('groupSymbol')}({treeherder.get('symbol')})"
        machine = treeherder.get("machine", {}).get("platform")
        for collection in treeherder.get("collection", {}):
            used[f"{machine}/{collection}", symbol] = task.label
    return used


def _check_symbols(config: Any, tasks: Tasks) -> Tasks:
    used = _dependencies_symbols(config)
    for task in tasks:
        if "treeherder" in config.graph_config:
            with in_task(config, task):
                _check_task(task, used)
        else:
            task.pop("treeherder", None)
        yield task


def _check_task(task: dict[str, Any], used: dict[tuple[str, str], str]) -> None:
    treeherder = task.get("treeherder")
    treeherder = treeherder if isinstance(treeherder, dict) else {}
    platform, symbol = (str(treeherder.get(key)) for key in ("platform", "symbol"))
    if not _PLATFORM.fullmatch(platform):
        problem = f"{quoted(platform)} is not a platform; write one such as linux64/opt"
        raise BadKeyError("treeherder.platform", problem)
    key = "treeherder.symbol"
    if not _SYMBOL.fullmatch(symbol):
        problem = (
            "is not a group and a symbol of at most 25 characters each; write them as IOB(amd16)"
        )
        raise BadKeyError(key, f"{quoted(symbol)} {problem}")
    owner = used.setdefault((platform, symbol), task_name(task))
    if owner != task_name(task):
        problem = (
            f"task {owner} already has {symbol} on {platform}; give each task a different symbol"
        )
        raise BadKeyError(key, problem)


transforms = TransformSequence()
transforms.add(_check_symbols)
