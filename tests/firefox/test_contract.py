# SPDX-License-Identifier: MPL-2.0
"""What Firefox asks of a new kind, compared with what the command puts into a checkout.

This is a contract, written down from Firefox's generator and its checks in the middle of 2026. It is
no run of that generator: taskgraph stands in for `gecko_taskgraph`, behind a check of the keys that
Firefox's job descriptions take (the README of the stand-in).
"""

import json
import re
import subprocess
import sys

import embedding
import pytest
import yaml
from checkout import ROOT

from io_benchmark.firefox.checkout import KINDS_PAGE
from io_benchmark.firefox.kind import KIND, TRANSFORMS
from io_benchmark.graph.generate import generate

from .conftest import OWN_ROOT, copy_firefox, install

# As Firefox's decision task and `mach taskgraph` do: only taskcluster/ is put on the path.
PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from taskgraph.generator import TaskGraphGenerator
from taskgraph.parameters import Parameters

generator = TaskGraphGenerator("taskcluster", Parameters(strict=True, **json.load(sys.stdin)))
print(json.dumps(generator.full_task_graph.to_json()))
"""


def parameters():
    """Return a push's parameters; this project's are not known there."""
    values = yaml.safe_load((ROOT / "taskcluster/test/params/push.yml").read_text())
    return {name: values[name] for name in values if not name.startswith("io_benchmark_")}


def run_generator(folder):
    # Without this project's `python/`, which is installed where the tests run.
    path = [entry for entry in sys.path if entry and not entry.startswith(str(ROOT / "python"))]
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, json.dumps(path)],
        cwd=folder,
        env={"TASKGRAPH_SERIAL": "1", "PATH": "/usr/bin:/bin"},
        input=json.dumps(parameters(), default=str),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    """A checkout that the kind was put into."""
    folder = copy_firefox(tmp_path_factory.mktemp("contract") / "firefox")
    install(folder)
    return folder


def test_same_tasks(firefox):
    """Labels, symbols, commands and programs are this project's; `history` finds them by the routes."""
    tasks = run_generator(firefox)
    values = parameters()
    for task in generate(OWN_ROOT, ["io-benchmark"]):
        if not task.pool:
            continue
        there, here = tasks.pop(task.label)["task"], task.definition
        assert there["extra"]["treeherder"] == here["extra"]["treeherder"]
        commands = [definition["payload"]["command"] for definition in (there, here)]
        assert len(set(map(embedding.shell_text, commands))) == 1
        assert len(set(map(embedding.application, commands))) == 1
        index = f"index.gecko.v2.{values['project']}"
        assert [route for route in there["routes"] if route.startswith("index.")] == [
            f"{index}.latest.io-benchmark.{task.pool}",
            f"{index}.revision.{values['head_rev']}.io-benchmark.{task.pool}",
            f"{index}.date.io-benchmark.{task.pool}.{values['moz_build_date']}",
        ]
        assert there["extra"]["index"]["rank"] == values["build_date"]
    assert {task["kind"] for task in tasks.values()} == {"docker-image"}


def test_kind_is_documented(firefox):
    """The page of kinds has a heading for each kind that there is."""
    page = (firefox / KINDS_PAGE).read_text()
    kinds = [path.parent.name for path in firefox.glob("taskcluster/kinds/*/kind.yml")]
    assert sorted(kinds) == ["docker-image", "io-benchmark"]
    assert [kind for kind in kinds if not re.search(rf"\n#+ {kind}\n", page)] == []


def test_an_unknown_key_is_noticed(tmp_path):
    """The stand-in does refuse what Firefox's job descriptions do not take."""
    folder = copy_firefox(tmp_path / "firefox")
    install(folder)
    file = folder / KIND
    text = file.read_text()
    file.write_text(text.replace("  run-on-projects: []", "  run-on-tasks-for: []"))
    with pytest.raises(AssertionError, match=r"\['run-on-tasks-for'\] are not known"):
        run_generator(folder)


@pytest.mark.parametrize(
    "command",
    [
        # As on Firefox's main branch.
        ["ruff", "format", "--isolated", "--check", "--preview", "--line-length", "88", TRANSFORMS],
        # The same rules as for this project's own.
        ["yamllint", "--strict", "-c", str(ROOT / ".yamllint.yml"), KIND],
    ],
    ids=["ruff", "yamllint"],
)
def test_linters(firefox, command):
    """Firefox's linters leave what is installed as it is."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=firefox, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
