# SPDX-License-Identifier: MPL-2.0
"""submit --confirm: the missing runs of a group, on a deployment on the loopback."""

from collections.abc import Callable
from functools import partial

import pytest
import seed_case
import tried_workers
from loopback_deployment import AMD_16, AMD_30, GROUP, INTEL, Deployment, recorded
from submitted_tasks import complete, labels

POOLS = ["io-benchmark-amd-16", "io-benchmark-amd-30", "io-benchmark-intel"]
CONFIRM = "io-benchmark-intel-confirm"
IMAGE = ("--image", "localhost/image:latest")


@pytest.fixture
def deployment() -> Deployment:
    """Its workers take no time, and run trials."""
    return Deployment(on_create=partial(complete, with_trials=True))


@pytest.fixture
def group(call: Callable[..., tuple[int, str, str]], deployment: Deployment) -> str:
    """A submitted group: a result of each pool, with trials, amd-16 slower than intel."""
    code, _, stderr = call(*IMAGE)
    assert code == 0, stderr
    (made,) = deployment.groups
    return made


def test_confirmed(call, group, deployment, loopback):
    """The faster pool runs once more in the same group, at the slower one's ceiling; all compared.

    A second call creates nothing, says so, and compares.
    """
    code, stdout, stderr = call("--confirm", f"group:{group}")
    assert code == 0, stderr
    assert "Cause (confirmed by a trial): 1 disk against 2 disks" in stdout
    assert labels(deployment) == [*POOLS, CONFIRM]
    lines = stderr.splitlines()
    assert [*lines[:3], lines[6]] == [
        "To confirm: intel once more, its copies limited to 391 MiB/s, the ceiling of amd-16",
        f"1 task, about 10 minutes of worker time in all, at {loopback.url}, as me",
        "  intel: about 10 minutes of worker time (1 task of 10 minutes on releng-1/b-linux)",
        f"1 task created: {loopback.url}/tasks/groups/{group}",
    ]
    code, stdout, stderr = call("--confirm", group)
    assert (code, "1.92×" in stdout) == (0, True)
    assert stderr.splitlines()[0] == (
        f"Nothing to confirm in group:{group}: intel was limited to the ceiling of amd-16 already. "
        "amd-30 against intel is inconclusive: measure more workers first."
    )
    assert labels(deployment) == [*POOLS, CONFIRM]


def test_what_was_not_created(call, group, deployment):
    """The same command creates it, or waits for what another one has created."""
    deployment.refuse = lambda _made: (403, "InsufficientScopes", "no")
    code, _, stderr = call("--confirm", group)
    assert (code, f"; to go on: io-benchmark submit --confirm group:{group}\n" in stderr) == (
        1,
        True,
    )
    assert labels(deployment) == POOLS
    deployment.refuse = lambda _made: None
    deployment.on_create = lambda _deployment, _task_id: None
    assert call("--confirm", group, "--no-wait")[0] == 0
    assert labels(deployment) == [*POOLS, CONFIRM]
    code, stdout, stderr = call("--confirm", group, "--no-wait")
    assert (code, stdout) == (0, f"group:{group}\n")
    assert "no tasks created: " in stderr
    assert labels(deployment) == [*POOLS, CONFIRM]


def test_group_of_a_push(call, loopback):
    """The confirming task has the push's scheduler and no routes; a worker can mount its image."""
    deployment = loopback.deployment = recorded()
    for task_id, pool in ((AMD_16, "amd-16"), (INTEL, "intel")):
        (document,) = seed_case.documents(1, pools=[pool])
        document["task"] |= {"task_id": task_id, "run_id": 0}
        tried_workers.add_trials(document)
        deployment.leave(task_id, document)
    image = {"type": "task-image", "taskId": AMD_30, "path": "public/image.tar.zst"}
    deployment.definitions[INTEL]["payload"]["image"] = image
    deployment.definitions[INTEL]["dependencies"] = [AMD_30]
    code, _, stderr = call("--confirm", f"group:{GROUP}", "--no-wait", "--baseline", "intel")
    assert code == 0, stderr
    made = list(deployment.definitions.values())[-1]
    model = deployment.definitions[INTEL]
    assert made["schedulerId"] == model["schedulerId"] != "-"
    assert (made["routes"], made["dependencies"]) == ([], [AMD_30])
    assert made["payload"]["image"] == image
    assert f"io-benchmark submit --baseline intel --confirm group:{GROUP}\n" in stderr


def test_group_without_results(call, deployment):
    """Tasks that never ran leave nothing to confirm."""
    deployment.on_create = lambda _deployment, _task_id: None
    call(*IMAGE, "--no-wait")
    (made,) = deployment.groups
    code, _, stderr = call("--confirm", made)
    assert (code, f"error: group:{made}: has no results to confirm; wait" in stderr) == (1, True)


def test_the_causes_of_gates(call, group, deployment):
    """What each gate's own comparison lacks is created, and the answers follow."""
    deployment.refuse = lambda _made: (403, "InsufficientScopes", "no")
    gates = ("--gate", "amd-16/intel", "--gate", "amd-30/intel<1.2")
    _, _, stderr = call("--confirm", group, *gates)
    shown = "--gate 'amd-16/intel<1.1' --gate 'amd-30/intel<1.2'"
    assert f"; to go on: io-benchmark submit {shown} --confirm group:{group}\n" in stderr
    deployment.refuse = lambda _made: None
    code, stdout, stderr = call("--confirm", group, *gates)
    assert (code, "2 gates: " in stdout) == (3, True), stderr
    assert labels(deployment) == [*POOLS, CONFIRM]
