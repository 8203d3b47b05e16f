# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The target method `io-benchmark`: the tasks that the parameter `io_benchmark_jobs` names."""

import logging
from typing import Any

from taskgraph.target_tasks import register_target_task

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.selection import JOB, select

logger = logging.getLogger(__name__)


def target_tasks(full_task_graph: Any, parameters: Any, _graph_config: Any) -> list[str]:
    names = parameters.get("io_benchmark_jobs") or [JOB]
    try:
        return select(full_task_graph.tasks.values(), names)
    except UserMistake as error:
        # taskgraph's command line takes it as logged already.
        logger.error("%s", error)  # noqa: TRY400 - no traceback
        raise


def register() -> None:
    register_target_task(JOB)(target_tasks)
