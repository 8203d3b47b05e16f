# SPDX-License-Identifier: MPL-2.0
"""Each generation is as in a separate process."""

import logging
import os
import sys
import tempfile
from contextlib import suppress

import pytest
from taskgraph import parameters, target_tasks
from taskgraph.config import GraphConfig

from io_benchmark.graph import isolation
from io_benchmark.graph.isolation import PARTS, PROGRAM, isolated, usable_tree

from .conftest import copy_tree

LOG = logging.getLogger("io_benchmark.test")


def state():
    return (
        GraphConfig._PATH_MODIFIED,
        list(sys.path),
        dict(target_tasks._target_task_methods),
        list(parameters._parameter_extensions),
        list(parameters.defaults_functions),
        dict(os.environ),
        [name for name in sys.modules if name.startswith("io_benchmark_")],
        [
            (logging.getLogger(name).handlers, logging.getLogger(name).propagate)
            for name in ("taskgraph", "io_benchmark_taskgraph")
        ],
    )


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


class OtherError(Exception):
    pass


@pytest.mark.parametrize("serial", [None, "1"])
def test_everything_is_put_back(monkeypatch, serial):
    """Whatever is registered, imported or set, and however it ends, nothing stays."""
    monkeypatch.delenv("TASKGRAPH_SERIAL", raising=False)
    if serial is not None:
        monkeypatch.setenv("TASKGRAPH_SERIAL", serial)
    before = state()
    with suppress(OtherError), isolated(LOG):
        assert GraphConfig._PATH_MODIFIED is False
        assert os.environ["TASKGRAPH_SERIAL"] == "1"
        GraphConfig._PATH_MODIFIED = "/elsewhere"
        sys.path.insert(0, "/elsewhere")
        sys.modules["io_benchmark_taskgraph.other"] = sys
        target_tasks._target_task_methods["other"] = None
        parameters._parameter_extensions.append(None)
        parameters.defaults_functions.append(None)
        raise OtherError
    assert state() == before


@pytest.mark.parametrize(
    ("level", "messages"),
    [
        pytest.param(logging.INFO, [], id="as usual"),
        pytest.param(logging.DEBUG, ["Loading kinds"], id="verbose"),
    ],
)
def test_log(caplog, level, messages):
    """taskgraph's log is silent, unless the program is verbose."""
    with caplog.at_level(level), isolated(LOG):
        logging.getLogger("taskgraph.generator").info("Loading %s", "kinds")
        logging.getLogger("taskgraph.generator").debug("Details")
    assert [record.getMessage() for record in caplog.records] == messages


@pytest.mark.parametrize(
    "mark", [pytest.param(".git", id="git"), pytest.param(".hg", id="Mercurial")]
)
@pytest.mark.parametrize("temporary_within", [False, True])
def test_tree_within_another_checkout_is_copied(tmp_path, monkeypatch, mark, temporary_within):
    """taskgraph would take the other checkout for the root; the copy is gone afterwards."""
    (tmp_path / mark).mkdir()
    if temporary_within:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    root = copy_tree(tmp_path / "venv" / "bundle")
    with usable_tree(root) as tree:
        assert tree != root
        assert (tree / ".git").is_dir() is temporary_within
        assert contents(tree) == contents(root)
    assert not tree.exists()


def test_bundled_copy_gets_the_program(tmp_path, monkeypatch):
    """What the report's image holds is the running program, without the bundle in it and caches."""
    package = tmp_path / "site-packages" / "io_benchmark"
    for path in ("cli.py", "report/html.py", "__pycache__/cli.pyc", "report/__pycache__/x.pyc"):
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(path)
    monkeypatch.setattr(isolation, "PACKAGE", package)
    root = copy_tree(package / "bundle", PARTS)
    with usable_tree(root) as tree:
        program = {
            path: text for path, text in contents(tree).items() if path.startswith(f"{PROGRAM}/")
        }
        others = {path: text for path, text in contents(tree).items() if path not in program}
    assert program == {
        "python/io_benchmark/cli.py": b"cli.py",
        "python/io_benchmark/report/html.py": b"report/html.py",
    }
    assert others == contents(root)


@pytest.mark.parametrize("is_checkout", [False, True])
def test_tree_of_its_own_is_taken_in_place(tmp_path, is_checkout):
    """A checkout of the project, and a tree in none, are what they are."""
    root = copy_tree(tmp_path / "tree")
    if is_checkout:
        (root / ".git").mkdir()
    with usable_tree(root) as tree:
        assert tree == root
