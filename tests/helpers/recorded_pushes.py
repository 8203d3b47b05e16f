# SPDX-License-Identifier: MPL-2.0
"""The second recorded deployment: a push with actions and retriggers, and bad endings."""

import json
from typing import Any

from checkout import ROOT
from loopback_deployment import STATUS_KEYS, Deployment

WRITING = ROOT / "tests" / "fixtures" / "taskcluster" / "exchanges-writing.json"
PUSH = "ViLtm5c2R7-HWK7VightrA"  # the group, and its decision task
REPORT = "E_3GwbjUSY6kfQJMI71VSw"
ACTION_WITHOUT_CONTEXTS = "f7otdVdMSAyiSefKQ5rNxA"

# The task's retry was pending then.
LATER = "status of claim-expired, retry completed"


def written() -> dict[str, dict[str, Any]]:
    """The exchanges by their notes."""
    exchanges = json.loads(WRITING.read_text())["exchanges"]
    return {exchange["note"]: exchange for exchange in exchanges}


def recorded_pushes() -> Deployment:
    """As it was when these exchanges were recorded.

    Of claim-expired, while its retry was pending.
    """
    deployment = Deployment(worker_pools={"releng-1/b-linux"})
    exchanges = written()
    push = exchanges["all tasks of a push with a decision task, actions, retriggers and a rerun; "
                     "commands left out"]["response"]["body"]  # fmt: skip
    for member in sorted(push["tasks"], key=lambda member: member["task"]["created"]):
        deployment.add(member["task"], member["status"])
    notes = {note for note in exchanges if note.startswith("status of ")} - {LATER}
    for note in sorted(notes | {"cancel of a completed task"}):
        status = exchanges[note]["response"]["body"]["status"]
        if status["taskId"] not in deployment.statuses:
            _add(deployment, status)
    return deployment


def _add(deployment: Deployment, status: dict[str, Any]) -> None:
    """Add a task of which only the status was recorded."""
    label = "io-benchmark-amd-16"
    definition = {
        **{key: status[key] for key in STATUS_KEYS},
        "created": "2026-11-21T23:16:09.807Z",
        "metadata": {"name": label},
        "tags": {"kind": "io-benchmark", "label": label},
        "payload": {},
    }
    deployment.add(definition, status)
