# SPDX-License-Identifier: MPL-2.0
"""Select tasks by name, for the commit message, `rehearse -j` and `submit -j`."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from io_benchmark_taskgraph.mistakes import UserMistake, shown, there_are

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
    if not pool:
        return jobs, (), (), (task.label,)
    replicate = re.fullmatch(f"(.+-{re.escape(pool)})-[0-9]+", task.label)
    pools = (pool,) if JOB in jobs else ()
    return jobs, pools, (replicate[1],) if replicate else (), (task.label,)


def _known_names(tasks: Sequence[Any]) -> list[str]:
    """Return all names: jobs first, then pools, then labels."""
    columns = zip(*(_names_of(task) for task in tasks))
    names = chain.from_iterable(chain.from_iterable(columns))
    return list(dict.fromkeys(names))


def select(tasks: Iterable[Any], names: Sequence[str]) -> list[str]:
    """Return the labels of the named tasks, in the order of `tasks`.

    A task is anything with `label` and `attributes`. A name without a task is a mistake.
    """
    tasks = list(tasks)
    known = _known_names(tasks)
    for name in names:
        if name not in known:
            text = f"no task is called {shown(name)}; {there_are(known)}"
            raise UserMistake(text)
    wanted = set(names)
    return [
        task.label
        for task in tasks
        if not wanted.isdisjoint(chain.from_iterable(_names_of(task)))
    ]
