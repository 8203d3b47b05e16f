# SPDX-License-Identifier: MPL-2.0
"""A pool's past: a push a week, and amd-16 loses one of its two disks on the way.

Built of the seed's documents, so that everything but the disk and the times is alike.
Deterministic.
"""

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import seed_case
from loopback_deployment import Deployment, run, slug

from io_benchmark.sources.run_results import TaskRecord, queue_time

POOL = "amd-16"
FIRST = datetime(2026, 4, 27, 3, 0, tzinfo=UTC)  # a Monday
NAMESPACE = f"releng.v2.io-benchmark.date.io-benchmark.{POOL}"
BETWEEN = 0.03  # between the workers' means
# As amd-30, whose machine has two striped disks, but everything else amd-16's.
TWO_DISKS = replace(
    seed_case.AMD_16,
    disks=("nvme1n1", "nvme2n1"),
    disk_models=("nvme_card0", "nvme_card0"),
    **{name: getattr(seed_case.AMD_30, name) for name in ("average", "slow", "smallest")},
)


@dataclass(frozen=True)
class Push:
    """One week's task group."""

    at: int
    time: datetime
    group: str
    revision: str
    documents: tuple[dict[str, Any], ...]


def pushes(
    count: int = 30,
    *,
    change_at: int | None = 19,
    workers: int = 1,
    change: Mapping[int, seed_case.Change] | None = None,
    retrieves: int = seed_case.RETRIEVES,
) -> Iterator[Push]:
    """From `change_at` on amd-16 has one disk; `change` changes facts of a week's documents."""
    for at in range(count):
        dice = random.Random(f"push {at}")
        time = FIRST + timedelta(weeks=at)
        group = slug(dice)
        one_disk = change_at is not None and at >= change_at
        pool = seed_case.AMD_16 if one_disk else TWO_DISKS
        made = []
        for worker in range(workers):
            document = seed_case._document(pool, worker, 1000 * at + worker, BETWEEN)
            document["workloads"] = [
                seed_case.shortened(entry, retrieves) for entry in document["workloads"]
            ]
            # Enough for a mean.
            document["timeline"] = None
            document["started"] = queue_time(time + timedelta(minutes=9))
            document["ended"] = queue_time(time + timedelta(minutes=13))
            document["task"] |= {"task_id": slug(dice), "task_group_id": group}
            for path, value in ((change or {}).get(at, {}).get(POOL, {})).items():
                seed_case._replace(document, path, value)
            made.append(document)
        revision = hashlib.sha256(f"revision {at}".encode()).hexdigest()[:40]
        yield Push(at, time, group, revision, tuple(made))


def record(push: Push, document: Mapping[str, Any]) -> TaskRecord:
    """What the queue would say of the document's run; each week has other machines."""
    made = seed_case.record(document)
    return msgspec.structs.replace(made, task_group_id=push.group, revision=push.revision)


def write(folder: Path, made: Sequence[Push]) -> None:
    """As `fetch` lays results down."""
    for push in made:
        seed_case.store(folder, push.documents, partial(record, push))


def add(deployment: Deployment, made: Sequence[Push]) -> None:
    """Put them into a deployment: their groups, whose first tasks have routes of the index."""
    for push in made:
        for number, document in enumerate(push.documents):
            add_task(deployment, push, document, number, is_indexed=not number)


def add_task(
    deployment: Deployment,
    push: Push,
    document: Mapping[str, Any],
    number: int,
    *,
    pool: str = POOL,
    is_indexed: bool = False,
) -> str:
    """A task of the push, as the queue describes it."""
    label, project = f"io-benchmark-{pool}", "https://github.com/mozilla-releng/io-benchmark"
    source = f"{project}/blob/{push.revision}/taskcluster/kinds/io-benchmark"
    started = push.time + timedelta(minutes=9)
    ended = started + timedelta(minutes=4)
    times: dict[str, Any] = {"started": queue_time(started), "resolved": queue_time(ended)}
    task_id: str = document["task"]["task_id"]
    deployment.leave(task_id, document)
    return deployment.add_task(
        task_id,
        push.group,
        label,
        "io-benchmark",
        "gecko-t/b-linux-docker-amd",
        [run(workerId=f"{push.at}-{number}", **times)],
        metadata={"name": label, "source": source},
        payload={"image": "update-verify", "command": ["bash", "-cx", f"x --pool {pool} y"]},
        expires="2027-11-21T08:38:21.000Z",
        routes=[f"index.{NAMESPACE}.{push.time:%Y%m%d%H%M%S}"] if is_indexed else [],
    )
