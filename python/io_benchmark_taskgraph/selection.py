# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which tasks a name means: one function for the commit message, `rehearse -j` and `submit -j`."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from io_benchmark_taskgraph.mistakes import UserMistake, shown, suggestion

JOB = "io-benchmark"
ALL_JOB = "io-benchmark-all"
JOB_ATTRIBUTE = "job_try_name"
POOL_ATTRIBUTE = "io_benchmark_pool"


def _jobs_of(task: Any) -> tuple[str, ...]:
    """The report's task comes with either kind, and has a list."""
    jobs = task.attributes.get(JOB_ATTRIBUTE)
    return tuple(jobs) if isinstance(jobs, list) else (jobs,) if jobs else ()


def _names_of(task: Any) -> tuple[tuple[str, ...], ...]:
    """What a task answers to, the widest first: its jobs, its pool, its own label.

    A pool's name is that of its task of the kind `io-benchmark` alone. A replicate answers to the
    label without its number, too, which is the task's when there is one.
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
    """Every job first, then every pool, then every label."""
    columns = zip(*(_names_of(task) for task in tasks))
    return list(
        dict.fromkeys(name for column in columns for names in column for name in names)
    )


def select(tasks: Iterable[Any], names: Sequence[str]) -> list[str]:
    """The labels of the tasks that the names mean, in the order of `tasks`.

    A task is anything with `label` and `attributes`. A name that means no task is a mistake.
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
