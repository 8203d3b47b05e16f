# SPDX-License-Identifier: MPL-2.0
"""Creating and cancelling, against the loopback; ids and dates of a group's tasks."""

import re
from datetime import UTC, datetime

import pytest
from loopback import Fault, Loopback, first
from loopback_deployment import AMD_16, GROUP, NO_WORKER, Deployment
from submitted_tasks import generated, submitter

from io_benchmark.errors import IoBenchmarkError, ResultError
from io_benchmark.results.format import SLUG_PATTERN
from io_benchmark.submit.definitions import SubmissionOptions, select_tasks
from io_benchmark.submit.task_creation import TaskQueue, dated
from io_benchmark.submit.values import parse_image


def made(image="x", pools=("amd-16",)):
    """Return three tasks per pool with an image, as its option names it."""
    options = SubmissionOptions(image=parse_image(image), replicates=3)
    return select_tasks([generated(pool) for pool in pools], options, GROUP)


TASKS = made()
IDS, LABEL = [task.task_id for task in TASKS], TASKS[1].label
ELSEWHERE = "CCCCCCCCQAGAAAAAAAAAAA"


def ask(loopback, use):
    return TaskQueue.connect(submitter(loopback), use)


def create(loopback):
    ask(loopback, lambda queue: queue.create(TASKS, lambda: None))


def test_a_lost_answer():
    """The same task under the same id once more: it exists once, and all is well."""
    with Loopback(Deployment(), faults=first(2, Fault(truncated=True))) as loopback:
        create(loopback)
        assert loopback.deployment.groups == {GROUP: IDS}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        # The task may exist: the message has its id.
        (500, rf"^{LABEL} \({IDS[1]}\): .*answers 500, 10 times"),
        (403, rf"^{LABEL} was not created: .*refuses the request"),
    ],
)
def test_what_ends_the_creation(status, message):
    """Nothing is created after a task that is refused, or that a fault prevents."""
    faults = first(99, Fault(status=status), part=IDS[1])
    with Loopback(Deployment(), faults=faults) as loopback:
        with pytest.raises(ResultError, match=message):
            create(loopback)
        assert loopback.deployment.groups == {GROUP: IDS[:1]}


def test_created_by_another_process():
    """The same task with other dates, in the same group: somebody resumed it meanwhile."""
    with Loopback(Deployment()) as loopback:
        create(loopback)
        deployment = loopback.deployment
        deployment.definitions[IDS[1]] |= {"expires": "2026-12-20T12:00:00.000Z"}
        create(loopback)
        deployment.definitions[IDS[1]] |= {"taskGroupId": ELSEWHERE}
        deployment.statuses[IDS[1]] |= {"taskGroupId": ELSEWHERE}
        with pytest.raises(ResultError, match=f"^{LABEL} was not created: "):
            create(loopback)


def test_cancel_a_group():
    """Only the benchmark's tasks that are not resolved: a push has others."""
    with Loopback() as loopback:
        deployment = loopback.deployment
        deployment.change_runs(AMD_16, "running")
        labels, problems = ask(loopback, lambda queue: queue.cancel_group(GROUP))
        assert ("io-benchmark-amd-16" in labels, problems) == (True, {})
        assert deployment.statuses[AMD_16]["state"] == "exception"
        cancelled = {request.path.split("/")[5] for request in loopback.asked("api", "/cancel")}
        kinds = {deployment.definitions[task_id]["tags"]["kind"] for task_id in cancelled}
        assert kinds == {"io-benchmark"}
        assert NO_WORKER in cancelled


@pytest.mark.parametrize(
    ("pools", "unknown"), [(None, []), ({"releng-1/type-b"}, ["releng-1/type-c"])]
)
def test_unknown_pools(pools, unknown):
    """As the worker manager tells; where it does not tell, nothing is claimed."""
    tasks = made(pools="bc")
    with Loopback(Deployment(worker_pools=pools)) as loopback:
        assert ask(loopback, lambda queue: queue.missing(tasks)) == ([], unknown)


def test_missing_images():
    """Each image is asked for once, however many tasks have it; a registry's image is not."""
    images = (f"task:{AMD_16}", "index:a.b", f"task:{ELSEWHERE}", "debian")
    tasks = [task for image in images for task in made(image)]
    with Loopback() as loopback:
        missing, _ = ask(loopback, lambda queue: queue.missing(tasks))
        assert missing == ["index:a.b", f"task:{ELSEWHERE}"]
        assert len(loopback.asked("api", "/index/")) == 1


def test_ids():
    """The first is the group's, all are of the queue's form and differ, and they never change."""
    options = SubmissionOptions(image="x", replicates=100)
    tasks = select_tasks([generated("amd-16")], options, GROUP)
    ids = [task.task_id for task in tasks]
    assert ids[:3] == [GROUP, "ZeY6qujeSxODXsWjFxTF2g", "EQXigfjnTaekZT1WOBxMGQ"]
    assert len(set(ids)) == 100
    assert all(re.fullmatch(SLUG_PATTERN, name) and not name.startswith("-") for name in ids)
    assert {task.definition["taskGroupId"] for task in tasks} == {GROUP}


NOW = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)


def test_counted_from_now():
    """Dates at any depth are counted, and nothing else is changed."""
    unchanged = {"relative-datestamp": "1", "c": 2}
    value = {"a": [{"relative-datestamp": "90 minutes"}, 1], "b": unchanged}
    assert dated(value, NOW) == {"a": ["2026-11-21T13:30:00.123Z", 1], "b": unchanged}


AMOUNTS = ("soon", "1 fortnight", "9999 years", "99999999 years", ["1 day"])


@pytest.mark.parametrize("amount", AMOUNTS)
def test_not_understood(amount):
    """A mistake of the kind is told in one line."""
    with pytest.raises(
        IoBenchmarkError, match=r"a task's date is wrong: .*; correct it in the kind"
    ):
        dated({"relative-datestamp": amount}, NOW)
