# SPDX-License-Identifier: MPL-2.0
"""The command submit, run as a user runs it, against a deployment on the loopback."""

import json
import os
import re
import signal
import subprocess

import program
import pytest
from checkout import ROOT
from embedding import shell_text
from loopback import Client, Fault, Loopback, first
from loopback_deployment import Deployment
from native_project import project
from submitted_tasks import IDENTITY, OWNER, complete, labels, submitter

from io_benchmark.submit.values import OWNER_PATTERN

IMAGE = ["--image", "localhost/image:latest"]
NOWHERE = {"TASKCLUSTER_ROOT_URL": "http://127.0.0.1:9"}
LEFT = (
    "Tasks that exist in group:{group} are left as they are; to cancel: "
    "io-benchmark submit --cancel group:{group}"
)


@pytest.fixture
def deployment():
    """Its workers take no time."""
    return Deployment(on_create=complete)


def group_of(deployment):
    (group,) = deployment.groups
    return group


def test_dry_run():
    """Six tasks that the queue would take are on stdout alone.

    Their cost is on stderr; nobody is asked.
    """
    options = ("--dry-run", *IMAGE, "--replicates", "2", "--pool", "intel=proj-misc/some")
    done = program.run("submit", *options, folder=ROOT, environment=NOWHERE | IDENTITY)
    tasks = json.loads(done.stdout)
    pools = ("amd-16", "amd-30", "intel")
    assert list(tasks) == [f"io-benchmark-{pool}-{number}" for number in (1, 2) for pool in pools]
    definition = tasks["io-benchmark-intel-1"]["task"]
    assert definition["payload"]["image"] == IMAGE[1]
    assert (definition["provisionerId"], definition["workerType"]) == ("proj-misc", "some")
    assert done.stderr.splitlines()[:3] == [
        f"Generating the graph from {ROOT} (checkout)",
        # The command compares by itself in the end.
        "Left out, because it does not measure a pool: io-benchmark-report",
        "6 tasks, at most 5.5 worker hours in all",
    ]


def test_native_pools(tmp_path):
    """A task without docker gets no image, and a line says so."""
    root = ("--root", str(project(tmp_path).path))
    done = program.run("submit", "--dry-run", *IMAGE, *root, environment=NOWHERE | IDENTITY)
    tasks = json.loads(done.stdout)
    payloads = {label: task["task"]["payload"] for label, task in tasks.items()}
    images = {label: payload.get("image") for label, payload in payloads.items()}
    assert images == {"io-benchmark-container": IMAGE[1], "io-benchmark-wayland": None}
    assert done.stderr.splitlines()[2:4] == [
        "Without docker, and so without --image: io-benchmark-wayland",
        "2 tasks, at most 110 minutes of worker time in all",
    ]


def test_capacities():
    """One option measures what predictions use, at its own cost."""
    options = ("--dry-run", *IMAGE, "--capacities", "-j", "amd-16,intel")
    done = program.run("submit", *options, folder=ROOT, environment=NOWHERE | IDENTITY)
    commands = [task["task"]["payload"]["command"] for task in json.loads(done.stdout).values()]
    assert [" --capacities " in shell_text(command) for command in commands] == [True, True]
    assert "2 tasks, at most 10 minutes of worker time in all" in done.stderr
    refused = program.run("submit", "--capacities", "--until-decided", folder=ROOT, expected=2)
    assert refused.stderr == (
        "error: --until-decided cannot be combined with --capacities: it decides nothing about "
        "pools; omit one\n"
    )


def test_capacities_of_one_pool(call, deployment):
    """A pool that lacks figures may be measured alone; how to predict with them is printed."""
    code, stdout, stderr = call(*IMAGE, "--capacities", "-j", "amd-16")
    assert (code, stdout) == (0, "")
    end = f"Predict with: io-benchmark predict PROFILE --on group:{group_of(deployment)}\n"
    assert stderr.endswith(f"[1/1] 1 completed after 0 min\n{end}")


def test_capacities_without_a_result(call, deployment):
    """A task that gave none is an error."""
    deployment.on_create = lambda made, task_id: made.change_runs(task_id, "failed")
    code, stdout, stderr = call(*IMAGE, "--capacities", "-j", "amd-16")
    assert (code, stdout) == (1, "")
    assert stderr.splitlines()[-1].startswith("error: task ")
    assert "failed and left no io-benchmark.json" in stderr
    assert "Predict with" not in stderr


def test_create_wait_and_compare(call, deployment, loopback):
    """The report is compare's own, and so is the exit code; what it costs is printed before."""
    code, stdout, stderr = call(*IMAGE, "--expect", "amd-16/intel<1.05", "-j", "amd-16,intel")
    group = group_of(deployment)
    here = loopback.environment
    compared = program.run("compare", f"group:{group}", folder=ROOT, environment=here)
    assert code == 3
    *rest, last = stdout.splitlines()
    assert rest == compared.stdout.splitlines()[:-1]
    assert last.endswith(f": `io-benchmark compare group:{group} --details`.")
    lines = stderr.splitlines()
    total = f"2 tasks, at most 110 minutes of worker time in all, at {loopback.url}, as me"
    assert lines[1] == total
    scopes = [
        "queue:create-task:low:releng-1/b-linux",
        "queue:create-task:low:releng-1/b-linux-docker-amd",
        "queue:create-task:project:none",
        "queue:scheduler-id:-",
    ]
    assert lines[4:-1] == [
        f"Scopes needed: {', '.join(scopes)}",
        "Scopes the tasks get: none",
        f"Creating tasks in group:{group}; to cancel: io-benchmark submit --cancel group:{group}",
        f"2 tasks created: {loopback.url}/tasks/groups/{group}",
        "Waiting; Ctrl-C stops waiting, and not the tasks",
        "[2/2] 2 completed after 0 min",
        f"Compare again with: io-benchmark compare group:{group}",
    ]


def test_no_wait(call, deployment):
    """stdout has the group's address, which compare takes."""
    deployment.worker_pools = {"releng-1/b-linux"}
    _, stdout, stderr = call(*IMAGE, "--no-wait", "-j", "intel,amd-16")
    assert stdout == f"group:{group_of(deployment)}\n"
    assert labels(deployment) == ["io-benchmark-amd-16", "io-benchmark-intel"]
    assert "has no worker pool releng-1/b-linux-docker-amd: a task" in stderr
    assert "pool releng-1/b-linux, " not in stderr


NO_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_COUNT": "0"}
NO_OWNER = (
    "error: the tasks need an owner; give your e-mail address with --owner, or set it with: git "
    "config user.email ADDRESS\n"
)


def test_owner():
    """Who is named owns the tasks, else git's user.

    Where that is no address, nothing is created.
    """
    arguments = ["submit", *IMAGE, "-j", "intel", "--dry-run"]
    for owner, options in (("joe@example.com", ["--owner", "joe@example.com"]), (OWNER, [])):
        printed = program.run(*arguments, *options, folder=ROOT, environment=NOWHERE | IDENTITY)
        (task,) = json.loads(printed.stdout).values()
        assert task["task"]["metadata"]["owner"] == owner
    for git in (NO_GIT, IDENTITY | {"GIT_CONFIG_VALUE_0": "a@b\nc"}, {"PATH": "/nowhere"}):
        refused = program.run(*arguments, folder=ROOT, environment=NOWHERE | git, expected=2)
        assert refused.stderr == NO_OWNER


@pytest.mark.parametrize(
    ("address", "is_address"),
    [
        (f"{'a' * 64}@{'b' * 63}.com", True),
        (f"a@{'b.' * 130}c", False),
        ("a@b\n", False),
        ("a\n@b", False),
        ("Jane <a@b>", False),
        ("a@b@c", False),
        ("@b", False),
        ("a@", False),
        ("ä@b", False),
        ("", False),
    ],
)
def test_addresses(address, is_address):
    """What the queue takes as an owner."""
    assert (re.fullmatch(OWNER_PATTERN, address) is not None) is is_address


@pytest.mark.parametrize(
    ("options", "answer", "tasks"),
    [([], "\n", 0), ([], "no\n", 0), ([], "", 0), ([], "Yes\n", 1), (["--yes"], "no\n", 1)],
)
def test_asks_first(options, answer, tasks):
    """On a terminal anything but yes is no, and nothing is created."""
    with Loopback(Deployment()) as loopback:
        done = program.run(
            "submit",
            *IMAGE,
            "-j",
            "intel",
            "--no-wait",
            *options,
            folder=ROOT,
            expected=0 if tasks else 1,
            environment=submitter(loopback),
            stdin=answer,
            on_terminal=True,
        )
        assert len(loopback.deployment.definitions) == tasks
    asked = "Create them? [y/N] "
    assert (f"{asked}error: nothing was created\n" in done.stderr) is (tasks == 0)


@pytest.mark.parametrize("refused", [0, 1])
def test_refused(call, deployment, refused):
    """A refusal of the first task leaves nothing: no line tells how to cancel tasks."""
    seen = []

    def refuse(definition):
        seen.append(definition)
        return (403, "InsufficientScopes", "no scopes") if len(seen) > refused else None

    deployment.refuse = refuse
    code, _, stderr = call(*IMAGE, "-j", "intel,amd-16")
    assert (code, len(deployment.definitions)) == (1, refused)
    *_, last = stderr.splitlines()
    assert "was not created" in last
    assert ("Creating tasks in group" in stderr) is (refused == 1)
    assert ("to cancel" in stderr) is (refused == 1)


def test_interrupted():
    """The tasks are left as they are, and the last line says how to cancel them."""
    deployment = Deployment()
    with Loopback(deployment) as loopback:
        process = subprocess.Popen(
            [*program.PROGRAM, "submit", *IMAGE],
            cwd=ROOT,
            env=os.environ | submitter(loopback),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert any("3 pending" in line for line in process.stderr or ())
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1].splitlines()
        group = group_of(deployment)
        assert (process.returncode, errors) == (130, [LEFT.format(group=group), "stopped"])
        cancelled = program.run("submit", "--cancel", group, environment=submitter(loopback))
    assert cancelled.stderr == (
        "cancelled 3: io-benchmark-amd-16, io-benchmark-amd-30, io-benchmark-intel\n"
    )
    assert {status["state"] for status in deployment.statuses.values()} == {"exception"}


def test_a_task_that_cannot_be_cancelled(call, deployment, loopback):
    """It has its reason; the others are cancelled."""
    deployment.on_create = lambda _deployment, _task_id: None
    call(*IMAGE, "--no-wait", "-j", "intel,amd-16")
    group = group_of(deployment)
    loopback.faults = first(99, Fault(status=403), part=f"{group}/cancel")
    code, _, stderr = call("--cancel", group)
    assert code == 1
    assert (
        "cancelled 1: io-benchmark-intel\nerror: 1 task not cancelled (io-benchmark-amd-16): "
        in stderr
    )


def test_cancelling_without_a_scope(deployment):
    """Many refusals are one line, with the scope that is enough for all of them."""
    deployment.on_create = lambda _deployment, _task_id: None
    jane = Client("jane", "hers", ("queue:create-task:*", "queue:scheduler-id:*"))
    with Loopback(deployment, clients=[jane]) as loopback:
        here = submitter(loopback) | jane.environment
        command = ("submit", *IMAGE, "--no-wait", "--replicates", "9", "-j", "intel")
        program.run(*command, environment=here)
        group = group_of(deployment)
        done = program.run("submit", "--cancel", f"group:{group}", environment=here, expected=1)
    first = ", ".join(f"io-benchmark-intel-{number}" for number in range(1, 7))
    assert done.stderr == (
        f"cancelled 0: none\nerror: 9 tasks not cancelled ({first} and 3 more): {loopback.url} "
        f"refuses the request, which needs queue:cancel-task:-/{group}/* and was made as jane; "
        "request that scope from the deployment's owners\n"
    )
