# SPDX-License-Identifier: MPL-2.0
"""What a fleet keeps of a result, and what it leaves out."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import past
import pytest
from msgspec.structs import replace
from seed_case import outcome

from io_benchmark import results
from io_benchmark.analysis.fleet.fleet_model import WorkerReading
from io_benchmark.analysis.fleet.readings import reading_of
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.report.content import text_of
from io_benchmark.sources.run_results import RunResult

LONG = "<b>ж" * 2_000
MOST_BYTES = 12_000


def run(change: dict[str, Any] | None = None, **about: Any) -> RunResult:
    """Return a run of amd-16 whose result and whose queue's record have these changes."""
    (push,) = past.pushes(1, retrieves=60, change={0: {"amd-16": change or {}}})
    record = past.record(push, push.documents[0])
    result = results.parse(json.dumps(push.documents[0]).encode(), "document")
    return RunResult(result, replace(record, **about), "somewhere")


def reading(*arguments: Any, **about: Any) -> WorkerReading:
    made, left_out = reading_of(run(*arguments, **about))
    assert made is not None
    assert left_out == []
    return made


def left_out(made: RunResult) -> list[tuple[str, str]]:
    """Return the lines about a run that has no reading."""
    without, lines = reading_of(made)
    assert without is None
    return [(line.source, text_of(line.reason)) for line in lines]


def test_a_reading() -> None:
    """Where and when, by the queue's record; the machine's marks, its facts and its figures."""
    made, measured = reading(image="image"), run()
    task = measured.task
    assert task is not None
    assert (made.pool, made.queue, made.source) == ("amd-16", task.task_queue, "somewhere")
    assert (made.group, made.task_id, made.run_id) == (task.task_group_id, task.task_id, 0)
    assert made.time == datetime(2026, 4, 27, 3, 9, tzinfo=UTC)
    place = ("google", "us-central1", "us-central1-f")
    assert made.marks == MachineMarks(f"us-central1-f/{task.worker_id}", (), place, task.task_queue)
    assert dict(made.facts) == {
        "disks": "2",
        "disk models": "nvme_card0",
        "disk sizes": "375 GiB",
        "local SSDs": "2",
        "schedulers": "none",
        "file system": "ext4",
        "instance type": "c3d-standard-16-lssd",
        "I/O limits": "none",
        "CPU limits": "none",
        "CPU": "AMD EPYC 9B14",
        "CPUs": "16",
        "memory": "64 GiB",
        "kernel": "6.8.0-1024-gcp",
        "image": "image",
        "zone": "us-central1-f",
        "script": "1.0.0 966f539af48b",
    }
    assert set(made.values) == {"retrieve", "cpus"}


@pytest.mark.parametrize(
    ("model", "local_ssds"),
    [("nvme_card", "2"), ("PersistentDisk", "none"), ("Some other disk", None)],
)
def test_local_ssds(model, local_ssds):
    """By the disks' models; a model that no cloud has does not say it."""

    def models(places: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for device in places[0]["devices"]:
            if not device["below"]:
                device["model"] = model
        return places

    assert dict(reading({"storage.places": models}).facts).get("local SSDs") == local_ssds


def test_what_is_left_out() -> None:
    """By the rules of a comparison, with the reason; a result without a time, and an empty one."""
    task = run().task
    assert task is not None
    name = f"amd-16, task {task.task_id} run 0"
    failed = run({"workloads.0.outcome": outcome("failed", "disk full")})
    line = f"incomplete: {name}: 60 of 60 retrieves: disk full"
    assert left_out(failed) == [("2026-04-27", line)]
    empty = run({"workloads": [], "outcome": outcome("failed", "no space")})
    assert left_out(empty) == [("2026-04-27", f"{name}: measured nothing: no space")]
    undated = run(started="yesterday")
    undated = replace(undated, result=replace(undated.result, started="yesterday"))
    assert left_out(undated) == [("somewhere", "does not contain the time of its measurement")]


def hostile(document: dict[str, Any]) -> None:
    """Write a long text wherever a result may have one."""
    document["host"] |= {"kernel": LONG, "cpu_model": LONG, "boot_id": LONG}
    document["task"] |= {"instance_type": LONG, "location": {"zone": LONG, "cloud": LONG}}
    document["script"]["version"] = LONG
    for device in document["storage"]["places"][0]["devices"]:
        device["model"] = device["scheduler"] = LONG


def test_long_texts_are_cut() -> None:
    """What is kept of a hostile result is small; different texts stay different."""
    (push,) = past.pushes(1, retrieves=60)
    document = push.documents[0]
    hostile(document)
    result = results.parse(json.dumps(document).encode(), "document")
    record = replace(
        past.record(push, document), pool=LONG, task_queue=LONG + "!", worker_id=LONG, image=LONG
    )
    made, _ = reading_of(RunResult(result, record, LONG))
    assert made is not None
    assert len(msgspec.json.encode(made)) < MOST_BYTES
    assert (len(made.pool), len(made.queue)) == (200, 200)
    assert made.pool != made.queue
