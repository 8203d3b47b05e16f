# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Select tasks by name, for the commit message, `rehearse -j` and `submit -j`."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from io_benchmark_taskgraph.mistakes import UserMistake, shown, suggestion

JOB = "io-benchmark"
ALL_JOB = "io-benchmark-all"
JOB_ATTRIBUTE = "job_try_name"
POOL_ATTRIBUTE = "io_benchmark_pool"


def _jobs_of(task: Any) -> tuple[str, ...]:
    """Return the task's jobs; the report's task belongs to both kinds and has a list."""
    jobs = task.attributes.get(JOB_ATTRIBUTE)
    return tuple(jobs) if isinstance(jobs, list) else (jobs,) if jobs else ()


def _names_of(task: Any) -> tuple[tuple[str, ...], ...]:
    """Return the names of a task, the widest first: its jobs, its pool, its label.

    A pool's name means only its task of the kind `io-benchmark`. A replicate also has the label
    without its number, which is the task's label when there is one replicate.
    """
    jobs, pool = _jobs_of(task), task.attributes.get(POOL_ATTRIBUTE)
    replicate = (
        re.fullmatch(f"(.+-{re.escape(pool)})-[0-9]+", task.label) if pool else None
    )
    return (
        jobs,
        (pool,) if pool and JOB in jobs else (),
        (replicate[1],) if replicate else (),
        (task.label,),
    )


def _all_names_of(task: Any) -> set[str]:
    return {name for names in _names_of(task) for name in names}


def _known_names(tasks: Sequence[Any]) -> list[str]:
    """Return all names: jobs first, then pools, then labels."""
    columns = zip(*(_names_of(task) for task in tasks))
    return list(
        dict.fromkeys(name for column in columns for names in column for name in names)
    )


def select(tasks: Iterable[Any], names: Sequence[str]) -> list[str]:
    """Return the labels of the named tasks, in the order of `tasks`.

    A task is anything with `label` and `attributes`. A name without a task is a mistake.
    """
    candidates = [(task, _all_names_of(task)) for task in tasks]
    known = {name for _, all_names in candidates for name in all_names}
    for name in names:
        if name not in known:
            words = _known_names([task for task, _ in candidates])
            raise UserMistake(
                f"no task is called {shown(name)}; {suggestion(name, words)}"
            )
    wanted = set(names)
    return [task.label for task, all_names in candidates if wanted & all_names]
