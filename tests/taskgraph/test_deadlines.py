# SPDX-License-Identifier: MPL-2.0
"""The report ends later than what it waits for."""

import pytest
from pytest_taskgraph import make_task

from io_benchmark_taskgraph import deadlines
from io_benchmark_taskgraph.mistakes import BadKeyError


def pool(deadline="1 day", expires="28 days"):
    definition = {
        "deadline": {"relative-datestamp": deadline},
        "expires": {"relative-datestamp": expires},
    }
    return make_task(f"{deadline} {expires}", task_def=definition)


def times(pools, max_run_time_s=3600, **given):
    task = {**given, "worker": {"max-run-time": max_run_time_s}}
    deadlines.set_times(task, pools)
    return task["deadline-after"], task["expires-after"]


@pytest.mark.parametrize(
    ("pools", "more", "expected"),
    [
        pytest.param([pool()], {}, ("2 days", "28 days"), id="a day more"),
        pytest.param(
            [pool(), pool("36 hours", "1 year"), pool("90 minutes")],
            {},
            ("60 hours", "28 days"),
            id="after the last, and kept as long as all results are",
        ),
        pytest.param(
            [pool("1 hour")],
            {"max_run_time_s": 2 * 86400},
            ("2960 minutes", "28 days"),
            id="more than a day of its own",
        ),
        pytest.param(
            [pool("1 hour", "1 year")],
            {"max_run_time_s": 86400 - 1200 + 30},
            ("90030 seconds", "1 year"),
            id="seconds",
        ),
        pytest.param(
            [pool()],
            {"deadline-after": "1541 minutes", "expires-after": "1 year"},
            ("1541 minutes", "1 year"),
            id="given",
        ),
    ],
)
def test_times(pools, more, expected):
    """A day after the last pool's task, or as long as it runs where that is more; or as given."""
    assert times(pools, **more) == expected


@pytest.mark.parametrize(
    ("pools", "more", "key", "text"),
    [
        pytest.param(
            [pool()],
            {"deadline-after": "1 day"},
            "deadline-after",
            "1 day is too early: the pools' tasks may take until 1 day and the report after them "
            "until 1520 minutes; write at least 1520 minutes, or remove the key",
            id="too early",
        ),
        pytest.param(
            [pool("100 hours")],
            {},
            "deadline-after",
            "124 hours is later than the queue accepts, 5 days; lower deadline-after of the pools' "
            "tasks or of the report",
            id="too late",
        ),
        pytest.param(
            [pool(), pool("1 day", "47 hours")],
            {},
            "expires-after",
            "a pool's task expires after 47 hours, before the report's deadline of 2 days; raise "
            "expires-after of that task",
            id="results expire",
        ),
        pytest.param(
            [pool()],
            {"expires-after": "1 day"},
            "expires-after",
            "the report expires after 1 day, before the report's deadline of 2 days; raise "
            "expires-after of that task",
            id="report expires",
        ),
        pytest.param(
            [pool()],
            {"deadline-after": 2},
            "deadline-after",
            "2 is not a length of time; write one such as 2 days",
            id="not a text",
        ),
        pytest.param(
            [pool()],
            {"deadline-after": "1.5 days"},
            "deadline-after",
            "'1.5 days' is not a length of time; write one such as 2 days",
            id="not whole",
        ),
        pytest.param(
            [pool()],
            {"expires-after": "2 fortnights"},
            "expires-after",
            "'2 fortnights' is not a length of time; write one such as 2 days",
            id="unit",
        ),
    ],
)
def test_mistakes(pools, more, key, text):
    """What the queue would refuse, or would end without a report, is one line."""
    with pytest.raises(BadKeyError) as caught:
        times(pools, **more)
    assert (caught.value.key, caught.value.text) == (key, text)
