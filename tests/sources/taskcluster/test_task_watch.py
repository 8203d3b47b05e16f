# SPDX-License-Identifier: MPL-2.0
"""Waiting for tasks, on the loopback, with a clock that a test controls."""

import random
from collections.abc import Callable
from unittest import mock

import pytest
from loopback import Fault, Loopback, first
from loopback_deployment import AMD_16, add_group, run, slug
from recorded_pushes import PUSH

from io_benchmark.sources import silence
from io_benchmark.sources.gather import gather
from io_benchmark.sources.taskcluster import task_watch
from io_benchmark.sources.taskcluster.addresses import LANDO_HOSTS, parse
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.task_watch import wait_for_tasks, wait_in_group


class Turned:
    """Time passes by sleeping alone; `steps` happen after each sleep."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.now_s = 0.0
        self.slept: list[float] = []
        self._steps = list(steps)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds
        if self._steps:
            self._steps.pop(0)()

    def in_use(self):
        return mock.patch.multiple(task_watch, _now_s=lambda: self.now_s, _sleep=self.sleep)


@pytest.fixture
def group(deployment):
    return add_group(deployment, 2)


@pytest.fixture
def ids(deployment, group):
    return list(deployment.groups[group])


def waited(loopback, turned, address, limit_s=1800):
    told: list[str] = []
    meaning = parse(address, loopback.environment)
    assert meaning is not None
    with turned.in_use():
        wait_for_tasks({0: meaning}, loopback.environment, limit_s, told.append)
    return told


def add(deployment, group, kind, state, task_id=None):
    """Add a task of a kind to a group."""
    task_id = task_id or slug(random.Random(f"{kind} {state}"))
    return deployment.add_task(task_id, group, f"a-{kind}", kind, "a/b", [run(0, state)])


def test_no_longer_than_asked(deployment, group, ids):
    """At the end it names what still runs.

    The report's task runs too, and does not wait for itself.
    """
    deployment.change_runs(ids[0], "exception", "running")
    add(deployment, group, "io-benchmark-report", "running")
    turned = Turned()
    with Loopback(deployment) as loopback:
        told = waited(loopback, turned, f"group:{group}", limit_s=40)
    assert told == [
        "[1/2] 1 completed, 1 running after 0 min",
        f"not waiting any longer; not resolved: io-benchmark-amd-16-1 ({ids[0]}): is running",
    ]
    assert turned.slept == [15, 22.5, 2.5]


def test_right_after_a_push(deployment):
    """It waits for the decision task, then for the tasks that this created."""
    add(deployment, PUSH, "decision-task", "running", PUSH)

    def decided():
        deployment.change_runs(PUSH, "completed")
        added.append(add(deployment, PUSH, "io-benchmark", "pending"))

    added: list[str] = []
    turned = Turned(decided, lambda: deployment.change_runs(added[0], "completed"))
    with Loopback(deployment) as loopback:
        waiting, *told = waited(loopback, turned, f"group:{PUSH}")
    decision = f"a-decision-task ({PUSH}): is running, {loopback.url}/tasks/{PUSH}"
    assert waiting == f"waiting for what adds tasks to the group: {decision}"
    assert told == [
        "[0/1] 1 running after 0 min",
        "[0/1] 1 pending after 0 min",
        "[1/1] 1 completed after 0 min",
    ]
    # Twice where the last task that adds some has ended.
    assert len(loopback.asked("api", "/list")) == 4


LANDO = "https://treeherder.mozilla.org/jobs?repo=try&landoInstance=lando-prod-2025&landoCommitID=7"


@pytest.fixture
def lando(deployment, monkeypatch):
    """Lando's answers, at the loopback's storage host."""

    def serve(loopback, status, commit_id, error=""):
        host = f"{loopback.storage_url}/public-bucket/{AMD_16}/0"
        monkeypatch.setitem(LANDO_HOSTS, "lando-prod-2025", host)
        job = {"id": 7, "status": status, "commit_id": commit_id, "error": error}
        deployment.leave(AMD_16, job, "landing_jobs/7")

    return serve


def test_a_push_that_is_not_in_the_index_yet(deployment, group, lando):
    """Lando names the revision once it has landed.

    The index has its decision task when that completed.
    """
    decision = add(deployment, group, "decision-task", "completed")
    route = f"gecko.v2.try.revision.{'a' * 40}.taskgraph.decision"
    with Loopback(deployment) as loopback:
        lando(loopback, "SUBMITTED", "")
        turned = Turned(
            lambda: lando(loopback, "LANDED", "a" * 40),
            lambda: deployment.index.update({route: decision}),
        )
        told = waited(loopback, turned, LANDO)
    first_line, unlisted, waiting, last = told
    assert first_line.endswith("/landing_jobs/7: has not landed")
    decision = f"decision task of index:{route}: is not in the index before it has completed"
    assert waiting == f"waiting for what adds tasks to the group: {decision}"
    assert (unlisted, last) == ("[0/1] 1 unlisted after 0 min", "[2/2] 2 completed after 1 min")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (
            ("IN_PROGRESS", None),
            "has not landed it yet; compare waits for that with --wait MINUTES",
        ),
        (("FAILED", "", "a conflict"), "Lando did not land it (FAILED: a conflict); push again"),
        (("LANDED", "../x"), "Lando's commit '../x' is not a revision"),
        ((1, ""), "Lando's answer is not understood"),
    ],
)
def test_a_push_that_lando_does_not_name(deployment, lando, answer, problem):
    """Reading it says why there are no tasks."""
    with Loopback(deployment) as loopback:
        lando(loopback, *answer)
        gathered = gather([LANDO], loopback.environment, lambda *_: None, lambda run: run)
    (line,) = gathered.unreadable
    assert problem in line


@pytest.mark.parametrize(
    ("failures", "lines"),
    [
        (20, [*["the tasks could not be listed"] * 2, "[2/2] 2 completed after 1 min"]),
        (999, [*["the tasks could not be listed"] * 4, "not waiting any longer"]),
    ],
)
def test_lost(deployment, group, failures, lines):
    """A failed listing is reported, and repeated later.

    In the end it stops, and reading reports it.
    """
    with Loopback(deployment, faults=first(failures, Fault(status=502))) as loopback:
        told = waited(loopback, Turned(), f"group:{group}")
    assert [line.partition(":")[0] for line in told] == lines
    assert all("answers 502" in line for line in told if "tasks" in line)


def test_until_all_of_a_group_are_resolved(deployment, group, ids):
    """Each change is reported once, a failure by name; pauses grow while nothing happens."""

    def change(number, *states):
        return lambda: deployment.change_runs(ids[number], *states)

    for number in range(2):
        change(number, "pending")()
    quiet = [lambda: None] * 4
    steps = (change(0, "running"), *quiet, change(0, "exception"), change(0, "failed", "completed"))
    turned = Turned(*steps, change(1, "failed"))
    told: list[str] = []

    def wait(deployments):
        labels = {task_id: f"label-{task_id}" for task_id in ids}
        return wait_in_group(deployments[loopback.url], group, labels, told.append)

    with Loopback(deployment) as loopback, turned.in_use():
        Deployment.run([loopback.url], {}, wait)
    title = "io-benchmark-amd-{}-1 ({}): {}"
    assert told == [
        "[0/2] 2 pending after 0 min",
        "[0/2] 1 running, 1 pending after 0 min",
        "[1/2] 1 exception, 1 pending after 3 min",
        title.format(16, ids[0], "was preempted (worker-shutdown)"),
        "[1/2] 1 completed, 1 pending after 4 min",
        "[2/2] 1 completed, 1 failed after 4 min",
        title.format(30, ids[1], "failed"),
    ]
    assert turned.slept == [15, 15, 22.5, 33.75, 50.625, 60, 15, 15]


QUEUE = "proj-misc/b-linux"
NO_WORKER = (
    "no worker has been seen in this pool: proj-misc/b-linux ({}); look at the pool and its "
    "errors: "
)


def pending(deployment, group, ids, turned, **options):
    """Wait for tasks that are pending, at most 100 s; return what is told of the pool."""
    for task_id in ids:
        deployment.change_runs(task_id, "pending")
    with Loopback(deployment, **options) as loopback:
        told = waited(loopback, turned, f"group:{group}", limit_s=100)
        asked = loopback.asked("api", "/workers")
    return [line.replace(loopback.url, "") for line in told if "no worker" in line], len(asked)


def test_a_pool_without_workers(deployment, group, ids):
    """It is named once, at the second look, with its page."""
    turned = Turned()
    lines, asked = pending(deployment, group, ids, turned)
    page = "/worker-manager/proj-misc%2Fb-linux"
    assert lines == [NO_WORKER.format("2 pending tasks") + page]
    assert (asked, len(turned.slept)) == (1, 4)


@pytest.mark.parametrize(
    ("step", "options", "asked"),
    [
        # The first look is too early: a pool may be starting workers.
        ("completed", {}, 0),
        ("running", {}, 0),
        # A worker was seen, though not with these tasks.
        ("other", {}, 1),
        # The deployment does not tell.
        (None, {"anonymous": ("queue:list-task-group:*",)}, 1),
        (None, {"faults": first(99, Fault(status=500), part="/workers")}, 10),
    ],
)
def test_a_pool_that_is_not_named(deployment, group, ids, step, options, asked):
    """Its workers may come yet, or are there, or nobody may know."""

    def happens():
        if step == "other":
            other = slug(random.Random(7))
            deployment.add_task(slug(random.Random(8)), other, "x", "build", QUEUE, [run(0)])
        elif step:
            deployment.change_runs(ids[0], step)

    lines, requests = pending(deployment, group, ids, Turned(happens), **options)
    assert (lines, requests) == ([], asked)


def test_workers_on_a_later_page(deployment):
    """The queue filters expired workers after cutting pages: an empty one may have a next one."""
    deployment.add_task(
        slug(random.Random(8)), slug(random.Random(7)), "x", "build", QUEUE, [run(0)]
    )
    deployment.empty_worker_pages = 2

    async def ask(deployments):
        return [await deployments[loopback.url].has_workers(name) for name in (QUEUE, "a/b")]

    with Loopback(deployment) as loopback:
        assert Deployment.run([loopback.url], {}, ask) == [True, False]
        assert len(loopback.asked("api", "/workers")) == 6


def test_a_host_that_is_silent_while_tasks_are_waited_for(deployment, group, monkeypatch):
    """It is told once."""
    monkeypatch.setattr(silence, "SILENT_S", -1.0)
    with Loopback(deployment, faults=first(1, Fault(delay_s=1.2), part="/list")) as loopback:
        told = waited(loopback, Turned(), f"group:{group}")
    assert told == [
        "still waiting: 127.0.0.1 does not answer yet",
        "[2/2] 2 completed after 0 min",
    ]
