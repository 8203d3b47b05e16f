# SPDX-License-Identifier: MPL-2.0
"""The second recorded deployment: a push with actions and retriggers, and tasks that ended badly."""

import json
from collections.abc import Callable
from typing import Any

import loopback_runs
from checkout import ROOT
from loopback_auth import Client
from loopback_deployment import STATUS_KEYS, Deployment

WRITING = ROOT / "tests" / "fixtures" / "taskcluster" / "exchanges-writing.json"
PUSH = "ViLtm5c2R7-HWK7VightrA"  # the group, and its decision task
REPORT = "E_3GwbjUSY6kfQJMI71VSw"
CLAIM_EXPIRED = "G-rCKuviQcy83AE2WNAlPw"
COMPLETED = "J8BVMiJmRQGFuDxIzvJNhA"
OF_ANOTHER_LEVEL = "CueavNFqS-ygXyRjLcsHiQ"
ACTION_WITHOUT_CONTEXTS = "f7otdVdMSAyiSefKQ5rNxA"
ROOT_CLIENT = Client("static/taskcluster/root", "root's-token")
# Whose requests were refused for want of scopes.
JANE = Client(
    "engineer/jane",
    "jane's-token",
    ("queue:create-task:project:none", "queue:scheduler-id:-", "queue:create-task:low:releng-1/*"),
)

Step = Callable[[dict[str, Any]], None]


def _claimed(worker: str) -> Step:
    return lambda status: loopback_runs.claim(status, worker)


def _resolved(state: str, reason: str | None = None) -> Step:
    return lambda status: loopback_runs.resolve(status, state, reason)


def _interrupted(reason: str) -> Step:
    return lambda status: loopback_runs.interrupt(status, reason)


# What happened to each task, by the note of what its status then was.
STORIES: dict[str, tuple[Step, ...]] = {
    "status of canceled before it started": (loopback_runs.cancel,),
    "status of claim-expired, retry pending": (_claimed("vm-amd16"), _interrupted("claim-expired")),
    "status of claim-expired, retry completed": (
        _claimed("vm-amd16"),
        _interrupted("claim-expired"),
        _claimed("vm-amd16"),
        _resolved("completed"),
    ),
    "status of worker-shutdown, retry completed": (
        _claimed("vm-amd30"),
        _interrupted("worker-shutdown"),
        _claimed("vm-amd30"),
        _resolved("completed"),
    ),
    "status of deadline-exceeded, never claimed": (loopback_runs.pass_deadline,),
    "status of deadline-exceeded before it was scheduled": (loopback_runs.pass_deadline,),
    "status of internal-error, worker gone at start": (
        _claimed("vm-intel-3"),
        _resolved("exception", "internal-error"),
    ),
    "cancel of a completed task": (_claimed("vm-intel"), _resolved("completed")),
}


def written() -> dict[str, dict[str, Any]]:
    """The exchanges by their notes."""
    exchanges = json.loads(WRITING.read_text())["exchanges"]
    return {exchange["note"]: exchange for exchange in exchanges}


def recorded_pushes() -> Deployment:
    """As it was when these exchanges were recorded; of claim-expired, while its retry was pending."""
    deployment = Deployment(worker_pools={"releng-1/b-linux"})
    exchanges = written()
    push = exchanges["all tasks of a push with a decision task, actions, retriggers and a rerun; "
                     "commands left out"]["response"]["body"]  # fmt: skip
    deployment.group_expires[PUSH] = push["expires"]
    for member in push["tasks"]:
        deployment.add(member["task"], member["status"])
    for member in sorted(push["tasks"], key=lambda member: member["task"]["created"]):
        _index(deployment, member)
    # The retry completed later.
    for note in sorted(set(STORIES) - {"status of claim-expired, retry completed"}):
        status = exchanges[note]["response"]["body"]["status"]
        if status["taskId"] not in deployment.statuses:
            tell(deployment, note, status)
    pending = {**deployment.statuses[COMPLETED], "taskId": OF_ANOTHER_LEVEL}
    pending |= {"schedulerId": "releng-level-3", "taskGroupId": "VkCx-CMnSfGpfUqx3nMfbg"}
    _add(deployment, pending)
    loopback_runs.schedule(deployment.statuses[OF_ANOTHER_LEVEL])
    return deployment


def tell(deployment: Deployment, note: str, recorded: dict[str, Any]) -> None:
    """Takes a task from its creation through its story."""
    _add(deployment, recorded)
    status = deployment.statuses[recorded["taskId"]]
    if "before it was scheduled" not in note:
        loopback_runs.schedule(status)
    for step in STORIES[note]:
        step(status)


def _add(deployment: Deployment, recorded: dict[str, Any]) -> None:
    """A task of which only the status was recorded, just created."""
    identity = {key: recorded[key] for key in STATUS_KEYS}
    task_id = recorded["taskId"]
    label = "io-benchmark-amd-16"
    definition = {
        **identity,
        "created": "2026-11-21T23:16:09.807Z",
        "metadata": {"name": label},
        "tags": {"kind": "io-benchmark", "label": label},
        "payload": {},
    }
    fresh = {"retriesLeft": 5, "state": "unscheduled", "runs": []}
    deployment.add(definition, {"taskId": task_id, **identity, **fresh})


def _index(deployment: Deployment, member: dict[str, Any]) -> None:
    """The first task of each route: those of one rank do not replace each other at once."""
    for route in member["task"]["routes"]:
        if route.startswith("index.releng."):
            path = route.removeprefix("index.")
            deployment.index.setdefault(path, member["status"]["taskId"])
