# SPDX-License-Identifier: MPL-2.0
"""Check the pools' names: each task of this kind is named like its pool."""

import re
from collections import Counter
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, task_name
from io_benchmark_taskgraph.parameters import ALL_JOB, JOB_ATTRIBUTE, POOL_ATTRIBUTE
from io_benchmark_taskgraph.transforms import Tasks

# Perfherder takes the pool as an extra option of at most 45 characters.
_POOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,44}")


def _check_name(config: Any, task: dict[str, Any], name: str) -> None:
    if not _POOL.fullmatch(name):
        problem = "is not a pool's name; write at most 45 letters, digits and ._-, no mark first"
        raise BadKeyError("name", problem)
    job = task.get("attributes", {}).get(JOB_ATTRIBUTE)
    label = f"{config.kind}-{name}-"
    # Such a label would look like a task of the kind that measures everything.
    is_label_of_all = config.kind != ALL_JOB and label.startswith(f"{ALL_JOB}-")
    is_label = name.startswith(f"{config.kind}-") or is_label_of_all
    if is_label or name in (config.kind, job, ALL_JOB):
        problem = "is what -j calls the job or a task's label; give the pool another name"
        raise BadKeyError("name", problem)


def _check_names(config: Any, tasks: Tasks) -> Tasks:
    pools = list(tasks)
    counts = Counter(task_name(task) for task in pools)
    for task in pools:
        name = task_name(task)
        with in_task(config, task):
            _check_name(config, task, name)
            if counts[name] > 1:
                raise BadKeyError("name", "two pools have this name; rename or remove one")
        task.setdefault("attributes", {})[POOL_ATTRIBUTE] = name
        yield task


transforms = TransformSequence()
transforms.add(_check_names)
