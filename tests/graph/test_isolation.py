# SPDX-License-Identifier: MPL-2.0
"""Each generation is as in a separate process, in a tree that taskgraph takes for the root."""

import logging
import os
import shutil
import sys
import tempfile
from contextlib import suppress

import pytest
from taskgraph import parameters
from taskgraph.config import GraphConfig

from io_benchmark.graph import root as root_module
from io_benchmark.graph.generate import _isolated
from io_benchmark.graph.root import PARTS, PROGRAM, TRANSFORMS, usable_tree

from .conftest import REPOSITORY, copy_tree


def state():
    return (
        GraphConfig._PATH_MODIFIED,
        list(sys.path),
        list(parameters._parameter_extensions),
        list(parameters.defaults_functions),
        dict(os.environ),
        [name for name in sys.modules if name.startswith("io_benchmark_")],
        [logging.getLogger(name).level for name in ("taskgraph", "io_benchmark_taskgraph")],
    )


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("serial", [None, "1"])
def test_everything_is_put_back(monkeypatch, serial):
    """Whatever is registered, imported or set, and however it ends, nothing stays."""
    monkeypatch.delenv("TASKGRAPH_SERIAL", raising=False)
    if serial is not None:
        monkeypatch.setenv("TASKGRAPH_SERIAL", serial)
    before = state()
    with suppress(ZeroDivisionError), _isolated(REPOSITORY) as module:
        assert module("mistakes").__name__ in sys.modules
        assert GraphConfig._PATH_MODIFIED is False
        assert os.environ["TASKGRAPH_SERIAL"] == "1"
        GraphConfig._PATH_MODIFIED = "/elsewhere"
        sys.path.insert(0, "/elsewhere")
        sys.modules["io_benchmark_taskgraph.other"] = sys
        parameters._parameter_extensions.append(None)
        parameters.defaults_functions.append(None)
        raise ZeroDivisionError
    assert state() == before


@pytest.mark.parametrize("mark", [".git", ".hg"])
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
    # A checkout of the project is taken as it is.
    (root / ".git").mkdir()
    with usable_tree(root) as tree:
        assert tree == root


def test_bundled_copy_gets_the_program(tmp_path, monkeypatch):
    """What the report's image holds is the running program, without the bundle in it and caches."""
    package = tmp_path / "site-packages/io_benchmark"
    for path in ("cli.py", "report/html.py", "__pycache__/cli.pyc", "report/__pycache__/x.pyc"):
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(path)
    monkeypatch.setattr(root_module, "BUNDLE", package / "bundle")
    expected = contents(copy_tree(package / "bundle", PARTS))
    # The transforms are installed as a package.
    shutil.move(package / "bundle" / TRANSFORMS, package.parent)
    with usable_tree(package / "bundle") as tree:
        copied = contents(tree)
    for path in ("cli.py", "report/html.py"):
        expected[f"{PROGRAM}/{path}"] = path.encode()
    assert copied == expected
