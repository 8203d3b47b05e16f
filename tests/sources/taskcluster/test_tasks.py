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
from io_benchmark.text import clean_name

REVISION = "1c9e2b7d0a5f4e3c8b6d7a9f0e1d2c3b4a5f6e7d"
TASK = "Prp_WjpGRx26VH-wA8fjTA"
STATUS = TaskStatus(task_id=TASK, task_group_id=TASK, state="completed", task_queue_id="a/b")
SCRIPT = 'cat << EOF\nadd_argument("--pool", required=True)  # --pool NAME\nEOF\n'


def definition(
    kind="io-benchmark", label="io-benchmark-amd-16", source="", routes=(), extra=None, **payload
):
    return TaskDefinition(
        tags=_Tags(kind=kind, label=label),
        metadata=_TaskMetadata(source=source),
        expires="2026-12-28T00:00:00.000Z",
        payload=msgspec.Raw(json.dumps(payload).encode()),
        routes=routes,
        extra=msgspec.Raw(json.dumps(extra).encode()),
    )


IMAGE = {"type": "task-image", "taskId": TASK, "path": "public/image.tar.zst"}
DATED = {"expires": "2026-12-01T00:00:00.000Z"}
GITHUB = "https://github.com/mozilla-releng/x/blob"
CUT = clean_name("a\u202eb" + "c" * 500)
PAST = "gecko.v2.try.date.io-benchmark.amd-16~2"


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        # The command's pool; else the label without its kind; else unknown.
        ("pool", {"command": ["sh", f"{SCRIPT}exec python3 \\\n  --pool a-30 --seed 1"]}, "a-30"),
        ("pool", {"command": [["bash", "-c", f"{SCRIPT}exec s --pool=intel"]]}, "intel"),
        ("pool", {"command": ["s --pool a-1", "sh"], "label": "io-benchmark-a-1-2"}, "a-1"),
        ("pool", {"command": ["python3.exe x.py run --pool win-2022 --seed 1"]}, "win-2022"),
        ("pool", {"command": ["true"]}, "amd-16"),
        ("pool", {"command": ["s --pool ../x"]}, "amd-16"),
        ("pool", {"command": ["s --pools a"], "label": "other"}, None),
        ("pool", {"command": None, "label": "io-benchmark-\x1b[31m"}, None),
        # docker-worker accepts four forms.
        ("image", {"image": IMAGE}, f"{TASK}/public/image.tar.zst"),
        ("image", {"image": {"type": "indexed-image", "namespace": "a.b", "path": "p"}}, "a.b/p"),
        ("image", {"image": {"type": "docker-image", "name": "x@sha256:1"}}, "x@sha256:1"),
        ("image", {"image": "x:latest"}, "x:latest"),
        ("image", {"image": None}, None),
        # An image, or else a command: the worker itself runs it.
        ("engine", {"image": "x", "command": [["a"]]}, "docker"),
        ("engine", {"command": [["a"]]}, "native"),
        ("engine", {"command": ["a -- b"]}, "native"),
        ("engine", {"command": []}, None),
        ("engine", {}, None),
        # The artifact's date, else the task's.
        ("artifact_expires", {"artifacts": {"public/io-benchmark": DATED}}, 1),
        ("artifact_expires", {"artifacts": [{"name": "public/io-benchmark", **DATED}]}, 1),
        ("artifact_expires", {"artifacts": {"public/logs": DATED}}, 28),
        ("artifact_expires", {"artifacts": "x"}, 28),
        # taskgraph gives a task the address of its kind.yml at its revision.
        ("revision", {"source": f"{GITHUB}/{REVISION}/taskcluster/kinds/x"}, REVISION),
        ("revision", {"source": f"https://hg.mozilla.org/try/file/{REVISION}/x"}, REVISION),
        ("revision", {"source": f"{GITHUB}/main/taskcluster/kinds/x"}, None),
        ("revision", {"source": f"https://example.com/{REVISION}"}, None),
        # What the kind names; anything may be in a task's `extra`.
        ("baseline", {"extra": {"io-benchmark": {"baseline": "intel"}, "index": {}}}, "intel"),
        ("baseline", {"extra": {"io-benchmark": {"baseline": "a\u202eb" + "c" * 500}}}, CUT),
        ("baseline", {"extra": {"io-benchmark": {"baseline": ["intel"]}}}, None),
        ("baseline", {"extra": {"io-benchmark": "intel"}}, None),
        ("baseline", {"extra": {"io-benchmark": {}}}, None),
        ("baseline", {"extra": [1]}, None),
        ("baseline", {}, None),
        # The namespace of the index that has a date for each push, of the task's own pool alone.
        ("past", {"routes": (f"index.{PAST}.20261121231056",)}, PAST),
        ("past", {"routes": ("index.gecko.v2.try.date.io-benchmark.a.20261121231056",)}, None),
        ("past", {"routes": ("index.gecko.v2.try.latest.io-benchmark.amd-16~2",)}, None),
        ("past", {"routes": (f"tc-treeherder.{PAST}.20261121231056",)}, None),
    ],
)
def test_what_a_definition_says(field, given, expected):
    """Each fact about a task, and None where the definition does not say it."""
    if field == "artifact_expires":
        expected = datetime(2026, 12, expected, tzinfo=UTC)
    label = "io-benchmark-amd-16.2" if field == "past" else "io-benchmark-amd-16"
    task = QueueTask.of(definition(**{"label": label, **given}), STATUS)
    assert getattr(task, field) == expected


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
