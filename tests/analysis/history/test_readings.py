# SPDX-License-Identifier: MPL-2.0
"""From a result to readings: their origin, conditions and facts."""

import json
import math
from datetime import UTC, datetime, timedelta

import msgspec
import past
import pytest
from msgspec.structs import replace
from seed_case import outcome

from io_benchmark import results
from io_benchmark.analysis.history.history_model import Origin
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.model import Subject
from io_benchmark.analysis.observed.machine_identity import MachineMarks
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.sources.run_results import RunResult

SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")


def measured(change=None, **about):
    (push,) = past.pushes(1, retrieves=60, change={0: {"amd-16": change or {}}})
    record = past.record(push, push.documents[0])
    result = results.parse(json.dumps(push.documents[0]).encode(), "document")
    return RunResult(result, msgspec.structs.replace(record, **about), "somewhere"), push


def origin(one: RunResult) -> Origin:
    (reading,), _ = readings_of(one)
    return reading.origin


def test_where_a_result_is_from():
    """The queue's word goes before the result's own."""
    one, push = measured()
    assert origin(one) == Origin(
        group=push.group,
        time=push.time + timedelta(minutes=9),
        revision=push.revision,
        task_id=push.documents[0]["task"]["task_id"],
        run_id=0,
        source="somewhere",
        marks=MachineMarks(
            f"us-central1-f/{one.task.worker_id}", (), ("google", "us-central1", "us-central1-f")
        ),
    )


def test_a_bare_file():
    """It says its group and its time itself; nobody knows the worker and the revision."""
    one, push = measured()
    bare = origin(RunResult(one.result, None, "file"))
    assert (bare.group, bare.revision, bare.marks.worker_id) == (push.group, None, "unknown")
    assert bare.time == push.time + timedelta(minutes=9)


@pytest.mark.parametrize(
    ("started", "expected"),
    [
        pytest.param("2026-05-01T10:00:00+02:00", datetime(2026, 5, 1, 8, tzinfo=UTC), id="zone"),
        pytest.param("2026-05-01T10:00:00", datetime(2026, 5, 1, 10, tzinfo=UTC), id="no-zone"),
    ],
)
def test_times(started, expected):
    """In UTC; without a zone it is that."""
    one, _ = measured(started=started)
    assert origin(one).time == expected


@pytest.mark.parametrize("nonsense", ["yesterday", "", "9999-12-31T23:59:59-23:59"])
def test_no_time(nonsense):
    """The result's own time is used; a result without a valid time is left out."""
    one, push = measured({}, started=nonsense)
    assert origin(one).time == push.time + timedelta(minutes=9)
    two = replace(one, result=msgspec.structs.replace(one.result, started=nonsense))
    assert left_out_of(two) == (
        [],
        [("somewhere", "does not contain the time of its measurement")],
    )


def test_a_result_without_a_group_is_a_point_of_its_own():
    """Two rehearsals on one day may be before and after a change."""
    first, _ = measured({"task.task_group_id": None}, task_group_id=None)
    later = replace(first, task=msgspec.structs.replace(first.task, started="2026-05-01T10:00:00Z"))
    assert origin(first).group != origin(later).group


@pytest.mark.parametrize(
    ("job", "group", "task_id", "run_id"),
    [
        pytest.param(
            {"system": "github-actions", "run": "1658", "attempt": 2, "job": "measure"},
            *("github-actions 1658", "github-actions 1658/measure", 2),
            id="github",
        ),
        pytest.param(
            {"system": "gitlab-ci", "run": "1000", "job": "io: [amd-16, 1]"},
            *("gitlab-ci 1000", "gitlab-ci 1000/io: [amd-16, 1]", None),
            id="gitlab",
        ),
        pytest.param(
            {"system": "jenkins", "run": "153", "job": "io/main"},
            *("jenkins io/main 153", "jenkins io/main 153", None),
            id="jenkins-numbers-the-runs-of-a-job",
        ),
        pytest.param({"system": "circleci"}, "unknown TIME", "unknown", None, id="no-run"),
    ],
)
def test_jobs_of_other_ci_systems(job, group, task_id, run_id):
    """The jobs of one run are one point, and a job is named as its system does."""
    change = {"task_id": None, "task_group_id": None, "run_id": None, "ci": job}
    changed = {f"task.{key}": value for key, value in change.items()}
    (push,) = past.pushes(1, retrieves=60, change={0: {"amd-16": changed}})
    result = results.parse(json.dumps(push.documents[0]).encode(), "document")
    found = origin(RunResult(result, None, "file"))
    time = (push.time + timedelta(minutes=9)).isoformat()
    assert found.group == group.replace("TIME", time)
    assert (found.task_id, found.run_id) == (task_id, run_id)


def test_readings():
    """The mean of the whole run, its conditions and its facts."""
    one, _ = measured(task_queue="queue", image="image")
    readings, left_out = readings_of(one)
    (found,) = readings
    samples = one.result.workloads[0].samples
    total_ns = [a + b for a, b in zip(samples.lookup_ns, samples.copy_ns, strict=True)]
    assert found.log_mean == pytest.approx(math.log(sum(total_ns) / len(total_ns)))
    assert found.subject == SUBJECT
    assert {rule: text_of(traits) for rule, traits in found.conditions} == {
        "profile": "profile full",
        "sequence": "seed 1, sequence over 100 files",
        "sizes": "files of 80 MiB, 60 MiB, 5 MiB",
        "retrieves": "60 retrieves planned",
        "copy-method": "copied by sendfile",
        "lookup-method": "looked up by grep -Fnx, posix_spawn",
        "reflink": "copies move bytes",
        "cache-state": "cold cache",
        "place-kind": "a place on volume",
    }
    assert dict(found.facts)["task queue"] == "queue"
    assert left_out == []


def left_out_of(one):
    """The readings of a run, and the lines about what is left out."""
    readings, left_out = readings_of(one)
    return readings, [(line.source, text_of(line.reason)) for line in left_out]


def test_an_incomplete_run_is_left_out():
    """By the rules of a comparison, and by name."""
    one, push = measured({"workloads.0.outcome": outcome("failed", "disk full")})
    task_id = push.documents[0]["task"]["task_id"]
    line = f"incomplete: amd-16, task {task_id} run 0: 60 of 60 retrieves: disk full"
    assert left_out_of(one) == ([], [("2026-04-27", line)])


def test_a_run_that_measured_nothing_is_left_out():
    """The history names it, with the reason."""
    one, push = measured({"workloads": [], "outcome": outcome("failed", "no space")})
    task_id = push.documents[0]["task"]["task_id"]
    line = f"amd-16, task {task_id} run 0: measured nothing: no space"
    assert left_out_of(one) == ([], [("2026-04-27", line)])
