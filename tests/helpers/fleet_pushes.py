# SPDX-License-Identifier: MPL-2.0
"""A project with many pools in a deployment: a push per week, in the index by date."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from loopback_deployment import Artifact, Deployment, result, run, slug

PROJECT = "releng.v2.io-benchmark"
BY_DATE = f"{PROJECT}.date.io-benchmark"
LATEST = f"{PROJECT}.latest.io-benchmark-fleet"
NEWEST = datetime(2026, 11, 16, 3, 0, tzinfo=UTC)  # a Monday
KEPT = "public/io-benchmark/fleet-readings.json"


def pools_named(count: int) -> list[str]:
    return [f"pool-{number:02}" for number in range(count)]


def add_pushes(
    deployment: Deployment,
    weeks: int,
    pools: Sequence[str] = ("amd-16", "intel"),
    *,
    workers: int = 1,
) -> list[str]:
    """Add a push per week until the newest; return their groups, the newest first."""
    dice = random.Random("pushes of a fleet")
    bodies = {pool: Artifact(result(pool, "", 0)) for pool in pools}
    groups = []
    for back in range(weeks):
        time = NEWEST - timedelta(weeks=back)
        groups.append(slug(dice))
        for pool in pools:
            for worker in range(workers):
                task_id = add_task(deployment, slug(dice), groups[-1], pool, time, worker)
                deployment.set_result(task_id, 0, bodies[pool])
    return groups


def add_task(
    deployment: Deployment, task_id: str, group: str, pool: str, time: datetime, worker: int = 0
) -> str:
    """Add a pool's task of a push; the first worker's is in the index."""
    label = f"io-benchmark-{pool}" + (f"-{worker + 1}" if worker else "")
    name = f"{time:%Y%m%d%H%M%S}"
    started = time + timedelta(minutes=9)
    return deployment.add_task(
        task_id,
        group,
        label,
        "io-benchmark",
        f"releng-3/{pool}",
        [run(workerId=f"{name}-{pool}-{worker}", started=_stamp(started))],
        created=_stamp(time),
        payload={"command": ["bash", "-cx", f"x --pool {pool} y"]},
        expires="2027-11-21T08:38:21.000Z",
        routes=[] if worker else [f"index.{BY_DATE}.{pool.replace('.', '~')}.{name}"],
    )


def keep(deployment: Deployment, content: bytes, **changes: Any) -> str:
    """Add a task of the fleet that kept this, as the newest."""
    task_id = slug(random.Random("the fleet's task"))
    deployment.add_task(
        task_id,
        slug(random.Random("the fleet's push")),
        "io-benchmark-fleet",
        changes.pop("kind", "io-benchmark-fleet"),
        "releng-3/b-linux",
        **changes,
    )
    deployment.index[LATEST] = task_id
    deployment.artifacts[task_id, 0, KEPT] = Artifact(content)
    return task_id


def _stamp(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%S}.000Z"
