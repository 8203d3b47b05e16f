# SPDX-License-Identifier: MPL-2.0
"""The report's task: after the pools' tasks, with the time and the deadline that it needs."""

import pytest
from pytest_taskgraph import make_task
from user_mistakes import mistake

from io_benchmark_taskgraph.report_stanza import ReportSettings
from io_benchmark_taskgraph.transforms import report

DAY = ("1 day", "28 days")
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
        "deadline-after": "2 days",
        "expires-after": "28 days",
        "soft-dependencies": ["b-0", "b-1", "b-2"],
        "requires": "all-resolved",
        "run": {"using": "run-task", "command": ReportSettings(5, "amd", None, ()).command()},
    }


LONG, LONGER = ({"worker": {"max-run-time": limit_s}} for limit_s in (172_800, 85_230))
GIVEN = {"deadline-after": "1520 minutes", "expires-after": "1 year"}


@pytest.mark.parametrize(
    ("pools", "changes", "expected"),
    [
        # After the last, and kept as long as all results are.
        ([DAY, ("36 hours", "1 year"), ("90 minutes", "28 days")], {}, ("60 hours", "28 days")),
        # More than a day for the report itself.
        ([("1 hour", "28 days")], LONG, ("2960 minutes", "28 days")),
        ([("1 hour", "1 year")], LONGER, ("90030 seconds", "1 year")),
        ([DAY], GIVEN, ("1520 minutes", "1 year")),
    ],
)
def test_times(make_report, pools, changes, expected):
    """A day after the last pool's task, or as long as it runs where that is more; or as given."""
    task = make_report(*pools, **changes)
    assert (task["deadline-after"], task["expires-after"]) == expected


def test_enough_time(make_report):
    """The waiting and ten minutes, and not a second less."""
    make_report(worker={"max-run-time": 900})
    assert mistake(make_report, worker={"max-run-time": 899}).endswith(
        "task report: worker.max-run-time: 899 does not hold 5 minutes of waiting and 600 s for the "
        "rest; raise it to 900 or lower report.wait-minutes"
    )


DEADLINE = "deadline-after: "
EXPIRES = "expires-after: "
LENGTH = "is not a length of time; write one such as 2 days"
REMEDY = "before the report's deadline of 2 days; raise expires-after of that task"


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
            *([DAY], {"deadline-after": "1519 minutes"}),
            f"{DEADLINE}1519 minutes is too early: the pools' tasks may take until 1 day and ",
            "the report after them until 1520 minutes; write at least 1520 minutes, or remove the key",
        ),
        (
            *([("100 hours", "28 days")], {}),
            f"{DEADLINE}124 hours is later than the queue accepts, 5 days; lower deadline-after ",
            "of the pools' tasks or of the report",
        ),
        (
            *([DAY, ("1 day", "47 hours")], {}),
            *(f"{EXPIRES}a pool's task expires after 47 hours, ", REMEDY),
        ),
        (
            *([DAY], {"expires-after": "1 day"}),
            *(f"{EXPIRES}the report expires after 1 day, ", REMEDY),
        ),
        ([DAY], {"deadline-after": 2}, f"{DEADLINE}2 ", LENGTH),
        ([DAY], {"deadline-after": "1.5 days"}, f"{DEADLINE}'1.5 days' ", LENGTH),
        ([DAY], {"expires-after": "2 fortnights"}, f"{EXPIRES}'2 fortnights' ", LENGTH),
    ],
)
def test_mistakes(make_report, pools, changes, start, end):
    """What the queue would refuse, or would end without a report, is one line."""
    message = mistake(make_report, *pools, **changes)
    assert f"kind.yml: task report: {start}" in message
    assert message.endswith(end)
