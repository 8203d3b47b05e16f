# SPDX-License-Identifier: MPL-2.0
"""submit --confirm: the missing runs of a group, on a deployment on the loopback."""

import json
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import program
import pytest
import seed_case
import submitted_tasks
import tried_workers
from checkout import ROOT
from killed_submit import Killer, labels, submit
from loopback import Client, Loopback
from loopback_deployment import AMD_16, AMD_30, GROUP, INTEL, Artifact, Deployment, recorded

PACE = 391 * 1024**2
POOLS = ["io-benchmark-amd-16", "io-benchmark-amd-30", "io-benchmark-intel"]
CONFIRM = "io-benchmark-intel-confirm"
IMAGE = ("--image", "localhost/image:latest")
SCOPES = [
    "queue:create-task:low:releng-1/b-linux",
    "queue:create-task:project:none",
    "queue:scheduler-id:-",
]
complete = partial(submitted_tasks.complete, with_trials=True)


@pytest.fixture
def deployment() -> Deployment:
    """Its workers take no time, and run trials."""
    return Deployment(on_create=complete)


@pytest.fixture
def group(call: Callable[..., tuple[int, str, str]], deployment: Deployment) -> str:
    """A submitted group: a result of each pool, with trials, amd-16 slower than intel."""
    code, _, stderr = call(*IMAGE)
    assert code == 0, stderr
    (made,) = deployment.groups
    return made


def confirming(deployment: Deployment) -> list[dict[str, Any]]:
    return [one for one in deployment.definitions.values() if "confirm" in one["metadata"]["name"]]


def test_confirmed(call, group, deployment, loopback):
    """The faster pool runs once more in the same group, at the slower one's ceiling; all compared."""
    code, stdout, stderr = call("--confirm", f"group:{group}")
    assert code == 0, stderr
    assert "Cause (confirmed by a trial): 1 disk against 2 disks" in stdout
    assert labels(deployment) == [*POOLS, CONFIRM]
    assert stderr.splitlines() == [
        "To confirm: intel once more, its copies limited to 391 MiB/s, the ceiling of amd-16",
        f"1 task, about 3 minutes of worker time in all, at {loopback.url}, as me",
        "  intel: about 3 minutes of worker time (1 task of 3 minutes on releng-1/b-linux)",
        f"Scopes needed: {', '.join(SCOPES)}",
        "Scopes the tasks get: none",
        (
            f"Confirming in group:{group}; if this stops, go on with: "
            f"io-benchmark submit --confirm {group}"
        ),
        f"1 task created: {loopback.url}/tasks/groups/{group}",
        "Waiting; Ctrl-C stops waiting and asks whether to cancel the tasks",
        "[1/1] 1 completed after 0 min",
        f"Compare again with: io-benchmark compare group:{group}",
    ]


def test_definition(call, group, deployment):
    """The pool's own task with two variables, another name, and the same lengths of time."""
    call("--confirm", group)
    (model,) = (
        one for one in deployment.definitions.values() if one["metadata"]["name"] == POOLS[2]
    )
    (made,) = confirming(deployment)
    assert made["payload"]["command"] == model["payload"]["command"]
    assert made["payload"]["env"] == {
        **model["payload"]["env"],
        "IO_BENCHMARK_TRIALS": "always",
        "IO_BENCHMARK_PACE": str(PACE),
    }
    assert (made["extra"]["treeherder"]["symbol"], made["tags"]["label"]) == (
        "intel-confirm",
        CONFIRM,
    )
    assert (made["taskGroupId"], made["schedulerId"], made["routes"]) == (group, "-", [])
    assert "io-benchmark-submission" not in made["extra"]
    for ends in ("deadline", "expires"):
        lengths = {
            (datetime.fromisoformat(one[ends]) - datetime.fromisoformat(one["created"])).seconds
            for one in (made, model)
        }
        assert len(lengths) == 1


def test_already_confirmed(call, group, deployment):
    """A second call creates nothing, says so, and compares."""
    call("--confirm", group)
    code, stdout, stderr = call("--confirm", group)
    assert (code, "1.92×" in stdout) == (0, True)
    assert stderr.splitlines()[0] == (
        f"Nothing to confirm in group:{group}: intel was limited to the ceiling of amd-16 already. "
        "amd-30 against intel is inconclusive: measure more workers first."
    )
    assert len(confirming(deployment)) == 1


@pytest.mark.parametrize("answered", [False, True], ids=["not-created", "created"])
def test_killed(call, group, deployment, loopback, answered):
    """The same command completes what was stopped; the task is there once."""
    killer = loopback.faults = Killer(0, answered=answered)
    code, _, _ = call("--confirm", group, killer=killer)
    assert (code, len(confirming(deployment))) == (-9, int(answered))
    code, stdout, stderr = call("--confirm", group)
    assert (code, "1.92×" in stdout) == (0, True), stderr
    assert labels(deployment) == [*POOLS, CONFIRM]


def test_underway(call, group, deployment):
    """A confirming task that still runs is waited for, and not created again."""
    deployment.on_create = lambda _deployment, _task_id: None
    assert call("--confirm", group, "--no-wait")[:2] == (0, f"group:{group}\n")
    (waiting,) = (
        one for one, status in deployment.statuses.items() if not status["runs"][-1].get("resolved")
    )
    code, _, stderr = call("--confirm", group, "--timeout", "0.002")
    assert code == 1
    assert "To confirm" not in stderr
    assert "no tasks created: " in stderr
    assert "1 pending" in stderr
    complete(deployment, waiting)
    assert call("--confirm", group)[0] == 0
    assert len(confirming(deployment)) == 1


def test_once_more_after_a_failure(call, group, deployment):
    """A confirming task that left no result is followed by a second one."""

    def fail(made: Deployment, task_id: str) -> None:
        made.change_runs(task_id, "failed")

    deployment.on_create = fail
    call("--confirm", group)
    deployment.on_create = complete
    code, _, stderr = call("--confirm", group)
    assert code == 1  # the failed one is missing in the comparison
    assert "1 task created" in stderr
    assert labels(deployment)[3:] == [CONFIRM, f"{CONFIRM}-2"]
    assert [one["extra"]["treeherder"]["symbol"] for one in confirming(deployment)] == [
        "intel-confirm",
        "intel-confirm-2",
    ]


def test_dry_run(call, group, deployment):
    """The task on stdout, its cost on stderr; nothing is created."""
    code, stdout, stderr = call("--confirm", group, "--dry-run")
    assert code == 0
    (made,) = json.loads(stdout).values()
    assert made["label"] == CONFIRM
    assert made["task"]["payload"]["env"]["IO_BENCHMARK_PACE"] == str(PACE)
    assert "1 task, about 3 minutes of worker time in all" in stderr
    assert labels(deployment) == POOLS


def test_asks_first(group, loopback, deployment):
    """On a terminal anything but yes is no."""
    variables = {
        "TASKCLUSTER_ROOT_URL": loopback.url,
        "TASKCLUSTER_CLIENT_ID": "me",
        "TASKCLUSTER_ACCESS_TOKEN": "secret-token",
    }
    done = program.run(
        *("submit", "--confirm", group),
        folder=ROOT,
        expected=1,
        environment=variables,
        stdin="\n",
        on_terminal=True,
    )
    assert done.stderr.endswith("Create them? [y/N] nothing was created\n")
    assert labels(deployment) == POOLS


def test_scopes(group, deployment, tmp_path):
    """The scopes that are shown are enough, and none of them is too many."""
    for missing in (*SCOPES, None):
        scopes = tuple(scope for scope in SCOPES if scope != missing)
        with Loopback(deployment, clients=[Client("me", "secret-token", scopes)]) as limited:
            code, _, stderr = submit(limited, tmp_path, "--confirm", group)
        assert code == int(missing is not None)
        assert (missing or "1 task created") in stderr.splitlines()[-1 if missing else 6]


def test_group_of_a_push(call, loopback):
    """The confirming task has the push's scheduler and no routes; a worker can mount its image."""
    deployment = loopback.deployment = recorded()
    for task_id, pool in ((AMD_16, "amd-16"), (INTEL, "intel")):
        (document,) = seed_case.documents(1, pools=[pool])
        document["task"] |= {"task_id": task_id, "run_id": 0}
        tried_workers.add_trials(document)
        deployment.set_result(task_id, 0, Artifact(json.dumps(document).encode()))
    image = {"type": "task-image", "taskId": AMD_30, "path": "public/image.tar.zst"}
    deployment.definitions[INTEL]["payload"]["image"] = image
    deployment.definitions[INTEL]["dependencies"] = [AMD_30]
    code, _, stderr = call("--confirm", f"task:{INTEL}", "--no-wait", "--baseline", "intel")
    assert code == 0, stderr
    made = confirming(deployment)[0]
    model = deployment.definitions[INTEL]
    assert made["schedulerId"] == model["schedulerId"] != "-"
    assert (made["routes"], made["dependencies"]) == ([], [AMD_30])
    assert made["payload"]["image"] == image
    assert list(deployment.statuses.values())[-1]["state"] == "pending"
    assert f"io-benchmark submit --baseline intel --confirm {GROUP}\n" in stderr


def test_address_of_a_task(call, group, deployment, loopback):
    """Any address that leads to the group: a task's in the browser."""
    member = deployment.groups[group][1]
    assert call("--confirm", f"{loopback.url}/tasks/{member}")[0] == 0
    assert labels(deployment) == [*POOLS, CONFIRM]


def test_no_credentials(group, loopback, deployment):
    """A warning before, and the queue's refusal in one line."""
    variables = {"TASKCLUSTER_ROOT_URL": loopback.url, "TASKCLUSTER_CLIENT_ID": ""}
    done = program.run(
        *("submit", "--confirm", group), folder=ROOT, expected=1, environment=variables
    )
    assert "warning: no credentials" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"error: {CONFIRM} was not created: asked anonymously, which lacks ")
    assert labels(deployment) == POOLS


def test_group_without_trials(call, deployment):
    """The reason says how to measure with trials; the comparison follows."""
    deployment.on_create = submitted_tasks.complete
    call(*IMAGE)
    (made,) = deployment.groups
    code, stdout, stderr = call("--confirm", made)
    assert (code, "1.92×" in stdout) == (0, True)
    assert stderr.splitlines()[0] == (
        f"Nothing to confirm in group:{made}: No result has trials: measure again with "
        "`trials: auto` or `always` in the kind."
    )


def test_pools_that_need_none(call, deployment):
    """Without a proven difference: nothing to confirm, why, and the comparison."""
    call(*IMAGE, "-j", "amd-30,intel")
    (made,) = deployment.groups
    code, stdout, stderr = call("--confirm", made)
    assert (code, "amd-30" in stdout) == (0, True)
    assert stderr.splitlines()[0] == (
        f"Nothing to confirm in group:{made}: amd-30 against intel is inconclusive: measure more "
        "workers first."
    )
    assert confirming(deployment) == []


def test_group_without_results(call, deployment):
    """Tasks that never ran leave nothing to confirm."""
    deployment.on_create = lambda _deployment, _task_id: None
    call(*IMAGE, "--no-wait")
    (made,) = deployment.groups
    code, _, stderr = call("--confirm", made)
    assert code == 1
    assert stderr.splitlines()[-1] == (
        f"error: group:{made}: has no results to confirm; wait for its tasks, or submit new ones"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["--confirm", "results"], 2, "id of 22 characters", id="folder"),
        pytest.param(["--confirm", "./some:thing"], 2, "is not a group", id="no address"),
        pytest.param(["--confirm", AMD_16, "-j", "intel"], 2, "--jobs cannot be", id="jobs"),
        pytest.param(["--confirm", AMD_16, "--like", "x"], 2, "--like cannot be", id="like"),
        pytest.param(["--confirm", AMD_16], 1, f"group:{AMD_16}: does not exist", id="no group"),
        pytest.param(
            ["--confirm", f"task:{GROUP}"], 1, f"task:{GROUP}: does not exist", id="no task"
        ),
        pytest.param(
            ["--confirm", "index:a.b"], 1, "index:a.b: does not exist", id="not in the index"
        ),
        pytest.param(
            ["--confirm", "https://tc.example.com/tasks/groups/" + GROUP],
            2,
            "set TASKCLUSTER_ROOT_URL to https://tc.example.com",
            id="elsewhere",
        ),
    ],
)
def test_mistakes(call, arguments, code, message):
    """One line, before anything is asked or created."""
    got, stdout, stderr = call(*arguments)
    assert (got, stdout) == (code, "")
    assert message in stderr
    assert stderr.startswith(("error: ", "usage: "))


def test_unknown_baseline(call, group, deployment):
    """The pools that there are, and nothing is created."""
    code, _, stderr = call("--confirm", group, "--baseline", "amd-99")
    assert code == 2
    assert stderr == (
        "error: --baseline amd-99: no such pool here; there are amd-16, amd-30, intel\n"
    )
    assert labels(deployment) == POOLS


def test_recorded_group(call, loopback):
    """A push whose results are older than trials: the same reason, and no task."""
    loopback.deployment = recorded()
    _, _, stderr = call("--confirm", GROUP)
    assert "No result has trials" in stderr
    assert confirming(loopback.deployment) == []
