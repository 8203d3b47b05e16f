# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Check the pools' names: each task of this kind is a pool, with the pool's name."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import yaml_files
from io_benchmark_taskgraph.mistakes import (
    BadKeyError,
    in_task,
    kind_file,
    shown_path,
    task_name,
)
from io_benchmark_taskgraph.selection import ALL_JOB, JOB_ATTRIBUTE, POOL_ATTRIBUTE

# Perfherder takes the pool as an extra option of at most 45 characters.
_POOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,44}")


def check_files(
    config: Any, tasks: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    for name in ["kind.yml", *config.config.get("tasks-from", [])]:
        path = Path(config.path) / name
        if path.is_file():  # a test's kind has none
            yaml_files.check(path, shown_path(config, path))
    yield from tasks


def _is_label_of_all(config: Any, name: str) -> bool:
    """Return whether the pool's label would be a task's of the job that measures everything."""
    label = f"{config.kind}-{name}-"
    return config.kind != ALL_JOB and label.startswith(f"{ALL_JOB}-")


def check_names(
    config: Any, tasks: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    pools = list(tasks)
    counts = Counter(task_name(task) for task in pools)
    for task in pools:
        name = task_name(task)
        if not _POOL.fullmatch(name):
            text = "is not a pool's name; write at most 45 letters, digits and ._-, no mark first"
            raise in_task(config, task, BadKeyError("name", text))
        job = task.get("attributes", {}).get(JOB_ATTRIBUTE)
        reserved = (config.kind, job, ALL_JOB)
        if (
            name in reserved
            or name.startswith(f"{config.kind}-")
            or _is_label_of_all(config, name)
        ):
            text = (
                "is what -j calls the job or a task's label; give the pool another name"
            )
            raise in_task(config, task, BadKeyError("name", text))
        if counts[name] > 1:
            files = sorted({
                kind_file(config, pool) for pool in pools if task_name(pool) == name
            })
            text = (
                f"two pools have this name ({', '.join(files)}); rename or remove one"
            )
            raise in_task(config, task, BadKeyError("name", text))
        task.setdefault("attributes", {})[POOL_ATTRIBUTE] = name
        yield task


transforms = TransformSequence()
transforms.add(check_files)
transforms.add(check_names)
