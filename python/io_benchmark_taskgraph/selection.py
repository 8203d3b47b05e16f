# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which tasks a name means: one function for the commit message, `rehearse -j` and `submit -j`."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from io_benchmark_taskgraph.mistakes import UserMistake, suggestion

JOB = "io-benchmark"
JOB_ATTRIBUTE = "job_try_name"
POOL_ATTRIBUTE = "io_benchmark_pool"


def _names_of(task: Any) -> tuple[Any, ...]:
    """What a task answers to, the widest first: its job, its pool, its own label.

    A replicate answers to the label without its number, too, which is the task's when there is one.
    """
    pool = task.attributes.get(POOL_ATTRIBUTE)
    replicate = re.fullmatch(f"(.+-{re.escape(pool)})-[0-9]+", task.label) if pool else None
    return (
        task.attributes.get(JOB_ATTRIBUTE),
        pool,
        replicate[1] if replicate else None,
        task.label,
    )


def _known_names(tasks: Sequence[Any]) -> list[str]:
    """Every job first, then every pool, then every label."""
    columns = zip(*(_names_of(task) for task in tasks))
    return list(dict.fromkeys(name for column in columns for name in column if name))


def select(tasks: Iterable[Any], names: Sequence[str]) -> list[str]:
    """The labels of the tasks that the names mean, in the order of `tasks`.

    A task is anything with `label` and `attributes`. A name that means no task is a mistake.
    """
    candidates = list(tasks)
    for name in names:
        if not any(name in _names_of(task) for task in candidates):
            raise UserMistake(
                f"no task is called {name!r}; {suggestion(name, _known_names(candidates))}"
            )
    wanted = set(names)
    return [task.label for task in candidates if wanted.intersection(_names_of(task))]
