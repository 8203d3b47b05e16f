# SPDX-License-Identifier: MPL-2.0
"""What Treeherder shows of each task."""

import pytest
from pytest_taskgraph import make_task

from io_benchmark_taskgraph.mistakes import UserMistake

NO_PLATFORM = "is not a platform; write one such as linux64/opt"
NO_SYMBOL = "is not a group and a symbol of at most 25 characters each; write them as IOB(amd16)"


def test_different_symbols(run_kind, make_pool):
    """The same symbol on another platform, and another symbol, are something else."""
    tasks = [
        make_pool(),
        make_pool(name="b", treeherder={"symbol": "IOB(b)"}),
        make_pool(name="c", treeherder={"platform": "linux1804-64-qr/opt"}),
    ]
    assert run_kind(list(tasks), "symbols") == tasks


def test_clash(run_kind, make_pool):
    """The symbol, the platform and both tasks are named."""
    with pytest.raises(UserMistake) as caught:
        run_kind([make_pool(), make_pool(name="amd-30")], "symbols")
    assert str(caught.value).endswith(
        "kind.yml: task amd-30: treeherder.symbol: task amd-16 already has IOB(amd16) on "
        "linux64/opt; give each task a different symbol"
    )


def test_clash_with_a_replicate(run_kind, make_pool):
    """A replicate's numbered symbol may be taken too."""
    tasks = [
        make_pool(benchmark={"replicates": 2}),
        make_pool(name="other", treeherder={"symbol": "IOB(amd16-2)"}),
    ]
    with pytest.raises(UserMistake) as caught:
        run_kind(tasks, "pools", "benchmark", "replicates", "symbols")
    assert str(caught.value).endswith(
        "kind.yml: task other: treeherder.symbol: task amd-16-2 already has IOB(amd16-2) on "
        "linux64/opt; give each task a different symbol"
    )


def of_another_kind(label, platform="linux64", symbol="amd16"):
    shown = {
        "machine": {"platform": platform},
        "collection": {"opt": True},
        "groupSymbol": "IOB",
        "symbol": symbol,
    }
    return make_task(label, kind="io-benchmark", task_def={"extra": {"treeherder": shown}})


def test_clash_with_another_kind(run_kind, make_pool):
    """Tasks of two kinds may be in one push: the other one is named by its label."""
    other = of_another_kind("io-benchmark-old")
    with pytest.raises(UserMistake) as caught:
        run_kind([make_pool()], "symbols", kind_dependencies_tasks={other.label: other})
    assert str(caught.value).endswith(
        "kind.yml: task amd-16: treeherder.symbol: task io-benchmark-old already has "
        "IOB(amd16) on linux64/opt; give each task a different symbol"
    )


def test_beside_another_kind(run_kind, make_pool):
    """Another platform or symbol there is none of this task's, nor is a task that is not shown."""
    others = [
        of_another_kind("a", symbol="amd16-2"),
        of_another_kind("b", platform="linux32"),
        make_task("c", kind="docker-image", task_def={}),
    ]
    tasks = [make_pool()]
    by_label = {task.label: task for task in others}
    assert run_kind(list(tasks), "symbols", kind_dependencies_tasks=by_label) == tasks


@pytest.mark.parametrize(
    ("treeherder", "key", "text"),
    [
        pytest.param({"platform": "linux64"}, "platform", f"'linux64' {NO_PLATFORM}", id="no half"),
        pytest.param(
            {"platform": "linux 64/opt"}, "platform", f"'linux 64/opt' {NO_PLATFORM}", id="space"
        ),
        pytest.param(
            {"platform": f"{'a' * 51}/opt"},
            "platform",
            f"'{'a' * 51}/opt' {NO_PLATFORM}",
            id="long",
        ),
        pytest.param({"symbol": "amd16"}, "symbol", f"'amd16' {NO_SYMBOL}", id="no group"),
        pytest.param({"symbol": "IOB(a"}, "symbol", f"'IOB(a' {NO_SYMBOL}", id="no bracket"),
        pytest.param(
            {"symbol": f"IOB({'a' * 26})"}, "symbol", f"'IOB({'a' * 26})' {NO_SYMBOL}", id="26"
        ),
    ],
)
def test_bad_forms(run_kind, make_pool, treeherder, key, text):
    """What Treeherder's schema refuses is refused before."""
    with pytest.raises(UserMistake) as caught:
        run_kind([make_pool(treeherder=treeherder)], "symbols")
    assert str(caught.value).endswith(f"kind.yml: task amd-16: treeherder.{key}: {text}")
