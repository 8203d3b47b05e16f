# SPDX-License-Identifier: MPL-2.0
"""The project's parameters (taskcluster/docs/parameters.md), and the tasks that they select.

A decision task fills them, also from the line `try: …` of a commit message. The target method
`io-benchmark` selects the tasks that `io_benchmark_jobs` names, and those of the fleet in a cron
job without names; `rehearse -j` and `submit -j` use the same names. The method `io-benchmark-gate`
selects those of the gate without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Callable

import voluptuous
from taskgraph.parameters import extend_parameters_schema
from taskgraph.target_tasks import register_target_task
from taskgraph.util.vcs import get_repository

from io_benchmark_taskgraph.mistakes import (
    choice,
    logged,
    quoted,
    there_are,
    whole_number,
    yes_or_no,
)
from io_benchmark_taskgraph.stanza import MAX_REPLICATES, PERFHERDER_MODES
from io_benchmark_taskgraph.versions import PARAMETERS_SCHEMA, UserMistake

JOB = "io-benchmark"
ALL_JOB = "io-benchmark-all"
GATE_JOB = "io-benchmark-gate"
FLEET_JOB = "io-benchmark-fleet"
JOB_ATTRIBUTE = "job_try_name"
POOL_ATTRIBUTE = "io_benchmark_pool"
CAPACITIES_ATTRIBUTE = "io_benchmark_capacities"  # of a task that measures no series
JOBS = "io_benchmark_jobs"
REPLICATES = "io_benchmark_replicates"
PERFHERDER = "io_benchmark_perfherder"
CAPACITIES = "io_benchmark_capacities"
# Those that override kind.yml; Firefox's tree does not have them.
_OVERRIDING: dict[str, Callable[[Any], Any]] = {
    REPLICATES: whole_number(1, MAX_REPLICATES),
    PERFHERDER: choice(PERFHERDER_MODES),
    CAPACITIES: yes_or_no(),
}
# Events whose commit messages may choose tasks. An untrusted pull request may not; a trusted person
# can choose tasks by a comment.
_TRUSTED_TASKS_FOR = ("github-push", "github-pull-request")

# A line `try: …` with one of the options is a request; others are prose.
_REQUEST = re.compile(r"[ \t]*try:(?=[ \t])(?=.*[ \t](?:-j|--rebuild(?![\w-]))).*")
_OPTIONS = re.compile(
    r"-j ([^\s,-][^\s,]*(?:,[^\s,]+)*)(?: --rebuild ([0-9]{1,9}))?( --capacities)?"
)
_FORM = (
    "write try: -j NAME[,NAME] [--rebuild N] [--capacities] without spaces between the names, "
    f"N at most {MAX_REPLICATES}"
)


def _defaults(_repo_root: Any = None) -> dict[str, Any]:
    return {JOBS: [], REPLICATES: 0, PERFHERDER: "", CAPACITIES: False}


def register() -> None:
    extend_parameters_schema(PARAMETERS_SCHEMA, defaults_fn=_defaults)
    register_target_task(JOB)(_select_targets)
    register_target_task(GATE_JOB)(_select_gate)


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
        request = _requested(message)
    if request is not None:
        parameters[JOBS], parameters[REPLICATES], parameters[CAPACITIES] = request
        parameters["target_tasks_method"] = JOB


def _requested(message: str) -> tuple[list[str], int, bool] | None:
    """Return what a commit message requests; None where it has no line that does.

    The line is `try: -j NAME[,NAME] [--rebuild N] [--capacities]`. It requests names, a number of
    replicates, 0 where there is none, and whether to measure the capacities.
    """
    line = next(filter(_REQUEST.fullmatch, message.split("\n")), None)
    if line is None:
        return None
    match = _OPTIONS.fullmatch(" ".join(line.split()[1:]))
    if match is None or (match[2] and not 1 <= int(match[2]) <= MAX_REPLICATES):
        raise UserMistake(
            f"the commit message's line {quoted(line.strip())} is not understood; {_FORM}"
        )
    return match[1].split(","), int(match[2] or 0), bool(match[3])


def _names_of(task: Any) -> list[str]:
    """Return what a task is called: its jobs, its pool, its label.

    A pool's name means only its task of the kind `io-benchmark`. A replicate also has the label
    without its number, which is the task's label when there is one replicate.
    """
    # The report's task belongs to both kinds and has a list of jobs.
    jobs, pool = task.attributes.get(JOB_ATTRIBUTE) or [], task.attributes.get(POOL_ATTRIBUTE)
    names = list(jobs) if isinstance(jobs, list) else [jobs]
    names.append(task.label)
    if pool:
        if JOB in names:
            names.append(pool)
        replicate = re.fullmatch(f"(.+-{re.escape(pool)})-[0-9]+", task.label)
        if replicate:
            names.append(replicate[1])
    return names


def _select(tasks: Iterable[Any], names: Sequence[str]) -> list[str]:
    """Return the labels of the named tasks, in the order of `tasks`; refuse an unknown name."""
    names_by_label = {task.label: _names_of(task) for task in tasks}
    possible = {name for known in names_by_label.values() for name in known}
    # A gate has hundreds of replicates: the name without a number means all of a pool.
    replicates = set()
    for label in possible:
        numbered = re.fullmatch("(.+)-[0-9]+", label)
        if numbered and numbered[1] in possible:
            replicates.add(label)
    for name in names:
        if name not in possible:
            # Jobs and pools have shorter names than tasks.
            shown = sorted(possible - replicates, key=lambda word: (len(word), word))
            listing = there_are(shown, name)
            raise UserMistake(f"no task is called {quoted(name)}; {listing}")
    return [label for label, known in names_by_label.items() if not set(names).isdisjoint(known)]


def _select_targets(full_task_graph: Any, parameters: Any, _graph_config: Any) -> list[str]:
    with logged():
        tasks = full_task_graph.tasks.values()
        names = parameters.get(JOBS) or [JOB]
        # The weekly job also makes the table of all pools, in a project that has this kind.
        has_fleet = any(FLEET_JOB in _names_of(task) for task in tasks)
        if parameters.get("tasks_for") == "cron" and not parameters.get(JOBS) and has_fleet:
            names = [JOB, FLEET_JOB]
        labels = _select(tasks, names)
        attributes = (full_task_graph.tasks[label].attributes for label in labels)
        pools = dict.fromkeys(filter(None, (facts.get(POOL_ATTRIBUTE) for facts in attributes)))
        # In one series, two pools could not be distinguished.
        if override(parameters, PERFHERDER) == "neutral" and len(pools) > 1:
            raise UserMistake(
                f"the parameter {PERFHERDER}: neutral puts every pool into one series, and "
                f"{', '.join(pools)} are selected; name one pool, and the other in another push"
            )
    return labels


def _select_gate(full_task_graph: Any, _parameters: Any, _graph_config: Any) -> list[str]:
    with logged():
        return _select(full_task_graph.tasks.values(), [GATE_JOB])


def override(parameters: Any, name: str) -> Any:
    """Return the value of a parameter; None: what kind.yml says."""
    try:
        return _OVERRIDING[name](parameters[name]) if parameters.get(name) else None
    except voluptuous.Invalid as error:
        raise UserMistake(
            f"the parameter {name}: {error.msg}; leave it out for what kind.yml says"
        ) from None
