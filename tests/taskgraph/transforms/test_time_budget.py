# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The time of each task is held against what it measures."""

import pytest

from io_benchmark_taskgraph.mistakes import UserMistake


def test_enough_time(run_kind, make_pool):
    """A task whose time is enough passes as it is."""
    tasks = run_kind([make_pool()], "benchmark")
    assert run_kind(list(tasks), "time_budget") == tasks


@pytest.mark.parametrize(
    ("max_run_time_s", "text"),
    [
        pytest.param(
            1800,
            "benchmark.retrieves: 2000 retrieves x 1 place(s) x 1 destination(s) of cache-retrieve "
            "take 2394 s at 50 MiB/s and the time budget is 1500 s; raise worker.max-run-time to "
            "2694 or lower benchmark.retrieves to 1215",
            id="too little",
        ),
        pytest.param(
            300,
            "worker.max-run-time: 300 is not a number of seconds above 300; write one such as 3600",
            id="none",
        ),
    ],
)
def test_too_little_time(run_kind, make_pool, max_run_time_s, text):
    """The task is refused, with what to change."""
    task = make_pool(worker={"max-run-time": max_run_time_s})
    with pytest.raises(UserMistake) as caught:
        run_kind([task], "benchmark", "time_budget")
    assert str(caught.value).endswith(f"kind.yml: task amd-16: {text}")
