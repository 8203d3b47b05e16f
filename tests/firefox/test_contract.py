# SPDX-License-Identifier: MPL-2.0
"""What Firefox asks of a new kind, compared with what the command puts into a checkout.

This is a contract, written down from Firefox's generator and its checks in the middle of 2026. It is
no run of that generator: taskgraph stands in for `gecko_taskgraph`, behind a check of the keys that
Firefox's job descriptions take (the README of the stand-in). What it shows is that this project's
transforms, found where they lie in that checkout and imported from there, make the tasks that they
make here.
"""

import json
import re
import subprocess
import sys
from collections import Counter

import embedding
import pytest
import yaml
from checkout import ROOT

from io_benchmark.firefox.checkout import KINDS_PAGE
from io_benchmark.graph.generate import generate

from .conftest import OWN_ROOT, copy_firefox, install

# As Firefox's decision task and `mach taskgraph` do: only taskcluster/ is put on the path.
PROGRAM = """
import json, sys
from taskgraph.generator import TaskGraphGenerator
from taskgraph.parameters import Parameters

generator = TaskGraphGenerator("taskcluster", Parameters(strict=True, **json.load(sys.stdin)))
tasks = generator.full_task_graph.to_json()
modules = {
    name: module.__file__
    for name, module in sys.modules.items()
    if "io_benchmark" in name
}
print(json.dumps({"tasks": tasks, "modules": modules}))
"""


def parameters():
    """A push's parameters; this project's own parameter is not known there."""
    values = yaml.safe_load((ROOT / "taskcluster/test/params/push.yml").read_text())
    own = [name for name in values if name.startswith("io_benchmark_")]
    assert own
    for name in own:
        del values[name]
    return values


def run_generator(folder):
    done = subprocess.run(
        # -P: the project is installed where the tests run, the checkout's copy is to be found.
        [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {clean_path()!r}\n{PROGRAM}"],
        cwd=folder,
        env={"TASKGRAPH_SERIAL": "1", "PATH": "/usr/bin:/bin"},
        input=json.dumps(parameters(), default=str),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def clean_path():
    """The path without this project's `python/`."""
    return [entry for entry in sys.path if entry and not entry.startswith(str(ROOT / "python"))]


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    """A checkout that the kind was put into."""
    folder = copy_firefox(tmp_path_factory.mktemp("contract") / "firefox")
    install(folder)
    return folder


@pytest.fixture(scope="module")
def generated(firefox):
    return run_generator(firefox)


@pytest.fixture(scope="module")
def tasks(generated):
    """The kind's tasks by label."""
    return {
        label: task
        for label, task in generated["tasks"].items()
        if task["attributes"]["kind"] == "io-benchmark"
    }


@pytest.fixture(scope="module")
def own():
    """The same kind's tasks as this project's own graph has them."""
    return {task.label: task for task in generate(OWN_ROOT, ["io-benchmark"]) if task.pool}


def config(firefox):
    return yaml.safe_load((firefox / "taskcluster/config.yml").read_text())


def is_heading(page, title):
    """Whether Firefox's check finds the heading."""
    return re.search(rf"\n#+ {re.escape(title)}\n", page.read_text()) is not None


def test_same_tasks(tasks, own):
    """Labels, pools and symbols are this project's."""
    assert set(tasks) == set(own)
    for label, task in own.items():
        treeherder = tasks[label]["task"]["extra"]["treeherder"]
        assert treeherder == task.definition["extra"]["treeherder"]


def test_same_commands(tasks, own):
    """A worker runs the same command with the same program."""
    for label, task in own.items():
        there, here = (
            tasks[label]["task"]["payload"]["command"],
            task.definition["payload"]["command"],
        )
        assert embedding.shell_text(there) == embedding.shell_text(here)
        assert embedding.application(there) == embedding.application(here)


def test_kind_is_documented(firefox):
    """The page of kinds has a heading for each kind that there is."""
    page = firefox / KINDS_PAGE
    kinds = [path.parent.name for path in firefox.glob("taskcluster/kinds/*/kind.yml")]
    assert sorted(kinds) == ["docker-image", "io-benchmark"]
    assert [kind for kind in kinds if not is_heading(page, kind)] == []


def test_places_in_treeherder(firefox, generated):
    """Platform, group and symbol are of the form and length asked for, and no two tasks share them."""
    written = yaml.safe_load((firefox / "taskcluster/kinds/io-benchmark/kind.yml").read_text())
    platform = written["task-defaults"]["treeherder"]["platform"]
    assert re.fullmatch("[A-Za-z0-9_-]{1,50}/[A-Za-z0-9_-]{1,50}", platform)
    places: Counter[tuple[str, ...]] = Counter()
    for task in generated["tasks"].values():
        shown = task["task"]["extra"]["treeherder"]
        (collection,) = shown["collection"]
        assert len(shown["symbol"]) <= 25
        assert len(shown["groupSymbol"]) <= 25
        place = (shown["machine"]["platform"], collection, shown["groupSymbol"], shown["symbol"])
        places[place] += 1
    assert max(places.values()) == 1


def test_routes(tasks):
    """By which `io-benchmark history` finds them, in the part of the index that the project may use."""
    values = parameters()
    index = f"index.gecko.v2.{values['project']}"
    for label, task in tasks.items():
        pool = label.removeprefix("io-benchmark-")
        routes = [one for one in task["task"]["routes"] if one.startswith("index.")]
        assert routes == [
            f"{index}.latest.io-benchmark.{pool}",
            f"{index}.revision.{values['head_rev']}.io-benchmark.{pool}",
            f"{index}.date.io-benchmark.{pool}.{values['moz_build_date']}",
        ]


def test_an_unknown_key_is_noticed(tmp_path):
    """The stand-in does refuse what Firefox's job descriptions do not take."""
    other = tmp_path / "firefox"
    copy_firefox(other)
    install(other)
    file = other / "taskcluster/kinds/io-benchmark/kind.yml"
    text = file.read_text()
    file.write_text(text.replace("  run-on-projects: []", "  run-on-tasks-for: []"))
    with pytest.raises(AssertionError, match=r"\['run-on-tasks-for'\] are not known"):
        run_generator(other)
