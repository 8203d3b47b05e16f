# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Put the worker's script and its arguments into the task's command."""

import functools
from collections.abc import Iterator
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import (
    estimate,
    script_modules,
    task_command,
    zip_application,
)
from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, root_folder
from io_benchmark_taskgraph.selection import POOL_ATTRIBUTE


def add_command(
    config: Any, tasks: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    root = root_folder(config)

    @functools.cache  # most of a kind's tasks run the same one
    def built(
        folder: str, workloads: tuple[str, ...]
    ) -> zip_application.ZipApplication:
        return zip_application.make_application(
            script_modules.needed_modules(root, folder, workloads)
        )

    for task in tasks:
        benchmark = task.pop("benchmark")
        try:
            words = task_command.make_command(
                benchmark,
                built(benchmark.script, benchmark.workloads),
                pool=task["attributes"][POOL_ATTRIBUTE],
                time_budget_s=estimate.time_budget_s(task["worker"]["max-run-time"]),
            )
            task_command.check_sizes(words, benchmark.script)
        except BadKeyError as problem:
            raise in_task(config, task, problem) from None
        task.setdefault("run", {})["command"] = words
        yield task


transforms = TransformSequence()
transforms.add(add_command)
