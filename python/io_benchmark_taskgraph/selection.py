# SPDX-License-Identifier: MPL-2.0
"""Select tasks by name: the names in a commit message, and the tasks that names mean.

`rehearse -j` and `submit -j` use the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from io_benchmark_taskgraph.mistakes import UserMistake, plain, quoted, there_are
from io_benchmark_taskgraph.stanza import MAX_REPLICATES

JOB = "io-benchmark"
ALL_JOB = "io-benchmark-all"
JOB_ATTRIBUTE = "job_try_name"
POOL_ATTRIBUTE = "io_benchmark_pool"

_MARK = "try:"
_BLANK = " \t"
_OPTION = re.compile(r"-j|--rebuild(?![\w-])")
_JOBS = r"-j[ \t=]*(?P<jobs>[^\s,=-][^\s,]*(?:,[^\s,]+)*)"
_REBUILD = r"--rebuild(?:[ \t]+|=)(?P<rebuild>[^\s-]\S*|-\d\S*)"
_REQUESTS = tuple(
    re.compile(pattern)
    for pattern in (_JOBS, rf"{_JOBS}[ \t]+{_REBUILD}", rf"{_REBUILD}[ \t]+{_JOBS}")
)
_FORM = "write try: -j NAME[,NAME] [--rebuild N] without spaces between the names"


def _is_request(line: str) -> bool:
    """Return whether it is a line `try: …` with one of the options as a word; others are prose."""
    mark, rest = line[: len(_MARK)], line[len(_MARK) :]
    if mark != _MARK or not rest.startswith(tuple(_BLANK)):
        return False
    return any(_OPTION.match(word) for word in re.split(f"[{_BLANK}]", rest))


def requested(message: str) -> tuple[list[str], int] | None:
    """Return what the line `try: -j NAME[,NAME] [--rebuild N]` of a commit message requests.

    These are names and a number of replicates, 0 where there is none; None without such a line.
    """
    lines = (line.lstrip(_BLANK).rstrip() for line in message.split("\n"))
    line = next(filter(_is_request, lines), None)
    if line is None:
        return None
    place = f"the commit message's line {quoted(line)}"
    options = line[len(_MARK) :].strip()
    match = next(filter(None, (pattern.fullmatch(options) for pattern in _REQUESTS)), None)
    if match is None:
        raise UserMistake(f"{place} is not understood; {_FORM}")
    jobs, count = match["jobs"].split(","), match.groupdict().get("rebuild")
    if count is None:
        return jobs, 0
    if re.fullmatch("[0-9]{1,9}", count) and 1 <= int(count) <= MAX_REPLICATES:
        return jobs, int(count)
    raise UserMistake(
        f"{place}: --rebuild {plain(count)} is not a whole number from 1 to {MAX_REPLICATES}; {_FORM}"
    )


def _names_of(task: Any) -> tuple[Sequence[str], ...]:
    """Return the names of a task, the widest first: its jobs, its pool, its label.

    A pool's name means only its task of the kind `io-benchmark`. A replicate also has the label
    without its number, which is the task's label when there is one replicate.
    """
    # The report's task belongs to both kinds and has a list of jobs.
    jobs, pool = task.attributes.get(JOB_ATTRIBUTE) or [], task.attributes.get(POOL_ATTRIBUTE)
    jobs = jobs if isinstance(jobs, list) else [jobs]
    if not pool:
        return jobs, (), (), (task.label,)
    replicate = re.fullmatch(f"(.+-{re.escape(pool)})-[0-9]+", task.label)
    pools = (pool,) if JOB in jobs else ()
    return jobs, pools, (replicate[1],) if replicate else (), (task.label,)


def select(tasks: Iterable[Any], names: Sequence[str]) -> list[str]:
    """Return the labels of the named tasks, in the order of `tasks`.

    A task is anything with `label` and `attributes`. A name without a task is a mistake.
    """
    names_by_label = {task.label: _names_of(task) for task in tasks}
    # Jobs first, then pools, then labels.
    columns = zip(*names_by_label.values())
    possible = dict.fromkeys(chain.from_iterable(chain.from_iterable(columns)))
    for name in names:
        if name not in possible:
            raise UserMistake(f"no task is called {quoted(name)}; {there_are(possible)}")
    return [
        label
        for label, columns_of_task in names_by_label.items()
        if not set(names).isdisjoint(chain.from_iterable(columns_of_task))
    ]
