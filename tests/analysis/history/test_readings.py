# SPDX-License-Identifier: MPL-2.0
"""From a result to readings: their origin, conditions and facts."""

import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import past
import pytest
from msgspec.structs import replace
from seed_case import outcome

from io_benchmark import results
from io_benchmark.analysis.history.history_model import HistoryReading, Origin
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.model import Subject
from io_benchmark.analysis.observed.machine_identity import MachineMarks
from io_benchmark.report.content.wording import text_of
from io_benchmark.sources.run_results import RunResult

SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")


def measured(change: dict[str, Any] | None = None, **about: Any) -> tuple[Any, past.Push]:
    """Return a run whose result and whose queue's record have these changes, and its push."""
    (push,) = past.pushes(1, retrieves=60, change={0: {"amd-16": change or {}}})
    record = past.record(push, push.documents[0])
    result = results.parse(json.dumps(push.documents[0]).encode(), "document")
    return RunResult(result, replace(record, **about), "somewhere"), push


def origin(run: RunResult) -> Origin:
    (reading,), _ = readings_of(run)
    return reading.origin


def test_where_a_result_is_from() -> None:
    """The queue's record is preferred to the result's own; a bare file has only the latter."""
    run, push = measured()
    time = push.time + timedelta(minutes=9)
    place = ("google", "us-central1", "us-central1-f")
    expected = Origin(
        group=push.group,
        time=time,
        revision=push.revision,
        task_id=push.documents[0]["task"]["task_id"],
        run_id=0,
        source="somewhere",
        marks=MachineMarks(f"us-central1-f/{run.task.worker_id}", (), place),
    )
    assert origin(run) == expected
    bare = replace(expected, revision=None, source="file", marks=MachineMarks("unknown", (), place))
    assert origin(RunResult(run.result, None, "file")) == bare


@pytest.mark.parametrize(
    ("started", "expected"),
    [
        ("2026-05-01T10:00:00+02:00", datetime(2026, 5, 1, 8, tzinfo=UTC)),
        ("2026-05-01T10:00:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        # The result's own time.
        *(
            (nonsense, datetime(2026, 4, 27, 3, 9, tzinfo=UTC))
            for nonsense in ("yesterday", "", "9999-12-31T23:59:59-23:59")
        ),
    ],
)
def test_times(started: str, expected: datetime) -> None:
    """In UTC; a result without a valid time is left out."""
    run, _ = measured(started=started)
    assert origin(run).time == expected
    undated = replace(run, result=replace(run.result, started="yesterday"))
    if expected.day == 27:
        reason = "does not contain the time of its measurement"
        assert left_out_of(undated) == ([], [("somewhere", reason)])


def test_a_result_without_a_group_is_a_separate_point() -> None:
    """Two rehearsals on one day may be before and after a change."""
    first, _ = measured({"task.task_group_id": None}, task_group_id=None)
    later = replace(first, task=replace(first.task, started="2026-05-01T10:00:00Z"))
    assert origin(first).group != origin(later).group


GITHUB = {"system": "github-actions", "run": "1658", "attempt": 2, "job": "measure"}
GITLAB = {"system": "gitlab-ci", "run": "1000", "job": "io: [amd-16, 1]"}
JENKINS = {"system": "jenkins", "run": "153", "job": "io/main"}


@pytest.mark.parametrize(
    ("job", "group", "task_id", "run_id"),
    [
        (GITHUB, "github-actions 1658", "github-actions 1658/measure", 2),
        (GITLAB, "gitlab-ci 1000", "gitlab-ci 1000/io: [amd-16, 1]", None),
        (JENKINS, "jenkins io/main 153", "jenkins io/main 153", None),
        ({"system": "circleci"}, "unknown 2026-04-27T03:09:00+00:00", "unknown", None),
    ],
)
def test_jobs_of_other_ci_systems(
    job: dict[str, Any], group: str, task_id: str, run_id: int | None
) -> None:
    """The jobs of one run are one point, named as its system does; Jenkins numbers runs of a job."""
    changed = {"task_id": None, "task_group_id": None, "run_id": None, "ci": job}
    change = {f"task.{key}": value for key, value in changed.items()}
    (push,) = past.pushes(1, retrieves=60, change={0: {"amd-16": change}})
    result = results.parse(json.dumps(push.documents[0]).encode(), "document")
    made = origin(RunResult(result, None, "file"))
    assert (made.group, made.task_id, made.run_id) == (group, task_id, run_id)


def test_readings() -> None:
    """The mean of the whole run, its conditions and its facts."""
    run, _ = measured(task_queue="queue", image="image")
    ((reading,), left_out) = readings_of(run)
    samples = run.result.workloads[0].samples
    mean_ns = (sum(samples.lookup_ns) + sum(samples.copy_ns)) / len(samples.copy_ns)
    assert reading.log_mean == pytest.approx(math.log(mean_ns))
    assert (reading.subject, left_out) == (SUBJECT, [])
    assert {rule: text_of(traits) for rule, traits in reading.conditions} == {
        "profile": "profile full",
        "sequence": "seed 1, sequence over 100 files",
        "sizes": "40 × 80 MiB, 40 × 60 MiB, 20 × 5 MiB, list of sizes 8308f2ec2c2a",
        "retrieves": "60 retrieves planned, sequence 2422f45c31d8",
        "copy-method": "copied by sendfile",
        "lookup-method": "looked up by grep -Fnx, posix_spawn",
        "reflink": "copies move bytes",
        "cache-state": "cold cache",
        "place-kind": "a place on volume",
    }
    assert dict(reading.facts)["task queue"] == "queue"


def left_out_of(run: RunResult) -> tuple[list[HistoryReading], list[tuple[str, str]]]:
    """Return the readings of a run, and the lines about what is left out."""
    readings, left_out = readings_of(run)
    return readings, [(line.source, text_of(line.reason)) for line in left_out]


FULL, NO_SPACE = outcome("failed", "disk full"), outcome("failed", "no space")


@pytest.mark.parametrize(
    ("change", "rule", "reason"),
    [
        ({"workloads.0.outcome": FULL}, "incomplete: ", "60 of 60 retrieves: disk full"),
        ({"workloads": [], "outcome": NO_SPACE}, "", "measured nothing: no space"),
    ],
)
def test_what_is_left_out(change: dict[str, Any], rule: str, reason: str) -> None:
    """By the rules of a comparison, and by name, with the reason."""
    run, push = measured(change)
    task_id = push.documents[0]["task"]["task_id"]
    line = f"{rule}amd-16, task {task_id} run 0: {reason}"
    assert left_out_of(run) == ([], [("2026-04-27", line)])
