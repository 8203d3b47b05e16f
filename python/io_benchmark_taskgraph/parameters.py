# SPDX-License-Identifier: MPL-2.0
"""The project's parameters (taskcluster/docs/parameters.md).

Here are how a decision task fills them, and the target method `io-benchmark`: the tasks that
`io_benchmark_jobs` names.
"""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from taskgraph.parameters import extend_parameters_schema
from taskgraph.target_tasks import register_target_task
from taskgraph.util.schema import Schema
from taskgraph.util.vcs import get_repository

from io_benchmark_taskgraph import try_syntax
from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.overrides import NEUTRAL, PERFHERDER, REPLICATES, perfherder
from io_benchmark_taskgraph.selection import JOB, POOL_ATTRIBUTE, select

logger = logging.getLogger(__name__)

# Events whose commit messages may choose tasks. An untrusted pull request may not; a trusted person
# can choose tasks by a comment.
TRUSTED_TASKS_FOR = ("github-push", "github-pull-request")


# With defaults, because actions read the parameters of pushes that may lack the last two. Values are
# checked where they are used, with messages of one line.
# A class, because `Schema.from_dict` reads the source of every module that called it.
class _IoBenchmarkParameters(Schema, rename=None):  # type: ignore[call-arg, misc]
    io_benchmark_jobs: list[str]
    io_benchmark_replicates: int = 0
    io_benchmark_perfherder: str = ""


SCHEMA = _IoBenchmarkParameters


def register() -> None:
    def defaults(_repo_root: Any) -> dict[str, Any]:
        return {"io_benchmark_jobs": [], REPLICATES: 0, PERFHERDER: ""}

    extend_parameters_schema(SCHEMA, defaults_fn=defaults)
    register_target_task(JOB)(_select_targets)


def _commit_message(revision: str) -> str:
    try:
        message: str = get_repository(str(Path.cwd())).get_commit_message(revision)
    except UnicodeDecodeError:
        return ""
    return message


def decision_parameters(_graph_config: Any, parameters: dict[str, Any]) -> None:
    """Fill the parameters; taskgraph calls this in a decision task, before any task is made."""
    parameters.update({"io_benchmark_jobs": [], REPLICATES: 0, PERFHERDER: ""})
    if parameters["tasks_for"] not in TRUSTED_TASKS_FOR:
        return
    if parameters["target_tasks_method"] != "default":
        return  # another method was chosen, or DONTBUILD
    try:
        request = try_syntax.request(_commit_message(parameters["head_rev"]))
    except UserMistake as error:
        # taskgraph's command line expects that it is logged already.
        logger.error("%s", error)  # noqa: TRY400 - no traceback
        raise
    if request is not None:
        parameters["io_benchmark_jobs"] = list(request.jobs)
        parameters[REPLICATES] = request.replicates or 0
        parameters["target_tasks_method"] = JOB


def _select_targets(
    full_task_graph: Any, parameters: Any, _graph_config: Any
) -> list[str]:
    names = parameters.get("io_benchmark_jobs") or [JOB]
    try:
        labels = select(full_task_graph.tasks.values(), names)
        if perfherder(parameters) == NEUTRAL:
            _check_one_pool(full_task_graph.tasks[label] for label in labels)
    except UserMistake as error:
        # taskgraph's command line expects that it is logged already.
        logger.error("%s", error)  # noqa: TRY400 - no traceback
        raise
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
