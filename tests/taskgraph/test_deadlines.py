# SPDX-License-Identifier: MPL-2.0
"""The report ends later than what it waits for."""

import pytest
from pytest_taskgraph import make_task
from user_mistakes import mistake

from io_benchmark_taskgraph.transforms.report import set_times

DAY = [("1 day", "28 days")]


def times(pools, max_run_time_s=3600, **given):
    """Return the report's deadline and expiry after pools with these."""
    tasks = [
        make_task(
            f"{deadline} {expires}",
            task_def={
                "deadline": {"relative-datestamp": deadline},
                "expires": {"relative-datestamp": expires},
            },
        )
        for deadline, expires in pools
    ]
    task = {**given, "worker": {"max-run-time": max_run_time_s}}
    set_times(task, tasks)
    return task["deadline-after"], task["expires-after"]


GIVEN = {"deadline-after": "1541 minutes", "expires-after": "1 year"}


@pytest.mark.parametrize(
    ("pools", "more", "expected"),
    [
        (DAY, {}, ("2 days", "28 days")),
        # After the last, and kept as long as all results are.
        ([*DAY, ("36 hours", "1 year"), ("90 minutes", "28 days")], {}, ("60 hours", "28 days")),
        # More than a day for the report itself.
        ([("1 hour", "28 days")], {"max_run_time_s": 172_800}, ("2960 minutes", "28 days")),
        ([("1 hour", "1 year")], {"max_run_time_s": 85_230}, ("90030 seconds", "1 year")),
        (DAY, GIVEN, ("1541 minutes", "1 year")),
        (DAY, {"deadline-after": "1520 minutes"}, ("1520 minutes", "28 days")),
    ],
)
def test_times(pools, more, expected):
    """A day after the last pool's task, or as long as it runs where that is more; or as given."""
    assert times(pools, **more) == expected


LENGTH = "is not a length of time; write one such as 2 days"


@pytest.mark.parametrize(
    ("pools", "more", "text"),
    [
        (
            DAY,
            {"deadline-after": "1519 minutes"},
            (
                "deadline-after: 1519 minutes is too early: the pools' tasks may take until 1 day and "
                "the report after them until 1520 minutes; write at least 1520 minutes, or remove the key"
            ),
        ),
        (
            [("100 hours", "28 days")],
            {},
            (
                "deadline-after: 124 hours is later than the queue accepts, 5 days; lower deadline-after "
                "of the pools' tasks or of the report"
            ),
        ),
        (
            [*DAY, ("1 day", "47 hours")],
            {},
            (
                "expires-after: a pool's task expires after 47 hours, before the report's deadline of 2 "
                "days; raise expires-after of that task"
            ),
        ),
        (
            DAY,
            {"expires-after": "1 day"},
            (
                "expires-after: the report expires after 1 day, before the report's deadline of 2 days; "
                "raise expires-after of that task"
            ),
        ),
        (DAY, {"deadline-after": 2}, f"deadline-after: 2 {LENGTH}"),
        (DAY, {"deadline-after": "1.5 days"}, f"deadline-after: '1.5 days' {LENGTH}"),
        (DAY, {"expires-after": "2 fortnights"}, f"expires-after: '2 fortnights' {LENGTH}"),
    ],
)
def test_mistakes(pools, more, text):
    """What the queue would refuse, or would end without a report, is one line."""
    assert mistake(times, pools, **more) == text
