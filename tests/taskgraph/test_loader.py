# SPDX-License-Identifier: MPL-2.0
"""A kind made of another kind's pools."""

import pytest
import yaml
from user_mistakes import mistake

from io_benchmark_taskgraph.loader import loader

DEFAULTS = {
    "benchmark": {"retrieves": 200, "places": ["workspace", "container"]},
    "treeherder": {"platform": "linux64/opt"},
    "worker": {"max-run-time": 5400},
}
CONFIG = {"pools-from": "pools", "symbol-suffix": "-all", "task-defaults": DEFAULTS}
POOL = {"description": "one disk", "worker-type": "b-linux", "treeherder": {"symbol": "IOB(a)"}}


@pytest.fixture
def load(tmp_path):
    """The tasks of a kind `all` next to a kind `pools` with these tasks, and a file of more."""

    def load(pools, config=CONFIG, more=None):
        kind = {"tasks": pools, "tasks-from": ["more.yml"] if more else []}
        kind["task-defaults"] = {"benchmark": {"retrieves": 2000}, "worker": {"env": {"A": "1"}}}
        files = {"all/kind.yml": config, "pools/kind.yml": kind, "pools/more.yml": more}
        for name, content in files.items():
            file = tmp_path / "kinds" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(yaml.safe_dump(content, sort_keys=False))
        return list(loader("all", str(tmp_path / "kinds/all"), config, {}, [], False))

    return load


def test_a_pool(load):
    """Where it is and how it is shown come from the pool, all else from this kind's defaults."""
    own = {"benchmark": {"places": ["container"]}, "worker": {"max-run-time": 6}, "label": "x"}
    assert load({"amd-16": {**POOL, **own}}) == [
        {
            "name": "amd-16",
            "task-from": "kind.yml",
            "description": "one disk",
            "worker-type": "b-linux",
            "benchmark": DEFAULTS["benchmark"],
            "treeherder": {"platform": "linux64/opt", "symbol": "IOB(a-all)"},
            "worker": {"max-run-time": 5400},
        }
    ]


def test_several_pools(load):
    """All that the other kind lists, in its order; a symbol of another form is left to the transforms."""
    pools = {"b": POOL, "a": {**POOL, "treeherder": {"symbol": "IOB"}}}
    tasks = load(pools, config={"pools-from": "pools"}, more={"c": POOL})
    assert [(task["name"], task["task-from"]) for task in tasks] == [
        (name, "kind.yml") for name in "bac"
    ]
    assert tasks[1]["treeherder"] == {"symbol": "IOB"}


@pytest.mark.parametrize("name", ["pool", "all", ""])
def test_no_such_kind(load, name):
    """One line says which file and what there is; a kind is not made of its own pools."""
    text = f"pools-from: {name!r} is not another kind; there are: pools"
    config = {"pools-from": name} if name else {}
    message = mistake(load, {"a": POOL}, config=config)
    assert message == f"taskcluster/kinds/all/kind.yml: {text}"
