# SPDX-License-Identifier: MPL-2.0
"""Which tree a command works on, and the copy that taskgraph takes for the root."""

import shutil
import tempfile

import pytest
from checkout import contents

from io_benchmark.errors import UsageError
from io_benchmark.graph import root as module
from io_benchmark.graph.root import MARKS, PARTS, PROGRAM, TRANSFORMS, Root

from .trees import copy_tree


def make_tree(folder):
    for mark in MARKS:
        (folder / mark).parent.mkdir(parents=True, exist_ok=True)
        (folder / mark).write_text("- io_benchmark_taskgraph.transforms.benchmark:transforms")
    return folder


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A program installed from its wheel."""
    monkeypatch.setattr(module, "BUNDLE", make_tree(tmp_path / "bundle"))
    return tmp_path / "bundle"


@pytest.mark.usefixtures("bundle")
@pytest.mark.parametrize("mark", MARKS)
def test_explicit(tmp_path, monkeypatch, mark):
    """What is named is taken, even within a checkout; a folder that is no such tree is refused."""
    tree = make_tree(tmp_path / "tree")
    monkeypatch.chdir(make_tree(tmp_path / "checkout"))
    assert Root.find(tree) == Root(tree, "--root")
    (tree / mark).unlink()
    with pytest.raises(UsageError) as caught:
        Root.find(tree)
    message = f"--root {tree}: {mark} is missing; name the folder that contains taskcluster/"
    assert str(caught.value) == message


@pytest.mark.usefixtures("bundle")
@pytest.mark.parametrize("name", ["x" * 300, "none"])
def test_a_path_that_cannot_be_read(tmp_path, name):
    """It is one line of bounded length."""
    with pytest.raises(UsageError) as caught:
        Root.find(tmp_path / name)
    message = str(caught.value)
    assert message.startswith(f"--root {tmp_path / name}"[:100])
    assert message.endswith("); name the folder that contains taskcluster/")
    assert len(message) < 500


def test_checkout_around(tmp_path, monkeypatch):
    """From any folder of a checkout, the checkout is found.

    From elsewhere, the one that the program is in is found.
    """
    checkout = make_tree(tmp_path / "checkout")
    monkeypatch.setattr(module, "BUNDLE", checkout / "python/io_benchmark/bundle")
    for folder in ("checkout", "checkout/python/deep", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(tmp_path / folder)
        assert Root.find(None) == Root(checkout, "checkout")


def test_a_gate_alone(tmp_path):
    """A project that has only the kind of a gate is a tree to work on."""
    tree = make_tree(tmp_path / "tree")
    kinds = (tree / MARKS[1]).parent
    kinds.rename(kinds.with_name("io-benchmark-gate"))
    assert Root.find(tree) == Root(tree, "--root")


def test_other_projects_tree_is_passed_over(tmp_path, bundle, monkeypatch):
    """Firefox's kind has the same path and other transforms: the bundled copy is taken."""
    other = make_tree(tmp_path / "firefox")
    (other / MARKS[1]).write_text("- gecko_taskgraph.transforms.io_benchmark:transforms")
    monkeypatch.chdir(other)
    assert Root.find(None) == Root(bundle, "bundled copy")


@pytest.mark.parametrize(("mark", "temporary_within"), [(".git", False), (".hg", True)])
def test_tree_within_another_checkout_is_copied(tmp_path, monkeypatch, mark, temporary_within):
    """taskgraph would take the other checkout for the root; the copy is gone afterwards."""
    (tmp_path / mark).mkdir()
    if temporary_within:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    root = Root(copy_tree(tmp_path / "venv" / "bundle"), "bundled copy")
    with root.usable_tree() as tree:
        assert tree != root
        assert (tree.path / ".git").is_dir() is temporary_within
        assert contents(tree.path) == contents(root.path)
    assert not tree.path.exists()
    # A checkout of the project is taken as it is.
    (root.path / ".git").mkdir()
    with root.usable_tree() as tree:
        assert tree == root


def test_bundled_copy_gets_the_program(tmp_path, monkeypatch):
    """What the report's image holds is the running program, without the bundle in it and caches."""
    package = tmp_path / "site-packages/io_benchmark"
    for path in ("cli.py", "report/html.py", "__pycache__/cli.pyc", "report/__pycache__/x.pyc"):
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(path)
    monkeypatch.setattr(module, "BUNDLE", package / "bundle")
    expected = contents(copy_tree(package / "bundle", PARTS))
    # The transforms are installed as a package.
    shutil.move(package / "bundle" / TRANSFORMS, package.parent)
    with Root(package / "bundle", "bundled copy").usable_tree() as tree:
        copied = contents(tree.path)
    for path in ("cli.py", "report/html.py"):
        expected[f"{PROGRAM}/{path}"] = path.encode()
    assert copied == expected
