# SPDX-License-Identifier: MPL-2.0
"""Pools that no kind names: each runs the task of the first selected pool, under its own name.

A name that is one typing mistake away from a selected pool is refused: it would measure that pool's
task elsewhere, and leave out all other pools.
"""

import copy
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.text import clean_name
from io_benchmark_taskgraph.names import POOL_NAME, symbol_with
from io_benchmark_taskgraph.repeating import job_of

if TYPE_CHECKING:
    from io_benchmark.graph.generate import GeneratedTask


def new_pools(tasks: Sequence["GeneratedTask"], queues: Mapping[str, str]) -> list[str]:
    """Return the pools with a queue that are not among the tasks'; refuse a misspelt one."""
    pools = dict.fromkeys(task.pool for task in tasks if task.pool)
    new = [pool for pool in queues if pool not in pools]
    for pool in new:
        subject = f"--pool {clean_name(pool)}={queues[pool]}"
        meant = [name for name in pools if _is_one_mistake(pool.lower(), name.lower())]
        if meant:
            raise UsageError(
                f"{subject}: did you mean {meant[0]}? If it is a pool that no kind has, give it a "
                "name that differs more"
            )
        if not POOL_NAME.fullmatch(pool):
            problem = "is not a pool's name; write at most 45 letters, digits and ._-"
            raise UsageError(f"{subject}: {problem}")
    return new


def _is_one_mistake(word: str, name: str) -> bool:
    """Return whether one letter is missing, added or wrong, or two neighbours are swapped."""
    while word and name and word[0] == name[0]:
        word, name = word[1:], name[1:]
    while word and name and word[-1] == name[-1]:
        word, name = word[:-1], name[:-1]
    is_swapped = len(word) == 2 and list(word) == list(reversed(name))
    return max(len(word), len(name)) <= 1 or is_swapped


def measured_tasks(
    tasks: Sequence["GeneratedTask"], queues: Mapping[str, str]
) -> list["GeneratedTask"]:
    """Return the tasks of the pools; where new ones are named, those of the named pools alone."""
    pool_tasks = [task for task in tasks if task.pool]
    new = new_pools(pool_tasks, queues)
    if not new or not pool_tasks:
        return pool_tasks
    models = [task for task in pool_tasks if task.pool == pool_tasks[0].pool]
    measured: list[GeneratedTask] = []
    for pool, queue in queues.items():
        if pool in new:
            measured.extend(_for_pool(model, pool, queue) for model in models)
        else:
            measured.extend(task for task in pool_tasks if task.pool == pool)
    return measured


def _for_pool(model: "GeneratedTask", pool: str, queue: str) -> "GeneratedTask":
    """Return the model's task for another pool: label, command, description and symbol name it."""
    job = job_of(model.label, model.pool)
    if not job.endswith(model.pool):
        raise IoBenchmarkError(
            f"{model.label}: its label does not name its pool {model.pool}, so that no task can be "
            "made of it; select another pool"
        )
    end = model.label[len(job) :]
    label = job.removesuffix(model.pool) + pool + end
    definition: dict[str, Any] = copy.deepcopy(dict(model.definition))
    definition["provisionerId"], definition["workerType"] = queue.split("/")
    definition["metadata"] |= {"name": label, "description": f"I/O benchmark on {queue}"}
    definition["tags"]["label"] = label
    extra = definition.get("extra", {})
    # The kind's baseline may be a pool that is not measured.
    extra.pop("io-benchmark", None)
    if "symbol" in extra.get("treeherder", {}):
        extra["treeherder"]["symbol"] = symbol_with(pool, end)
    payload = definition["payload"]
    payload["command"] = _with_pool(payload["command"], model.pool, pool)
    return replace(model, label=label, pool=pool, definition=definition)


def _with_pool(command: Any, former: str, pool: str) -> Any:
    """Return a command that names another pool, in the argument and in the line for Treeherder."""
    if isinstance(command, list):
        return [_with_pool(word, former, pool) for word in command]
    if not isinstance(command, str):
        return command  # a reference to a task
    named = rf"(--pool[ =]|UNEXPECTED-FAIL ){re.escape(former)}(?!\S)"
    return re.sub(named, rf"\g<1>{pool}", command)
