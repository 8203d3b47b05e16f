# SPDX-License-Identifier: MPL-2.0
"""What the queue gets."""

import json
from datetime import UTC, datetime

import pytest
from native_project import project
from submitted_tasks import generated

from io_benchmark.errors import UsageError
from io_benchmark.graph.generate import generate
from io_benchmark.submit.definitions import SubmissionOptions, select_tasks
from io_benchmark.submit.task_creation import dated
from io_benchmark.submit.values import parse_image

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
NAME = "host/image:1"
IMAGE = SubmissionOptions(image=NAME, owner="jane@example.com")
TASK = "Prp_WjpGRx26VH-wA8fjTA"
BUILT = {"type": "task-image", "taskId": TASK, "path": "public/image.tar.zst"}
INDEXED = {"type": "indexed-image", "namespace": "a.v2.b.latest", "path": "public/image.tar.zst"}
GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"
VOLUMES = {"TASKCLUSTER_VOLUMES": "/builds/worker/workspace"}


def final(settings, *tasks):
    """Return the definitions of the tasks in their group, as JSON."""
    made = select_tasks(tasks or [generated("amd-16")], settings, GROUP)
    assert all(task.label == task.definition["metadata"]["name"] for task in made)
    return json.loads(json.dumps([dated(task.definition, NOW) for task in made]))


def test_a_whole_definition():
    """Dates are set, the image is named, and nothing of a decision task is left."""
    (definition,) = final(IMAGE)
    assert definition == {
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
            "owner": "jane@example.com",
            "source": "https://host/blob/main/taskcluster/kinds/io-benchmark",
        },
        "extra": {"treeherder": {"symbol": "amd16"}},
        "tags": {"kind": "io-benchmark", "label": "io-benchmark-amd-16"},
        "priority": "low",
        "payload": {
            "image": NAME,
            "command": ["bash", "-cx", "x --pool amd-16 --time-budget 3300 \\\n --profile full"],
            "maxRunTime": 3600,
            "artifacts": {"public/a": {"expires": "2026-12-05T12:00:00.000Z"}},
        },
    }


def test_a_native_task(tmp_path):
    """Its worker starts the command itself: there is no decision task with a run-task."""
    tasks = generate(project(tmp_path), ["wayland"])
    (definition,) = final(IMAGE, *tasks)
    payload = definition["payload"]
    assert "image" not in payload
    ((*words, text),) = payload["command"]
    assert words == ["bash", "-ec"]
    assert "--pool wayland" in text
    assert [mount["file"] for mount in payload["mounts"]] == ["io-benchmark.py"]
    (task,) = select_tasks(tasks, IMAGE, GROUP)
    assert task.limit_s == 3300
    assert task.definition.get("dependencies") is None


def test_a_task_of_windows(tmp_path):
    """It is started the same way; the variables of a plan are in its environment."""
    tasks = generate(project(tmp_path, {"container": "b-linux", "win": "t-win"}), ["win"])
    planned = SubmissionOptions(owner="jane@example.com", until_decided=True)
    definition, *more = final(planned, *tasks)
    payload = definition["payload"]
    assert [mount["file"] for mount in payload["mounts"]] == ["io-benchmark.py"]
    (line,) = payload["command"]
    assert line.startswith("C:/mozilla-build/python3/python3.exe -X utf8 -u -B io-benchmark.py ")
    assert " run --pool win --workload cache-retrieve " in line
    assert payload["env"]["IO_BENCHMARK_REPLICATES"] == "3,6,12,24"
    assert [made["payload"] for made in more] == [payload] * 2
    (task, *_) = select_tasks(tasks, planned, GROUP)
    assert task.limit_s == 3300


def test_a_new_pool_of_windows(tmp_path):
    """It runs the task of the first selected pool under its own name."""
    tasks = generate(project(tmp_path, {"container": "b-linux", "win": "t-win"}), ["win"])
    queues = {"win": "example-t/t-win", "alpha-image": "example-t/t-win-alpha"}
    options = SubmissionOptions(owner="jane@example.com", queues=queues)
    lines = [made["payload"]["command"][0] for made in final(options, *tasks)]
    assert lines[1] == lines[0].replace("--pool win ", "--pool alpha-image ")


def test_a_native_task_without_run_task():
    """Nothing says what it would run."""
    payload = {"command": [["make"]], "mounts": []}
    with pytest.raises(UsageError) as caught:
        final(IMAGE, generated("amd-16", payload=payload))
    assert str(caught.value) == (
        "io-benchmark-amd-16: its command is not `run-task … -- …`; select a task that uses "
        "run-task"
    )


@pytest.mark.parametrize(
    ("image", "given", "expected", "volumes"),
    [
        (BUILT, {"path": "x"}, {**BUILT, "path": "x"}, VOLUMES),
        ("debian", {"path": "x.tar"}, "debian", {}),
    ],
    ids=["path-of-the-kind", "name"],
)
def test_where_an_image_is(image, given, expected, volumes):
    """A task's image lies where the kind says, and its task is a dependency.

    run-task stops at a volume that the image does not have: a registry's has its own.
    """
    payload = {"image": given, "command": [], "env": {"A": "1", **VOLUMES}}
    (definition,) = final(SubmissionOptions(image=image), generated("amd-16", payload=payload))
    assert definition["payload"]["image"] == expected
    assert definition["payload"]["env"] == {"A": "1", **volumes}
    assert definition.get("dependencies") == ([TASK] if isinstance(image, dict) else None)


@pytest.mark.parametrize(
    ("replicates", "labels"),
    [(None, ["a-1", "b", "a-2"]), (1, ["a", "b"]), (2, ["a-1", "b-1", "a-2", "b-2"])],
)
def test_replicates(replicates, labels):
    """So many there are in the end, interleaved; without the option the kind says."""
    tasks = [generated("a", 1), generated("a", 2), generated("b")]
    made = final(SubmissionOptions(image=NAME, replicates=replicates), *tasks)
    names = [f"io-benchmark-{label}" for label in labels]
    assert [task["metadata"]["name"] for task in made] == names
    assert [task["tags"]["label"] for task in made] == names
    assert [task["extra"]["treeherder"]["symbol"] for task in made] == labels


@pytest.mark.parametrize(("replicates", "planned"), [(3, "3"), (1, None)])
def test_the_plan_is_in_each_task(replicates, planned):
    """--replicates replaces the plan of the kind."""
    payload = {"image": "a", "env": {"IO_BENCHMARK_REPLICATES": "2"}}
    settings = SubmissionOptions(image=NAME, replicates=replicates)
    made = final(settings, generated("amd-16", payload=payload))
    plans = [task["payload"].get("env", {}).get("IO_BENCHMARK_REPLICATES") for task in made]
    assert plans == [planned] * replicates


def test_scopes():
    """What the creator needs, and what the task itself has, as taskgraph writes it."""
    scopes = [{"task-reference": "docker-worker:cache:level-1-x"}, "docker-worker:capability:y"]
    (task,) = select_tasks([generated("amd-16", scopes=scopes)], IMAGE, GROUP)
    own = ["docker-worker:cache:level-1-x", "docker-worker:capability:y"]
    assert task.definition["scopes"] == own
    assert sorted(task.submitter_scopes) == [
        *own,
        "queue:create-task:low:releng-1/type-amd-16",
        "queue:create-task:project:none",
        "queue:scheduler-id:-",
    ]


REFERENCE = {"env": {"A": {"task-reference": "<build>"}}}


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (generated("amd-16", payload=REFERENCE), "has a task-reference, and a submission does not"),
        (generated(""), "does not measure a pool"),
    ],
    ids=["reference", "no pool"],
)
def test_refusals(task, message):
    """Each names what is wrong."""
    with pytest.raises(UsageError, match=message):
        final(IMAGE, task)


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("debian:12", "debian:12"),
        ("ghcr.io/a/b@sha256:0f", "ghcr.io/a/b@sha256:0f"),
        ("localhost:5000/b", "localhost:5000/b"),
        (f"task:{TASK}", BUILT),
        ("index:a.v2.b.latest", INDEXED),
        ("", None),
        ("two words", None),
        ("-rf", None),
        ("index:", None),
        ("a\nb", None),
        ("task:short", None),
        (f"task:{TASK}.1", None),
    ],
)
def test_forms_of_an_image(name, image):
    """As docker-worker's payload names them; nothing is guessed."""
    if image is None:
        with pytest.raises(UsageError):
            parse_image(name)
    else:
        assert parse_image(name) == image
