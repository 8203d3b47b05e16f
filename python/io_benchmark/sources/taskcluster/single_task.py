# SPDX-License-Identifier: MPL-2.0
"""Read what the queue knows about one task."""

from typing import Any

from io_benchmark.errors import MissingError, ResultError
from io_benchmark.sources.protocol import Environment
from io_benchmark.sources.requests import run_coroutine
from io_benchmark.sources.taskcluster.addresses import TaskAddress
from io_benchmark.sources.taskcluster.listing import connect
from io_benchmark.sources.taskcluster.tasks import QueueTask


def read_task(address: TaskAddress, environment: Environment) -> tuple[QueueTask, Any]:
    """Return the task, and the image of its payload as its definition has it."""

    async def read() -> tuple[QueueTask, Any]:
        async with connect({0: address}, environment) as deployments:
            deployment = deployments[address.root_url]
            try:
                task = (await deployment.tasks([address.task_id]))[address.task_id]
                payload = (await deployment.definition(address.task_id)).get("payload")
            except (KeyError, MissingError):
                raise ResultError(
                    f"{address}: {address.root_url} has no such task; it may have expired, or belong to "
                    "another deployment"
                ) from None
        return task, payload.get("image") if isinstance(payload, dict) else None

    return run_coroutine(read())
