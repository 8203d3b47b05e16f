# SPDX-License-Identifier: MPL-2.0
"""Make `replicates` tasks of one, each for a separate worker; a single one keeps its name."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.parameters import REPLICATES, override
from io_benchmark_taskgraph.transforms import Tasks

# Recorded in each result. A report with this many results of the pool needs only one look.
_PLAN_VARIABLE = "IO_BENCHMARK_REPLICATES"


def _replicate(config: Any, tasks: Tasks) -> Tasks:
    replicates = override(config.params, REPLICATES)
    for task in tasks:
        yield from _numbered(task, replicates or task["benchmark"].replicates)


def _numbered(task: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    """Yield the task itself, or `count` copies with a number each: IOB(amd16-1)."""
    if count == 1:
        yield task
        return
    for number in range(1, count + 1):
        copy = deepcopy(task)
        copy["name"] = f"{task['name']}-{number}"
        treeherder = copy.get("treeherder")
        if isinstance(treeherder, dict) and "symbol" in treeherder:
            name, bracket, _ = str(treeherder["symbol"]).partition(")")
            treeherder["symbol"] = f"{name}-{number}{bracket}"
        environment = copy.setdefault("worker", {}).setdefault("env", {})
        environment[_PLAN_VARIABLE] = str(count)
        yield copy


transforms = TransformSequence()
transforms.add(_replicate)
