# SPDX-License-Identifier: MPL-2.0
"""Put the worker's script and its arguments into the task's command."""

import functools
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.estimate import time_budget_s
from io_benchmark_taskgraph.mistakes import in_task
from io_benchmark_taskgraph.selection import POOL_ATTRIBUTE
from io_benchmark_taskgraph.task_command import check_size, make_command
from io_benchmark_taskgraph.transforms import Tasks
from io_benchmark_taskgraph.worker_program import WorkerProgram


def _add_command(config: Any, tasks: Tasks) -> Tasks:
    read = functools.cache(WorkerProgram.read)
    # Most tasks have the same workloads.
    embedded = functools.cache(lambda *workloads: read().embedded("bench", workloads))
    for task in tasks:
        benchmark = task.pop("benchmark")
        with in_task(config, task):
            budget_s = time_budget_s(task["worker"]["max-run-time"])
            pool = task["attributes"][POOL_ATTRIBUTE]
            program = embedded(*benchmark.workloads)
            words = make_command(benchmark, program, pool, budget_s)
            check_size(words)
        task.setdefault("run", {})["command"] = words
        yield task


transforms = TransformSequence()
transforms.add(_add_command)
