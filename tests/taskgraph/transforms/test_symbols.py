# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What Treeherder shows of each task."""

import pytest

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
        "kind.yml: task amd-30: treeherder.symbol: IOB(amd16) on linux64/opt is task amd-16's "
        "already; give each a symbol of its own"
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
        "kind.yml: task other: treeherder.symbol: IOB(amd16-2) on linux64/opt is task amd-16-2's "
        "already; give each a symbol of its own"
    )


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
