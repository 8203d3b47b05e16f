# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Check that the task has enough time for its workloads."""

from collections.abc import Iterator
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import estimate
from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, root_folder


def check_time_budget(
    config: Any, tasks: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    root = root_folder(config)
    for task in tasks:
        try:
            budget_s = estimate.time_budget_s(
                task.get("worker", {}).get("max-run-time")
            )
            estimate.check_duration(root, task["benchmark"], budget_s)
        except BadKeyError as problem:
            raise in_task(config, task, problem) from None
        yield task


transforms = TransformSequence()
transforms.add(check_time_budget)
