# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Check that the task has enough time for its workloads."""

from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import estimate
from io_benchmark_taskgraph.mistakes import in_task, root_folder
from io_benchmark_taskgraph.transforms import Tasks


def _check_time_budget(config: Any, tasks: Tasks) -> Tasks:
    root = root_folder(config)
    for task in tasks:
        with in_task(config, task):
            limit_s = task.get("worker", {}).get("max-run-time")
            budget_s = estimate.time_budget_s(limit_s)
            estimate.check_duration(root, task["benchmark"], budget_s)
        yield task


transforms = TransformSequence()
transforms.add(_check_time_budget)
