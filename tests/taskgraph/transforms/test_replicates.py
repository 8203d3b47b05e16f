# SPDX-License-Identifier: MPL-2.0
"""Several tasks of one pool."""

import pytest

from io_benchmark_taskgraph.mistakes import UserMistake


def made(tasks):
    return [
        (task["name"], task["treeherder"]["symbol"], task["attributes"]["io_benchmark_pool"])
        for task in tasks
    ]


def run(run_kind, *tasks, params=None):
    return run_kind(list(tasks), "pools", "benchmark", "replicates", extra_params=params)


def test_one_keeps_its_name(run_kind, make_pool):
    """A pool measured once has no number."""
    assert made(run(run_kind, make_pool())) == [("amd-16", "IOB(amd16)", "amd-16")]


def test_several_are_numbered(run_kind, make_pool):
    """Names and symbols count from 1, and the pool stays the same."""
    tasks = run(run_kind, make_pool(benchmark={"replicates": 2}), make_pool(name="intel"))
    assert made(tasks) == [
        ("amd-16-1", "IOB(amd16-1)", "amd-16"),
        ("amd-16-2", "IOB(amd16-2)", "amd-16"),
        ("intel", "IOB(amd16)", "intel"),
    ]


def test_the_plan_is_in_each_task(run_kind, make_pool):
    """A report knows by it when all replicates are there; a pool measured once has no plan."""
    tasks = run(run_kind, make_pool(benchmark={"replicates": 2}), make_pool(name="intel"))
    plans = [task["worker"].get("env", {}).get("IO_BENCHMARK_REPLICATES") for task in tasks]
    assert plans == ["2", "2", None]


def test_replicates_share_nothing(run_kind, make_pool):
    """What a later transform does to one task, it does to that one alone."""
    first, second = run(run_kind, make_pool(benchmark={"replicates": 2}))
    first["worker"]["max-run-time"] = 1
    assert second["worker"]["max-run-time"] == 3600


@pytest.mark.parametrize("reverse", [False, True])
def test_replicate_with_another_pools_name(run_kind, make_pool, reverse):
    """Whichever comes first, both are named."""
    tasks = [make_pool(benchmark={"replicates": 2}), make_pool(name="amd-16-1")]
    task, other = ("amd-16", "amd-16-1") if reverse else ("amd-16-1", "amd-16")
    with pytest.raises(UserMistake) as caught:
        run(run_kind, *(reversed(tasks) if reverse else tasks))
    assert str(caught.value).endswith(
        f"kind.yml: task {task}: name: a replicate of {other} is called amd-16-1 too; "
        "rename the pool or use fewer replicates"
    )


@pytest.mark.parametrize(
    ("asked_for", "names"),
    [
        pytest.param({}, ["amd-16-1", "amd-16-2", "intel"], id="no such parameter, as in Firefox"),
        pytest.param(
            {"io_benchmark_replicates": 0}, ["amd-16-1", "amd-16-2", "intel"], id="as kind.yml says"
        ),
        pytest.param({"io_benchmark_replicates": 1}, ["amd-16", "intel"], id="one"),
        pytest.param(
            {"io_benchmark_replicates": 3},
            ["amd-16-1", "amd-16-2", "amd-16-3", "intel-1", "intel-2", "intel-3"],
            id="more",
        ),
    ],
)
def test_parameter(run_kind, make_pool, asked_for, names):
    """It stands above the stanza, for all pools."""
    tasks = [make_pool(benchmark={"replicates": 2}), make_pool(name="intel")]
    assert [task["name"] for task in run(run_kind, *tasks, params=asked_for)] == names


@pytest.mark.parametrize("value", [-1, 101, "3", True, 2.0])
def test_parameter_out_of_bounds(run_kind, make_pool, value):
    """One line with the name, the value and the bounds."""
    with pytest.raises(UserMistake) as caught:
        run(run_kind, make_pool(), params={"io_benchmark_replicates": value})
    assert str(caught.value) == (
        f"the parameter io_benchmark_replicates: {value!r} is not a whole number from 0 to 100; "
        "0 means as many as kind.yml says"
    )
