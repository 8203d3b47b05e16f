# SPDX-License-Identifier: MPL-2.0
"""The readings that a task of the kind `io-benchmark-fleet` has published."""

import re

from msgspec import Struct

from io_benchmark.errors import MissingError, NoArtifactError, ResultError
from io_benchmark.sources.taskcluster.addresses import (
    POOLS_BY_DATE,
    IndexAddress,
    TaskAddress,
    TaskclusterAddress,
)
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.tasks import FLEET_KIND, KEPT_READINGS

_FLEET_ROUTE = re.compile(rf".+\.{FLEET_KIND}(\.[0-9]{{14}})?")


class PublishedReadings(Struct, frozen=True):
    """A file of kept readings, or why there is none."""

    content: bytes | ResultError  # a MissingError: there is no such task or file
    source: str  # an address, for people


def latest_fleet(pools: IndexAddress) -> IndexAddress:
    """Return the route of the newest task of the fleet, of the pools in this namespace."""
    route = pools.route.removesuffix(POOLS_BY_DATE)
    return IndexAddress(pools.root_url, f"{route}.latest.{FLEET_KIND}")


def may_be_fleet(address: TaskclusterAddress) -> bool:
    """Return whether an address can mean a task of the fleet."""
    if isinstance(address, IndexAddress):
        return bool(_FLEET_ROUTE.fullmatch(address.route))
    return isinstance(address, TaskAddress)


async def published_readings(
    deployment: Deployment, address: IndexAddress | TaskAddress, most_bytes: int
) -> PublishedReadings | None:
    """Return what the task at an address published; None where it is not a task of the fleet."""
    source = f"{address} of {address.root_url}"
    try:
        if isinstance(address, TaskAddress):
            task_id: str | None = address.task_id
        else:
            task_id = await deployment.find(address.route)
        task = None if task_id is None else (await deployment.tasks([task_id])).get(task_id)
        if task is None:
            return PublishedReadings(MissingError("there is no such task"), source)
        if task.kind != FLEET_KIND:
            return None
        source = TaskAddress(address.root_url, task.task_id).url
        if not task.status.runs:
            return PublishedReadings(MissingError("it was never started"), source)
        run = task.status.runs[-1]
        content = await deployment.result(task, run, most_bytes, KEPT_READINGS)
    except NoArtifactError as error:
        return PublishedReadings(MissingError(str(error)), source)
    except ResultError as error:
        return PublishedReadings(error, source)
    return PublishedReadings(content, source)
