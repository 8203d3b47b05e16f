# SPDX-License-Identifier: MPL-2.0
"""Pushes of a gate: a pool with a new image, and the pool with the old one."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from loopback_deployment import Deployment
from simulated_machine import Disk
from simulated_results import Pool, measure
from situations import BASE
from submitted_tasks import add_measured

NEW, OLD = "b-linux-docker-alpha", "b-linux-docker"
# The start script found no SSD, and went on without.
BOOT_DISK = replace(BASE, disks=(Disk(130, 130),), is_boot_disk=True)
WORKERS = 5
# By the group, the machines that are exceptions in the pool with the new image.
PUSHES: Mapping[str, Mapping[int, Any]] = {
    "Gt3pAssEQ0aQ5eFmB7kWzA": {},
    "Gt5fAiLeT1aR6fGnC8lXzA": {1: BOOT_DISK, 3: BOOT_DISK},
}


@cache
def _documents(group_id: str) -> Sequence[Mapping[str, Any]]:
    pools = (Pool(NEW, BASE, WORKERS, PUSHES[group_id]), Pool(OLD, BASE, WORKERS))
    sides = measure(pools, 1, retrieves=120)
    return [run.document for runs in sides.values() for run in runs]


def add(deployment: Deployment, pushed: datetime) -> None:
    """Add the results of all these pushes."""
    for group_id in PUSHES:
        for number, document in enumerate(map(copy.deepcopy, _documents(group_id))):
            document["config"]["environment"]["IO_BENCHMARK_REPLICATES"] = str(WORKERS)
            worker = f"{group_id[:4].lower()}-{number}"
            add_measured(deployment, document, group_id, pushed, workerId=worker)
