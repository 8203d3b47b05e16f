# SPDX-License-Identifier: MPL-2.0
"""Which tree a command works on."""

import pytest

from io_benchmark.errors import UsageError
from io_benchmark.graph import root
from io_benchmark.graph.root import MARKS, Root


def make_tree(folder):
    for mark in MARKS:
        (folder / mark).parent.mkdir(parents=True, exist_ok=True)
        (folder / mark).write_text("- io_benchmark_taskgraph.transforms.benchmark:transforms")
    return folder


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A program installed from its wheel."""
    monkeypatch.setattr(root, "BUNDLE", make_tree(tmp_path / "bundle"))
    return tmp_path / "bundle"


@pytest.mark.usefixtures("bundle")
@pytest.mark.parametrize("mark", MARKS)
def test_explicit(tmp_path, mark):
    """What is named is taken, even within a checkout; a folder that is no such tree is refused."""
    tree, start = make_tree(tmp_path / "tree"), make_tree(tmp_path / "checkout")
    assert Root.find(tree, start) == Root(tree, "--root")
    (tree / mark).unlink()
    with pytest.raises(UsageError) as caught:
        Root.find(tree, start)
    assert str(caught.value) == (
        f"--root {tree}: {mark} is missing; name the folder that contains taskcluster/"
    )


@pytest.mark.usefixtures("bundle")
@pytest.mark.parametrize("name", ["x" * 300, "none"])
def test_a_path_that_cannot_be_read(tmp_path, name):
    """Named or around the caller, it is one line of bounded length."""
    path = tmp_path / name
    for arguments, start in (((path, tmp_path), "--root "), ((None, path), "")):
        with pytest.raises(UsageError) as caught:
            Root.find(*arguments)
        message = str(caught.value)
        assert message.startswith(f"{start}{path}"[:100])
        assert message.endswith("); name the folder that contains taskcluster/")
        assert len(message) < 500


def test_checkout_around(tmp_path, monkeypatch):
    """From any folder of a checkout, the checkout; from elsewhere, the one that the program is in."""
    checkout = make_tree(tmp_path / "checkout")
    monkeypatch.setattr(root, "BUNDLE", checkout / "python/io_benchmark/bundle")
    for folder in ("checkout", "checkout/python/deep", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        assert Root.find(None, tmp_path / folder) == Root(checkout, "checkout")


def test_other_projects_tree_is_passed_over(tmp_path, bundle):
    """Firefox's kind has the same path and other transforms: the bundled copy is taken."""
    other = make_tree(tmp_path / "firefox")
    (other / MARKS[1]).write_text("- gecko_taskgraph.transforms.io_benchmark:transforms")
    assert Root.find(None, other) == Root(bundle, "bundled copy")
