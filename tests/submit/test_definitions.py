# SPDX-License-Identifier: MPL-2.0
"""What the queue gets."""

from datetime import UTC, datetime

import pytest
from submitted_tasks import generated, of_all

from io_benchmark.errors import UsageError
from io_benchmark.operations.announcement import Announcement
from io_benchmark.submit.definitions import (
    SubmissionSettings,
    job_of,
    parse_image,
    select_tasks,
    submitter_scopes,
)
from io_benchmark.submit.submission import Submission

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
POOLS = ("amd-16", "amd-30", "intel")
IMAGE = SubmissionSettings(image="host/image:1")
TASK = "Prp_WjpGRx26VH-wA8fjTA"
BUILT = {"type": "task-image", "taskId": TASK, "path": "public/image.tar.zst"}
GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"
RECORD = "io-benchmark-submission"


def final(settings, *tasks):
    chosen = select_tasks(tasks or [generated("amd-16")], settings)
    return Submission.of(["io-benchmark"], settings, chosen).ready(chosen, GROUP, NOW)


def test_a_whole_definition():
    """Dates are set, the image is named, and nothing of a decision task is left."""
    (task,) = final(IMAGE)
    assert (task.task_id, task.label) == (GROUP, "io-benchmark-amd-16")
    record = task.definition["extra"].pop(RECORD)
    assert (record["jobs"], record["tasks"], record["version"]) == (("io-benchmark",), 1, 1)
    assert task.definition == {
        "provisionerId": "releng-1",
        "workerType": "type-amd-16",
        "taskGroupId": GROUP,
        "schedulerId": "-",
        "routes": [],
        "created": "2026-11-21T12:00:00.000Z",
        "deadline": "2026-11-22T12:00:00.000Z",
        "expires": "2026-12-19T12:00:00.000Z",
        "scopes": [],
        "metadata": {
            "name": "io-benchmark-amd-16",
            "description": "measures",
            "owner": "nobody@mozilla.com",
            "source": "https://host/blob/main/taskcluster/kinds/io-benchmark",
        },
        "extra": {"treeherder": {"symbol": "amd16"}},
        "tags": {"kind": "io-benchmark", "label": "io-benchmark-amd-16"},
        "priority": "low",
        "payload": {
            "image": "host/image:1",
            "command": ["bash", "-cx", "x --pool amd-16 --time-budget 3300 \\\n --profile full"],
            "maxRunTime": 3600,
            "artifacts": {"public/a": {"expires": "2026-12-05T12:00:00.000Z"}},
        },
    }


def test_two_kinds_of_a_pool():
    """They are no replicates of each other: each has as many as are asked for, and its own cost."""
    tasks = [generated("amd-16"), of_all("amd-16")]
    settings = SubmissionSettings(
        image="host/image:1", replicates=2, pools={"amd-16": "some/queue"}
    )
    chosen = select_tasks(tasks, settings)
    assert [one.label for one in chosen] == [
        "io-benchmark-amd-16-1",
        "io-benchmark-all-amd-16-1",
        "io-benchmark-amd-16-2",
        "io-benchmark-all-amd-16-2",
    ]
    assert [share.summary for share in Announcement(chosen, "-", {}).cost.shares] == [
        "io-benchmark-amd-16: at most 110 minutes of worker time (2 tasks of 55 minutes on some/queue)",
        "io-benchmark-all-amd-16: at most 2.9 worker hours (2 tasks of 85 minutes on some/queue)",
    ]


@pytest.mark.parametrize(
    ("label", "pool", "job"),
    [
        pytest.param("io-benchmark-amd-16", "amd-16", "io-benchmark-amd-16", id="single"),
        pytest.param("io-benchmark-amd-16-12", "amd-16", "io-benchmark-amd-16", id="replicate"),
        pytest.param("io-benchmark-all-2-2", "2", "io-benchmark-all-2", id="numbers"),
        pytest.param("io-benchmark-amd-160", "amd-16", None, id="other-pool"),
        pytest.param("amd-16", "amd-16", None, id="no-kind"),
    ],
)
def test_a_job(label, pool, job):
    """All replicates of a pool's task share its label without their numbers."""
    assert job_of(label, pool) == job


@pytest.mark.parametrize(
    ("image", "volumes"),
    [
        pytest.param("host/image:1", {}, id="registry"),
        pytest.param(
            {"type": "task-image", "taskId": "x", "path": "p"},
            {"TASKCLUSTER_VOLUMES": "/builds/worker/workspace"},
            id="built-by-a-task",
        ),
    ],
)
def test_volumes_are_those_of_the_image_that_runs(image, volumes):
    """run-task stops at a volume that the image does not have: a registry's has its own."""
    payload = {
        "image": {"type": "task-image"},
        "command": [],
        "env": {"A": "1", "TASKCLUSTER_VOLUMES": "/builds/worker/workspace"},
    }
    (task,) = final(SubmissionSettings(image=image), generated("amd-16", payload=payload))
    assert task.definition["payload"]["env"] == {"A": "1"} | volumes


@pytest.mark.parametrize(
    ("image", "given", "expected"),
    [
        pytest.param(BUILT, {"path": "x.tar"}, {**BUILT, "path": "x.tar"}, id="path-of-the-kind"),
        pytest.param(BUILT, "debian", BUILT, id="kind-without-a-path"),
        pytest.param("debian", {"path": "x.tar"}, "debian", id="name"),
    ],
)
def test_where_an_image_is(image, given, expected):
    """A task's image lies where the kind says; a name has no path."""
    payload = {"image": given, "command": []}
    (task,) = final(SubmissionSettings(image=image), generated("amd-16", payload=payload))
    assert task.definition["payload"]["image"] == expected
    assert task.definition.get("dependencies") == ([TASK] if isinstance(image, dict) else None)


def test_replicates_are_interleaved():
    """A pool's workers do not all start first; one group, ids of their own."""
    settings = SubmissionSettings(image="host/image:1", replicates=2)
    tasks = final(settings, *map(generated, POOLS))
    assert [one.label for one in tasks] == [
        f"io-benchmark-{pool}-{number}" for number in (1, 2) for pool in POOLS
    ]
    assert len({one.task_id for one in tasks}) == 6
    assert tasks[0].task_id == GROUP
    assert {one.definition["taskGroupId"] for one in tasks} == {GROUP}
    named = [
        (
            one.definition["metadata"]["name"],
            one.definition["tags"]["label"],
            one.definition["extra"]["treeherder"]["symbol"],
        )
        for one in tasks
    ]
    assert named[3] == ("io-benchmark-amd-16-2", "io-benchmark-amd-16-2", "amd16-2")


@pytest.mark.parametrize(
    ("replicates", "labels"),
    [
        pytest.param(None, ["a-1", "b", "a-2"], id="as-the-kind-has"),
        pytest.param(1, ["a", "b"], id="one"),
    ],
)
def test_a_kind_with_replicates(replicates, labels):
    """--replicates is how many there are in the end; without it the kind says."""
    tasks = [generated("a", 1), generated("a", 2), generated("b")]
    made = final(SubmissionSettings(image="host/image:1", replicates=replicates), *tasks)
    assert [one.label for one in made] == [f"io-benchmark-{label}" for label in labels]
    assert [one.definition["tags"]["label"] for one in made] == [one.label for one in made]
    assert made[0].definition["extra"]["treeherder"]["symbol"] == labels[0]


def test_priority_and_scheduler():
    """As asked for; what its creator needs follows from that, and is nothing for routes."""
    settings = SubmissionSettings(image="host/image:1", priority="high", scheduler="me-level-1")
    tasks = final(settings)
    assert tasks[0].definition["routes"] == []
    assert (tasks[0].definition["priority"], tasks[0].definition["schedulerId"]) == (
        "high",
        "me-level-1",
    )
    assert submitter_scopes(select_tasks([generated("amd-16")], settings), "me-level-1") == [
        "queue:create-task:high:releng-1/type-amd-16",
        "queue:create-task:project:none",
        "queue:scheduler-id:me-level-1",
    ]


def test_scopes_by_payload():
    """What docker-worker asks of a task for its caches and capabilities."""
    payload = {
        "image": "x",
        "command": [],
        "cache": {"level-1-x": "/x"},
        "capabilities": {"privileged": True, "devices": {"kvm": True, "loopbackAudio": False}},
    }
    (task,) = final(SubmissionSettings(), generated("amd-16", payload=payload))
    assert task.definition["scopes"] == [
        "docker-worker:cache:level-1-x",
        "docker-worker:capability:device:kvm",
        "docker-worker:capability:privileged",
    ]


def test_another_reference():
    """The place is named."""
    tasks = [generated("amd-16", payload={"env": {"A": {"task-reference": "<build>"}}})]
    with pytest.raises(UsageError, match=r"payload.env.A refers to another task \(<build>\)"):
        final(IMAGE, *tasks)


def test_unknown_pool():
    """With those that there are."""
    with pytest.raises(
        UsageError, match=r"--pool arm=a/b: pool is not selected; choose one of amd-16"
    ):
        final(SubmissionSettings(image="x", pools={"arm": "a/b"}))


def test_tasks_of_no_pool():
    """They are left out; alone they are a mistake."""
    other = generated("")
    (task,) = final(IMAGE, other, generated("intel"))
    assert task.label == "io-benchmark-intel"
    with pytest.raises(UsageError, match="does not measure a pool"):
        final(IMAGE, other)


@pytest.mark.parametrize(
    ("text", "image"),
    [
        pytest.param("debian:12", "debian:12", id="name"),
        pytest.param("ghcr.io/a/b@sha256:0f", "ghcr.io/a/b@sha256:0f", id="digest"),
        pytest.param("localhost:5000/b", "localhost:5000/b", id="port"),
        pytest.param(f"task:{TASK}", BUILT, id="task"),
        pytest.param(
            "index:a.v2.b.latest",
            {
                "type": "indexed-image",
                "namespace": "a.v2.b.latest",
                "path": "public/image.tar.zst",
            },
            id="index",
        ),
    ],
)
def test_forms_of_an_image(text, image):
    """As docker-worker's payload names them."""
    assert parse_image(text) == image


@pytest.mark.parametrize(
    "text", ["", "two words", "-rf", "task:short", f"task:{TASK}.1", "index:", "a\nb"]
)
def test_no_image(text):
    """Nothing is guessed."""
    with pytest.raises(UsageError):
        parse_image(text)


@pytest.mark.parametrize(
    ("replicates", "planned"),
    [pytest.param(3, "3", id="three"), pytest.param(1, None, id="one")],
)
def test_the_plan_is_in_each_task(replicates, planned):
    """--replicates replaces the plan of the kind."""
    payload = {"image": "a", "env": {"IO_BENCHMARK_REPLICATES": "2"}}
    settings = SubmissionSettings(image="host/image:1", replicates=replicates)
    made = final(settings, generated("amd-16", payload=payload))
    plans = [task.definition["payload"].get("env", {}) for task in made]
    expected = {} if planned is None else {"IO_BENCHMARK_REPLICATES": planned}
    assert plans == [expected] * replicates
