# SPDX-License-Identifier: MPL-2.0
"""The project's parameters (taskcluster/docs/parameters.md).

Here are how a decision task fills them, and the target method `io-benchmark`: the tasks that
`io_benchmark_jobs` names.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from taskgraph.parameters import extend_parameters_schema
from taskgraph.target_tasks import register_target_task
from taskgraph.util.schema import Schema
from taskgraph.util.vcs import get_repository

from io_benchmark_taskgraph.mistakes import UserMistake, logged
from io_benchmark_taskgraph.selection import JOB, POOL_ATTRIBUTE, requested, select
from io_benchmark_taskgraph.stanza import PERFHERDER, REPLICATES, override

JOBS = "io_benchmark_jobs"
NEUTRAL = "neutral"
# Events whose commit messages may choose tasks. An untrusted pull request may not; a trusted person
# can choose tasks by a comment.
TRUSTED_TASKS_FOR = ("github-push", "github-pull-request")


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
    if parameters["tasks_for"] not in TRUSTED_TASKS_FOR:
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


def _select_targets(full_task_graph: Any, parameters: Any, _graph_config: Any) -> list[str]:
    with logged():
        labels = select(full_task_graph.tasks.values(), parameters.get(JOBS) or [JOB])
        if override(parameters, PERFHERDER) == NEUTRAL:
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
