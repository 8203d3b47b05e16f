# SPDX-License-Identifier: MPL-2.0
"""The report's task: after the pools' tasks, with the time and the deadline that it needs."""

import pytest
from pytest_taskgraph import make_task
from user_mistakes import mistake

from io_benchmark_taskgraph.report_stanza import ReportSettings
from io_benchmark_taskgraph.transforms import report

DAY = ("1 day", "28 days")
DAY_S = 24 * 3600
REPORT = {
    "name": "report",
    "label": "io-benchmark-report",
    "task-from": "kind.yml",
    "report": {"wait-minutes": 5, "baseline": "amd"},
    "worker": {"max-run-time": 3600},
    "run": {"using": "run-task"},
}


@pytest.fixture
def make_report(run_transform, make_transform_config):
    """Make the report of pools that have these deadlines and expiries."""

    def make(*times, **changes):
        dependencies = {"image": make_task("docker-image-x", kind="docker-image")}
        for number, (deadline, expires) in enumerate(times or [DAY, DAY, DAY]):
            label = f"b-{number}"
            dates = {"deadline": deadline, "expires": expires}
            dependencies[label] = make_task(
                label,
                kind="io-benchmark",
                attributes={"io_benchmark_pool": "intel" if number == 2 else "amd"},
                task_def={key: {"relative-datestamp": value} for key, value in dates.items()},
            )
        config = make_transform_config(kind_dependencies_tasks=dependencies)
        task = {**REPORT, "run": {"using": "run-task"}, **changes}
        [made] = run_transform(report.transforms, [task], config=config)
        return made

    return make


def test_report(make_report):
    """After the pools' tasks alone, however they end; the stanza has become the command."""
    expected = {key: value for key, value in REPORT.items() if key != "report"}
    assert make_report() == {
        **expected,
        "deadline-after": f"{2 * DAY_S} seconds",
        "expires-after": "28 days",
        "soft-dependencies": ["b-0", "b-1", "b-2"],
        "requires": "all-resolved",
        "run": {"using": "run-task", "command": ReportSettings(5, "amd", None, ()).command()},
    }


@pytest.mark.parametrize(
    ("pools", "limit_s", "expected"),
    [
        # After the last, and kept as long as all results are.
        ([DAY, ("36 hours", "1 year"), ("90 minutes", "28 days")], 3600, (60 * 3600, "28 days")),
        # More than a day for the report itself: from 85,200 s on.
        ([("1 hour", "28 days")], 85_200, (3600 + DAY_S, "28 days")),
        ([("1 hour", "1 year")], 85_201, (3601 + DAY_S, "1 year")),
        ([("96 hours", "5 days")], 3600, (5 * DAY_S, "5 days")),
    ],
)
def test_times(make_report, pools, limit_s, expected):
    """A day after the last pool's task, or as long as it runs where that is more."""
    task = make_report(*pools, worker={"max-run-time": limit_s})
    deadline_s, expires = expected
    assert (task["deadline-after"], task["expires-after"]) == (f"{deadline_s} seconds", expires)


def test_enough_time(make_report):
    """The waiting and ten minutes, and not a second less."""
    make_report(worker={"max-run-time": 900})
    assert mistake(make_report, worker={"max-run-time": 899}).endswith(
        "task report: worker.max-run-time: 899 does not hold 5 minutes of waiting and 600 s for the "
        "rest; raise it to 900 or lower report.wait-minutes"
    )


@pytest.mark.parametrize(
    ("pools", "changes", "start", "end"),
    [
        ([], {"report": {"baseline": "am"}}, "report.baseline: 'am' is not a pool", "amd, intel"),
        ([], {"label": "b-1"}, "label: b-1 is a pool's task already", "another name"),
        *(
            (
                *([], {"worker": {"max-run-time": limit}}),
                *(f"worker.max-run-time: {limit!r} is not a number of seconds", "such as 3600"),
            )
            for limit in (None, "3600", True, 3600.0)
        ),
        (
            *([("346 hours", "28 days")], {}),
            "deadline-after: 1332000 seconds are more than the queue accepts, 432000; lower ",
            "deadline-after of the pools' tasks",
        ),
        (
            *([DAY, ("1 day", "47 hours")], {}),
            "expires-after: a pool's task expires after 47 hours, before the report's deadline ",
            "of 172800 seconds; raise expires-after of that task",
        ),
    ],
)
def test_mistakes(make_report, pools, changes, start, end):
    """What the queue would refuse, or would end without a report, is one line."""
    message = mistake(make_report, *pools, **changes)
    assert f"kind.yml: task report: {start}" in message
    assert message.endswith(end)
