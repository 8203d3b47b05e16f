# SPDX-License-Identifier: MPL-2.0
"""From a result to readings, and what readings of earlier pushes show about a pool."""

import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import past
import pytest
import sample_history
import seed_workers
from msgspec.structs import replace
from seed_case import outcome

from io_benchmark import results
from io_benchmark.analysis.history.bounds import conditions_of
from io_benchmark.analysis.history.history_model import HistoryReading, Origin
from io_benchmark.analysis.history.readings import EarlierPushes, readings_of
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.report.content import text_of
from io_benchmark.sources.run_results import RunResult


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
        marks=MachineMarks(f"us-central1-f/{run.task.worker_id}", (), place, run.task.task_queue),
    )
    assert origin(run) == expected
    unknown = MachineMarks("unknown", (), place, run.pool)
    bare = replace(expected, revision=None, source="file", marks=unknown)
    assert origin(RunResult(run.result, None, "file")) == bare


def test_times() -> None:
    """In UTC; without the queue's time the result's own counts.

    A result without any is left out.
    """
    run, _ = measured(started="2026-05-01T10:00:00+02:00")
    assert origin(run).time == datetime(2026, 5, 1, 8, tzinfo=UTC)
    run, _ = measured(started="yesterday")
    assert origin(run).time == datetime(2026, 4, 27, 3, 9, tzinfo=UTC)
    undated = replace(run, result=replace(run.result, started="yesterday"))
    assert left_out_of(undated) == [("somewhere", "does not contain the time of its measurement")]


@pytest.mark.parametrize(
    ("job", "group", "task_id", "run_id"),
    [
        (
            {"system": "github-actions", "run": "1658", "attempt": 2, "job": "measure"},
            "github-actions 1658",
            "github-actions 1658/measure",
            2,
        ),
        (
            {"system": "jenkins", "run": "153", "job": "io/main"},
            "jenkins io/main 153",
            "jenkins io/main 153",
            None,
        ),
        # Two rehearsals on one day may be before and after a change: each is a point.
        ({"system": "circleci"}, "unknown 2026-04-27T03:09:00+00:00", "unknown", None),
    ],
)
def test_jobs_of_other_ci_systems(job, group, task_id, run_id):
    """The jobs of one run are one point, with its system's name; Jenkins numbers runs of a job."""
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
    assert (reading.subject, left_out) == (seed_workers.SUBJECT, [])
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


def left_out_of(run: RunResult) -> list[tuple[str, str]]:
    """Return the lines about what is left out of a run that has no reading."""
    readings, left_out = readings_of(run)
    assert readings == []
    return [(line.source, text_of(line.reason)) for line in left_out]


def test_what_is_left_out() -> None:
    """By the rules of a comparison, and by name, with the reason."""
    run, push = measured({"workloads.0.outcome": outcome("failed", "disk full")})
    name = f"amd-16, task {push.documents[0]['task']['task_id']} run 0"
    line = f"incomplete: {name}: 60 of 60 retrieves: disk full"
    assert left_out_of(run) == [("2026-04-27", line)]
    run, _ = measured({"workloads": [], "outcome": outcome("failed", "no space")})
    assert left_out_of(run) == [("2026-04-27", f"{name}: measured nothing: no space")]


# Their standard deviation is 0.1.
DEVIATIONS = (-0.1, 0.0, 0.1)


@pytest.fixture(scope="module")
def run() -> Run:
    """What is compared: a worker of intel."""
    (worker,) = seed_workers.workers(1, pools=("intel",))
    return worker.runs[0]


def reading(run: Run, week: int, log_mean: float, machine: str) -> HistoryReading:
    made = sample_history.reading(week, 76, percent=100 * log_mean, marks=MachineMarks(machine))
    return replace(made, subject=run.subject, conditions=conditions_of(run))


def by_week(*deviations: float) -> list[tuple[int, float, str]]:
    """Return a week, a deviation and a machine for each of several weeks."""
    return [(week, deviation, f"m{week}") for week, deviation in enumerate(deviations)]


ONE_PUSH = [(0, deviation, f"m{deviation}") for deviation in DEVIATIONS]
STEP = [DEVIATIONS[week % 3] / 5 + (0.65 if week >= 9 else 0.0) for week in range(18)]
TWO_PUSHES = [
    (week, 0.65 * week + part, f"m{week}-{part}") for week in (0, 1) for part in DEVIATIONS
]


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        # One push shows nothing of others, and two are too few to see how far their levels differ.
        (ONE_PUSH, None),
        (TWO_PUSHES, None),
        # Two degrees of freedom are the fewest that count.
        (by_week(*DEVIATIONS), (3, 0.1)),
        # A step of 1.92× is left out: pushes differ by 2 % within both levels.
        (by_week(*STEP), (18, 0.02 * math.sqrt(12 / 16))),
    ],
    ids=["one-push", "a-step-between-two-pushes", "three-pushes", "a-step"],
)
def test_how_far_pushes_differ(run, readings, expected):
    """How many earlier pushes there are, and how far their levels differ."""
    earlier = EarlierPushes({"intel": [reading(run, *values) for values in readings]})
    found = earlier.variance(run)
    levels = None if found is None else (found[0], math.sqrt(found[1].variance))
    assert levels == (None if expected is None else pytest.approx(expected))


def test_what_does_not_count(run: Run) -> None:
    """Two pushes, another pool, another measurement, or one under other conditions."""
    made = [reading(run, *values) for values in by_week(*DEVIATIONS)]
    fresh = replace(made[0].subject, destination="fresh")
    quick = (("profile", statement("profile quick")),)
    for readings in (
        {"intel": made[:2]},
        {"amd-16": made},
        {"intel": [replace(known, subject=fresh) for known in made]},
        {"intel": [replace(known, conditions=quick) for known in made]},
    ):
        assert EarlierPushes(readings).variance(run) is None
    assert EarlierPushes({"intel": made}).variance(run) is not None
