# SPDX-License-Identifier: MPL-2.0
"""The project's parameters (taskcluster/docs/parameters.md), and the tasks that they select by name.

A decision task fills them, also from the line `try: …` of a commit message. The target method `io-benchmark`
selects the tasks that `io_benchmark_jobs` names; `rehearse -j` and `submit -j` use the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Callable

import voluptuous
from taskgraph.parameters import extend_parameters_schema
from taskgraph.target_tasks import register_target_task
from taskgraph.util.schema import Schema
from taskgraph.util.vcs import get_repository

from io_benchmark_taskgraph.mistakes import (
    UserMistake,
    choice,
    logged,
    plain,
    quoted,
    there_are,
    whole_number,
)
from io_benchmark_taskgraph.stanza import MAX_REPLICATES, PERFHERDER_MODES

JOB = "io-benchmark"
ALL_JOB = "io-benchmark-all"
JOB_ATTRIBUTE = "job_try_name"
POOL_ATTRIBUTE = "io_benchmark_pool"
JOBS = "io_benchmark_jobs"
REPLICATES = "io_benchmark_replicates"
PERFHERDER = "io_benchmark_perfherder"
_NEUTRAL = "neutral"
# Those that override kind.yml; Firefox's tree does not have them.
_OVERRIDING: dict[str, Callable[[Any], Any]] = {
    REPLICATES: whole_number(1, MAX_REPLICATES),
    PERFHERDER: choice(PERFHERDER_MODES),
}
# Events whose commit messages may choose tasks. An untrusted pull request may not; a trusted person
# can choose tasks by a comment.
_TRUSTED_TASKS_FOR = ("github-push", "github-pull-request")

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


# With defaults, because actions read the parameters of pushes that may lack the last two. Values are
# checked where they are used, with messages of one line.
# A class, because `Schema.from_dict` reads the source of every module that called it.
class IoBenchmarkParameters(Schema, rename=None):  # type: ignore[call-arg, misc]
    io_benchmark_jobs: list[str]
    io_benchmark_replicates: int = 0
    io_benchmark_perfherder: str = ""


def _defaults(_repo_root: Any = None) -> dict[str, Any]:
    return {JOBS: [], REPLICATES: 0, PERFHERDER: ""}


def register() -> None:
    extend_parameters_schema(IoBenchmarkParameters, defaults_fn=_defaults)
    register_target_task(JOB)(_select_targets)


def decision_parameters(_graph_config: Any, parameters: dict[str, Any]) -> None:
    """Fill the parameters; taskgraph calls this in a decision task, before any task is made."""
    parameters.update(_defaults())
    if parameters["tasks_for"] not in _TRUSTED_TASKS_FOR:
        return
    if parameters["target_tasks_method"] != "default":
        return  # another method was chosen, or DONTBUILD
    repository = get_repository(str(Path.cwd()))
    try:
        message = repository.get_commit_message(parameters["head_rev"])
    except UnicodeDecodeError:
        return
    with logged():
        request = requested(message)
    if request is not None:
        parameters[JOBS], parameters[REPLICATES] = request
        parameters["target_tasks_method"] = JOB


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


def _select_targets(full_task_graph: Any, parameters: Any, _graph_config: Any) -> list[str]:
    with logged():
        labels = select(full_task_graph.tasks.values(), parameters.get(JOBS) or [JOB])
        if override(parameters, PERFHERDER) == _NEUTRAL:
            _check_one_pool(full_task_graph.tasks[label] for label in labels)
    return labels


def _check_one_pool(tasks: Iterable[Any]) -> None:
    """Refuse two pools in one series, where they cannot be distinguished."""
    attributes = (task.attributes.get(POOL_ATTRIBUTE) for task in tasks)
    pools = list(dict.fromkeys(pool for pool in attributes if pool))
    if len(pools) > 1:
        raise UserMistake(
            f"the parameter {PERFHERDER}: neutral puts every pool into one series, and "
            f"{', '.join(pools)} are selected; name one pool, and the other in another push"
        )


def override(parameters: Any, name: str) -> Any:
    """Return the value of a parameter; None: what kind.yml says."""
    try:
        return _OVERRIDING[name](parameters[name]) if parameters.get(name) else None
    except voluptuous.Invalid as error:
        raise UserMistake(
            f"the parameter {name}: {error.msg}; leave it out for what kind.yml says"
        ) from None
