# SPDX-License-Identifier: MPL-2.0
"""The stanza of each task is checked, and the time of each task compared with what it measures."""

import pytest

from io_benchmark_taskgraph import stanza
from io_benchmark_taskgraph.mistakes import UserMistake


def test_stanza_becomes_a_benchmark(run_kind, make_pool):
    """Later transforms find it checked and with its defaults."""
    task = make_pool()
    expected = stanza.Benchmark.parse(dict(task["benchmark"]))
    assert run_kind([task], "benchmark") == [{**task, "benchmark": expected}]


@pytest.mark.parametrize(
    ("benchmark", "text"),
    [
        pytest.param(
            {"retrieves": 0},
            "benchmark.retrieves: 0 is not a whole number from 1 to 100,000",
            id="key",
        ),
        pytest.param(
            None, "benchmark: is missing; add it to the task or to task-defaults", id="all"
        ),
    ],
)
def test_mistake_names_file_and_task(run_kind, make_pool, benchmark, text):
    """One line: the file, the task, the key, what is wrong."""
    with pytest.raises(UserMistake) as caught:
        run_kind([make_pool(benchmark=benchmark)], "benchmark")
    assert str(caught.value).endswith(f"kind.yml: task amd-16: {text}")


@pytest.mark.parametrize(
    ("parameters", "modes"),
    [
        pytest.param({}, ["neutral", "pool"], id="no such parameter, as in Firefox"),
        pytest.param({"io_benchmark_perfherder": ""}, ["neutral", "pool"], id="as kind.yml says"),
        pytest.param({"io_benchmark_perfherder": "pool"}, ["pool", "pool"], id="pool"),
        pytest.param({"io_benchmark_perfherder": "neutral"}, ["neutral", "neutral"], id="neutral"),
    ],
)
def test_perfherder_by_parameter(run_kind, make_pool, parameters, modes):
    """It stands above the stanza, for all pools."""
    tasks = [make_pool(benchmark={"perfherder": "neutral"}), make_pool(name="intel")]
    made = run_kind(tasks, "benchmark", extra_params=parameters)
    assert [task["benchmark"].perfherder for task in made] == modes


def test_unknown_perfherder_by_parameter(run_kind, make_pool):
    """One line with the name, the value and what there is."""
    with pytest.raises(UserMistake) as caught:
        run_kind([make_pool()], "benchmark", extra_params={"io_benchmark_perfherder": "none"})
    assert str(caught.value) == (
        "the parameter io_benchmark_perfherder: 'none' is unknown; there are: pool, neutral, or "
        "nothing for what kind.yml says"
    )


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
        run_kind([task], "benchmark")
    assert str(caught.value).endswith(f"kind.yml: task amd-16: {text}")
