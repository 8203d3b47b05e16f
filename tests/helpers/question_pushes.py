# SPDX-License-Identifier: MPL-2.0
"""What the pages about the questions of release engineers read: two pushes, and a build's profile.

`example` of `documentation.py` puts them on its deployment.
"""

import copy
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

import network_machines as network
import simulated_jobs as jobs
from loopback_deployment import PROFILE, Deployment
from simulated_machine import Machine
from simulated_results import Pool, measure
from situations import BASE
from submitted_tasks import add_measured

from io_benchmark.analysis.model.pool_machine import NetworkDisk

WORKERS = 4
NO_SSD_GROUP = "Nh3sSdA1Q0aQ5eFmB7kWzA"
SIZES_GROUP = "Ds5iZeB2R1aR6fGnC8lXzA"
BUILD_TASK = "Bd7cPuS3S2aS7gHpD9mYzA"
_WAITING = replace(BASE, copy_ns_per_mib=100e3, memory_gib=32)
# A build: it configures with one thread, compiles with 32 jobs, and links with one.
_BUILD = (
    jobs.Section(1, 20, 2.0),
    jobs.Section(32, 1600, 4.0, wait_s=0.05),
    jobs.Section(1, 10, 4.0),
)


def _on_disk(kind: str, size_gib: float, machine_type: str) -> Machine:
    disk = NetworkDisk(kind, size_gib)
    return network.on_network(_WAITING, network.GOOGLE, machine_type, disk)


def _pools() -> Mapping[str, Mapping[str, Machine]]:
    """Return the pools of each push, and their machines."""
    local = replace(_WAITING, disks=_WAITING.disks[:1], instance_type="c2-standard-16")
    return {
        NO_SSD_GROUP: {
            "t-linux": _on_disk("pd-balanced", 75, "c2-standard-16"),
            "t-linux-scratch": local,
        },
        SIZES_GROUP: {
            "t-linux-small": _on_disk("pd-balanced", 75, "n2-standard-8"),
            "t-linux-large": _on_disk("pd-balanced", 320, "n2-standard-8"),
        },
    }


@cache
def _documents(group_id: str) -> tuple[Mapping[str, Any], ...]:
    pools = [Pool(name, machine, WORKERS) for name, machine in _pools()[group_id].items()]
    sides = measure(pools, 1, retrieves=400)
    return tuple(run.document for runs in sides.values() for run in runs)


@cache
def _build() -> dict[str, Any]:
    profile = jobs.document_of(_BUILD, 16)
    profile["task"]["pool"] = "builders"
    profile["command"]["program"] = "make"
    return profile


def add(deployment: Deployment, pushed: datetime) -> None:
    for group_id in (NO_SSD_GROUP, SIZES_GROUP):
        for number, document in enumerate(map(copy.deepcopy, _documents(group_id))):
            worker = f"{group_id[:4].lower()}-{number}"
            add_measured(deployment, document, group_id, pushed, workerId=worker)
    folder = {"public/io-benchmark": {"type": "directory", "path": "/builds/worker/io-benchmark"}}
    queue, payload = "releng-1/builders", {"artifacts": folder}
    deployment.add_task(BUILD_TASK, BUILD_TASK, "build-linux", "build", queue, payload=payload)
    deployment.leave(BUILD_TASK, _build(), PROFILE)
