# SPDX-License-Identifier: MPL-2.0
"""The command submit, run as a user runs it, against a deployment on the loopback."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from contextlib import contextmanager
from datetime import datetime, timedelta

import program
import pytest
import submitted_tasks
from checkout import ROOT
from loopback import Fault, Loopback, first
from loopback_deployment import AMD_16, Deployment

IMAGE = ["--image", "localhost/image:latest"]
SLUG = r"[A-Za-z0-9_-]{8}[Q-T][A-Za-z0-9_-][CGKOSWaeimquy26-][A-Za-z0-9_-]{10}[AQgw]"
QUICK = ["--every", "0.05"]


def environment(loopback, **more):
    return {
        **os.environ,
        "TASKCLUSTER_ROOT_URL": loopback.url if loopback else "http://127.0.0.1:9",
        "TASKCLUSTER_CLIENT_ID": "me",
        "TASKCLUSTER_ACCESS_TOKEN": "secret-token",
        **submitted_tasks.IDENTITY,
        **more,
    }


def submit(loopback, *arguments, expected=0, command="submit"):
    done = program.run(
        command, *arguments, folder=ROOT, expected=expected, environment=environment(loopback)
    )
    assert "secret-token" not in done.stderr + done.stdout
    return done


@pytest.fixture
def deployment():
    """Its workers take no time."""
    made = Deployment()
    made.on_create = submitted_tasks.complete
    return made


def group_of(deployment):
    (group,) = deployment.groups
    return group


def problems(task, definition):
    """What the queue and docker-worker would refuse, as far as their schemas say."""
    found = [
        f"{key} is {definition[key]}"
        for key in ("created", "deadline", "expires")
        if not re.fullmatch(r"[0-9T:-]{19}\.[0-9]{3}Z", definition[key])
    ]
    created, deadline, expires = (
        datetime.fromisoformat(definition[key]) for key in ("created", "deadline", "expires")
    )
    if not created < deadline <= created + timedelta(days=5) or not deadline < expires:
        found.append("its dates do not follow each other")
    found += [
        f"the artifact {name} lives longer than its task"
        for name, artifact in definition["payload"]["artifacts"].items()
        if datetime.fromisoformat(artifact["expires"]) > expires
    ]
    if not re.fullmatch(SLUG, task) or not re.fullmatch(SLUG, definition["taskGroupId"]):
        found.append("an id is no slug")
    if not re.fullmatch("[a-zA-Z0-9_-]{1,38}", definition["schedulerId"]):
        found.append("the scheduler is none")
    if unknown := set(definition) - {
        "provisionerId",
        "workerType",
        "schedulerId",
        "taskGroupId",
        "routes",
        "priority",
        "created",
        "deadline",
        "expires",
        "scopes",
        "metadata",
        "extra",
        "tags",
        "payload",
    }:
        found.append(f"the queue does not know {unknown}")
    found += [
        f"an argument holds {len(text.encode())} bytes"
        for text in definition["payload"]["command"]
        if len(text.encode()) > 131_071
    ]
    text = json.dumps({**definition, "payload": {**definition["payload"], "command": []}})
    found += [word for word in ("task-reference", "relative-datestamp") if word in text]
    return found


# It compares by itself in the end.
LEFT_OUT = "Left out, because it does not measure a pool: io-benchmark-report"


def test_dry_run():
    """Six tasks that the queue would take, on stdout alone; their cost on stderr; nobody is asked."""
    done = submit(None, "--dry-run", *IMAGE, "--replicates", "2", "--pool", "intel=proj-misc/some")
    tasks = json.loads(done.stdout)
    assert list(tasks) == [
        f"io-benchmark-{pool}-{number}"
        for number in (1, 2)
        for pool in ("amd-16", "amd-30", "intel")
    ]
    assert [problems(one["task_id"], one["task"]) for one in tasks.values()] == [[]] * 6
    assert len({one["task_id"] for one in tasks.values()}) == 6
    (group,) = {one["task"]["taskGroupId"] for one in tasks.values()}
    assert group == tasks["io-benchmark-amd-16-1"]["task_id"]
    assert {one["task"]["payload"]["image"] for one in tasks.values()} == {IMAGE[1]}
    queues = [(one["task"]["provisionerId"], one["task"]["workerType"]) for one in tasks.values()]
    assert queues[2] == ("proj-misc", "some")
    assert {one["task"]["metadata"]["owner"] for one in tasks.values()} == {"jane@example.com"}
    assert done.stderr.splitlines() == [
        f"Generating the graph from {ROOT} (checkout)",
        LEFT_OUT,
        "6 tasks, at most 5.5 worker hours in all",
        "  amd-16: at most 110 minutes of worker time (2 tasks of 55 minutes on releng-1/b-linux-docker-amd)",
        (
            "  amd-30: at most 110 minutes of worker time "
            "(2 tasks of 55 minutes on releng-1/b-linux-docker-large-amd)"
        ),
        "  intel: at most 110 minutes of worker time (2 tasks of 55 minutes on proj-misc/some)",
        (
            "Scopes needed: queue:create-task:low:proj-misc/some, "
            "queue:create-task:low:releng-1/b-linux-docker-amd, "
            "queue:create-task:low:releng-1/b-linux-docker-large-amd, "
            "queue:create-task:project:none, queue:scheduler-id:-"
        ),
        "Scopes the tasks get: none",
    ]


def test_create_wait_and_compare(deployment):
    """The report is compare's own, and so is the exit code; what it costs is said before."""
    with Loopback(deployment) as loopback:
        done = submit(loopback, *IMAGE, *QUICK)
        group = group_of(deployment)
        compared = submit(loopback, f"group:{group}", command="compare")
    assert done.stdout == compared.stdout
    assert "1.92×" in done.stdout
    assert done.stderr.splitlines()[1:] == [
        LEFT_OUT,
        f"3 tasks, at most 2.8 worker hours in all, at {loopback.url}, as me",
        "  amd-16: at most 55 minutes of worker time (1 task of 55 minutes on releng-1/b-linux-docker-amd)",
        (
            "  amd-30: at most 55 minutes of worker time "
            "(1 task of 55 minutes on releng-1/b-linux-docker-large-amd)"
        ),
        "  intel: at most 55 minutes of worker time (1 task of 55 minutes on releng-1/b-linux)",
        (
            "Scopes needed: queue:create-task:low:releng-1/b-linux, "
            "queue:create-task:low:releng-1/b-linux-docker-amd, "
            "queue:create-task:low:releng-1/b-linux-docker-large-amd, "
            "queue:create-task:project:none, queue:scheduler-id:-"
        ),
        "Scopes the tasks get: none",
        f"Creating group:{group}; if this stops, resume with: io-benchmark submit --resume {group}",
        f"3 tasks created: {loopback.url}/tasks/groups/{group}",
        "Waiting; Ctrl-C stops waiting and asks whether to cancel the tasks",
        "[3/3] 3 completed after 0 min",
        f"Compare again with: io-benchmark compare group:{group}",
    ]


def test_no_wait(deployment):
    """stdout has the group's address, which compare takes."""
    deployment.worker_pools = {"releng-1/b-linux"}
    with Loopback(deployment) as loopback:
        done = submit(loopback, *IMAGE, "--no-wait", "-j", "intel,amd-16")
    assert done.stdout == f"group:{group_of(deployment)}\n"
    assert len(deployment.definitions) == 2
    assert "has no worker pool releng-1/b-linux-docker-amd: a task" in done.stderr
    assert "pool releng-1/b-linux, " not in done.stderr


@pytest.mark.parametrize(
    ("client", "option", "owner"),
    [
        pytest.param("me", ["--owner", "joe@example.com"], "joe@example.com", id="option"),
        pytest.param("me", [], None, id="nobody"),
    ],
)
def test_owner(tmp_path, client, option, owner):
    """A person, by option or by identity; where nobody is known, nothing is asked or created."""
    no_git = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_COUNT": "0",
    }
    call = {
        "folder": tmp_path,
        "environment": environment(None, TASKCLUSTER_CLIENT_ID=client, **no_git),
    }
    arguments = ["submit", *IMAGE, *option, "--root", str(ROOT), "-j", "intel"]
    printed = program.run(*arguments, "--dry-run", **call)
    (task,) = json.loads(printed.stdout).values()
    if owner is not None:
        assert task["task"]["metadata"]["owner"] == owner
        assert task["task"]["tags"]["createdForUser"] == owner
        return
    advice = "give your e-mail address with --owner, or set it with: git config user.email ADDRESS"
    assert printed.stderr.startswith(f"warning: creating these tasks needs an owner; {advice}\n")
    refused = program.run(*arguments, "--yes", **call, expected=2)
    assert refused.stderr == f"error: the tasks need an owner; {advice}\n"


def test_a_refused_task(deployment):
    """One line for it, with the scope; what was created before is told, and how to cancel it."""

    def refuse(definition):
        if definition["workerType"] == "b-linux":
            return 403, "InsufficientScopes", "missing\n```\nqueue:create-task:low:r/b-linux\n```"
        return None

    deployment.refuse = refuse
    with Loopback(deployment) as loopback:
        done = submit(loopback, *IMAGE, expected=1)
    assert done.stdout == ""
    group = group_of(deployment)
    assert done.stderr.splitlines()[-2:] == [
        (
            f"2 tasks exist in group:{group}, left as they are; to cancel: "
            f"io-benchmark submit --cancel {group}; to create the others: "
            f"io-benchmark submit --resume {group}"
        ),
        (
            "error: io-benchmark-intel was not created: asked as me, which lacks "
            "queue:create-task:low:r/b-linux; ask for this scope, or choose another pool, "
            "priority or scheduler"
        ),
    ]


def test_image_of_a_task(deployment):
    """Each task depends on the one whose image it runs in; a worker refuses it otherwise."""
    deployment.add({}, {"taskId": AMD_16, "taskGroupId": AMD_16, "state": "completed", "runs": []})
    with Loopback(deployment) as loopback:
        submit(loopback, *QUICK, "--image", f"task:{AMD_16}", "-j", "amd-16,intel")
    made = list(deployment.definitions.values())[1:]
    assert [definition["dependencies"] for definition in made] == [[AMD_16]] * 2


@pytest.mark.parametrize("address", [f"task:{AMD_16}", "index:a.v2.b.latest"])
def test_image_that_does_not_exist(deployment, address):
    """It is named before anything is created."""
    with Loopback(deployment) as loopback:
        done = submit(loopback, *QUICK, "--image", address, expected=2)
    assert done.stderr.splitlines()[-1] == (
        f"error: {address}: does not exist at {loopback.url}, and is to have the tasks' image; check "
        "--image and the root URL"
    )
    assert deployment.definitions == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "give --image NAME:TAG of a registry", id="no-image"),
        pytest.param([*IMAGE, "--pool", "x=a/b"], "--pool x=a/b: pool is not selected", id="pool"),
        pytest.param([*IMAGE, "--baseline", "x"], "--baseline x: no such pool", id="baseline"),
        pytest.param(
            ["--cancel", "http://h/tasks/groups/Fqm6GL_zRPurCmd1rRuTRQ"],
            "set TASKCLUSTER_ROOT_URL to http://h",
            id="cancel-elsewhere",
        ),
    ],
)
def test_mistakes(arguments, message):
    """Told before anything is asked or created."""
    assert message in submit(None, *arguments, expected=2).stderr


@contextmanager
def running(loopback, *arguments, terminal):
    """The command, with a terminal for its stdin or with nothing."""
    master, slave = pty.openpty() if terminal else (None, subprocess.DEVNULL)
    process = subprocess.Popen(
        [*program.PROGRAM, "submit", *IMAGE, *QUICK, *arguments],
        cwd=ROOT,
        env=environment(loopback),
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process, master
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
        if master is not None:
            os.close(master)
            os.close(slave)


def until(process, text):
    """What stderr says, up to this."""
    said = b""
    deadline = time.monotonic() + 60
    while text.encode() not in said:
        ready, _, _ = select.select([process.stderr], [], [], max(0, deadline - time.monotonic()))
        chunk = os.read(process.stderr.fileno(), 65536) if ready else b""
        assert chunk, said.decode()
        said += chunk
    return said.decode()


def states(deployment):
    return [one["state"] for one in deployment.statuses.values()]


def test_asks_first():
    """On a terminal anything but yes is no, and nothing is created."""
    deployment = Deployment()
    with Loopback(deployment) as loopback:
        for answer in ("\n", "no\n", ""):
            done = program.run(
                *("submit", *IMAGE, *QUICK),
                folder=ROOT,
                expected=1,
                environment=environment(loopback),
                stdin=answer,
                on_terminal=True,
            )
            assert done.stderr.endswith("Create them? [y/N] nothing was created\n")
    assert deployment.definitions == {}


def test_interrupted_on_a_terminal():
    """It asks; yes cancels all that was created."""
    deployment = Deployment()
    with Loopback(deployment) as loopback, running(loopback, terminal=True) as (process, master):
        until(process, "Create them?")
        os.write(master, b"y\n")
        until(process, "3 pending")
        process.send_signal(signal.SIGINT)
        until(process, "3 tasks exist. Cancel? [y/N]")
        os.write(master, b"y\n")
        said = process.communicate()[1].decode()
        assert process.returncode == 130
    assert said.strip().splitlines() == [
        "cancelled 3: io-benchmark-amd-16, io-benchmark-amd-30, io-benchmark-intel",
        "stopped",
    ]
    assert states(deployment) == ["exception"] * 3


@pytest.mark.parametrize(
    ("number", "code"),
    [pytest.param(signal.SIGINT, 130, id="INT"), pytest.param(signal.SIGTERM, 143, id="TERM")],
)
def test_interrupted_without_a_terminal(number, code):
    """Nobody can be asked: the tasks are left, and how to cancel them is said."""
    deployment = Deployment()
    with Loopback(deployment) as loopback, running(loopback, terminal=False) as (process, _):
        until(process, "3 pending")
        process.send_signal(number)
        said = process.communicate()[1].decode()
        assert process.returncode == code
    group = group_of(deployment)
    assert said == (
        f"3 tasks exist in group:{group}, left as they are; to cancel: "
        f"io-benchmark submit --cancel {group}\nstopped\n"
    )
    assert states(deployment) == ["pending"] * 3


def test_interrupted_while_creating():
    """What was sent may have been created: all of it is told, and cancelled by its id."""
    deployment = Deployment()
    slow = first(99, Fault(delay_s=60), part="/task/")

    def faults(request, number):
        created = len(deployment.definitions)
        return slow(request, number) if created == 1 and request.method == "PUT" else None

    with (
        Loopback(deployment, faults=faults) as loopback,
        running(loopback, "--yes", terminal=True) as (process, master),
    ):
        deadline = time.monotonic() + 60
        while len(loopback.asked("api", "/task/")) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        until(process, "1 task exists, 1 more perhaps. Cancel? [y/N]")
        os.write(master, b"yes\n")
        said = process.communicate()[1].decode()
        assert process.returncode == 130
    assert "cancelled 1: io-benchmark-amd-16\n" in said
    assert states(deployment) == ["exception"]
