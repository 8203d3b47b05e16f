# SPDX-License-Identifier: MPL-2.0
"""submit, stopped while it creates the tasks, and resumed."""

import pytest
import submitted_tasks
from killed_submit import Killer, labels, named_group
from loopback_deployment import Deployment

IMAGE = ["--image", "localhost/image:latest"]
ALL = ["io-benchmark-amd-16", "io-benchmark-amd-30", "io-benchmark-intel"]


@pytest.fixture
def deployment():
    return Deployment(on_create=submitted_tasks.complete)


def stopped(call, loopback, number, *arguments, answered=True):
    """A submission that was killed at its n-th task: its group, and how to resume it."""
    killer = loopback.faults = Killer(number, answered=answered)
    code, stdout, stderr = call(*IMAGE, *arguments, killer=killer)
    assert (code, stdout) == (-9, "")
    return named_group(stderr)


@pytest.mark.parametrize("answered", [False, True], ids=["not created", "created"])
def test_killed_while_creating(call, loopback, deployment, answered):
    """The printed command creates what is missing, once, from what the first task says."""
    options = ["--replicates", "2", "--quick", "--pool", "intel=proj/some", "--priority", "high"]
    group, resume = stopped(call, loopback, 2, *options, answered=answered)
    before = dict(deployment.definitions)
    assert len(before) == 2 + answered
    code, stdout, stderr = call(*resume)
    assert (code, "1.92×" in stdout) == (0, True), stderr
    assert f"group:{group}: {len(before)} of 6 tasks exist\n" in stderr
    assert f"{6 - len(before)} tasks, at most " in stderr
    assert labels(deployment) == [f"{label}-{number}" for number in (1, 2) for label in ALL]
    assert {task: deployment.definitions[task] for task in before} == before
    made = list(deployment.definitions.values())
    assert {task["taskGroupId"] for task in made} == {group}
    assert {task["metadata"]["owner"] for task in made} == {"jane@example.com"}
    assert {task["priority"] for task in made} == {"high"}
    assert {task["payload"]["env"]["IO_BENCHMARK_PROFILE"] for task in made} == {"quick"}
    assert made[2]["workerType"] == made[5]["workerType"] == "some"


def test_another_kind(call, loopback, deployment):
    """Nobody can know what was submitted: nothing is created."""
    group, resume = stopped(call, loopback, 0)
    record = deployment.definitions[group]["extra"]["io-benchmark-submission"]
    record["sha256"] = "0" * 64
    code, stdout, stderr = call(*resume)
    assert (code, stdout, labels(deployment)) == (1, "", ALL[:1])
    assert stderr.splitlines()[-1] == (
        f"error: group:{group}: the kind here makes different tasks from those of the group; "
        "resume it from the same version of the checkout and of io-benchmark, or compare the "
        f"existing tasks with: io-benchmark compare group:{group}"
    )


def test_a_refused_task(call, deployment):
    """After the scopes are granted, the rest is created in the same group.

    The baseline may be a pool whose tasks exist.
    """
    deployment.refuse = lambda made: (
        (403, "InsufficientScopes", "no") if made["workerType"] == "b-linux" else None
    )
    assert call(*IMAGE)[0] == 1
    (group,) = deployment.groups
    deployment.refuse = lambda _made: None
    code, stdout, stderr = call("--resume", group, "--baseline", "amd-16")
    assert (code, labels(deployment)) == (0, ALL), stderr
    assert "amd-30, intel against amd-16" in stdout
