# SPDX-License-Identifier: MPL-2.0
"""Generated tasks in miniature, and a Taskcluster whose workers answer with the seed's figures."""

import re
from collections.abc import Mapping
from datetime import datetime
from string import ascii_uppercase
from typing import Any

import seed_case
import tried_workers
from loopback import ME, Loopback
from loopback_deployment import Deployment
from msgspec.structs import replace

from io_benchmark.graph.generate import GeneratedTask
from io_benchmark.submit.task_creation import dated

# Of the person who submits, before any configuration of git that this machine has.
OWNER = "jane@example.com"
IDENTITY = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "user.email",
    "GIT_CONFIG_VALUE_0": OWNER,
}


def submitter(loopback: Loopback) -> dict[str, str]:
    """Return the variables of somebody with credentials."""
    return {**IDENTITY, "TASKCLUSTER_ROOT_URL": loopback.url, **ME.environment}


def labels(deployment: Deployment) -> list[str]:
    """Of all tasks that there are, in the order of their creation."""
    return [task["metadata"]["name"] for task in deployment.definitions.values()]


def generated(pool: str, number: int | None = None, **changes: Any) -> GeneratedTask:
    """A task as the kind makes it; `number` where the kind has replicates."""
    end = "" if number is None else f"-{number}"
    label = f"io-benchmark-{pool}{end}"
    definition: dict[str, Any] = {
        "provisionerId": "releng-1",
        "workerType": f"type-{pool}",
        "routes": ["tc-treeherder.v2.io-benchmark.abc.0", "checks"],
        "created": {"relative-datestamp": "0 seconds"},
        "deadline": {"relative-datestamp": "1 day"},
        "expires": {"relative-datestamp": "28 days"},
        "scopes": [],
        "dependencies": ["<docker-image>"],
        "requires": "all-completed",
        "metadata": {
            "name": label,
            "description": "measures ([Treeherder push](https://host/#/jobs?repo=x&revision=0))",
            "owner": "nobody@mozilla.com",
            "source": f"https://host/blob/{'0' * 40}/taskcluster/kinds/io-benchmark",
        },
        "extra": {"treeherder": {"symbol": f"{pool.replace('-', '')}{end}"}, "parent": ""},
        "tags": {"kind": "io-benchmark", "label": label},
        "priority": "low",
        "payload": {
            "image": {
                "type": "task-image",
                "path": "public/image.tar.zst",
                "taskId": {"task-reference": "<docker-image>"},
            },
            "command": ["bash", "-cx", f"x --pool {pool} --time-budget 3300 \\\n --profile full"],
            "maxRunTime": 3600,
            "artifacts": {"public/a": {"expires": {"relative-datestamp": "14 days"}}},
        },
        **changes,
    }
    return GeneratedTask(label, pool, "io-benchmark", definition, "update-verify")


def of_all(pool: str) -> GeneratedTask:
    """The pool's task of the kind that measures everything, for a longer time."""
    task = generated(pool)
    payload = {"command": [f"x --pool {pool} --time-budget 5100 y"], "maxRunTime": 5400}
    definition = {**task.definition, "payload": {**task.definition["payload"], **payload}}
    return replace(
        task, label=f"io-benchmark-all-{pool}", kind="io-benchmark-all", definition=definition
    )


def pool_of(definition: dict[str, Any]) -> str:
    """By the label, without a replicate's number; a pool that no kind has is in no seed."""
    label: str = definition["tags"]["label"].removeprefix("io-benchmark-")
    seeds = (pool for pool in seed_case.POOLS if label.startswith(pool))
    return next(seeds, re.sub("(-confirm)?(-[0-9]+)?$", "", label))


def recorded_environment(definition: dict[str, Any]) -> dict[str, str]:
    """Return the variables of a task that its result records."""
    variables = definition["payload"].get("env", {})
    return {name: value for name, value in variables.items() if name.startswith("IO_BENCHMARK_")}


def complete(deployment: Deployment, task_id: str, *, with_trials: bool = False) -> None:
    """A worker runs the task at once, with the seed's figures for its pool."""
    pool = pool_of(deployment.definitions[task_id])
    (document,) = seed_case.documents(1, pools=[pool])
    document["config"]["environment"] = recorded_environment(deployment.definitions[task_id])
    if with_trials:
        pace = deployment.definitions[task_id]["payload"]["env"].get("IO_BENCHMARK_PACE")
        tried_workers.add_trials(document, None if pace is None else int(pace))
    deployment.complete(task_id, document)


def add_measured(
    deployment: Deployment,
    document: Mapping[str, Any],
    group_id: str,
    pushed: datetime,
    *,
    task_id: str = "",
    worker_type: str = "",
    **changes: Any,
) -> None:
    """Add a generated task that left this result; without an id, one by its pool and number."""
    task = generated(document["task"]["pool"])
    start = f"{task.pool.replace('-', ''):A<7.7}"
    earlier = sum(each.startswith(start) for each in deployment.groups.get(group_id, ()))
    task_id = task_id or f"{start}{ascii_uppercase[earlier]}{group_id[8:]}"
    definition = {**dated(dict(task.definition), pushed), "dependencies": []}
    queue = f"releng-1/{worker_type or definition['workerType']}"
    deployment.add_task(task_id, group_id, task.label, task.kind, queue, **definition)
    document["task"]["task_group_id"] = group_id
    deployment.complete(task_id, document, **changes)
