# SPDX-License-Identifier: MPL-2.0
"""Which versions of taskgraph are accepted; `tox -e taskgraphs` runs the kind with them."""

import ast
import importlib
import inspect
import logging
import re
from contextlib import suppress

import pytest
from checkout import ROOT
from loopback import Loopback
from loopback_deployment import Deployment
from taskgraph.util import schema, taskcluster
from user_mistakes import mistake

import io_benchmark_taskgraph
from io_benchmark_taskgraph import versions

PACKAGE = ROOT / "python/io_benchmark_taskgraph"
LINES = {
    "7.4.0": (
        "io-benchmark-taskgraph needs taskgraph 8.0 or newer, and 7.4.0 is installed; require "
        "taskcluster-taskgraph>=8.0 where the project pins it"
    ),
    "24.5.2": (
        "taskgraph 24.5.2 is newer than 24.5.1, the newest that io-benchmark was tested with"
    ),
}


@pytest.mark.parametrize("installed", ["7.4.0", "8.0.0", "8.1.0", "24.5.1", "24.5.2"])
def test_versions(monkeypatch, caplog, installed):
    """One that is too old is refused, and a newer one than tested is mentioned, in one line."""
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(versions, "_INSTALLED", installed)
    monkeypatch.setattr(versions, "_VERSION", versions._numbers(installed))
    if installed.startswith("7."):
        # A project's registration is the first thing that runs.
        assert mistake(io_benchmark_taskgraph.register, None) == LINES[installed]
    else:
        versions.check_version()
    records = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert records == ([("WARNING", LINES[installed])] if installed == "24.5.2" else [])


@pytest.mark.parametrize(
    ("version", "expected"),
    [("24.5.1", (24, 5, 1)), ("25.0.0rc2", (25, 0, 0)), ("25.0.dev3+g1a2b", (25, 0, 3))],
)
def test_numbers(version, expected):
    """Of a release, a candidate and a build of a commit."""
    assert versions._numbers(version) == expected


def test_mistakes():
    """They are exceptions that taskgraph prints without a traceback, or they end the program."""
    printed = getattr(schema, "SchemaValidationError", SystemExit)
    assert issubclass(versions.UserMistake, printed)
    assert (printed is not SystemExit) == versions.MISTAKES_NEED_LOGGING


def test_range():
    """The package's metadata has the same oldest version, and no upper limit."""
    text = (PACKAGE / "pyproject.toml").read_text()
    (requirement,) = re.findall(r'"taskcluster-taskgraph([^"]*)"', text)
    assert f"{requirement}.0" == f">={versions.OLDEST}"


def test_newest_tested():
    """It has a lock of `tox -e taskgraphs`, and nothing newer has; this project uses it."""
    locks = (ROOT / "tests/taskgraphs").glob("*/requirements-*.txt")
    names = [lock.stem.removeprefix("requirements-") for lock in locks]
    assert max(names, key=versions._numbers) == versions.NEWEST_TESTED
    pinned = (ROOT / "taskcluster/requirements.in").read_text()
    assert f"taskcluster-taskgraph=={versions.NEWEST_TESTED}\n" in pinned


def test_a_group_of_several_pages(monkeypatch):
    """Without taskgraph's client, before 16, the pages of a group are read one after another."""
    deployment = Deployment(page_limit=2)
    group_id = "O0wOvbnEQF6h8ptHBA6jbg"
    for name in "abcde":
        task = {"provisionerId": "x", "workerType": "y", "taskGroupId": group_id, "tags": {}}
        deployment.create(f"{name}rp_WjpGRx26VH-wA8fjTA", {**task, "metadata": {"name": name}})
    monkeypatch.delattr(taskcluster, "get_taskcluster_client", raising=False)
    with Loopback(deployment) as loopback:
        monkeypatch.setattr(taskcluster, "get_root_url", lambda _through_proxy: loopback.url)
        answers = versions.task_group(group_id)
    assert [answer["task"]["metadata"]["name"] for answer in answers] == list("abcde")


def used_names(path):
    """Yield what a module uses of taskgraph, with the module of taskgraph where it looks for it."""
    modules = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and re.match("taskgraph", node.module or ""):
            for alias in node.names:
                yield importlib.import_module(str(node.module)), alias.name
                with suppress(ModuleNotFoundError):  # a class or a function
                    modules[alias.name] = importlib.import_module(f"{node.module}.{alias.name}")
    for owner, attribute in re.findall(r"(?<![.\w])(\w+)\.(\w+)", path.read_text()):
        if owner in modules:
            yield modules[owner], attribute


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_public_names(path):
    """Each name of taskgraph is used where taskgraph defines it, not where it imports it."""
    for module, name in used_names(path):
        value = getattr(module, name, None)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert (value.__module__, name.startswith("_")) == (module.__name__, False)
