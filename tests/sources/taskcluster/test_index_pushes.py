# SPDX-License-Identifier: MPL-2.0
"""The results of all pools, from the index of a deployment on the loopback."""

from collections import Counter
from datetime import date, timedelta

import pytest
from fleet_pushes import BY_DATE, NEWEST, add_pushes, add_task, keep, pools_named
from loopback import Fault, Loopback, first
from msgspec.structs import replace

from io_benchmark.errors import MissingError, ResultError
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.protocol import Reading
from io_benchmark.sources.taskcluster.addresses import IndexAddress
from io_benchmark.sources.taskcluster.index_pushes import (
    IndexedPushes,
    PushesQuery,
    read_index_pushes,
)

YEAR = date(2025, 11, 21)


class Collected:
    """One reading: what arrived, by group and pool, and the messages."""

    def __init__(self, loopback, known=frozenset(), budget=None, **changes):
        self.pushes, self.published = IndexedPushes(), []
        self.arrived: Counter[tuple[str, str]] = Counter()
        self.runs = []
        self.request = Reading(loopback.environment, accept=self.accept, budget=budget or Budget())
        query = PushesQuery(IndexAddress(loopback.url, BY_DATE), YEAR, 400, 10**6, self.take)
        self.known = known
        read_index_pushes(replace(query, **changes), self.request, self.pushes)

    def take(self, published):
        self.published.append(published)
        return self.known

    def accept(self, _position, run_result, _data):
        self.arrived[run_result.task.task_group_id, run_result.pool] += 1
        self.runs.append((run_result.task.task_id, run_result.task.run_id))

    @property
    def lines(self):
        problems = [text for _, text in self.request.problems]
        return problems + [text for _, text in self.request.remarks]


def test_every_pool_of_every_push(deployment):
    """A listing per pool and one per push; replicates are read, of which the index has one."""
    groups = add_pushes(deployment, 3, ("amd-16", "intel.2"), workers=2)
    with Loopback(deployment) as loopback:
        read = Collected(loopback)
        assert len(loopback.asked("api", "/index/v1/tasks/")) == 2
        assert len(loopback.asked("api", "/task-group/")) == 3
        assert len(loopback.requests) == 1 + 1 + 2 + 1 + 3 + 2 * 12
    assert read.arrived == {(group, pool): 2 for group in groups for pool in ("amd-16", "intel.2")}
    assert read.pushes.complete == set(groups) == set(read.pushes.times)
    assert [read.pushes.times[group] for group in groups] == [
        NEWEST - timedelta(weeks=back) for back in range(3)
    ]
    assert (read.pushes.unread, read.pushes.is_listed, read.lines) == (set(), True, [])


def test_what_is_kept_is_not_read(deployment):
    """Pushes that were read completely are not even listed."""
    groups = add_pushes(deployment, 3)
    keep(deployment, b"kept")
    with Loopback(deployment) as loopback:
        read = Collected(loopback, known={groups[1], "another"})
        assert len(loopback.asked("api", "/task-group/")) == 2
    assert [published.content for published in read.published] == [b"kept"]
    assert {group for group, _ in read.arrived} == {groups[0], groups[2]}
    assert read.pushes.complete == {*groups, "another"}


def test_runs_that_are_kept(deployment):
    """Of a push that was read in part, the rest alone."""
    add_pushes(deployment, 1)
    with Loopback(deployment) as loopback:
        known = Collected(loopback).runs[:1]
        before = len(loopback.asked("storage"))
        request = Reading(
            loopback.environment, has_run=lambda task_id, run_id: (task_id, run_id) in known
        )
        arrived, pushes = [], IndexedPushes()
        request.accept = lambda _position, run, _data: arrived.append(run)
        place = IndexAddress(loopback.url, BY_DATE)
        query = PushesQuery(place, YEAR, 400, 10**6, lambda _published: set())
        read_index_pushes(query, request, pushes)
        assert len(loopback.asked("storage")) - before == len(arrived) == 1
    assert (len(pushes.complete), pushes.unread) == (1, set())


@pytest.mark.parametrize(("most", "weeks_read"), [(19, 2), (18, 1), (1, 1)])
def test_the_limit_of_requests(deployment, most, weeks_read):
    """No push is begun that would send more; the newest is read whatever the limit."""
    groups = add_pushes(deployment, 4)
    with Loopback(deployment) as loopback:
        # The newest fleet, the pools, their pushes, and the tasks' groups; then five per push.
        read = Collected(loopback, most_requests=most - 4)
        assert len(loopback.requests) == 5 + 5 * weeks_read
    assert read.pushes.complete == set(groups[:weeks_read])
    assert read.pushes.unread == set(groups[weeks_read:])


def test_an_index_that_answers_half(deployment):
    """A pool whose pushes are not listed is one line; the groups of others have its tasks."""
    groups = add_pushes(deployment, 2)
    faults = first(100, Fault(503), "api", f"/tasks/{BY_DATE}.intel")
    with Loopback(deployment, faults) as loopback:
        read = Collected(loopback)
    assert read.arrived == {(group, pool): 1 for group in groups for pool in ("amd-16", "intel")}
    problem, remark = read.lines
    assert problem.startswith("intel: its pushes cannot be listed: ")
    assert remark == "the index did not list the pushes of 1 pool of 2 (intel); run it again"
    assert read.request.missing == {"intel"}


def test_results_that_were_not_given(deployment):
    """A push is not complete as long as another reading may get more of it."""
    (group,) = add_pushes(deployment, 1)
    with Loopback(deployment, first(100, Fault(503), "storage")) as loopback:
        read = Collected(loopback)
    assert (read.arrived, read.pushes.unread) == ({}, {group})
    assert len(read.lines) == 2


def test_tasks_that_still_run(deployment):
    """They are read the next time."""
    (group,) = add_pushes(deployment, 1)
    deployment.change_runs(deployment.groups[group][0], "running")
    with Loopback(deployment) as loopback:
        read = Collected(loopback)
    assert read.arrived == {(group, "intel"): 1}
    assert read.pushes.unread == {group}


def test_what_has_expired(deployment):
    """A line for each push, without a request for its results; it is not read again."""
    fresh, old, gone = add_pushes(deployment, 3)
    for task_id in deployment.groups[old]:
        deployment.definitions[task_id]["expires"] = "2026-11-20T00:00:00.000Z"
    del deployment.groups[gone]
    with Loopback(deployment) as loopback:
        read = Collected(loopback)
        assert len(loopback.asked("storage")) == 2
    assert {group for group, _ in read.arrived} == {fresh}
    assert read.pushes.unread == set()
    assert sorted(read.lines) == [
        f"group:{gone}: has expired, and was never read",
        "push of 2026-11-09: 2 results expired, never read",
    ]


def test_a_task_that_the_index_alone_has(deployment):
    """Tasks that the queue no longer knows are counted in one line."""
    _, old = add_pushes(deployment, 2)
    for task_id in deployment.groups.pop(old):
        del deployment.statuses[task_id], deployment.definitions[task_id]
    with Loopback(deployment) as loopback:
        read = Collected(loopback)
    assert read.lines == ["the index has 2 tasks more, which expired"]


def test_other_kinds_and_dates(deployment):
    """Gates measure new images; names that are no dates mean nothing; a year is enough."""
    (group,) = add_pushes(deployment, 1)
    gate = add_task(deployment, "Prp_WjpGRx26VH-wA8fj1A", group, "alpha", NEWEST, worker=1)
    deployment.definitions[gate]["tags"]["kind"] = "io-benchmark-gate"
    every = add_task(deployment, "Prp_WjpGRx26VH-wA8fj2A", group, "amd-16", NEWEST, worker=1)
    deployment.definitions[every]["tags"]["kind"] = "io-benchmark-all"
    deployment.set_result(every, 0, deployment.artifacts[deployment.groups[group][0], 0, _RESULT])
    deployment.index[f"{BY_DATE}.intel.latest"] = gate
    deployment.index[f"{BY_DATE}.intel.20251120235959"] = gate
    with Loopback(deployment) as loopback:
        read = Collected(loopback)
    assert read.arrived == {(group, "amd-16"): 2, (group, "intel"): 1}
    assert read.lines == []


_RESULT = "public/io-benchmark/io-benchmark.json"


def test_a_date_that_no_push_has(deployment):
    """The task's own date replaces a date of the future, with a remark."""
    (group,) = add_pushes(deployment, 1, ("amd-16",))
    (task_id,) = deployment.groups[group]
    deployment.index.clear()
    deployment.index[f"{BY_DATE}.amd-16.20991116030000"] = task_id
    with Loopback(deployment) as loopback:
        read = Collected(loopback)
    assert read.pushes.times == {group: NEWEST}
    assert read.pushes.unread == set()
    (line,) = read.lines
    assert line.startswith(f"group:{group}: the index dates it 2099-11-16, which cannot be")


@pytest.mark.parametrize(
    ("weeks", "message"),
    [
        (0, "has no results there; check the project"),
        (1, "nothing was measured since 2026-12-01; the index has older results"),
    ],
)
def test_nothing(deployment, weeks, message):
    """An error that says whether there is anything older."""
    add_pushes(deployment, weeks)
    with Loopback(deployment) as loopback, pytest.raises(MissingError, match=message):
        Collected(loopback, since=date(2026, 12, 1))


@pytest.mark.parametrize(
    ("content", "changes", "expected"),
    [
        (b"", {"kind": "io-benchmark"}, None),
        (None, {}, MissingError),
        (b"x" * 2_000_000, {}, ResultError),
    ],
    ids=["another kind", "no file", "too large"],
)
def test_what_the_newest_fleet_kept(deployment, content, changes, expected):
    """Who reads gets why there is nothing, and decides."""
    add_pushes(deployment, 1)
    task_id = keep(deployment, content or b"", **changes)
    if content is None:
        deployment.artifacts.clear()
    with Loopback(deployment) as loopback:
        (published,) = Collected(loopback).published
    if expected is None:
        assert published is None
    else:
        assert isinstance(published.content, expected)
        assert published.source == f"{loopback.url}/tasks/{task_id}"


@pytest.mark.parametrize(("read_before", "most"), [(51, 400), (0, 400)])
def test_sixty_pools_and_a_year(deployment, read_before, most):
    """A week's reading has all that is new within 400 requests; without a file, what fits."""
    groups = add_pushes(deployment, 52, pools_named(60))
    known = {*groups[len(groups) - read_before :]}
    with Loopback(deployment) as loopback:
        read = Collected(loopback, known=known)
        assert len(loopback.requests) <= most
    assert len(read.pushes.unread) == (0 if read_before else 50)
    assert read.arrived.total() == (60 if read_before else 120)
