# SPDX-License-Identifier: MPL-2.0
"""A kind made of another kind's pools."""

import pytest
import yaml

from io_benchmark_taskgraph.loader import loader
from io_benchmark_taskgraph.mistakes import UserMistake

DEFAULTS = {
    "benchmark": {"retrieves": 200, "places": ["workspace", "container"]},
    "treeherder": {"platform": "linux64/opt"},
    "worker": {"max-run-time": 5400},
}
CONFIG = {"pools-from": "pools", "symbol-suffix": "-all", "task-defaults": DEFAULTS}
POOL = {
    "description": "one disk",
    "worker-type": "b-linux",
    "treeherder": {"symbol": "IOB(amd16)"},
}


@pytest.fixture
def load(tmp_path):
    """The tasks of a kind `all` beside a kind `pools` with these tasks, and files of more."""

    def load(pools, config=CONFIG, **files):
        folder = tmp_path / "kinds" / "pools"
        folder.mkdir(parents=True)
        (tmp_path / "kinds" / "all").mkdir()
        (tmp_path / "kinds" / "all" / "kind.yml").write_text(yaml.safe_dump(config))
        kind = {
            "task-defaults": {"benchmark": {"retrieves": 2000}, "worker": {"env": {"A": "1"}}},
            "tasks": pools,
            "tasks-from": [f"{name}.yml" for name in files],
        }
        (folder / "kind.yml").write_text(yaml.safe_dump(kind, sort_keys=False))
        for name, tasks in files.items():
            (folder / f"{name}.yml").write_text(yaml.safe_dump(tasks))
        path = str(tmp_path / "kinds" / "all")
        return list(loader("all", path, config, {}, [], False))

    return load


def test_a_pool(load):
    """Where it is and how it is shown come from the pool, all else from this kind's defaults."""
    assert load({"amd-16": POOL}) == [
        {
            "name": "amd-16",
            "task-from": "kind.yml",
            "description": "one disk",
            "worker-type": "b-linux",
            "benchmark": {"retrieves": 200, "places": ["workspace", "container"]},
            "treeherder": {"platform": "linux64/opt", "symbol": "IOB(amd16-all)"},
            "worker": {"max-run-time": 5400},
        }
    ]


def test_what_a_pool_measures_for_its_own_kind_stays_there(load):
    """Its places would be given twice here, and its limit is for other work; its image counts."""
    pool = {
        **POOL,
        "benchmark": {"places": ["container"]},
        "worker": {"max-run-time": 600, "docker-image": "x"},
        "attributes": {"job_try_name": "other"},
        "label": "other",
    }
    [task] = load({"amd-16": pool})
    assert task == {
        "name": "amd-16",
        "task-from": "kind.yml",
        "description": "one disk",
        "worker-type": "b-linux",
        "benchmark": {"retrieves": 200, "places": ["workspace", "container"]},
        "treeherder": {"platform": "linux64/opt", "symbol": "IOB(amd16-all)"},
        "worker": {"max-run-time": 5400, "docker-image": "x"},
    }


def test_pools_in_files_of_their_own(load):
    """All that the other kind lists, in its order, each once."""
    tasks = load({"b": POOL, "a": POOL}, more={"c": POOL})
    assert [(task["name"], task["task-from"]) for task in tasks] == [
        ("b", "kind.yml"),
        ("a", "kind.yml"),
        ("c", "kind.yml"),
    ]


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param({}, id="missing"),
        pytest.param({"symbol": "amd16"}, id="no group"),
        pytest.param("IOB", id="no mapping"),
    ],
)
def test_a_symbol_of_another_form_is_left_to_the_transforms(load, shown):
    """They say what is wrong with it, for either kind."""
    [task] = load({"a": {**POOL, "treeherder": shown}}, config={"pools-from": "pools"})
    assert task["treeherder"] == shown


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param({"pools-from": "pool"}, "'pool' is not another kind; there are: ", id="near"),
        pytest.param(
            {"pools-from": "all"}, "'all' is not another kind; there are: pools", id="itself"
        ),
        pytest.param({}, "'' is not another kind; there are: pools", id="missing"),
    ],
)
def test_no_such_kind(load, name, text):
    """One line says which file and what there is."""
    with pytest.raises(UserMistake) as caught:
        load({"a": POOL}, config=name)
    assert f"taskcluster/kinds/all/kind.yml: pools-from: {text}" in str(caught.value)
