# SPDX-License-Identifier: MPL-2.0
"""The program submit on a deployment on the loopback, and the tasks that it created."""

import program
from checkout import ROOT
from loopback import Loopback
from loopback_deployment import Deployment
from submitted_tasks import IDENTITY


def environment(loopback: Loopback) -> dict[str, str]:
    """Return the variables of somebody with credentials."""
    return {
        **IDENTITY,
        "TASKCLUSTER_ROOT_URL": loopback.url,
        "TASKCLUSTER_CLIENT_ID": "me",
        "TASKCLUSTER_ACCESS_TOKEN": "secret-token",
    }


def submit(loopback: Loopback, *arguments: str) -> tuple[int, str, str]:
    """Return the exit code, stdout and stderr."""
    done = program.run(
        "submit", *arguments, folder=ROOT, expected=None, environment=environment(loopback)
    )
    assert "secret-token" not in done.stderr + done.stdout
    return done.exit_code, done.stdout, done.stderr


def labels(deployment: Deployment) -> list[str]:
    """Of all tasks that there are, in the order of their creation."""
    return [task["metadata"]["name"] for task in deployment.definitions.values()]
