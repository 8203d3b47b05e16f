# SPDX-License-Identifier: MPL-2.0
"""A pool's past results, from the index of a deployment on the loopback."""

from datetime import UTC, date, datetime

import past as made
import pytest
from loopback import Loopback
from loopback_deployment import Artifact
from msgspec.structs import replace

from io_benchmark.errors import ResultError
from io_benchmark.sources.protocol import HistoryQuery, Reading
from io_benchmark.sources.taskcluster import index_history
from io_benchmark.sources.taskcluster.addresses import IndexAddress

QUERY = HistoryQuery("amd-16", IndexAddress("", made.NAMESPACE), 100)


@pytest.fixture(scope="module")
def pushes():
    """Four weeks with one worker each; the number of retrieves does not matter here."""
    return list(made.pushes(4, retrieves=30))


@pytest.fixture
def loopback(deployment, pushes):
    made.add(deployment, pushes)
    with Loopback(deployment) as running:
        yield running


def collect(loopback, query=QUERY):
    """Return the records of the runs that arrived, and the messages."""
    arrived = []

    def accept(_position, run_result, _data):
        arrived.append(run_result.task)

    request = Reading(loopback.environment, accept=accept)
    place = IndexAddress(loopback.url, made.NAMESPACE)
    times, older = index_history.read_index_history(replace(query, place=place), request)
    return sorted(arrived, key=lambda record: record.started), request, times, older


def ids(arrived):
    return [record.task_id for record in arrived]


def expected(pushes):
    return [document["task"]["task_id"] for push in pushes for document in push.documents]


def test_every_push(loopback, pushes):
    """One listing has the dates; each result has its group and its revision.

    Anyone with the scope can write there: names that are no dates are ignored.
    """
    for name in ("latest", "20261399999999", "2026"):
        loopback.deployment.index[f"{made.NAMESPACE}.{name}"] = expected(pushes)[0]
    arrived, request, times, older = collect(loopback)
    assert ids(arrived) == expected(pushes)
    groups = [(record.task_group_id, record.revision) for record in arrived]
    assert groups == [(push.group, push.revision) for push in pushes]
    assert times == {push.group: push.time for push in pushes}
    assert (older, request.problems, request.remarks) == (0, [], [])
    assert len(loopback.asked("api", "/index/")) == 1


def test_a_part_of_it(loopback, pushes):
    """The newest points since a day, without the results of others; without any, an error."""
    arrived, _, _, older = collect(loopback, replace(QUERY, newest=1, since=date(2026, 5, 4)))
    assert ids(arrived) == expected(pushes[3:])
    assert older == 2
    assert len(loopback.asked("storage")) == 1
    message = "amd-16: nothing was measured since 2030-01-01; the index has older results"
    with pytest.raises(ResultError, match=message):
        collect(loopback, replace(QUERY, since=date(2030, 1, 1)))


def test_replicates_and_other_kinds(deployment):
    """The index has one task per push; its group has the pool's others.

    Other pools are left out, and the kind that measures everything, with fewer retrieves.
    """
    pushes = list(made.pushes(2, workers=3, retrieves=30))
    made.add(deployment, pushes)
    for number, pool in enumerate(("intel", "amd-16")):
        (other,) = made.pushes(1, retrieves=30, change={0: {"amd-16": {"task.pool": pool}}})
        other.documents[0]["task"]["task_id"] = f"Prp_WjpGRx26VH-wA8fj{number}A"
        task_id = made.add_task(deployment, pushes[0], other.documents[0], 9, pool=pool)
    deployment.definitions[task_id]["tags"]["kind"] = "io-benchmark-all"
    with Loopback(deployment) as loopback:
        arrived, request, *_ = collect(loopback)
    assert sorted(ids(arrived)) == sorted(expected(pushes))
    assert request.problems == []


def test_what_is_gone_is_named(loopback, pushes):
    """An expired task, a lost artifact and an expired group each add one line."""
    first, second, _, fourth = expected(pushes)
    deployment = loopback.deployment
    del deployment.statuses[first], deployment.definitions[first]
    deployment.groups[pushes[0].group] = []
    deployment.set_result(second, 0, Artifact(storage_type="gone"))
    del deployment.groups[pushes[2].group]
    arrived, request, *_ = collect(loopback)
    assert ids(arrived) == [fourth]
    group, lost, task = sorted(text for _, text in request.problems)
    assert group == f"group:{pushes[2].group}: does not exist at {loopback.url}, or has expired"
    lost_content = "run 0 (io-benchmark-amd-16): lost its artifact's content: "
    assert lost.startswith(f"task {second} {lost_content}")
    assert task == f"task {first} of 2026-04-27: does not exist; it may have expired"


@pytest.mark.parametrize(
    ("name", "is_used"),
    [
        ("20260429030000", True),  # a day later
        ("20260429030001", False),
        ("20250324030000", True),  # 400 days before
        ("20250324025959", False),
    ],
)
def test_a_date_that_no_push_has(deployment, name, is_used):
    """The task's date replaces an impossible date of the index, with a remark."""
    (push,) = made.pushes(1, retrieves=30)
    task_id = made.add_task(deployment, push, push.documents[0], 0)
    deployment.index[f"{made.NAMESPACE}.{name}"] = task_id
    deployment.definitions[task_id]["created"] = "2026-04-28T03:00:00.000Z"
    created = datetime(2026, 4, 28, 3, tzinfo=UTC)
    with Loopback(deployment) as loopback:
        arrived, request, times, _ = collect(loopback)
    indexed = datetime.strptime(f"{name}Z", "%Y%m%d%H%M%S%z")
    assert ids(arrived) == [task_id]
    assert times == {push.group: indexed if is_used else created}
    expected = [] if is_used else ["its push; the task's date is used, 2026-04-28"]
    assert [text.partition("the date of ")[2] for _, text in request.remarks] == expected


def test_the_transform_writes_where_this_reads():
    """Both packages know the routes; neither imports the other."""
    from io_benchmark_taskgraph.transforms.index import name_of_pool, routes

    day = "20261121080000"
    params = {"project": "io-benchmark", "tasks_for": "cron", "head_rev": "", "moz_build_date": day}
    *_, by_date = routes("releng", params, name_of_pool("amd-16.2"))
    place = IndexAddress.by_date("io-benchmark", "amd-16.2", {})
    assert by_date == f"index.{place.route}.{day}"
    assert index_history.parse_date_name(day) == datetime(2026, 11, 21, 8, tzinfo=UTC)
