# SPDX-License-Identifier: MPL-2.0
"""submit, stopped while it creates the tasks, and resumed."""

import json
from datetime import UTC, datetime, timedelta

import program
import pytest
import submitted_tasks
from killed_submit import Killer, change_journal, journals, labels, named_group, submit
from loopback import Loopback
from loopback_deployment import AMD_16, GROUP, Deployment, recorded

IMAGE = ["--image", "localhost/image:latest"]
ALL = ["io-benchmark-amd-16", "io-benchmark-amd-30", "io-benchmark-intel"]
DATES = ("created", "deadline", "expires")


def refuse_old(definition):
    """As the queue does: a task's `created` may be 15 minutes away from now."""
    away = abs(datetime.now(UTC) - datetime.fromisoformat(definition["created"]))
    if away > timedelta(minutes=15):
        return 400, "InputError", "`created` cannot be in the past (max 15min drift)"
    return None


@pytest.fixture
def deployment():
    return Deployment(on_create=submitted_tasks.complete, refuse=refuse_old)


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


def stopped(loopback, state, number, *arguments, answered=False):
    """A submission that was killed at its n-th task: its group, and how to resume it."""
    killer = loopback.faults = Killer(number, answered=answered)
    code, stdout, stderr = submit(loopback, state, *IMAGE, *arguments, killer=killer)
    assert (code, stdout) == (-9, "")
    return named_group(stderr)


@pytest.mark.parametrize("answered", [False, True], ids=["not-created", "created"])
@pytest.mark.parametrize("number", range(3))
def test_killed_while_creating(deployment, state, number, answered):
    """The printed command creates what is missing, once, and ends as the submission would have."""
    with Loopback(deployment) as loopback:
        group, resume = stopped(loopback, state, number, answered=answered)
        before = dict(deployment.definitions)
        assert labels(deployment) == ALL[: number + answered]
        code, stdout, stderr = submit(loopback, state, *resume)
    assert (code, "1.92×" in stdout) == (0, True), stderr
    assert f"group:{group}: {len(before)} of 3 tasks exist\n" in stderr
    assert labels(deployment) == ALL
    assert deployment.groups == {group: list(deployment.definitions)}
    assert {one: deployment.definitions[one] for one in before} == before
    dates = {tuple(one[key] for key in DATES) for one in deployment.definitions.values()}
    assert len(dates) == 1
    assert journals(state) == []


def test_killed_while_waiting(deployment, state):
    """All tasks exist: nothing is created, and what there is gets compared."""
    killer = Killer(0, answered=False, method="GET")

    def faults(request, number):
        return killer(request, number) if len(deployment.definitions) == len(ALL) else None

    with Loopback(deployment, faults=faults) as loopback:
        code, _, stderr = submit(loopback, state, *IMAGE, killer=killer)
        _, resume = named_group(stderr)
        before = len(loopback.requests)
        after, stdout, told = submit(loopback, state, *resume)
    assert (code, after, "1.92×" in stdout) == (-9, 0, True)
    assert "3 of 3 tasks exist\n" in told
    assert "PUT" not in {one.method for one in loopback.requests[before:]}
    assert labels(deployment) == ALL


def test_without_a_journal(deployment, state):
    """The group's first task says what was wanted, and the kind makes it again."""
    arguments = ["--replicates", "2", "--quick", "--pool", "intel=proj/some", "--priority", "high"]
    with Loopback(deployment) as loopback:
        group, resume = stopped(loopback, state, 2, *arguments)
        (path,) = journals(state)
        path.unlink()
        code, _, stderr = submit(loopback, state, *resume, "--no-wait")
    assert code == 0, stderr
    assert "2 of 6 tasks exist\n" in stderr
    assert "4 tasks, at most 40 minutes of worker time in all" in stderr
    assert labels(deployment) == [f"{label}-{number}" for number in (1, 2) for label in ALL]
    made = list(deployment.definitions.values())
    assert {one["taskGroupId"] for one in made} == {group}
    assert {one["metadata"]["owner"] for one in made} == {"jane@example.com"}
    assert {one["priority"] for one in made} == {"high"}
    assert {one["payload"]["env"]["IO_BENCHMARK_PROFILE"] for one in made} == {"quick"}
    assert made[2]["workerType"] == made[5]["workerType"] == "some"


def test_another_kind_without_a_journal(deployment, state):
    """Nobody can know what was wanted: nothing is created."""
    with Loopback(deployment) as loopback:
        group, resume = stopped(loopback, state, 1)
        journals(state)[0].unlink()
        record = deployment.definitions[group]["extra"]["io-benchmark-submission"]
        record["sha256"] = "0" * 64
        code, stdout, stderr = submit(loopback, state, *resume)
    assert (code, stdout, labels(deployment)) == (1, "", ALL[:1])
    assert stderr.splitlines()[-1] == (
        f"error: group:{group}: the kind here makes different tasks from those of the group; "
        "resume it from the same version of the checkout and of io-benchmark, or compare the "
        f"existing tasks with: io-benchmark compare group:{group}"
    )


def test_another_kind_with_a_journal(deployment, state):
    """The journal has the definitions: the kind is not connect."""
    with Loopback(deployment) as loopback:
        _, resume = stopped(loopback, state, 1)
        code, _, stderr = submit(loopback, state, *resume, "--root", "/nowhere")
    assert (code, labels(deployment)) == (0, ALL)
    assert "Generating" not in stderr


def test_nothing_is_known(deployment, state):
    """No journal and no task: one line."""
    with Loopback(deployment) as loopback:
        group, resume = stopped(loopback, state, 0)
        journals(state)[0].unlink()
        code, _, stderr = submit(loopback, state, *resume)
        assert stderr == (
            f"error: group:{group}: {loopback.url} has no such task, and this machine has no journal "
            "of it; if none of its tasks was created, run submit again\n"
        )
    assert (code, labels(deployment)) == (1, [])


def test_a_group_of_a_push(state):
    """It was not submitted from here."""
    deployment = recorded()
    deployment.definitions[GROUP] = deployment.definitions[AMD_16]
    deployment.statuses[GROUP] = deployment.statuses[AMD_16]
    with Loopback(deployment) as loopback:
        code, _, stderr = submit(loopback, state, "--resume", f"group:{GROUP}")
    assert (code, "does not contain the submission" in stderr) == (1, True), stderr


@pytest.mark.parametrize("age", [timedelta(minutes=20), timedelta(days=2)], ids=str)
def test_after_the_dates(deployment, state, age):
    """The queue takes no old date: what is missing is dated now, after the deadline as well."""
    with Loopback(deployment) as loopback:
        _, resume = stopped(loopback, state, 1)
        (path,) = journals(state)
        created = datetime.fromisoformat(json.loads(path.read_text())["created"])
        change_journal(state, created=(created - age).isoformat())
        code, _, stderr = submit(loopback, state, *resume)
    assert (code, labels(deployment)) == (0, ALL), stderr
    first, *others = deployment.definitions.values()
    for one in others:
        dates = [datetime.fromisoformat(one[key]) for key in DATES]
        assert dates[1] - dates[0] == timedelta(days=1)
        assert dates[2] - dates[0] == timedelta(days=28)
        assert dates[0] > datetime.fromisoformat(first["created"])


def test_a_refused_task(state):
    """After the scopes are granted, the rest is created in the same group."""
    deployment = Deployment(on_create=submitted_tasks.complete)
    deployment.refuse = lambda made: (
        (403, "InsufficientScopes", "no") if made["workerType"] == "b-linux" else None
    )
    with Loopback(deployment) as loopback:
        assert submit(loopback, state, *IMAGE)[0] == 1
        (group,) = deployment.groups
        deployment.refuse = lambda _made: None
        code, stdout, _ = submit(loopback, state, "--resume", group)
    assert (code, labels(deployment), "1.92×" in stdout) == (0, ALL, True)


def test_cancelled(deployment, state):
    """Nothing is wanted any more."""
    deployment.on_create = lambda _deployment, _task_id: None
    with Loopback(deployment) as loopback:
        group, _ = stopped(loopback, state, 2)
        code, _, stderr = submit(loopback, state, "--cancel", group)
    assert (code, stderr) == (0, "cancelled 2: io-benchmark-amd-16, io-benchmark-amd-30\n")
    assert journals(state) == []


def test_no_place_for_the_journal(deployment, state):
    """It is said, and the group can be resumed by what it holds."""
    state.write_text("a file")
    with Loopback(deployment) as loopback:
        killer = loopback.faults = Killer(1, answered=True)
        _, _, stderr = submit(loopback, state, *IMAGE, killer=killer)
        assert "cannot write the journal (Not a directory)" in stderr
        code, _, _ = submit(loopback, state, *named_group(stderr)[1])
    assert (code, labels(deployment)) == (0, ALL)


def test_elsewhere(deployment, state):
    """The journal is of another deployment."""
    with Loopback(deployment) as loopback:
        _, resume = stopped(loopback, state, 1)
        change_journal(state, root_url="https://tc.example.com")
        code, _, stderr = submit(loopback, state, *resume)
    assert (code, labels(deployment)) == (2, ALL[:1])
    assert "set TASKCLUSTER_ROOT_URL to https://tc.example.com\n" in stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--resume", "x"], "is not a Taskcluster id", id="id"),
        pytest.param(["--resume", f"task:{GROUP}"], "is not a group", id="task"),
        pytest.param(
            ["--resume", GROUP, *IMAGE], "--image cannot be combined with --resume", id="image"
        ),
        pytest.param(
            ["--resume", GROUP, "--quick"], "--quick cannot be combined with --resume", id="quick"
        ),
        pytest.param(
            ["--resume", GROUP, "--dry-run"], "--dry-run cannot be combined", id="dry-run"
        ),
        pytest.param(
            ["--resume", GROUP, "--cancel", GROUP],
            "--cancel cannot be combined with --resume",
            id="cancel",
        ),
        pytest.param(["--resume", GROUP, "--expect", "x"], "write it like", id="expectation"),
    ],
)
def test_mistakes(state, arguments, message):
    """Told before anything is asked: nobody listens there."""
    environment = {"TASKCLUSTER_ROOT_URL": "http://127.0.0.1:9", "XDG_STATE_HOME": str(state)}
    done = program.run("submit", *arguments, environment=environment, expected=2)
    assert message in done.stderr.splitlines()[-1]
