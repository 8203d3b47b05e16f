# SPDX-License-Identifier: MPL-2.0
"""What a submission will cost."""

import pytest
from submitted_tasks import generated, of_all

from io_benchmark.operations.group_work import estimated_cost
from io_benchmark.submit.definitions import SubmissionOptions, select_tasks

TWO_POOLS = (generated("amd-16"), generated("intel"))
TWO_KINDS = (generated("amd-16"), of_all("amd-16"))
NO_BUDGET = generated("x", payload={"command": [["a", "b"]], "maxRunTime": 601})
AMD, INTEL = "io-benchmark-amd-16", "io-benchmark-intel"


@pytest.mark.parametrize(
    ("tasks", "settings", "minutes", "total"),
    [
        pytest.param(
            TWO_POOLS, {"replicates": 3}, {}, "6 tasks, at most 5.5 worker hours", id="time budget"
        ),
        pytest.param(
            TWO_POOLS,
            {},
            {AMD: 6.2, INTEL: 4},
            "2 tasks, about 11 minutes of worker time",
            id="earlier results",
        ),
        pytest.param(
            TWO_POOLS,
            {},
            {AMD: 0, INTEL: 0.2},
            "2 tasks, about 2 minutes of worker time",
            id="a minute each at least",
        ),
        pytest.param(
            [NO_BUDGET], {}, {}, "1 task, at most 11 minutes of worker time", id="task's limit"
        ),
        pytest.param(
            TWO_KINDS,
            {"profile": "quick"},
            {},
            "2 tasks, at most 20 minutes of worker time",
            id="small sizes",
        ),
    ],
)
def test_cost(tasks, settings, minutes, total):
    """By earlier tasks, else by when the script stops by itself: then the sum is a limit."""
    chosen = select_tasks(tasks, SubmissionOptions(image="x", **settings))
    assert estimated_cost(chosen, minutes, {}).summary == f"{total} in all"


def test_two_kinds_of_a_pool():
    """They are no replicates of each other: each has as many as are asked for, and its own cost."""
    settings = SubmissionOptions(image="x", replicates=2, pools={"amd-16": "some/queue"})
    chosen = select_tasks(TWO_KINDS, settings)
    assert [task.label for task in chosen] == [
        "io-benchmark-amd-16-1",
        "io-benchmark-all-amd-16-1",
        "io-benchmark-amd-16-2",
        "io-benchmark-all-amd-16-2",
    ]
    assert [share.summary for share in estimated_cost(chosen, {}, {}).shares] == [
        "io-benchmark-amd-16: at most 110 minutes of worker time (2 tasks of 55 minutes on some/queue)",
        "io-benchmark-all-amd-16: at most 2.9 worker hours (2 tasks of 85 minutes on some/queue)",
    ]
