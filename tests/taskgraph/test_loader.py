# SPDX-License-Identifier: MPL-2.0
"""A kind made of another kind's pools."""

import pytest
import yaml
from checkout import KIND, ROOT
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
        return list(loader("all", str(tmp_path / "kinds/all"), config, {}, []))

    return load


def test_pools_of_another_kind(load):
    """Where each is and how it is shown is from the other kind, all else from this kind's defaults.

    A symbol of another form is left to the transforms.
    """
    own = {"benchmark": {"places": ["container"]}, "worker": {"max-run-time": 6}, "label": "x"}
    pools = {"b": {**POOL, **own}, "a": {**POOL, "treeherder": {"symbol": "IOB"}}}
    first, *others = load(pools, more={"c": POOL})
    assert first == {
        "name": "b",
        "task-from": "kind.yml",
        "description": "one disk",
        "worker-type": "b-linux",
        "benchmark": DEFAULTS["benchmark"],
        "treeherder": {"platform": "linux64/opt", "symbol": "IOB(a-all)"},
        "worker": {"max-run-time": 5400},
    }
    shown = [(task["name"], task["treeherder"]["symbol"]) for task in others]
    assert shown == [("a", "IOB"), ("c", "IOB(a-all)")]


@pytest.mark.parametrize("name", ["pool", "all", ""])
def test_no_such_kind(load, name):
    """One line says which file and what there is; a kind is not made of its own pools."""
    text = f"pools-from: {name!r} is not another kind; there are: pools"
    config = {"pools-from": name} if name else {}
    message = mistake(load, {"a": POOL}, config=config)
    assert message == f"taskcluster/kinds/all/kind.yml: {text}"


TASKGRAPH_KEYS = {
    "loader",
    "transforms",
    "kind-dependencies",
    "task-defaults",
    "tasks",
    "tasks-from",
}
OWN_KEYS = {"io-benchmark-all": {"pools-from", "symbol-suffix"}, "gate-kind.yml": {"gate"}}


@pytest.mark.parametrize(
    "file", [*KIND.parent.glob("*/kind.yml"), *(ROOT / "taskcluster/docs").glob("*-kind.yml")]
)
def test_own_keys(file):
    """A kind with keys that taskgraph does not know has a loader that does.

    A schema of kind.yml would be the loader's.
    """
    kind = yaml.safe_load(file.read_text())
    own = set(kind) - TASKGRAPH_KEYS
    name = file.name if file.parent.name == "docs" else file.parent.name
    assert own == OWN_KEYS.get(name, set())
    if own or file.parent.name == "docs":
        assert kind["loader"].startswith("io_benchmark_taskgraph.loader:")
