# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The target method `io-benchmark`: the tasks that the parameter `io_benchmark_jobs` names."""

import logging
from collections.abc import Iterable
from typing import Any

from taskgraph.target_tasks import register_target_task

from io_benchmark_taskgraph import overrides
from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.selection import JOB, POOL_ATTRIBUTE, select

logger = logging.getLogger(__name__)


def _select_targets(
    full_task_graph: Any, parameters: Any, _graph_config: Any
) -> list[str]:
    names = parameters.get("io_benchmark_jobs") or [JOB]
    try:
        labels = select(full_task_graph.tasks.values(), names)
        if overrides.perfherder(parameters) == overrides.NEUTRAL:
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
            f"the parameter {overrides.PERFHERDER}: neutral puts every pool into one series, and "
            f"{', '.join(pools)} are selected; name one pool, and the other in another push"
        )


def register() -> None:
    register_target_task(JOB)(_select_targets)
