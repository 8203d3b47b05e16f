# SPDX-License-Identifier: MPL-2.0
"""Check the `benchmark` stanza, and that the task has enough time for it.

From here on the stanza is a `Benchmark`.
"""

from dataclasses import replace
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import estimate
from io_benchmark_taskgraph.mistakes import in_task
from io_benchmark_taskgraph.stanza import PERFHERDER, Benchmark, override
from io_benchmark_taskgraph.transforms import Tasks


def _check_stanza(config: Any, tasks: Tasks) -> Tasks:
    perfherder = override(config.params, PERFHERDER)
    for task in tasks:
        with in_task(config, task):
            benchmark = Benchmark.parse(task.get("benchmark"))
            limit_s = task.get("worker", {}).get("max-run-time")
            budget_s = estimate.time_budget_s(limit_s)
            estimate.check_duration(benchmark, budget_s)
        if perfherder:
            benchmark = replace(benchmark, perfherder=perfherder)
        task["benchmark"] = benchmark
        yield task


transforms = TransformSequence()
transforms.add(_check_stanza)
