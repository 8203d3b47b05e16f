# SPDX-License-Identifier: MPL-2.0
"""Tasks from definitions and statuses, which anyone can write."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark.sources.taskcluster import api_answers
from io_benchmark.sources.taskcluster.api_answers import (
    QueueRun,
    TaskDefinition,
    TaskStatus,
    _Tags,
    _TaskMetadata,
)
from io_benchmark.sources.taskcluster.tasks import QueueTask

REVISION = "1c9e2b7d0a5f4e3c8b6d7a9f0e1d2c3b4a5f6e7d"
TASK = "Prp_WjpGRx26VH-wA8fjTA"
STATUS = TaskStatus(task_id=TASK, task_group_id=TASK, state="completed", task_queue_id="a/b")
SCRIPT = 'cat << EOF\nadd_argument("--pool", required=True)  # --pool NAME\nEOF\n'


def definition(kind="io-benchmark", label="io-benchmark-amd-16", expires=None, **payload):
    return TaskDefinition(
        tags=_Tags(kind=kind, label=label),
        expires=expires,
        payload=msgspec.Raw(json.dumps(payload).encode()),
    )


@pytest.mark.parametrize(
    ("command", "label", "pool"),
    [
        (["bash", "-cx", f"{SCRIPT}exec python3 \\\n  --pool amd-30 --seed 1"], "x", "amd-30"),
        ([["bash", "-c", f"{SCRIPT}exec s --pool=intel"]], "x", "intel"),
        (["s --pool amd-16", "sh"], "io-benchmark-amd-16-2", "amd-16"),
        (["true"], "io-benchmark-amd-16", "amd-16"),
        (["s --pool ../x"], "io-benchmark-amd-16", "amd-16"),
        (["s --pools a"], "other", None),
        (None, "io-benchmark-\x1b[31m", None),
    ],
)
def test_the_pool(command, label, pool):
    """The command's pool; else the label without its kind; else unknown."""
    assert QueueTask.of(definition(label=label, command=command), STATUS).pool == pool


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        pytest.param(
            {"type": "task-image", "taskId": TASK, "path": "public/image.tar.zst"},
            f"{TASK}/public/image.tar.zst",
            id="task-image",
        ),
        ({"type": "indexed-image", "namespace": "a.b", "path": "p"}, "a.b/p"),
        ({"type": "docker-image", "name": "x@sha256:1"}, "x@sha256:1"),
        (None, None),
    ],
)
def test_the_image(image, shown):
    """docker-worker accepts four forms."""
    assert QueueTask.of(definition(image=image), STATUS).image == shown


@pytest.mark.parametrize(
    ("artifacts", "expires"),
    [
        ({"public/io-benchmark": {"expires": "2026-12-01T00:00:00.000Z"}}, 1),
        ([{"name": "public/io-benchmark", "expires": "2026-12-02T00:00:00Z"}], 2),
        ({"public/logs": {"expires": "2026-12-01T00:00:00.000Z"}}, 28),
        ("x", 28),
    ],
)
def test_when_the_artifact_expires(artifacts, expires):
    """The artifact's date, else the task's."""
    task = definition(expires="2026-12-28T00:00:00.000Z", artifacts=artifacts)
    date = QueueTask.of(task, STATUS).artifact_expires
    assert date == datetime(2026, 12, expires, tzinfo=UTC)


def test_a_record_is_one_line_a_field():
    """Untrusted names have no control characters and a limited length."""
    run = QueueRun(
        run_id=3, state="failed", worker_group="g\x1b[2J", worker_id="w" * 500, started="s\n"
    )
    task = QueueTask.of(TaskDefinition(metadata=_TaskMetadata(name="a\u202eb\nc")), STATUS)
    made = task.record(run, "pool")
    assert made.label == "a\ufffdb c"
    assert (made.worker_group, made.worker_id) == ("g\ufffd[2J", "w" * 199 + "…")
    assert (made.started, made.resolved, made.run_id, made.task_queue) == ("s", "", 3, "a/b")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries({"image": json_values, "command": json_values, "artifacts": json_values}),
    st.text(),
    st.text(),
)
def test_any_payload_makes_a_task(payload, kind, label):
    """No payload can stop the other tasks of its group."""
    made = QueueTask.of(definition(kind, label, **payload), STATUS)
    assert isinstance(made, QueueTask)
    assert made.task_id == TASK


@pytest.mark.parametrize(
    "data",
    [
        b'{"status": {"taskId": "../../x", "taskGroupId": "y", "state": "z"}}',
        b'{"status": ' + b"[" * 100_000,
        b'{"status": "\xff"}',
    ],
    ids=["path", "deep", "no-utf-8"],
)
def test_what_no_queue_answers(data):
    """It is a ValueError, so that an invalid id gets no further."""
    with pytest.raises(ValueError, match=r"\w"):
        api_answers.decode(data, api_answers.StatusAnswer)


def test_the_most_objects_of_an_answer(monkeypatch):
    """The limit itself is allowed."""
    monkeypatch.setattr(api_answers, "_MAXIMUM_OBJECTS", 2)
    assert api_answers.decode(b'{"a": {}}', dict[str, Any]) == {"a": {}}
    with pytest.raises(ValueError, match="more than 2 objects in one answer"):
        api_answers.decode(b'{"a": {}, "b": {}}', dict[str, Any])


@pytest.mark.parametrize(
    ("source", "revision"),
    [
        (f"https://github.com/mozilla-releng/x/blob/{REVISION}/taskcluster/kinds/x", REVISION),
        (f"https://hg.mozilla.org/try/file/{REVISION}/taskcluster/kinds/x", REVISION),
        ("https://github.com/x/y/blob/main/taskcluster/kinds/x", None),
        (f"https://example.com/{REVISION}", None),
        ("", None),
    ],
)
def test_revision(source, revision):
    """taskgraph gives a task the address of its kind.yml at its revision."""
    task = QueueTask.of(TaskDefinition(metadata=_TaskMetadata(source=source)), STATUS)
    assert task.revision == revision


@pytest.mark.parametrize(
    ("pool", "routes", "expected"),
    [
        ("amd-16.2", ["index.gecko.v2.try.date.io-benchmark.amd-16~2.20261121231056"], True),
        # Of another pool, by another name, or without a date.
        ("amd-16", ["index.gecko.v2.try.date.io-benchmark.amd-30.20261121231056"], False),
        ("amd-16", ["index.gecko.v2.try.latest.io-benchmark.amd-16"], False),
        ("amd-16", ["tc-treeherder.v2.try.date.io-benchmark.amd-16.20261121231056"], False),
        ("amd-16", [], False),
    ],
)
def test_where_the_past_of_a_pool_is(pool, routes, expected):
    """The namespace of the index that has a date for each push, of the task's own pool alone."""
    label = f"io-benchmark-{pool}"
    definition = TaskDefinition(
        metadata=_TaskMetadata(name=label),
        tags=_Tags(label=label, kind="io-benchmark"),
        routes=tuple(routes),
    )
    past = QueueTask.of(definition, STATUS).past
    assert past == (routes[0].removeprefix("index.").rpartition(".")[0] if expected else None)
